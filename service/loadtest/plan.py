"""What a load test does: everything that its processes have to know, and what it can't be."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tavolata.ext.registry import GAMES, game_spec

TRANSPORTS = ("unary", "stream")
ARRIVALS = ("poisson", "even")
SEATS = ("usual", "min", "max")


class WrongPlan(ValueError):
    """A load test can't be like this; the text says what is allowed."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How the server is reached. ca, cert, key: PEM files; identity: file with a JWT."""

    target: str
    tls: bool = False
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    identity: Path | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A load test.

    tables: played at the same time, each followed by another when its match is over; games: weight
    by id; rate: actions a second of all tables together, whatever the server answers (open loop);
    None: as answers come, after `think_s` (closed loop). views: people follow the views that the
    server sends them instead of playing along by the rules; people at tables with AI players always
    do. watchers: spectators of each table. storm_s: seconds between storms, each of which cuts
    `storm_share` of the watches and streams at once; 0: none. ramp_s, warmup_s: before what is
    counted; duration_s: of what is counted. timeout_s: deadline of a call. streams, connections: of
    a process.
    """

    reach: Reach
    tables: int = 32
    games: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(GAMES, 1.0))
    seats: str = "usual"
    rate: float | None = None
    arrivals: str = "poisson"
    think_s: float = 0.0
    transport: str = "unary"
    views: bool = False
    watchers: int = 0
    storm_s: float = 0.0
    storm_share: float = 0.5
    ai_share: float = 0.0
    ai_player: str = ""
    ai_level: str = ""
    ramp_s: float = 0.0
    warmup_s: float = 2.0
    duration_s: float = 30.0
    timeout_s: float = 10.0
    connections: int = 4
    streams: int = 8
    processes: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        _check(self)

    @property
    def total_s(self) -> float:
        """From the beginning to the end."""
        return self.ramp_s + self.warmup_s + self.duration_s

    def places(self, process: int) -> range:
        """The numbers of the tables that a process plays at."""
        return range(process, self.tables, self.processes)

    def draws(self, *of: object) -> random.Random:
        """Random numbers of a part of the load, the same whichever process it is in."""
        return random.Random(" ".join(map(str, (self.seed, *of))))  # noqa: S311 - it plays games


def seat_count(plan: Plan, game: str) -> int:
    """How many seats the plan's tables of a game have."""
    spec = game_spec(game)
    counts = {"usual": spec.seats_usual, "min": spec.seats_min, "max": spec.seats_max}
    return int(counts[plan.seats])


def tables_for(players: int, games: Mapping[str, float], seats: str) -> int:
    """The number of tables at which so many seats are expected."""
    weights = sum(games.values())
    a_table = sum(
        weight * seat_count(Plan(Reach(""), games={game: 1.0}, seats=seats), game)
        for game, weight in games.items()
    )
    return max(1, round(players * weights / a_table))


def games_from(text: str) -> dict[str, float]:
    """Weights from ``bids=2,mino_dice=1`` or ``bids,mino_dice``; empty: all games alike."""
    if not text.strip():
        return dict.fromkeys(GAMES, 1.0)
    return dict(_weights(text))


def _weights(text: str) -> Iterator[tuple[str, float]]:
    for part in text.split(","):
        game, _, weight = (each.strip() for each in part.partition("="))
        if game not in GAMES:
            raise WrongPlan(f"there is no game {game!r}; there are: {', '.join(GAMES)}")
        try:
            number = float(weight or 1)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            raise WrongPlan(f"the weight of {game} is {weight!r}; it has to be a number above 0")
        yield game, number


def _check(plan: Plan) -> None:
    share = "from 0 to 1"
    rules: tuple[tuple[str, Callable[[float], bool], str], ...] = (
        ("tables", lambda value: value >= 1, "1 or more"),
        ("think_s", lambda value: value >= 0, "0 or more"),
        ("watchers", lambda value: value >= 0, "0 or more"),
        ("storm_s", lambda value: value == 0 or value >= 0.05, "0 for none, or 0.05 or more"),
        ("storm_share", lambda value: 0 <= value <= 1, share),
        ("ai_share", lambda value: 0 <= value <= 1, share),
        ("ramp_s", lambda value: value >= 0, "0 or more"),
        ("warmup_s", lambda value: value >= 0, "0 or more"),
        ("duration_s", lambda value: value > 0, "more than 0"),
        ("timeout_s", lambda value: value > 0, "more than 0"),
        ("connections", lambda value: value >= 1, "1 or more"),
        ("streams", lambda value: value >= 1, "1 or more"),
        ("processes", lambda value: 1 <= value <= plan.tables, "from 1 to the number of tables"),
    )
    for name, allowed, words in rules:
        value = getattr(plan, name)
        if not allowed(value):
            raise WrongPlan(f"{name} is {value}; allowed: {words}")
    if plan.rate is not None and not plan.rate > 0:
        raise WrongPlan(f"rate is {plan.rate}; allowed: more than 0 actions a second")
    if plan.rate is not None and plan.think_s:
        raise WrongPlan("a rate has no think time: it says itself when an action is due")
    if plan.reach.identity is not None and plan.ai_share < 1:
        raise WrongPlan(
            "one person has one seat at a table: with an identity, AI players have to take the"
            " others; set ai_share to 1"
        )
    for name, choices in (("transport", TRANSPORTS), ("arrivals", ARRIVALS), ("seats", SEATS)):
        if getattr(plan, name) not in choices:
            raise WrongPlan(f"{name} is {getattr(plan, name)!r}; allowed: {', '.join(choices)}")
