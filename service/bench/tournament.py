"""What matches between players cost, beside bare playouts, and search beside its match.

Everything is counted in CPU time of the one thread that does it, so that other work on the machine
falls on nothing here. Seeds are new for every match.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

from tavolata.ai.arena.duplicate import DecisionSeeds, Entrant, deal_seed, play_natively
from tavolata.ai.arena.tournament.model import Contest, Field, MatchPlan
from tavolata.ai.arena.tournament.play import Referee
from tavolata.ai.arena.tournament.policy import FaultPolicy
from tavolata.ai.basic import GreedyPlayer, NativePlayer, RandomPlayer
from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Decision, Limits, Observation, Player
from tavolata.ai.players import DEFAULT_PLAYER, player_spec
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.core.cpu import best_build, level
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service.bench.measurement import Measurement, interleaved
from tavolata.service.bench.rules import RANDOM, RULE, mean_moves

REPEATS = 5
SECONDS = 0.3
NATIVE_GOAL = 0.10  # of bare playouts by the generic loop, in decisions
RANDOM_GOAL = 1_350_000.0  # decisions/s: fifty times 27,000, random play of libraries in Python
PYTHON_GOAL = 50_000.0  # decisions/s
SEARCH_GOAL = 0.95  # of CPU time
SEARCH_DECISIONS = 100
ONE = Limits(iterations=1)
LABEL = "player"


class FirstPlayer:
    """The least that a player in Python can do: takes the first legal action."""

    def __init__(self, game: Game) -> None:
        pass

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        return Decision(observation.legal_actions[0])


class _FirstEntrant(Entrant):
    def factory(self) -> Callable[[Game], Player]:
        return FirstPlayer


def measurements() -> Iterator[Measurement]:
    """Compiled players, then players in Python, then search, in every game at its usual table."""
    for spec in GAMES.values():
        game = spec.make(spec.seats_usual)
        yield from _compiled(game, RandomPlayer, "random", RANDOM)
        yield from _compiled(game, GreedyPlayer, "greedy", RULE)
    for spec in GAMES.values():
        game = spec.make(spec.seats_usual)
        rate = _Matches(game, _FirstEntrant(LABEL, LABEL, ONE)).rate
        (value,) = interleaved(REPEATS, rate)
        case = f"{spec.id} {game.seat_count} seats, players in Python"
        yield Measurement(case, value, "decisions/s", goal=PYTHON_GOAL)
    for spec in GAMES.values():
        yield _search(spec.make(spec.seats_usual))


def _compiled(
    game: Game, kind: type[NativePlayer], name: str, policy: int
) -> Iterator[Measurement]:
    moves = mean_moves(game, policy=policy)
    loop = best_build("tavolata.ext.core", "_playout").Loop()
    numbers = itertools.count(1)
    players = [kind() for _ in range(game.seat_count)]

    def playouts() -> int:
        loop.first_rounds(game, 64, next(numbers), policy, True)
        return 64

    def match() -> int:
        number = next(numbers)
        played = Match(game, deal_seed(1, number))
        play_natively(played, players, DecisionSeeds.of(1, number, 0))
        return played.decision_count

    of_tournament = _Matches(game, Entrant(LABEL, name, ONE))
    matches, tournament, bare = interleaved(
        REPEATS, lambda: rate_of(match), of_tournament.rate, lambda: rate_of(playouts)
    )
    case = f"{game.spec.id} {game.seat_count} seats, {name} players"
    against = f"generic {name} playouts, {level()}"
    unit, bare = "decisions/s", bare * moves
    yield Measurement(
        f"{case}, views blanked, logs kept", matches, unit, against, bare, NATIVE_GOAL
    )
    if kind is RandomPlayer:
        yield Measurement(f"{case}, the same", matches, unit, goal=RANDOM_GOAL)
    whole = f"{case}, a tournament's match with hash, record and results"
    yield Measurement(whole, tournament, unit, against, bare)


def rate_of(some: Callable[[], int]) -> float:
    """What ``some`` says that it has done, a second of CPU time."""
    done, started = 0, time.thread_time()
    while (spent := time.thread_time() - started) < SECONDS:
        done += some()
    return done / spent


class _Matches:
    """Matches of a tournament in which one entrant has every seat."""

    def __init__(self, game: Game, entrant: Entrant) -> None:
        contest = Contest(game.spec.id, game.spec.id, game.seat_count, game.options)
        field = Field((contest,), {entrant.label: entrant}, 1)
        self._referee = Referee(field, FaultPolicy())
        self._labels = (entrant.label,) * game.seat_count
        self._deals = itertools.count()

    def play(self) -> int:
        """The decisions of the next match."""
        plan = MatchPlan(0, 0, 0, 0, next(self._deals), 0, self._labels)
        return sum(seat.decisions for seat in self._referee.play(plan).seats)

    def rate(self) -> float:
        """Decisions/s."""
        return rate_of(self.play)


# -- search -------------------------------------------------------------------------------------


class _WatchedPlayer(IsmctsPlayer):
    """Adds up the CPU time that its searches take."""

    searching = 0.0

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        loop: type[Searcher] = self._loop

        class Watched(loop):  # type: ignore[misc, valid-type]
            def search(self) -> None:
                started = time.thread_time()
                super().search()
                _WatchedPlayer.searching += time.thread_time() - started

        self._loop = Watched


class _WatchedEntrant(Entrant):
    def factory(self) -> Callable[[Game], Player]:
        return _WatchedPlayer


def _search(game: Game) -> Measurement:
    limits = player_spec(DEFAULT_PLAYER).limits
    matches = _Matches(game, _WatchedEntrant(LABEL, LABEL, limits))
    _Matches(game, _WatchedEntrant(LABEL, LABEL, ONE)).play()  # what is worked out once a process
    _WatchedPlayer.searching = 0.0
    started, decisions = time.thread_time(), 0
    while decisions < SEARCH_DECISIONS:
        decisions += matches.play()
    share = _WatchedPlayer.searching / (time.thread_time() - started)
    case = f"{game.spec.id} {game.seat_count} seats, searches of {limits.iterations} iterations"
    return Measurement(case, share, "of CPU time in search", goal=SEARCH_GOAL)
