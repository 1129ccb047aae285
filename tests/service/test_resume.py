"""The short form of the resumes; `python -m tests.service.resume` is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tavolata.service.watch import WatchHub
from tests.service.house import house_in
from tests.service.resume import resume


async def test_watchers_that_are_cut_at_random_miss_nothing_and_get_nothing_twice(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, backlog_max=16) as house:
        summary, problems = await resume(
            [house.target], 120, seed=3, tables=1, pause_s=0.01, quiet=True
        )
    assert not problems.count, f"{summary}\n{problems}"


async def test_a_server_that_resumes_one_event_too_late_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = WatchHub.open

    async def late(self, table_id, token, after, *rest, **more):  # type: ignore[no-untyped-def]
        late = after + 1 if after and after % 7 == 3 else after
        return await opened(self, table_id, token, late, *rest, **more)

    monkeypatch.setattr(WatchHub, "open", late)
    async with house_in(tmp_path, backlog_max=16) as house:
        _, problems = await resume([house.target], 120, seed=3, tables=1, pause_s=0, quiet=True)
    assert problems.count, "nothing was found"
