"""Replays as messages: with proof they show and reproduce everything, without it nothing hidden."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from tavolata.ext.core.match import Match
from tavolata.ext.core.record import RecordError, record_of, replay
from tavolata.ext.core.records import ChanceOutcome, MatchEnded
from tavolata.ext.registry import GAMES, game_spec
from tavolata.service.codecs import codec_of
from tavolata.service.replays import SPECTATOR, check_fairness, record_of_replay, replay_message
from tavolata.service.tables.fairness import commitment
from tavolata.v1 import event_pb2, replay_pb2
from tavolata.v1.fairness_pb2 import Fairness, FairnessProof
from tavolata.v1.player_pb2 import SearchEffort
from tavolata.v1.score_pb2 import MatchResult, SeatResult
from tavolata.v1.table_pb2 import Seat, Table, TableSettings
from tests.service.from_messages import action_name, event_fields

SEED, SALT = bytes(range(32)), bytes([5]) * 32
PROOF = FairnessProof(server_seed=SEED, salt=SALT, match_seed=SEED)
TABLES = [("mino_dice", 3), ("bouillabaisse", 2), ("bouillabaisse", 5)]


def played(game_id: str, seats: int, actions: int = 10_000) -> tuple[Table, Match]:
    """A table whose seed is the match's own, and its match, with random actions."""
    game, codec = GAMES[game_id].make(seats), codec_of(game_id)
    promise = commitment(
        table_id="table-1",
        game_id=game_id,
        rules_version=game.spec.rules_version,
        seat_count=seats,
        options=game.options,
        server_seed=SEED,
        salt=SALT,
    )
    match = Match(game, SEED, commitment=promise.hex())
    chance = random.Random(seats)
    while not match.over and match.decision_count < actions:
        seat = chance.choice(match.to_act)
        match.play(seat, chance.choice(match.legal(seat)))
    table = Table(
        table_id="table-1",
        settings=TableSettings(game_id=game_id, options=codec.options_to(game.options)),
        rules_version=game.spec.rules_version,
        seats=[Seat(seat=seat) for seat in range(seats)],
        fairness=Fairness(commitment=promise, reproducible=True),
    )
    if match.over:
        rows = zip(match.totals(), match.placement(), strict=True)
        seats_of = [SeatResult(seat=n, total=t, place=p) for n, (t, p) in enumerate(rows)]
        table.result.CopyFrom(MatchResult(seats=seats_of))
    return table, match


def table_events(match: Match, viewer: int) -> list[event_pb2.Event]:
    """What the table would show the viewer: two events of its own, then the match, then its end."""
    codec = codec_of(match.game.spec.id)
    own = [
        event_pb2.TableEvent(seat_changed=event_pb2.SeatChanged(seat=Seat(seat=1))),
        event_pb2.TableEvent(match_started=event_pb2.MatchStarted()),
    ]
    made = [event_pb2.Event(number=n, table=event) for n, event in enumerate(own, start=1)]
    for numbered in match.events(viewer):
        event = event_pb2.Event(number=numbered.number + 2, turn=numbered.number % 7)
        event.time.seconds = 1000 + numbered.number
        if isinstance(numbered.event, MatchEnded):
            event.table.match_ended.SetInParent()
        else:
            event.game.CopyFrom(codec.event_to(numbered.event))
        made.append(event)
    return made


def message(
    table: Table, match: Match, *, viewer: int = SPECTATOR, proof: FairnessProof | None = PROOF
) -> replay_pb2.Replay:
    facts = [
        replay_pb2.Decision(
            made_by=replay_pb2.DECISION_MAKER_AI,
            search_seed=number + 1,
            effort=SearchEffort(iterations=number),
            request_id=f"r{number}",
        )
        for number in range(match.decision_count)
    ]
    return replay_message(
        table, match, table_events(match, viewer), facts, proof=proof, viewer=viewer
    )


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_a_replay_with_proof_shows_everything_in_the_order_of_the_log(
    game_id: str, seats: int
) -> None:
    table, match = played(game_id, seats)
    entries = [e for e in message(table, match).entries if not is_of_table(e)]
    for entry, logged in zip(entries, match.entries(), strict=True):
        which = entry.WhichOneof("entry")
        if isinstance(logged, ChanceOutcome):
            chance = entry.chance
            assert which == "chance"
            assert (chance.purpose, chance.round) == (logged.purpose, logged.round)
            assert chance.index == logged.index
            if logged.choices:
                assert (chance.pick.bound, chance.pick.value) == (logged.choices, *logged.values)
            else:
                assert tuple(chance.shuffle.items) == logged.items
        elif which == "decision":
            found = entry.decision
            shown = (found.turn, found.seat, action_name(game_id, found.action))
            plain: Any = logged
            assert shown == (plain.turn, plain.seat, plain.action)
            assert found.action in found.legal_actions
        elif not entry.event.event.table.HasField("match_ended"):
            numbered: Any = logged
            name, fields = event_fields(game_id, entry.event.event.game)
            assert name == type(numbered.event).__name__
            assert all(fields[key] is not None for key in type(numbered.event).__dataclass_fields__)


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_events_keep_the_numbers_turns_and_times_they_had_at_the_table(
    game_id: str, seats: int
) -> None:
    table, match = played(game_id, seats)
    told = [e.event.event for e in message(table, match).entries if e.HasField("event")]
    shown = table_events(match, SPECTATOR)
    assert [(e.number, e.turn, e.time) for e in told] == [(e.number, e.turn, e.time) for e in shown]


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_the_running_hash_stands_with_the_last_entry_of_the_deal_and_of_each_decision(
    game_id: str, seats: int
) -> None:
    table, match = played(game_id, seats)
    made = message(table, match)
    entries = [entry for entry in made.entries if not is_of_table(entry)]
    again = Match(match.game, SEED, commitment=table.fairness.commitment.hex())
    hashes = [again.hash]
    for turn, seat, action in match.decisions:
        again.play(seat, action, turn)
        hashes.append(again.hash)
    assert [entry.running_hash for entry in entries if entry.running_hash] == hashes
    before = [entry for entry, following in pairwise(entries) if following.HasField("decision")]
    assert all(entry.running_hash for entry in [*before, entries[-1]])
    assert made.final_hash == hashes[-1]


def test_what_the_match_does_not_know_of_a_decision_is_kept() -> None:
    table, match = played("mino_dice", 3)
    decisions = [e.decision for e in message(table, match).entries if e.HasField("decision")]
    assert [each.search_seed - 1 for each in decisions] == list(range(match.decision_count))
    assert [each.effort.iterations for each in decisions] == list(range(match.decision_count))
    assert decisions[4].request_id == "r4"
    assert {each.made_by for each in decisions} == {replay_pb2.DECISION_MAKER_AI}


@pytest.mark.parametrize(
    "game_id, seats, name, allowed",
    [
        ("mino_dice", 3, "drawn", lambda seat: [seat]),
        ("mino_dice", 3, "bid_committed", lambda seat: [seat]),
        ("mino_dice", 3, "rolled", lambda seat: []),
        ("bouillabaisse", 5, "dealt", lambda seat: [seat]),
        ("bouillabaisse", 2, "dealt", lambda seat: [0, 1]),  # BO-19: both see both hands
    ],
)
def test_who_was_allowed_to_see_a_secret_is_told(
    game_id: str, seats: int, name: str, allowed: Any
) -> None:
    table, match = played(game_id, seats)
    found = 0
    for entry in message(table, match).entries:
        event = getattr(entry.event.event.game, game_id)
        if event.WhichOneof("event") == name:
            assert list(entry.event.secret_to) == allowed(getattr(event, name).seat)
            found += 1
    assert found


# -- without proof ------------------------------------------------------------------------------


def is_of_table(entry: replay_pb2.ReplayEntry) -> bool:
    table = entry.event.event.table
    return entry.HasField("event") and table.WhichOneof("event") not in (None, "match_ended")


@pytest.mark.parametrize("game_id, seats", TABLES)
@pytest.mark.parametrize("viewer", [SPECTATOR, 1])
def test_without_proof_a_reader_gets_what_the_table_showed_and_the_own_choices(
    game_id: str, seats: int, viewer: int
) -> None:
    table, match = played(game_id, seats, actions=40)
    made = message(table, match, viewer=viewer, proof=None)
    assert [e.event.event for e in made.entries if e.HasField("event")] == table_events(
        match, viewer
    )
    assert not made.HasField("proof")
    assert not any(entry.HasField("chance") or entry.running_hash for entry in made.entries)
    decisions = [entry.decision for entry in made.entries if entry.HasField("decision")]
    assert len(decisions) == 40
    for decision in decisions:
        assert decision.HasField("action") == (decision.seat == viewer)
        assert decision.HasField("effort") == (decision.seat == viewer)
        assert bool(decision.search_seed) == (decision.seat == viewer)
        assert not decision.legal_actions


def test_a_bid_that_was_never_shown_stays_hidden_without_proof() -> None:
    game = GAMES["mino_dice"].make(3)
    texts = []
    for bid in (0, 1):
        match = Match(game, SEED)
        match.play(0, bid)
        made = message(Table(), match, viewer=2, proof=None)
        made.ClearField(
            "final_hash"
        )  # of the whole log, its shuffle included: tells nobody anything
        texts.append(made.SerializeToString(deterministic=True))
    assert texts[0] == texts[1]


def test_a_table_aborted_before_its_match_has_its_own_events_only() -> None:
    events = [event_pb2.Event(number=1, table=event_pb2.TableEvent())]
    made = replay_message(Table(table_id="t"), None, events, [], proof=PROOF)
    assert [entry.event.event for entry in made.entries] == events
    assert made.final_hash == b""
    with pytest.raises(RecordError, match="had no match"):
        record_of_replay(made)


# -- back to a record ---------------------------------------------------------------------------


@pytest.mark.parametrize("game_id, seats", TABLES)
@pytest.mark.parametrize("actions", [25, 10_000], ids=["aborted", "finished"])
def test_a_replay_that_travelled_is_played_again_to_the_same_end(
    game_id: str, seats: int, actions: int
) -> None:
    table, match = played(game_id, seats, actions)
    sent = message(table, match).SerializeToString()
    record = record_of_replay(replay_pb2.Replay.FromString(sent))
    check_fairness(record)
    assert replay(record, game_spec).hash == match.hash
    assert record == record_of(match, record.fairness)


def test_a_replay_without_proof_is_no_record() -> None:
    table, match = played("mino_dice", 3)
    with pytest.raises(RecordError, match="without the seed"):
        record_of_replay(message(table, match, proof=None))
