"""From a plan to an outcome: one match played by the policy on faults.

An illegal answer, an exception and a late answer are dealt with here. What takes the process down
or never comes back is noticed by the backend that runs the worker (``backends.processes``), and is
handed in here as a known fault, at which the player is not asked again.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast

from tavolata.ai.arena.duplicate import (
    DOMAIN,
    DecisionSeeds,
    Entrant,
    PlayerFault,
    SeatResult,
    Spent,
    ask,
    deal_seed,
    play_natively,
    play_out,
    seat_result,
    seat_results,
)
from tavolata.ai.arena.tournament.model import Fault, FaultKind, Field, MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.notes import Notes
from tavolata.ai.arena.tournament.policy import FaultPolicy, OnFault, OnSlow
from tavolata.ai.basic import GreedyPlayer, NativePlayer, is_native
from tavolata.ai.player import Observation, Player
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tavolata.ext.registry import game_spec

if TYPE_CHECKING:
    from tavolata.ext.core.record import Record

DETAIL_MAX = 300  # characters of a fault's detail
_CODES: dict[int, Literal["B", "H", "I"]] = {1: "B", 2: "H", 4: "I"}  # of unsigned numbers


class Referee:
    """Plays the matches of a field by a policy; games are made once."""

    def __init__(self, field: Field, policy: FaultPolicy, notes: Notes | None = None) -> None:
        self.field = field
        self.policy = policy
        self.notes = notes or Notes()
        self._games: dict[int, Game] = {}
        self._factories: dict[str, Callable[[Game], Player]] = {}
        self._asked_one_by_one: set[str] = set()  # of these, it is known that they have to be
        self._natives: dict[tuple[int, str], NativePlayer] = {}  # by contest and label

    def play(self, plan: MatchPlan, known: Sequence[Fault] = ()) -> MatchOutcome:
        """The outcome of a plan; ``known`` are faults that it need not suffer again."""
        return (None if known else self._played_natively(plan)) or self._played(plan, known)

    def _played_natively(self, plan: MatchPlan) -> MatchOutcome | None:
        """The outcome of a match between compiled players; None if there are others, or a fault."""
        if not self._asked_one_by_one.isdisjoint(plan.labels):
            return None
        match = Match(self.game(plan), match_seed(self.field, plan))
        sitting = _Sitting(self, match, plan, ())
        players = self._known_natives(plan) or sitting.natives()
        if players is None:
            return None
        spent = play_natively(match, players, sitting.seeds, self.notes.buffer)
        if spent is None:
            return None
        seats = seat_results(match, sitting.entrants, spent)
        return MatchOutcome(plan, tuple(seats), match.hash, pack(match))

    def _played(self, plan: MatchPlan, known: Sequence[Fault]) -> MatchOutcome:
        match = Match(self.game(plan), match_seed(self.field, plan))
        sitting = _Sitting(self, match, plan, known)
        try:
            play_out(match, sitting.decide)
            seats = seat_results(match, sitting.entrants, sitting.spent)
        except _Forfeited as forfeit:
            seats = forfeit_results(match, sitting.entrants, sitting.spent, forfeit.seat)
        return MatchOutcome(plan, tuple(seats), match.hash, pack(match), tuple(sitting.faults))

    def game(self, plan: MatchPlan) -> Game:
        """The game of the plan's contest."""
        game = self._games.get(plan.contest)
        if game is None:
            contest = self.field.contests[plan.contest]
            game = game_spec(contest.game).make(contest.seats, contest.options)
            self._games[plan.contest] = game
        return game

    def _known_natives(self, plan: MatchPlan) -> list[NativePlayer] | None:
        """The players of a plan if they are all compiled ones that have been made before.

        These keep nothing from match to match.
        """
        known = [self._natives.get((plan.contest, label)) for label in plan.labels]
        return None if None in known else cast("list[NativePlayer]", known)

    def keep(self, plan: MatchPlan, players: Sequence[NativePlayer]) -> None:
        """Compiled players for further matches of the plan's contest."""
        for label, player in zip(plan.labels, players, strict=True):
            self._natives[plan.contest, label] = player

    def make(self, entrant: Entrant, game: Game) -> Player:
        """A player for one match. Where it comes from is looked up once."""
        factory = self._factories.get(entrant.label)
        if factory is None:
            factory = self._factories[entrant.label] = entrant.factory()
        return factory(game)

    def ask_one_by_one(self, entrant: Entrant) -> None:
        """No match with this entrant can be played without asking its players from here."""
        self._asked_one_by_one.add(entrant.label)


class _Forfeited(Exception):
    """The match ends here by the policy."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat)
        self.seat = seat


class _Sitting:
    """The players of one match at their seats, and what they did that they may not."""

    def __init__(
        self, referee: Referee, match: Match, plan: MatchPlan, known: Sequence[Fault]
    ) -> None:
        self.referee = referee
        self.game = match.game
        self.plan = plan
        self.entrants = [referee.field.entrants[label] for label in plan.labels]
        self.spent = [Spent() for _ in self.entrants]
        self.faults: list[Fault] = []
        # The earliest of a seat counts, so it stands last.
        self._known = {fault.seat: fault for fault in sorted(known, key=lambda f: -f.decision)}
        self._players: dict[int, Player] = {}  # made when first asked, so that it can be blamed
        self._replaced: set[int] = set()
        self.seeds = DecisionSeeds.of(decision_base(referee.field, plan), plan.deal, plan.rotation)
        self._stop = Stop()

    def natives(self) -> list[NativePlayer] | None:
        """A compiled player for every seat; None if that can't be had.

        Players with a time limit are not among them: how long each answer takes is looked at here.
        """
        for seat, entrant in enumerate(self.entrants):
            self.referee.notes.asking(seat, 0)
            try:
                player = self._make(seat)
            except KeyboardInterrupt:
                raise
            except BaseException:  # noqa: BLE001 - it comes again when the player is asked
                self.referee.notes.answered()
                return None
            if entrant.limits.think_ms is not None or not is_native(type(player)):
                self.referee.notes.answered()
                self.referee.ask_one_by_one(entrant)
                return None
        self.referee.notes.answered()
        players = [cast("NativePlayer", self._players[seat]) for seat in range(len(self.entrants))]
        self.referee.keep(self.plan, players)
        return players

    def decide(self, seat: int, observation: Observation, number: int) -> int:
        """The seat's action: its player's, or the rule of thumb's once that is at fault."""
        if seat not in self._replaced:
            answer = self._known_at(seat, number) or self._asked(seat, observation, number)
            if not isinstance(answer, Fault):
                return answer
            self.faults.append(answer)
            if self.referee.policy.on_fault is OnFault.FORFEIT:
                raise _Forfeited(seat)
            self._replaced.add(seat)
        limits = self.entrants[seat].limits
        seed = self.seeds(number)
        return GreedyPlayer().decide(observation, limits, seed=seed, stop=self._stop).action

    def _known_at(self, seat: int, number: int) -> Fault | None:
        """The fault that is known to come. A player that draws its own chance may be asked other
        numbers than before, so it comes at the first one from there on."""
        fault = self._known.get(seat)
        if fault is None or number < fault.decision:
            return None
        return replace(fault, decision=number)

    def _asked(self, seat: int, observation: Observation, number: int) -> int | Fault:
        entrant = self.entrants[seat]
        self.referee.notes.asking(seat, number)
        try:
            player = self._players.get(seat) or self._make(seat)
            decision, elapsed_ms = ask(player, entrant, observation, self.seeds(number), self._stop)
            action = int(decision.action)
            spent = self.spent[seat]
            spent.book(decision, elapsed_ms)
        except PlayerFault as fault:
            return self._fault(FaultKind.ILLEGAL, seat, number, str(fault))
        except KeyboardInterrupt:
            raise  # of the person who watches, not of the player
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the player's
            return self._fault(FaultKind.CRASH, seat, number, words_of(error))
        finally:
            self.referee.notes.answered()
        return self._in_time(seat, number, entrant, elapsed_ms) or action

    def _make(self, seat: int) -> Player:
        self._players[seat] = self.referee.make(self.entrants[seat], self.game)
        return self._players[seat]

    def _in_time(self, seat: int, number: int, entrant: Entrant, elapsed_ms: float) -> Fault | None:
        """The fault of an answer that came late, if it ends the player's part."""
        allowed = self.referee.policy.slow_after_ms(entrant.limits)
        if allowed is None or elapsed_ms <= allowed:
            return None
        detail = f"took {elapsed_ms:.0f} ms; allowed {allowed:.0f} ms"
        fault = self._fault(FaultKind.SLOW, seat, number, detail)
        if self.referee.policy.on_slow is OnSlow.FAULT:
            return fault
        self.faults.append(fault)
        return None

    def _fault(self, kind: FaultKind, seat: int, number: int, detail: str) -> Fault:
        return Fault(kind, self.plan.labels[seat], seat, number, detail[:DETAIL_MAX])


def words_of(error: BaseException) -> str:
    """An exception in a line, with the place that raised it."""
    text = traceback.format_exception_only(error)[-1].strip()
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return text
    name = frames[-1].filename.rpartition("/")[2]
    return f"{text} ({name}, line {frames[-1].lineno})"


def forfeit_results(
    match: Match, entrants: Sequence[Entrant], spent: Sequence[Spent], loser: int
) -> list[SeatResult]:
    """Results of a match that ends by a fault: the loser last with utility 0.

    The others are placed among themselves by the totals at that point; their utility is
    (n - p)/(n - 1) with p the mean of the places that a tied group occupies.
    """
    standing, totals, count = match.placement(), match.totals(), len(entrants)
    others = [place for seat, place in enumerate(standing) if seat != loser]
    places = [
        count if seat == loser else 1 + sum(other < place for other in others)
        for seat, place in enumerate(standing)
    ]
    results = []
    for seat, entrant in enumerate(entrants):
        tied = others.count(standing[seat])
        mean_place = places[seat] + (tied - 1) / 2
        utility = 0.0 if seat == loser else (count - mean_place) / (count - 1)
        results.append(seat_result(entrant.label, seat, totals[seat], places, utility, spent[seat]))
    return results


# -- seeds --------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _base(purpose: bytes, seed: int, contest: str, *numbers: int) -> int:
    """256 bits for one purpose in one contest; contests are told apart by name, so that adding one
    leaves the others' deals as they are."""
    key = b"".join(number.to_bytes(8, "big") for number in numbers)
    text = DOMAIN + purpose + b"\x00" + seed.to_bytes(32, "big") + contest.encode() + b"\x00" + key
    return int.from_bytes(hashlib.sha256(text).digest(), "big")


def match_seed(field: Field, plan: MatchPlan) -> bytes:
    """The chance of a match: its contest's and deal's, whoever plays."""
    contest = field.contests[plan.contest].name
    return deal_seed(_base(b"contest", field.seed, contest), plan.deal)


def decision_base(field: Field, plan: MatchPlan) -> int:
    """What the seeds of a match's decisions come from, with its deal and rotation: groups that play
    the same deal are not alike by their players' chance."""
    contest = field.contests[plan.contest].name
    return _base(b"group", field.seed, contest, plan.round, plan.group)


# -- records ------------------------------------------------------------------------------------


def pack(match: Match) -> bytes:
    """The actions of a match in order, in as few bytes each as the game's actions need, which is no
    more than compression makes of them; little-endian, as the machine is."""
    actions = memoryview(match.action_words())
    width = _width(match.game)
    return actions.cast(_CODES[width])[:: 4 // width].tobytes()


def unpacked(game: Game, record: bytes) -> list[int]:
    """The actions that ``pack`` has packed."""
    return memoryview(record).cast(_CODES[_width(game)]).tolist()


def _width(game: Game) -> int:
    """Bytes of an action."""
    return 1 if game.action_count <= 1 << 8 else 2 if game.action_count <= 1 << 16 else 4


def replayed(field: Field, outcome: MatchOutcome) -> Match:
    """The match of an outcome, played again from its actions.

    RecordMismatch if it does not come to the outcome's hash, RulesError if an action is refused.
    """
    contest = field.contests[outcome.plan.contest]
    game = game_spec(contest.game).make(contest.seats, contest.options)
    match = Match(game, match_seed(field, outcome.plan))
    for action in unpacked(game, outcome.record):
        match.play(match.to_act[0], action)  # seats of one decision commit in ascending order
    if match.hash != outcome.hash:
        from tavolata.ext.core.record import RecordMismatch

        raise RecordMismatch("hash", outcome.hash.hex(), match.hash.hex())
    return match


def record_of(field: Field, outcome: MatchOutcome) -> Record:
    """The record of an outcome's match, for a file; errors as those of ``replayed``."""
    from tavolata.ext.core.record import record_of as record_of_match  # slow to import

    return record_of_match(replayed(field, outcome))
