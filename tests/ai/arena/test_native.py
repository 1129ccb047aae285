"""Matches of compiled players while the GIL is free: to the byte what asking one by one gives."""

from __future__ import annotations

import threading
from random import Random

import pytest

from tavolata.ai.arena import native
from tavolata.ai.arena.duplicate import (
    DecisionSeeds,
    Entrant,
    deal_seed,
    play_match,
    play_natively,
)
from tavolata.ai.arena.native import NOTE_BYTES, NativeMatch
from tavolata.ai.arena.timing import bin_of, lower_edge
from tavolata.ai.arena.tournament.model import Contest, Field, MatchPlan
from tavolata.ai.arena.tournament.notes import NOBODY, Notes
from tavolata.ai.arena.tournament.play import Referee
from tavolata.ai.arena.tournament.policy import FaultPolicy
from tavolata.ai.basic import GreedyPlayer, NativePlayer, RandomPlayer, is_native
from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match
from tavolata.ext.core.record import dumps, record_of
from tavolata.ext.registry import GAMES
from tests.games.engine import make_game
from tests.games.tables import covering_settings

ONE = Limits(iterations=1)
KINDS: tuple[type[NativePlayer], ...] = (RandomPlayer, GreedyPlayer)


@pytest.mark.parametrize("game", GAMES)
def test_a_match_of_compiled_players_is_the_one_that_asking_them_one_by_one_gives(
    game: str,
) -> None:
    """At every number of seats and with every value of every option."""
    for number, setting in enumerate(covering_settings(game)):
        rules = make_game(game, *setting)
        names = [("random", "greedy")[seat in (number % 3, 2)] for seat in range(setting[0])]
        entrants = [Entrant(name, name, ONE) for name in names]
        seeds = DecisionSeeds.of(7, number, 1)
        natively, seats = play_match(rules, entrants, deal_seed(7, number), seeds)
        # With seeds from just any function, players are asked one by one.
        asked, others = play_match(rules, entrants, deal_seed(7, number), seeds.__call__)
        assert natively.hash == asked.hash
        assert natively.state_bytes() == asked.state_bytes()
        assert dumps(record_of(natively)) == dumps(record_of(asked))
        assert natively.entries() == asked.entries()
        assert natively.action_words() == asked.action_words()
        for one, other in zip(seats, others, strict=True):
            assert (one.label, one.total, one.place, one.won, one.utility, one.decisions) == (
                other.label, other.total, other.place, other.won, other.utility, other.decisions,
            )  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
def test_a_tournaments_match_is_the_same_whichever_way_its_players_are_asked(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GAMES[game]
    seats = spec.seats_usual
    contest = Contest(game, game, seats, spec.complete(seats, {}))
    entrants = {name: Entrant(name, name, ONE) for name in ("greedy", "random")}
    labels = tuple(("greedy", "random")[seat % 2] for seat in range(seats))
    plans = [MatchPlan(0, 0, 0, 2, deal, 1, labels) for deal in range(3)]

    def played() -> list[tuple[bytes, bytes, list[tuple[int, float]]]]:
        referee = Referee(Field((contest,), entrants, 4), FaultPolicy())
        return [
            (one.hash, one.record, [(seat.decisions, seat.utility) for seat in one.seats])
            for one in map(referee.play, plans)
        ]

    def never(*_: object) -> None:
        raise AssertionError("a compiled player was asked from Python")

    with monkeypatch.context() as patched:
        patched.setattr("tavolata.ai.arena.tournament.play.ask", never)
        natively = played()
    monkeypatch.setattr("tavolata.ai.arena.tournament.play.is_native", lambda kind: False)
    assert played() == natively


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", GAMES)
def test_a_match_goes_on_natively_from_wherever_it_stands(
    game: str, kind: type[NativePlayer]
) -> None:
    rules = GAMES[game].make(GAMES[game].seats_usual)
    seeds, players = DecisionSeeds.of(3, 1, 0), [kind()] * rules.seat_count
    whole = Match(rules, bytes(32))
    assert play_natively(whole, players, seeds) is not None
    begun = Match(rules, bytes(32))
    for _, seat, action in whole.decisions[: whole.decision_count // 2]:
        begun.play(seat, action)
    assert play_natively(begun, players, seeds) is not None
    assert begun.hash == whole.hash


def test_times_are_booked_for_every_decision() -> None:
    match = Match(GAMES["bouillabaisse"].make(4), bytes(32))
    spent = play_natively(match, [RandomPlayer()] * 4, DecisionSeeds.of(1, 1, 1))
    assert spent is not None
    for seat, one in enumerate(spent):
        assert one.decisions == sum(who == seat for _, who, _ in match.decisions)
        assert sum(one.bins.values()) == one.decisions
        assert min(one.bins) >= bin_of(0.0)
        assert 0 < one.think_ms < 60_000


def test_durations_fall_into_the_same_bins() -> None:
    choice = Random(3)
    for _ in range(20_000):
        elapsed_ms = 10 ** choice.uniform(-5, 6)
        assert native.bin_of(elapsed_ms) == bin_of(elapsed_ms)
    for number in range(-106, 160):
        assert native.bin_of(lower_edge(number) * 1.000001) == number
        assert native.bin_of(lower_edge(number) * 0.999999) == number - 1


def test_a_class_that_overrides_how_it_decides_is_not_asked_natively() -> None:
    class First(RandomPlayer):
        def decide(
            self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
        ) -> Decision:
            return Decision(observation.legal_actions[0])

    class Named(RandomPlayer):
        name = "a subclass that changes nothing of that"

    assert [is_native(kind) for kind in (First, Named, RandomPlayer, object, 5)] == [
        False, True, True, False, False,
    ]  # fmt: skip
    match = Match(GAMES["bouillabaisse"].make(2), bytes(32))
    players = [First(), RandomPlayer()]
    assert play_natively(match, players, DecisionSeeds.of(1, 1, 1)) is None
    assert match.decision_count == 0
    with pytest.raises(ValueError, match="2 compiled players are needed"):
        NativeMatch(match, (First(), RandomPlayer()), b"")


def test_what_is_being_asked_can_be_read_in_the_notes() -> None:
    notes = Notes()
    notes.match(5)
    assert NOTE_BYTES == Notes.SIZE
    match = Match(GAMES["bouillabaisse"].make(2), bytes(32))
    play_natively(match, [RandomPlayer()] * 2, DecisionSeeds.of(1, 1, 1), notes.buffer)
    last = notes.read()
    assert last is not None
    assert (last.position, last.seat, last.decision) == (5, NOBODY, 0)
    with pytest.raises(ValueError, match="notes take 48 bytes, not 8"):
        NativeMatch(match, (RandomPlayer(),) * 2, b"", bytearray(8))


def test_matches_on_several_threads_do_not_disturb_each_other() -> None:
    rules = GAMES["bids"].make(4)

    def hashes(numbers: list[int]) -> dict[int, bytes]:
        found = {}
        for number in numbers:
            match = Match(rules, deal_seed(1, number))
            players = [RandomPlayer(), GreedyPlayer(), RandomPlayer(), GreedyPlayer()]
            play_natively(match, players, DecisionSeeds.of(1, number, 0))
            found[number] = match.hash
        return found

    expected, found = hashes(list(range(12))), dict[int, bytes]()
    mixed = [Random(thread).sample(range(12), 12) for thread in range(3)]
    threads = [threading.Thread(target=lambda row=row: found.update(hashes(row))) for row in mixed]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected
