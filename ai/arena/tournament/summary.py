"""What a tournament came to, as data: everything a table, a file or a plot shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tavolata.ai.arena.tournament.estimates import Estimate
from tavolata.ai.arena.tournament.model import Contest, FaultKind
from tavolata.ai.arena.tournament.skill import Skill


@dataclass(frozen=True, slots=True)
class Standing:
    """One entrant over all contests, or in one.

    rank: tied ratings share one; rank_low, rank_high: 95 % of the ranks that other deals would
    give; seats: seats held, over all matches; score: share of opponents beaten; win_share: of
    first place per seat held, ``par`` if all were equal; part: ratings can be compared within.
    """

    rank: int
    rank_low: int
    rank_high: int
    label: str
    matches: int
    seats: int
    elo: Estimate
    skill: Skill | None  # None when not asked for, or when nobody else was met
    score: Estimate
    win_share: Estimate
    par: float
    part: int


@dataclass(frozen=True, slots=True)
class Points:
    """Results on the scales of one game, per seat held."""

    label: str
    place: Estimate
    total: Estimate
    utility: Estimate


@dataclass(frozen=True, slots=True)
class Crosstable:
    """Share of opponents beaten by the row's entrant against the column's; None: never met.

    weights: comparisons behind a cell, one for a match of two seats; ahead: how sure it is that
    the row's entrant is the stronger one, by rating.
    """

    labels: tuple[str, ...]
    cells: tuple[tuple[Estimate | None, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    ahead: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """How an entrant's totals are spread: quantiles, and counts in the bins of the contest."""

    label: str
    minimum: float
    p5: float
    p25: float
    median: float
    p75: float
    p95: float
    maximum: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SeatPlaces:
    """How often an entrant ended where, from one seat; ``counts[0]`` is first place."""

    label: str
    seat: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SeatScore:
    """What a seat is worth: share of opponents beaten from it, whoever sits there."""

    seat: int
    score: Estimate


@dataclass(frozen=True, slots=True)
class Times:
    """How long an entrant's decisions took, in milliseconds of wall time.

    p50, p99, slowest: upper ends of what the bins of ``arena.timing`` tell; None when durations
    were not counted one by one.
    """

    label: str
    decisions: int
    mean: float
    p50: float | None
    p99: float | None
    slowest: float | None
    iterations: float  # per decision


@dataclass(frozen=True, slots=True)
class Faults:
    """An entrant's faults by kind; kinds that did not happen have 0."""

    label: str
    counts: Mapping[FaultKind, int]
    matches: int  # in which it had a fault or more


@dataclass(frozen=True, slots=True)
class ContestSummary:
    """One game of the tournament. Tuples are in the order of the standings."""

    contest: Contest
    game_name: str
    low_wins: bool
    matches: int
    deals: int
    standings: tuple[Standing, ...]
    points: tuple[Points, ...]
    crosstable: Crosstable
    total_edges: tuple[float, ...]  # of the bins of `totals`
    totals: tuple[Totals, ...]
    places: tuple[SeatPlaces, ...]
    seats: tuple[SeatScore, ...]
    times: tuple[Times, ...]


@dataclass(frozen=True, slots=True)
class Encounter:
    """Two entrants who met, or one without an opponent.

    round: from 1 in Swiss and knock-out, else 0; second: None without an opponent; difference:
    first minus second, the mean over deals of the course's measure; verdict: a
    ``stopping.Verdict``, None while it goes on; winner: who came out ahead, or went on where a
    bracket asks for one; None when tied, when it goes on, and at tables of more than two.
    """

    round: int
    first: str
    second: str | None
    deals: int
    difference: float
    verdict: str | None
    winner: str | None


@dataclass(frozen=True, slots=True)
class Course:
    """Who met whom in one contest and what was decided, as far as whole blocks are played.

    measure: "utility" or "win_share"; rule: the stopping rule in words; points: in Swiss
    tournaments, best first, after the rounds that are over; champion: of a knock-out that is over.
    """

    contest: str
    format: str
    measure: str
    rule: str
    rounds_over: int
    encounters: tuple[Encounter, ...]
    points: tuple[tuple[str, float], ...]
    champion: str | None


@dataclass(frozen=True, slots=True)
class Milestone:
    """Ratings after so many deals."""

    deals: int
    elo: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class EntrantText:
    """An entrant in words: its player, its limits and its settings."""

    label: str
    player: str
    limits: str
    settings: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The whole tournament; empty tuples while nothing has been played.

    courses: contest by contest, where the tournament's specification is known; withdrawn: the
    entrants that were withdrawn for their faults.
    """

    entrants: tuple[EntrantText, ...]
    matches: int
    deals: int
    decisions: int
    standings: tuple[Standing, ...]
    crosstable: Crosstable
    contests: tuple[ContestSummary, ...]
    times: tuple[Times, ...]
    faults: tuple[Faults, ...]
    convergence: tuple[Milestone, ...]
    courses: tuple[Course, ...] = ()
    withdrawn: tuple[str, ...] = ()
