"""Fair deals: the commitment, the nonces, the match seed, and what the replay reveals."""

from __future__ import annotations

import hashlib
import hmac
import struct

import pytest

from tavolata.ext.core.record import replay
from tavolata.ext.registry import game_spec
from tavolata.service.replays import check_fairness, record_of_replay
from tavolata.v1.fairness_pb2 import FairnessProof, Reveal
from tavolata.v1.replay_pb2 import DecisionMaker
from tavolata.v1.table_pb2 import Table
from tests.service.house import AI, CALLER, OPEN, House, Sitting


def field(data: bytes) -> bytes:
    """field(x) of fairness.proto."""
    return struct.pack(">I", len(data)) + data


def commitment_of(table: Table, proof: FairnessProof, options: str) -> bytes:
    """The commitment by the formula in fairness.proto."""
    text = b"tavolata.commitment.v1\x00" + field(table.table_id.encode())
    text += field(table.settings.game_id.encode()) + field(table.rules_version.encode())
    text += struct.pack(">I", len(table.seats)) + field(options.encode())
    return hashlib.sha256(text + field(proof.server_seed) + field(proof.salt)).digest()


def seed_of(table: Table, server_seed: bytes) -> bytes:
    """The match seed by the formula in fairness.proto."""
    text = b"tavolata.seed.v1\x00" + field(table.table_id.encode())
    for nonce in table.fairness.nonces:
        seat = nonce.seat if nonce.HasField("seat") else 4294967295
        text += struct.pack(">I", seat) + field(nonce.nonce)
    return hmac.new(server_seed, text, "sha256").digest()


async def test_the_revealed_seed_fits_the_commitment_and_the_match(house: House) -> None:
    made = await house.create([AI, OPEN, OPEN])
    table_id = made.table.table_id
    first = await house.join(table_id, nonce=b"first")
    second = await house.join(table_id, nonce=b"\x00\xff")
    started = await house.start(table_id, made.token, nonce=b"owner")
    nonces = [
        (each.seat if each.HasField("seat") else None, each.nonce)
        for each in started.fairness.nonces
    ]
    assert nonces == [(1, b"first"), (2, b"\x00\xff"), (None, b"owner")]
    assert started.fairness.commitment == made.table.fairness.commitment
    await house.restart()
    await house.abort(table_id, made.token)
    told = await house.replay(table_id)
    options = (
        "all_or_nothing=false all_or_nothing_last=reverse first_lead=after_dealer twin_rule=first"
    )
    assert commitment_of(told.table, told.proof, options) == made.table.fairness.commitment
    assert seed_of(told.table, told.proof.server_seed) == told.proof.match_seed
    record = record_of_replay(told)
    check_fairness(record)
    assert replay(record, game_spec).hash == told.final_hash
    assert first.seat
    assert second.seat


async def test_a_seed_that_was_given_deals_the_same_match_again(house: House) -> None:
    seed = bytes(range(32))
    hands = []
    for _ in range(2):
        sitting = await house.sitting(2, seed=seed)
        view = await house.view(sitting.table_id, sitting.tokens[0])
        hands.append([seat.hand.SerializeToString() for seat in view.game.bouillabaisse.seats])
        table = await house.abort(sitting.table_id, sitting.owner)
        assert table.fairness.reproducible
        assert (await house.replay(sitting.table_id)).proof.match_seed == seed
    assert hands[0] == hands[1]
    sitting = await house.sitting(2)
    view = await house.view(sitting.table_id, sitting.tokens[0])
    other = [seat.hand.SerializeToString() for seat in view.game.bouillabaisse.seats]
    assert other != hands[0]


@pytest.mark.parametrize("game", ["bouillabaisse", "mino_dice"])
async def test_the_record_of_a_finished_match_says_who_decided_and_replays(
    house: House, game: str
) -> None:
    made = await house.create([CALLER, AI, AI], game=game, show_search=True)
    table_id = made.table.table_id
    await house.start(table_id, made.token)
    await house.play_as_told(table_id, made.token)
    told = await house.replay(table_id)
    record = record_of_replay(told)
    check_fairness(record)
    match = replay(record, game_spec)
    assert match.totals() == tuple(seat.total for seat in told.table.result.seats)
    assert match.hash == told.final_hash
    decisions = [entry.decision for entry in told.entries if entry.HasField("decision")]
    for decision in decisions:
        person = decision.seat == 0
        wanted = DecisionMaker.DECISION_MAKER_PERSON if person else DecisionMaker.DECISION_MAKER_AI
        assert decision.made_by == wanted
        assert bool(decision.request_id) == person
        assert decision.HasField("ai") != person
        assert decision.action in decision.legal_actions
    shown = [entry for entry in told.entries if entry.event.event.table.HasField("search_shown")]
    assert len(shown) == sum(decision.seat != 0 for decision in decisions)


async def test_a_table_that_never_reveals_shows_no_seed_and_no_foreign_hand(house: House) -> None:
    sitting = await house.sitting(3, reveal=Reveal.REVEAL_NEVER)
    await house.play_on(sitting, 5)
    await house.abort(sitting.table_id, sitting.owner)
    for token, mine in ((None, None), (sitting.tokens[1], 1)):
        told = await house.replay(sitting.table_id, token)
        assert not told.HasField("proof")
        assert not any(entry.HasField("chance") for entry in told.entries)
        assert not any(entry.running_hash for entry in told.entries)
        dealt = [
            entry.event.event.game.bouillabaisse.dealt
            for entry in told.entries
            if entry.event.event.game.bouillabaisse.HasField("dealt")
        ]
        assert [each.seat for each in dealt if each.cards.cards] == ([] if mine is None else [mine])


async def test_two_tables_have_different_seeds_and_commitments(house: House) -> None:
    sittings: list[Sitting] = [await house.sitting(2) for _ in range(3)]
    commitments, seeds = set(), set()
    for sitting in sittings:
        await house.abort(sitting.table_id, sitting.owner)
        told = await house.replay(sitting.table_id)
        commitments.add(told.table.fairness.commitment)
        seeds.add(told.proof.match_seed)
    assert len(commitments) == len(seeds) == 3
