"""The benchmark of cancellation measures what it says: every search of it ends."""

from __future__ import annotations

import pytest

from tavolata.service.bench import cancellation


async def test_searches_whose_call_ends_are_timed_beside_a_threads_wake_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cancellation, "SAMPLES", 2)
    rows = await cancellation._measured()
    for how in ("cancelled", "past its deadline"):
        for load in ("idle", "every core searches"):
            cases = [row for row in rows if row.case.startswith(f"search of a call {how}, {load}")]
            assert len(cases) == 4
            p50, p90, p99, goal = cases
            assert 0 <= p50.value <= p90.value <= p99.value
            assert p50.reference_value is not None
            assert p50.reference_value > 0
            assert goal.goal == 1.0
