"""The client library: `tavolata.service.client` under the name that programs import."""

from __future__ import annotations

from tavolata.service.client import *  # noqa: F403
from tavolata.service.client import __all__ as __all__
