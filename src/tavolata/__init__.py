"""Tavolata: a gRPC service that runs table games with hidden information.

This package only names the version and where its C headers are. The parts are `tavolata.service`,
`tavolata.ai`, `tavolata.ext` and the generated API `tavolata.v1`; importing one must not import the
others through this file.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

__version__ = version("tavolata")


def get_include() -> str:
    """The folder to look for our C headers in (`include_dirs`) when compiling Cython that cimports
    from this package, such as a player."""
    return str(Path(__file__).parent.parent)
