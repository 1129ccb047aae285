"""What is stored: whole matches, read back as they were, and the hash over them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from tavolata.ai.arena.tournament.model import Fault, FaultKind, MatchOutcome
from tavolata.ai.arena.tournament.play import Referee
from tavolata.ai.arena.tournament.policy import FaultPolicy
from tavolata.ai.arena.tournament.store import Store, StoreError
from tests.ai.arena.tournament.table_of_four import duels, field_of


@pytest.fixture(scope="module")
def outcomes() -> list[MatchOutcome]:
    referee = Referee(field_of("greedy", "random"), FaultPolicy())
    played = [referee.play(plan) for plan in duels("greedy", "random", deals=3)]
    fault = Fault(FaultKind.HANG, "random", 1, 17, "no answer, or “none”")
    return [replace(played[0], faults=(fault, replace(fault, seat=3))), *played[1:]]


def stored(path: Path, outcomes: list[MatchOutcome]) -> Store:
    store = Store(path)
    for outcome in outcomes:
        store.append([outcome])
    return store


def test_outcomes_come_back_as_they_were(tmp_path: Path, outcomes: list[MatchOutcome]) -> None:
    stored(tmp_path / "r", outcomes).close()
    store = Store(tmp_path / "r", readonly=True)
    assert list(store.outcomes()) == outcomes
    assert store.count() == len(outcomes)
    assert list(store.outcomes(records=False)) == [replace(one, record=b"") for one in outcomes]


def test_outcomes_and_hash_do_not_depend_on_the_order_they_came_in(
    tmp_path: Path, outcomes: list[MatchOutcome]
) -> None:
    in_order = stored(tmp_path / "a", outcomes)
    hashes = {in_order.result_hash()}
    for number in range(5):
        mixed = random.Random(number).sample(outcomes, len(outcomes))
        store = stored(tmp_path / f"b{number}", mixed)
        assert list(store.outcomes()) == outcomes
        hashes.add(store.result_hash())
    assert len(hashes) == 1


def test_the_hash_covers_every_match_and_who_sat_where(
    tmp_path: Path, outcomes: list[MatchOutcome]
) -> None:
    plan = outcomes[0].plan
    variants = [
        outcomes,
        outcomes[1:],
        [replace(outcomes[0], hash=bytes(32)), *outcomes[1:]],
        [replace(outcomes[0], plan=replace(plan, labels=plan.labels[::-1])), *outcomes[1:]],
        [replace(outcomes[0], plan=replace(plan, deal=9)), *outcomes[1:]],
    ]
    hashes = {
        stored(tmp_path / str(number), variant).result_hash()
        for number, variant in enumerate(variants)
    }
    assert len(hashes) == len(variants)


def test_the_hash_covers_no_clock_and_no_wording(
    tmp_path: Path, outcomes: list[MatchOutcome]
) -> None:
    other = [
        replace(one, faults=(), seats=tuple(replace(seat, think_ms=1e9) for seat in one.seats))
        for one in outcomes
    ]
    hashes = [stored(tmp_path / str(n), all_) for n, all_ in enumerate((outcomes, other))]
    assert hashes[0].result_hash() == hashes[1].result_hash()


def test_a_match_is_found_by_its_id(tmp_path: Path, outcomes: list[MatchOutcome]) -> None:
    store = stored(tmp_path / "r", outcomes)
    assert [store.find(one.plan.id) for one in outcomes] == outcomes
    for wrong in ("", "0.0.0.1", "0.0.0.0.0.0", "0.0.0.99.0", "a.b.c.d.e", "0.0.0.0.-1", "²..."):
        assert store.find(wrong) is None


def test_a_match_is_stored_once_and_a_failed_append_leaves_nothing(
    tmp_path: Path, outcomes: list[MatchOutcome]
) -> None:
    store = stored(tmp_path / "r", outcomes[:1])
    with pytest.raises(StoreError, match="UNIQUE"):
        store.append([outcomes[1], outcomes[2], outcomes[0]])
    assert list(store.outcomes()) == outcomes[:1]


def test_a_block_is_read_alone(tmp_path: Path, outcomes: list[MatchOutcome]) -> None:
    later = [replace(one, plan=replace(one.plan, block=1, round=1)) for one in outcomes[2:]]
    store = stored(tmp_path / "r", later + outcomes[:2])
    assert [one.plan for one in store.of_block(0)] == [one.plan for one in outcomes[:2]]
    assert [one.plan for one in store.of_block(1)] == [one.plan for one in later]
    assert store.of_block(2) == []


def test_facts_are_replaced_by_name(tmp_path: Path) -> None:
    store = Store(tmp_path / "r")
    store.put({"a": "1", "b": "2"})
    store.put({"b": "3"})
    assert store.facts() == {"a": "1", "b": "3"}


def test_files_of_others_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no results, but long enough to be looked at as a page of a database" * 40)
    before = text.read_bytes()
    with pytest.raises(StoreError, match="no SQLite file"):
        Store(text)
    assert text.read_bytes() == before
    foreign = tmp_path / "foreign"
    apsw.Connection(str(foreign)).execute("CREATE TABLE plants (name)")
    with pytest.raises(StoreError, match="holds no results of a tournament"):
        Store(foreign)
    newer = tmp_path / "newer"
    Store(newer).close()
    apsw.Connection(str(newer)).pragma("user_version", 99)
    with pytest.raises(StoreError, match="schema version 99; this program reads version 2"):
        Store(newer)
    with pytest.raises(StoreError, match="can't be opened"):
        Store(tmp_path / "absent", readonly=True)
