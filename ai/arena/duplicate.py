"""Duplicate matches: the same deals for every rotation of the players over the seats.

A *deal* is a whole match played once for each different rotation from one seed, so luck of the
cards falls on everybody alike. The deal is the unit of analysis: results of one deal are averaged
before anything is compared, and differences between players are taken deal by deal.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from tavolata.ai.arena.cheating import Truth, arena_player_spec
from tavolata.ai.arena.native import NativeMatch
from tavolata.ai.arena.timing import bin_of
from tavolata.ai.basic import NativePlayer, is_native
from tavolata.ai.player import Decision, Limits, Observation, Player, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tavolata.ext.core.spec import Options
from tavolata.ext.registry import game_spec

DOMAIN = b"tavolata.arena.v1\x00"


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player that takes part, under a label of its own, with its limits and settings."""

    label: str
    player: str
    limits: Limits
    settings: tuple[tuple[str, float], ...] = ()

    def factory(self) -> Callable[[Game], Player]:
        """What makes the player for a match; UnknownPlayer if there is none of its name."""
        return partial(arena_player_spec(self.player).make, **dict(self.settings))

    def make(self, game: Game) -> Player:
        """The player, for one match."""
        return self.factory()(game)


@dataclass(frozen=True, slots=True)
class Pairing:
    """What is played: a game and who sits down, seat by seat in the first rotation."""

    game: str
    options: Options
    lineup: tuple[Entrant, ...]

    def rotations(self) -> list[tuple[Entrant, ...]]:
        """Every different rotation of the lineup over the seats."""
        turned = (self.lineup[shift:] + self.lineup[:shift] for shift in range(len(self.lineup)))
        return list(dict.fromkeys(turned))


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How one seat of one match ended."""

    label: str
    seat: int
    total: int
    place: int
    won: float  # a share of first place: 1/k for each of k tied winners
    utility: float
    decisions: int
    iterations: int
    think_ms: float
    think_bins: tuple[tuple[int, int], ...] = ()  # decisions by duration, see arena.timing


@dataclass(frozen=True, slots=True)
class MatchResult:
    """One match of a deal."""

    deal: int
    rotation: int
    seats: tuple[SeatResult, ...]
    hash: str


@dataclass(slots=True)
class Spent:
    """What a seat's answers took so far."""

    decisions: int = 0
    iterations: int = 0
    think_ms: float = 0.0
    bins: dict[int, int] = field(default_factory=dict)  # decisions by duration, see timing.py

    def book(self, decision: Decision, elapsed_ms: float) -> None:
        """Add one answer."""
        self.decisions += 1
        self.iterations += decision.iterations
        self.think_ms += elapsed_ms
        number = bin_of(elapsed_ms)
        self.bins[number] = self.bins.get(number, 0) + 1


class PlayerFault(Exception):
    """A player answered with something that is no legal action."""


def deal_seed(base: int, deal: int) -> bytes:
    """The match seed of a deal: 32 bytes."""
    return hashlib.sha256(
        DOMAIN + b"deal" + base.to_bytes(32, "big") + deal.to_bytes(8, "big")
    ).digest()


@dataclass(frozen=True, slots=True)
class DecisionSeeds:
    """The seeds of one match's decisions: called with a decision's number, gives the 64 bits that a
    player may use for it. Nothing of the deal can be told from them."""

    key: bytes

    @classmethod
    def of(cls, base: int, deal: int, rotation: int) -> DecisionSeeds:
        """Those of a match by its place."""
        place = deal.to_bytes(8, "big") + rotation.to_bytes(8, "big")
        return cls(DOMAIN + b"decision" + base.to_bytes(32, "big") + place)

    def __call__(self, decision: int) -> int:
        # A hash has the seeds of four decisions.
        digest = hashlib.sha256(self.key + (decision // 4).to_bytes(8, "big")).digest()
        at = decision % 4 * 8
        return int.from_bytes(digest[at : at + 8], "big")


def decision_seed(base: int, deal: int, rotation: int, decision: int) -> int:
    """One of the seeds that ``DecisionSeeds`` gives."""
    return DecisionSeeds.of(base, deal, rotation)(decision)


def play_match(
    game: Game, entrants: Sequence[Entrant], seed: bytes, seed_of: Callable[[int], int]
) -> tuple[Match, list[SeatResult]]:
    """Play one match to its end; ``seed_of`` gives the seed of the n-th decision."""
    players = tuple(entrant.make(game) for entrant in entrants)
    if isinstance(seed_of, DecisionSeeds):
        match = Match(game, seed)
        natively = play_natively(match, players, seed_of)
        if natively is not None:
            return match, seat_results(match, entrants, natively)
    spent = [Spent() for _ in entrants]
    stop = Stop()
    match = Match(game, seed)
    truth = Truth(match, players)

    def decide(seat: int, observation: Observation, number: int) -> int:
        truth.show(players[seat])
        decision, elapsed_ms = ask(
            players[seat], entrants[seat], observation, seed_of(number), stop
        )
        spent[seat].book(decision, elapsed_ms)
        return decision.action

    play_out(match, decide)
    return match, seat_results(match, entrants, spent)


def play_natively(
    match: Match, players: Sequence[Player], seeds: DecisionSeeds, notes: Any = None
) -> list[Spent] | None:
    """Play a match on to its end while the GIL is free, and say what each seat spent.

    None if some player is not a compiled one, or has given an answer that is not legal: who has to
    say more about that plays the match again from the deal, asking one by one. notes: see
    ``NativeMatch``.
    """
    if not all(is_native(type(player)) for player in players):
        return None
    table = NativeMatch(match, cast("tuple[NativePlayer, ...]", tuple(players)), seeds.key, notes)
    if not table.play():
        return None
    return [Spent(decisions, 0, think_ms, bins) for decisions, think_ms, bins in table.spent()]


Decide = Callable[[int, Observation, int], int]  # (seat, observation, number of the decision)


def play_out(match: Match, decide: Decide) -> None:
    """Play a match on to its end with the legal actions that ``decide`` gives."""
    while not match.over:
        # Seats of a simultaneous decision choose from observations made before any of them commits.
        waiting = [(seat, observe(match, seat)) for seat in match.to_act]
        turn = match.turn
        for seat, observation in waiting:
            match.play(seat, decide(seat, observation, match.decision_count), turn)


def ask(
    player: Player, entrant: Entrant, observation: Observation, seed: int, stop: Stop
) -> tuple[Decision, float]:
    """The player's decision and the milliseconds it took. PlayerFault if it is no legal action."""
    started = time.perf_counter()
    decision = player.decide(observation, entrant.limits, seed=seed, stop=stop)
    elapsed_ms = 1000 * (time.perf_counter() - started)
    # A player may come from anywhere: its types are looked at, not trusted.
    if not isinstance(decision, Decision):
        raise PlayerFault(f"{entrant.label} answered {decision!r}, which is no Decision")
    if decision.action not in observation.legal_actions:
        raise PlayerFault(f"{entrant.label} chose {decision.action!r}, which is not legal")
    return decision, elapsed_ms


def seat_results(
    match: Match, entrants: Sequence[Entrant], spent: Sequence[Spent]
) -> list[SeatResult]:
    """The results of a match that is over, seat by seat."""
    places, totals, utilities = match.placement(), match.totals(), match.utility()
    return [
        seat_result(entrant.label, seat, totals[seat], places, utilities[seat], spent[seat])
        for seat, entrant in enumerate(entrants)
    ]


def seat_result(
    label: str, seat: int, total: int, places: Sequence[int], utility: float, spent: Spent
) -> SeatResult:
    """One seat's result; places: of all seats, the winners share first place."""
    return SeatResult(
        label=label,
        seat=seat,
        total=total,
        place=places[seat],
        won=1 / places.count(1) if places[seat] == 1 else 0.0,
        utility=utility,
        decisions=spent.decisions,
        iterations=spent.iterations,
        think_ms=spent.think_ms,
        think_bins=tuple(sorted(spent.bins.items())),
    )


def play_deal(pairing: Pairing, base: int, deal: int) -> list[MatchResult]:
    """All rotations of one deal."""
    game = game_spec(pairing.game).make(len(pairing.lineup), pairing.options)
    results = []
    for rotation, entrants in enumerate(pairing.rotations()):
        seeds = DecisionSeeds.of(base, deal, rotation)
        match, seats = play_match(game, entrants, deal_seed(base, deal), seeds)
        results.append(MatchResult(deal, rotation, tuple(seats), match.hash.hex()))
    return results


def play_deals(
    pairing: Pairing, deals: int, *, base: int = 1, processes: int | None = None
) -> Iterator[list[MatchResult]]:
    """Yield the results of deals 0..deals-1 as they end, on ``processes`` spawned workers.

    processes: all cores unless given; 1 plays in this process, in order.
    """
    workers = min(processes or os.cpu_count() or 1, deals)
    if workers <= 1:
        yield from (play_deal(pairing, base, deal) for deal in range(deals))
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(play_deal, pairing, base, deal) for deal in range(deals)]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
