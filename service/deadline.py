"""When the call that is being answered ends, for what works on its behalf elsewhere."""

from __future__ import annotations

from contextvars import ContextVar

# By the monotonic clock, in seconds; None where nobody's deadline counts, as for AI players in
# their seats, whose tasks have contexts of their own.
ENDS_AT: ContextVar[float | None] = ContextVar("ends_at", default=None)
