"""The short form of the saturation; `python -m tests.service.ai_saturated` is the long one."""

from __future__ import annotations

from pathlib import Path

from tests.service.ai_saturated import AI_S_PER_MIN, ai_saturated
from tests.service.house import house_in


async def test_people_play_on_and_more_is_refused_while_ai_players_fill_all_threads(
    tmp_path: Path,
) -> None:
    # The limit is used up by the first searches.
    flags = {"ai_threads": 1, "caller_ai_s_per_min": AI_S_PER_MIN / 30}
    async with house_in(tmp_path, **flags) as house:
        assert house.server is not None
        thinking = house.server.core.ai_seats._thinking

        async def waiting() -> float:
            return float(thinking.waiting)  # type: ignore[attr-defined]

        _, text, problems = await ai_saturated(
            house.target,
            1.0,
            threads=1,
            over=10,
            waiting=waiting,
            seed=1,
            interval_s=0.05,
            quiet=True,
        )
    assert not problems.count, f"{text}\n{problems}"
