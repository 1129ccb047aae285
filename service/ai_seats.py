"""AI players in their seats: who has to decide, and answering in due time.

What an AI player decided is played like anybody's action. Whoever is to decide is found from the
table alone, so a table taken up after a restart goes on by itself.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from dataclasses import dataclass
from operator import index
from typing import Any

import structlog

from tavolata.ai.player import Decision, observe
from tavolata.ai.stop import Stop
from tavolata.service.ai_levels import Ceiling, players, seated
from tavolata.service.players.asking import Case, RemotePlayers
from tavolata.service.ports import Clock, Entropy
from tavolata.service.refusals import Refused
from tavolata.service.tables.apply import BY_AI, BY_NOBODY, BY_STAND_IN, ai_body
from tavolata.service.tables.clocks import deadline_us, limits_us
from tavolata.service.tables.makers import Allowance, Makers
from tavolata.service.tables.memory import Work
from tavolata.service.tables.model import AI, OCCUPANT, PERSON, PLAYING, Table
from tavolata.service.tables.playing import Playing
from tavolata.service.tables.singles import plays_singles, single_action
from tavolata.service.telemetry import SILENCE, Telemetry
from tavolata.service.thinking import Thinking
from tavolata.v1.player_pb2 import AiPlayer

log = structlog.get_logger(__name__)
# Takes the place of a player that raised an error, so that the match goes on.
FALLBACK = AiPlayer(player="random", level="standard")
REMOTE = "remote"  # for all remote players, to who measures
EFFORT_MAX = 10**12  # iterations, nodes, milliseconds: more is none


RETRY_S = 1.0  # before a decision is played again that the store didn't take


@dataclass(slots=True)
class _Thought:
    """A decision in the making. playing: it is made, and on its way to the log."""

    turn: int
    stop: Stop
    task: asyncio.Task[None]
    playing: bool = False
    single: int | None = None  # the action of a person who has no other
    vain: bool = False  # nothing came of it, as another server acts for the match


@dataclass(frozen=True, slots=True)
class _Made:
    """A decision, who made it, and the body of its entry. remote: a remote player has answered."""

    action: int
    maker: int
    body: dict[str, object] | None = None
    remote: bool = False


@dataclass(slots=True)
class _Timer:
    at_us: int
    task: asyncio.Task[None]


class AiSeats:
    """The seats for which an AI player has to decide, and the clocks of the others, at the tables
    that this server acts for."""

    def __init__(
        self,
        playing: Playing,
        thinking: Thinking,
        clock: Clock,
        entropy: Entropy,
        ceiling: Ceiling,
        work: Work,
        telemetry: Telemetry = SILENCE,
        makers: Makers | None = None,
        remote: RemotePlayers | None = None,
    ) -> None:
        """remote: the players that programs elsewhere offer; nobody does if it is None."""
        self._remote = remote
        self._playing = playing
        self._makers = makers or Makers(clock, Allowance())
        self._telemetry = telemetry
        self._thinking = thinking
        self._clock = clock
        self._entropy = entropy
        self._ceiling = ceiling
        self._work = work
        self._thoughts: dict[tuple[str, int], _Thought] = {}
        self._timers: dict[str, _Timer] = {}
        self._closing = False

    @property
    def thinking_count(self) -> int:
        """Decisions that are being made."""
        return len(self._thoughts)

    def consider(self, table: Table) -> None:
        """Begin the decisions that are due at a table, and end those that aren't any more.

        A table that was given up is heard of again when it has been loaded anew; until then what
        was begun for it goes on, as the same decision may be open still.
        """
        match = table.match
        if match is None or self._closing or table.dead or not self._concerns(table):
            return
        held = self._work.holds(table.table_id) is not None
        due: tuple[int, ...] = ()
        if table.state == PLAYING:
            due = tuple(n for n in match.to_act if self._is_due(table, n, held))
        for seat in table.seats:
            thought = self._thoughts.get((table.table_id, seat.number))
            if thought is None:
                continue
            same = seat.number in due and thought.turn == match.turn
            same = same and not (thought.vain and held)
            if not same or thought.single != single_action(table, seat.number):
                self._end(table.table_id, seat.number, thought)
        for number in due:
            if (table.table_id, number) not in self._thoughts:
                self._begin(table, number)
        self._set_timer(table, held)

    def _is_due(self, table: Table, seat: int, held: bool) -> bool:
        """Whether this server has to see to a decision that is open for a seat. held: it acts for
        the match."""
        if not held:
            return self._remote is not None and self._remote.asked_here(table, seat)
        return table.seats[seat].decided_by_ai or single_action(table, seat) is not None

    def _concerns(self, table: Table) -> bool:
        """Whether any seat could ever need an answer or a clock; asked after every action."""
        if plays_singles(table):
            return True
        if table.considered_version != table.public_version:
            table.considered_version = table.public_version
            # Once more after a seat has been handed back, to end what was begun for it.
            before, table.has_ai = table.has_ai, any(seat.decided_by_ai for seat in table.seats)
            return before or table.has_ai or limits_us(table) != (None, None)
        return table.has_ai or limits_us(table) != (None, None)

    def _begin(self, table: Table, seat: int) -> None:
        match = table.match
        assert match is not None  # noqa: S101
        stop = Stop()
        task = _task(self._answer(table, seat, match.turn, stop))
        single = single_action(table, seat)
        self._thoughts[table.table_id, seat] = _Thought(match.turn, stop, task, single=single)

    def _end(self, table_id: str, seat: int, thought: _Thought) -> None:
        del self._thoughts[table_id, seat]
        thought.stop.set()
        if not thought.playing:
            thought.task.cancel()

    async def _answer(self, table: Table, seat: int, turn: int, stop: Stop) -> None:
        """Think, wait until the answer is due, and play."""
        match = table.match
        if match is None or match.turn != turn or seat not in match.to_act:
            # Decided in memory before this began; considered anew when that is known to last.
            self._thoughts.pop((table.table_id, seat), None)
            return
        due = self._clock.monotonic() + self._delay(table)
        single = single_action(table, seat)
        made: _Made | None
        if single is None:
            made = await self._thought(table, seat, stop)
        else:
            made = _Made(single, BY_NOBODY)
            due = min(due, self._clock.monotonic() + self._half_left(table, seat))
        if made is None:
            self._vain(table, seat, stop)
            return
        wait = due - self._clock.monotonic()
        if wait > 0:
            await self._clock.sleep(wait)
        # From here on it is an action like any other: not to be cancelled half-way.
        thought = self._thoughts.get((table.table_id, seat))
        if thought is None or thought.stop is not stop:
            return
        thought.playing = True
        played = False
        while not stop.is_set():
            try:
                played = await self._playing.play_for_ai(
                    table.table_id,
                    seat,
                    turn,
                    made.action,
                    made.maker,
                    made.body,
                    remote=made.remote,
                )
                break
            except Refused as refused:
                log.warning("ai.not_recorded", table_id=table.table_id, reason=refused.reason_name)
                await self._clock.sleep(RETRY_S)
        if self._thoughts.get((table.table_id, seat)) is thought:
            del self._thoughts[table.table_id, seat]
            if not played:
                self._playing.reconsider(table.table_id)

    def _vain(self, table: Table, seat: int, stop: Stop) -> None:
        thought = self._thoughts.get((table.table_id, seat))
        if thought is not None and thought.stop is stop:
            thought.vain = True
            if self._work.holds(table.table_id) is not None:  # by now
                self._playing.reconsider(table.table_id)

    async def _thought(self, table: Table, seat: int, stop: Stop) -> _Made | None:
        """What an AI player decides; None if that is another server's to see to."""
        seed = int.from_bytes(self._entropy.bytes(8), "big")
        occupant = table.seats[seat]
        player = occupant.ai if occupant.kind == AI else table.setup.settings.stand_in
        assert player is not None  # noqa: S101
        maker = BY_AI if occupant.kind == AI else BY_STAND_IN
        with self._telemetry.deciding(table.table_id, player.player, player.level):
            decided = await self._decided(table, seat, player, seed, stop)
        if decided is None:
            return None
        player, decision = decided
        name = REMOTE if player.remote else player.player
        self._telemetry.decided(name, player.level, decision.elapsed_ms / 1000)
        return _Made(decision.action, maker, _body(player, decision, seed), player.remote)

    async def _decided(
        self, table: Table, seat: int, player: AiPlayer, seed: int, stop: Stop
    ) -> tuple[AiPlayer, Decision] | None:
        """Who has decided, and what; None if that is another server's to see to."""
        if not player.remote:
            return await self._decide(table, seat, player, seed, stop)
        if self._remote is None:
            return await self._decide(table, seat, FALLBACK, seed, stop)
        match, table_id = table.match, table.table_id
        assert match is not None  # noqa: S101
        pace = table.setup.settings.ai_pace
        pace_s = (pace.floor.ToNanoseconds() + pace.jitter.ToNanoseconds()) / 1e9
        case = Case(
            table_id,
            player,
            observe(match, seat),
            seed,
            pace_s,
            acting=lambda: self._work.holds(table_id) is not None,
        )
        decision = await self._remote.decide(case)
        if decision is not None:
            return player, decision
        if not case.acting():
            return None
        return await self._decide(table, seat, self._remote.replacement, seed, stop)

    def _half_left(self, table: Table, seat: int) -> float:
        """Half the seconds that a person's clock leaves, which everybody knows."""
        deadline = deadline_us(table, table.seats[seat])
        if deadline is None:
            return float("inf")
        return max(0, deadline - self._clock.now_us()) / 2e6

    async def _decide(
        self, table: Table, seat: int, player: AiPlayer, seed: int, stop: Stop
    ) -> tuple[AiPlayer, Decision]:
        match = table.match
        assert match is not None  # noqa: S101
        observation = observe(match, seat)
        is_played = any(each.kind == PERSON and each.control == OCCUPANT for each in table.seats)
        urgent = is_played and not self._makers.is_spent(table)
        for chosen in (player, FALLBACK):
            spec = players().get(chosen.player)
            if spec is None:
                log.error("ai.unknown_player", table_id=table.table_id, player=chosen.player)
                continue
            spec, limits = seated(chosen, spec, match.game.spec, self._ceiling)
            try:
                decision = _checked(
                    await self._thinking.decide(
                        spec, observation, limits, seed=seed, stop=stop, urgent=urgent
                    )
                )
            except Exception:
                log.exception("ai.player_failed", table_id=table.table_id, player=chosen.player)
                continue
            self._makers.spend(table, decision.elapsed_ms / 1000)
            if decision.action in observation.legal_actions:
                return chosen, decision
            log.error("ai.illegal_action", table_id=table.table_id, player=chosen.player)
        raise RuntimeError(f"no player could decide at table {table.table_id}")

    def _delay(self, table: Table) -> float:
        """Seconds from the decision's beginning to its answer, drawn apart from the position."""
        pace = table.setup.settings.ai_pace
        jitter = pace.jitter.ToNanoseconds() / 1e9
        floor = pace.floor.ToNanoseconds() / 1e9
        return floor + (jitter * self._entropy.fraction() if jitter else 0.0)

    # -- people's clocks --------------------------------------------------------------------------

    def _set_timer(self, table: Table, held: bool) -> None:
        deadlines = [deadline_us(table, seat) for seat in table.seats] if held else []
        first = min((each for each in deadlines if each is not None), default=0)
        timer = self._timers.get(table.table_id)
        if timer is not None:
            if timer.at_us == first:
                return
            timer.task.cancel()
            del self._timers[table.table_id]
        if first:
            task = _task(self._ring(table.table_id, first))
            self._timers[table.table_id] = _Timer(first, task)

    async def _ring(self, table_id: str, at_us: int) -> None:
        while (left_us := at_us - self._clock.now_us()) > 0:
            await self._clock.sleep(left_us / 1e6)
        del self._timers[table_id]
        while not self._closing and self._work.holds(table_id) is not None:
            try:
                await self._playing.time_out(table_id)
                break
            except Refused as refused:
                if refused.retry_delay is None:
                    break  # the table is gone
                await self._clock.sleep(RETRY_S)
        self._playing.reconsider(table_id)

    # -- the end ----------------------------------------------------------------------------------

    async def close(self) -> None:
        """Stop every search and begin no other; returns when all have let go."""
        self._closing = True
        tasks = [thought.task for thought in self._thoughts.values()]
        tasks += [timer.task for timer in self._timers.values()]
        for (table_id, seat), thought in list(self._thoughts.items()):
            self._end(table_id, seat, thought)
        for task in tasks:
            task.cancel()
        self._thinking.close()
        await asyncio.gather(*tasks, return_exceptions=True)


def _task(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """A task in a context of its own: it isn't part of the call that caused it."""
    return asyncio.get_running_loop().create_task(work, context=contextvars.Context())


def _checked(decision: Decision) -> Decision:
    """The decision of a player from anywhere, in numbers that a log takes; TypeError or ValueError
    if it has none."""
    effort = (index(decision.iterations), index(decision.nodes), float(decision.elapsed_ms))
    if not all(0 <= each < EFFORT_MAX for each in effort):  # a NaN is neither
        raise ValueError(f"an effort of {effort}")
    return Decision(index(decision.action), *effort)


def _body(player: AiPlayer, decision: Decision, seed: int) -> dict[str, object]:
    return {
        "ai": ai_body(player),
        "iterations": decision.iterations,
        "nodes": decision.nodes,
        "think_us": round(decision.elapsed_ms * 1000),
        "search_seed": seed,
    }
