"""Structured logs: every line carries its call's method, request id and table id.

No line ever carries a card, a seed or a token: only ids, numbers and reasons are logged, and what
looks like a secret by its name is struck out.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any, Literal

import structlog

# The method and request of the call that is being served. Bound once a call and read only when a
# line is written: binding values to structlog's own variables would cost every call more.
CALL: ContextVar[tuple[str, Any] | None] = ContextVar("call", default=None)

_SECRET = ("token", "seed", "salt", "card", "hand", "dice", "authorization", "nonce", "payload")
STRUCK = "[struck out]"

Line = MutableMapping[str, Any]


def _call_fields(_: Any, __: str, line: Line) -> Line:
    call = CALL.get()
    if call is not None:
        method, request = call
        line.setdefault("method", method)
        for name in ("request_id", "table_id", "tournament_id"):
            value = getattr(request, name, "")
            if value:
                line.setdefault(name, value)
    return line


def _strike_secrets(_: Any, __: str, line: Line) -> Line:
    for name in line:
        if any(word in name.lower() for word in _SECRET):
            line[name] = STRUCK
    return line


def configure(form: Literal["json", "console"], level: str = "info") -> None:
    """Write logs to standard error in this form."""
    render: Any
    if form == "json":
        render = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # Not the default: that one prints the local variables of every frame, seeds among them.
        plain = structlog.dev.plain_traceback
        colors = sys.stderr.isatty()
        render = [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain)]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _call_fields,
            _strike_secrets,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
