"""The short form of the watchers; `python -m tests.service.watchers` is the long one."""

from __future__ import annotations

import math
from pathlib import Path

from tests.service.house import house_in
from tests.service.watchers import Layout, watchers


async def test_readers_get_all_of_what_those_who_do_not_read_are_moved_ahead_of(
    tmp_path: Path,
) -> None:
    layout = Layout("short", tables=2, watchers=16, stalled=4, p99_ms=math.inf)
    async with house_in(tmp_path, backlog_max=16) as house:
        summary, problems = await watchers(
            house.target, layout, 2.0, seed=1, interval_s=0.003, quiet=True
        )
    assert not problems.count, f"{summary}\n{problems}"
    assert " 0 moved ahead" not in summary
