"""Tavolata: a gRPC service that runs table games with hidden information.

This package only names the version. The parts are `tavolata.service`, `tavolata.ai`,
`tavolata.ext` and the generated API `tavolata.v1`; importing one must not import the others
through this file.
"""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("tavolata")
