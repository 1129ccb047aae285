"""Answering times on a clock that only moves when somebody waits; `python -m
tests.service.ai_timing` measures a server's."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from tavolata.ai.player import Decision
from tavolata.service import settings
from tavolata.service.ai_seats import AiSeats
from tavolata.service.bus import LocalBus
from tavolata.service.core import make_core
from tavolata.service.tables.record import replay_of
from tavolata.v1 import table_service_pb2 as pb
from tests.service.ai_timing import judge, request_for_table
from tests.service.answering import Answer, Classes, answers_of, separation, separations
from tests.service.campaign import Problems
from tests.service.drawn_ports import DrawnClock, KnownEntropy, MemoryStore, ThinkingHere
from tests.service.house import fresh_id

MATCHES = 4


class ThinkingTakesTime(ThinkingHere):
    """Players that think the longer, up to 15 ms, the more they can choose from."""

    def __init__(self, clock: DrawnClock) -> None:
        self._clock = clock

    async def decide(self, spec: Any, observation: Any, *rest: Any, **more: Any) -> Decision:
        decision = await super().decide(spec, observation, *rest, **more)
        choices = len(observation.legal_actions)
        took_us = min(15_000, 1_200 * (choices - 1) + decision.action % 900)
        self._clock.us += took_us
        return Decision(decision.action, decision.iterations, decision.nodes, took_us / 1000)


async def answered(matches: int) -> list[Answer]:
    """What AI players answered in so many matches."""
    clock = DrawnClock()
    core = make_core(
        settings.load(None), MemoryStore(), LocalBus(), clock, KnownEntropy(5),
        ThinkingTakesTime(clock), asyncio.Event(),
    )  # fmt: skip
    answers: list[Answer] = []
    for number in range(matches):
        made = await core.lobby.create(request_for_table(random.Random(number).randbytes(32), 8))
        table_id = made.table.table_id
        start = pb.StartMatchRequest(request_id=fresh_id(), table_id=table_id)
        await core.lobby.start(start, made.token)
        async for _ in core.hub.told(await core.hub.open(table_id, None, 0, False)):
            pass
        table = await core.tables.settled(table_id)
        replay = replay_of(table, core.playing.message(table, -1), -1)
        answers += answers_of(replay, {us: us for us in _times_us(replay)})
    await core.close()
    return answers


def _times_us(replay: Any) -> set[int]:
    decisions = (entry.decision for entry in replay.entries if entry.HasField("decision"))
    return {decision.time.ToMicroseconds() for decision in decisions}


async def test_answering_times_tell_nothing_about_the_hand() -> None:
    answers = await answered(MATCHES)
    problems = Problems()
    told = judge(answers, problems)
    assert not problems.count, f"{told}\n{problems}"
    assert len(answers) > 300 * MATCHES
    assert min(each.event_us for each in answers) >= 20_000


async def test_a_floor_that_begins_after_the_search_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thought, delay = AiSeats._thought, AiSeats._delay

    async def thought_then_waits(self: AiSeats, table: Any, *rest: Any) -> Any:
        found = await thought(self, table, *rest)
        await self._clock.sleep(delay(self, table))
        return found

    monkeypatch.setattr(AiSeats, "_thought", thought_then_waits)
    monkeypatch.setattr(AiSeats, "_delay", lambda self, table: 0.0)
    found = separations(await answered(2 * MATCHES))["one or many actions by event"]
    assert found.auc + 4 * found.error < 0.5


def test_a_separation_is_the_share_of_pairs_in_which_the_first_is_larger() -> None:
    classes: Classes = {(0, 1): ([5, 1], [1, 3]), (1, 1): ([2], [1]), (2, 1): ([7], [])}
    found = separation(classes)
    assert found.auc == pytest.approx((2 + 0.5 + 1) / 5)
    assert found.sizes == (3, 3)
