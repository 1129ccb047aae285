"""The real clock."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Time as the machine tells it."""

    def now_us(self) -> int:
        """Wall time in microseconds."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep in the running event loop."""
        await asyncio.sleep(seconds)
