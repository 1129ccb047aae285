"""Two servers on one store, above their ports: each follows what the other has appended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from tavolata.service.bus import LocalBus
from tavolata.service.core import Core
from tavolata.service.ports import Bus, Hint
from tavolata.service.refusals import Refused
from tavolata.service.tables.making import DamagedLog, rebuild
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import Event
from tavolata.v1.table_pb2 import SeatPlan, TableSettings, TableState
from tests.service.drawn_ports import DrawnClock, KnownEntropy, MemoryStore, core_on
from tests.service.house import AI, CALLER, OPEN, fresh_id


class DeafBus:
    """A bus that tells nobody anything."""

    def announce(self, table_id: str, entry_number: int) -> None:
        """Said in vain."""

    def subscribe(self, heard: Hint) -> None:
        """Nothing will be heard."""


@dataclass
class Pair:
    """Two servers; each call may go to either."""

    store: MemoryStore
    cores: tuple[Core, Core]

    async def sit_down(self, *others: SeatPlan, game: str = "mino_dice") -> tuple[str, list[str]]:
        """A match that was made by the first server and joined at the second; its people's
        tokens."""
        first, second = self.cores
        create = pb.CreateTableRequest(
            request_id=fresh_id(),
            settings=TableSettings(game_id=game),
            seats=[CALLER, OPEN, *others],
        )
        made = await first.lobby.create(create)
        table_id = made.table.table_id
        join = pb.JoinTableRequest(request_id=fresh_id(), table_id=table_id)
        joined = await second.lobby.join(join, None)
        await first.lobby.start(
            pb.StartMatchRequest(request_id=fresh_id(), table_id=table_id), made.token
        )
        return table_id, [made.token, joined.token]

    async def is_over(self, core: Core, table_id: str) -> bool:
        """Whether the match has come to its end, as a server tells it."""
        return (await core.playing.table(table_id, None)).state == TableState.TABLE_STATE_FINISHED

    async def play(self, core: Core, table_id: str, token: str) -> bool:
        """Play a seat's first legal action, if it has one; whether it had."""
        view, _ = await core.playing.view(table_id, token, ())
        if not view.legal_actions:
            return False
        await core.playing.play(table_id, token, fresh_id(), view.turn, view.legal_actions[0])
        return True


def pair_on(first: Bus, second: Bus) -> Pair:
    """Two servers on one store."""
    store, clock = MemoryStore(shared=True), DrawnClock()
    cores = (
        core_on(store, clock, KnownEntropy(1), first),
        core_on(store, clock, KnownEntropy(2), second),
    )
    return Pair(store, cores)


@pytest_asyncio.fixture
async def deaf() -> AsyncIterator[Pair]:
    """Two servers that hear nothing of each other."""
    pair = pair_on(DeafBus(), DeafBus())
    yield pair
    for core in pair.cores:
        await core.close()


@pytest_asyncio.fixture
async def hearing() -> AsyncIterator[Pair]:
    """Two servers with a bus."""
    bus = LocalBus()
    pair = pair_on(bus, bus)
    yield pair
    for core in pair.cores:
        await core.close()


async def test_any_call_at_any_server_knows_what_was_done_at_the_other(deaf: Pair) -> None:
    table_id, tokens = await deaf.sit_down(AI)
    played = 0
    async with asyncio.timeout(60):
        while not await deaf.is_over(deaf.cores[played % 2], table_id):
            for place, token in enumerate(tokens):
                # Each seat's calls go now to one server, now to the other.
                played += await deaf.play(deaf.cores[(place + played) % 2], table_id, token)
            for core in deaf.cores:
                await core.tables.look()
            await asyncio.sleep(0)
    decisions = [entry for entry in deaf.store.logs[table_id] if entry.kind == "played"]
    assert len(decisions) > played > 0
    assert len({(each.slot, each.turn) for each in decisions}) == len(decisions)


async def test_a_turn_is_not_stale_because_a_server_has_not_heard_of_it(deaf: Pair) -> None:
    table_id, tokens = await deaf.sit_down(game="bouillabaisse")
    first, second = deaf.cores
    view, _ = await first.playing.view(table_id, None, ())
    seat = view.seats_to_act[0]
    await second.tables.settled(table_id)
    await deaf.play(first, table_id, tokens[seat])
    view, _ = await first.playing.view(table_id, tokens[1 - seat], ())
    assert (await second.tables.find(table_id)).turn == view.turn - 1
    action = view.legal_actions[0]
    await second.playing.play(table_id, tokens[1 - seat], fresh_id(), view.turn, action)
    with pytest.raises(Refused) as stale:
        await first.playing.play(table_id, tokens[1 - seat], fresh_id(), view.turn, action)
    assert stale.value.reason_name == "STALE_TURN"
    assert stale.value.metadata["current_turn"] == str(view.turn + 1)


async def test_the_same_request_at_two_servers_is_one_action(deaf: Pair) -> None:
    table_id, tokens = await deaf.sit_down(game="bouillabaisse")
    first, second = deaf.cores
    view, _ = await first.playing.view(table_id, None, ())
    token = tokens[view.seats_to_act[0]]
    view, _ = await second.playing.view(table_id, token, ())
    receipts = await asyncio.gather(
        *(
            core.playing.play(table_id, token, "once", view.turn, view.legal_actions[0])
            for core in (first, second) * 10
        )
    )
    assert len({(each.turn, each.event_number) for each in receipts}) == 1
    assert [each.kind for each in deaf.store.logs[table_id]].count("played") == 1


async def test_a_hint_carries_a_watched_table_on_and_without_one_a_look_does(
    deaf: Pair, hearing: Pair
) -> None:
    for pair in (deaf, hearing):
        first, second = pair.cores
        table_id, tokens = await pair.sit_down(game="bouillabaisse")
        watch = await second.hub.open(table_id, None, None, False)
        told = second.hub.told(watch)
        last = (await anext(told)).event_number  # type: ignore[union-attr]
        watched = watch.table
        for token in tokens * 2:
            await pair.play(first, table_id, token)
        if pair is deaf:
            await second.tables.look()
        until = (await first.tables.settled(table_id)).durable_events
        while last < until:
            event = await asyncio.wait_for(anext(told), 20)
            assert isinstance(event, Event)
            assert event.number == last + 1
            last = event.number
        assert watch.table is watched  # carried on, not made anew
        await told.aclose()  # type: ignore[attr-defined]


async def test_one_server_acts_for_a_match_and_another_when_it_is_gone(deaf: Pair) -> None:
    first, second = deaf.cores
    table_id, tokens = await deaf.sit_down(AI)
    first_epoch = first.work.holds(table_id)
    assert first_epoch is not None
    assert second.work.holds(table_id) is None
    await second.tables.settled(table_id)
    assert second.ai_seats.thinking_count == 0
    # The first one is held up; its lease runs out; then it goes on where it was.
    await second.work.take_up()
    assert second.work.holds(table_id) == first_epoch + 1
    stale = await first.tables.find(table_id)
    assert stale.match is not None
    action = stale.match.legal(2)[0]
    assert not await first.playing.play_for_ai(table_id, 2, stale.match.turn, action, 2, {})
    assert first.work.holds(table_id) is None
    async with asyncio.timeout(60):
        while not await deaf.is_over(second, table_id):
            for token in tokens:
                await deaf.play(second, table_id, token)
            await asyncio.sleep(0)
    makers = [each.body for each in deaf.store.logs[table_id] if each.maker == 2]
    assert {} not in makers


async def test_a_log_that_was_altered_is_not_played_on(deaf: Pair) -> None:
    first, second = deaf.cores
    table_id, tokens = await deaf.sit_down(game="bouillabaisse")
    for token in tokens * 2:
        await deaf.play(first, table_id, token)
    kept = deaf.store.logs[table_id]
    altered = next(each for each in kept if each.kind == "played")
    altered.time_us += 1
    with pytest.raises(Refused) as damaged:
        await second.tables.settled(table_id)
    assert damaged.value.reason_name == "TABLE_DAMAGED"
    with pytest.raises(DamagedLog, match=f"entry {altered.number} "):
        rebuild(table_id, kept)
