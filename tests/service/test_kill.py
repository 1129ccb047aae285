"""The short form of the kill loop; `python -m tests.service.kill_loop` is the long one."""

from __future__ import annotations

from pathlib import Path

from tests.service.kill_loop import kill_loop


async def test_nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed(
    tmp_path: Path,
) -> None:
    tally = await kill_loop(tmp_path, kills=8)
    assert tally.kills == 8
    assert tally.tables >= 4
    assert tally.actions > 100
    assert tally.repeats > 0
