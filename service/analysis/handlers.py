"""AnalysisService: hints in play, and reviews of matches that are over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import aclosing
from typing import Any, TypeVar

from tavolata.ai.analysis import analysing
from tavolata.ai.review import DEFAULT_ITERATIONS as REVIEW_ITERATIONS
from tavolata.ai.review import Question, Reviewed, reviewing
from tavolata.service.ai_levels import Ceiling, limits_asked
from tavolata.service.analysis.decisions import (
    is_open,
    open_decision,
    past_decision,
    point_at,
    points_by,
    reviewed_seats,
)
from tavolata.service.analysis.messages import analysis_message, reviewed_message, seat_reviews
from tavolata.service.analysis.searching import Searching
from tavolata.service.calls import address_of, token_of
from tavolata.service.tables import refuse
from tavolata.service.tables.makers import Key
from tavolata.service.tables.model import Table
from tavolata.service.tables.playing import Playing
from tavolata.service.tables.record import decision_facts, refuse_replay
from tavolata.service.tables.requests import Person, hash_of
from tavolata.v1 import analysis_service_pb2 as pb

Context = Any  # grpc.aio.ServicerContext; its stubs leave the type arguments open
Result = TypeVar("Result")
HINT_ITERATIONS = 20_000


class AnalysisService:
    """The rpcs of tavolata.v1.AnalysisService."""

    def __init__(self, playing: Playing, searching: Searching, ceiling: Ceiling) -> None:
        self._playing = playing
        self._searching = searching
        self._ceiling = ceiling
        self._reading = asyncio.Lock()

    async def Analyze(  # noqa: N802
        self, request: pb.AnalyzeRequest, context: Context
    ) -> AsyncIterator[pb.AnalyzeResponse]:
        """Search a decision, and tell what is found out as it grows."""
        token = token_of(context)
        table, viewer = await self._playing.viewer(request.table_id, token)
        refuse.unless_rules(table)
        given = request.limits if request.HasField("limits") else None
        limits = limits_asked(given, HINT_ITERATIONS, self._ceiling, "limits")
        shown = self._playing.shown(table, viewer)
        in_play = not shown.over
        if in_play:
            observation = open_decision(shown, viewer, request, has_token=token is not None)
        else:
            refuse_replay(shown)
            place = past_decision(shown, viewer, request)
        caller = _caller(table, token, context)
        with self._searching.place(caller) as stop:
            if not in_play:
                observation = (await self._off_loop(point_at, shown.match, place)).observation
            work = analysing(observation, limits, seed=request.seed, stop=stop)

            def go_on() -> bool:
                return not in_play or is_open(shown, observation)

            async with aclosing(self._searching.told(work, caller, go_on, stop)) as told:
                async for each in told:
                    message = analysis_message(observation, each, shown.codec)
                    yield pb.AnalyzeResponse(analysis=message)

    async def ReviewMatch(  # noqa: N802
        self, request: pb.ReviewMatchRequest, context: Context
    ) -> AsyncIterator[pb.ReviewMatchResponse]:
        """Judge the decisions of a match that is over."""
        token = token_of(context)
        table, viewer = await self._playing.viewer(request.table_id, token)
        refuse.unless_rules(table)
        shown = self._playing.shown(table, viewer)
        refuse_replay(shown)
        given = request.limits if request.HasField("limits") else None
        limits = limits_asked(given, REVIEW_ITERATIONS, self._ceiling, "limits")
        question = Question(limits, request.hindsight, request.seed)
        seats = reviewed_seats(shown, viewer, request)
        caller = _caller(table, token, context)
        with self._searching.place(caller) as stop:
            points = await self._off_loop(points_by, shown.match, seats)
            facts = [entry for entry in shown.entries if entry.kind == "played"]
            yield pb.ReviewMatchResponse(start=pb.ReviewStart(decisions=len(points)))
            reviewed: list[Reviewed] = []
            for point in points:
                work = _concluded(reviewing(point, question, stop))
                reviewed.append(await self._searching.result(work, caller, stop))
                fact = decision_facts(facts[point.place])
                yield pb.ReviewMatchResponse(
                    decision=reviewed_message(reviewed[-1], fact, shown.codec)
                )
            summary = pb.ReviewSummary(seats=seat_reviews(reviewed, seats))
            yield pb.ReviewMatchResponse(summary=summary)

    async def _off_loop(self, read: Any, *arguments: Any) -> Any:
        """What playing a match again gives, in another thread, one at a time. A match that is over
        never changes."""
        async with self._reading:
            return await asyncio.to_thread(read, *arguments)


def _caller(table: Table, token: str | None, context: Context) -> Key:
    """Who pays for an analysis: a person, as far as the token says which, or an address."""
    held = None if token is None else table.tokens.get(hash_of(token))
    return Person(b"" if held is None else held.subject, address_of(context)).key


def _concluded(work: Generator[None, None, Result]) -> Iterator[Result | None]:
    """The same pieces, with the result as the last."""
    result = yield from work
    yield result
