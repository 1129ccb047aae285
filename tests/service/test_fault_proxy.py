"""The short form of the fault proxy; `python -m tests.service.fault_proxy` is the long one."""

from __future__ import annotations

from tests.service.fault_proxy import fault_proxy
from tests.service.house import House


async def test_nothing_is_lost_or_doubled_over_a_wire_that_loses_and_doubles(house: House) -> None:
    summary, problems = await fault_proxy(
        house.target, house.db, submissions=250, seed=2, at_a_time=16, quiet=True
    )
    assert not problems.count, f"{summary}\n{problems}"
