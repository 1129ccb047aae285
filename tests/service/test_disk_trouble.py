"""The short form of the troubles; `python -m tests.service.disk_trouble` is the long one."""

from __future__ import annotations

import random
from pathlib import Path

from tests.service.disk_trouble import disk_trouble
from tests.service.faulty_disk import Trouble, disk_in


async def test_nothing_is_acknowledged_falsely_when_the_disk_is_full_or_fails_to_sync(
    tmp_path: Path,
) -> None:
    with disk_in(tmp_path, random.Random(1), small=False) as disk:
        summary, problems = await disk_trouble(
            disk,
            tmp_path,
            rounds=2,
            seed=1,
            tables=1,
            kinds=(Trouble.FULL, Trouble.SYNC_FAILS),
            places=(("mister_bill", 3, 0),),
            quiet=True,
        )
    assert not problems.count, f"{summary}\n{problems}"
