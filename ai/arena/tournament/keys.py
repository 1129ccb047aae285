"""The keys of a tournament file: their types, bounds, defaults and descriptions.

The one place that documents them: error texts, ``tavolata tournament keys`` and the documentation
are made from these models. What needs games and players to be known is checked elsewhere.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from tavolata.ai.arena.tournament import ranges
from tavolata.ai.arena.tournament.policy import FaultPolicy

DEALS_MAX = 10_000_000
ITERATIONS_MAX, THINK_MS_MAX = 1_000_000_000, 3_600_000
NODES, THREADS = (1_000, 100_000_000), (1, 64)


class Keys(BaseModel):
    """A table of the file. Other keys are refused, and no type is turned into another."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def text(allowed: str) -> dict[str, Any]:
    """What is allowed in words, where type and bounds do not say it all."""
    return {"allowed": allowed}


NAME = text("1 to 40 letters, digits, - and _")
SEATS = text("a number of seats of the game, or a list of them")


def several(one: str) -> dict[str, Any]:
    """What is allowed for a parameter that may have several values."""
    return text(f"{one}, a list of them, or {{ from, to, steps, scale }}")


Values = tuple[ranges.Value, ...]
Setting = Annotated[Values, PlainValidator(ranges.settings)]


class Game(Keys):
    """A game that is played, at one number of seats or several: a contest each."""

    game: str = Field(description="Id of the game.", json_schema_extra=text("the id of a game"))
    seats: int | list[int] | None = Field(
        default=None,
        description="Number of seats, or several: each is a contest. Default: the usual number.",
        json_schema_extra=SEATS,
    )
    name: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]{1,40}$",
        description="Name of the contest; at several numbers of seats the number is added. "
        "Default: the game.",
        json_schema_extra=NAME,
    )
    options: dict[str, bool | int | str] = Field(
        default={},
        description="Options of the game; those left out have their defaults.",
        json_schema_extra=text("a table of options of the game"),
    )


class Limits(Keys):
    """How long entrants may think that do not say so themselves."""

    iterations: int | None = Field(
        default=None, ge=1, le=ITERATIONS_MAX, description="Playouts of a decision's search."
    )
    think_ms: float | None = Field(
        default=None,
        gt=0,
        le=THINK_MS_MAX,
        description="Milliseconds for a decision. With a limit in time alone results differ from "
        "run to run; a search ends at the first limit it reaches.",
    )
    nodes: int = Field(
        default=1_000_000,
        ge=NODES[0],
        le=NODES[1],
        description="Nodes of 32 bytes in a search tree.",
    )
    threads: int = Field(
        default=1, ge=THREADS[0], le=THREADS[1], description="Threads of one search."
    )


class Entrant(Keys):
    """A player that takes part. Lists and ranges make an entrant of every combination."""

    player: str = Field(
        description="Name of the player: built in, or another package's by its entry point.",
        json_schema_extra=text("the name of a player"),
    )
    label: str | None = Field(
        default=None,
        min_length=1,
        max_length=60,
        description="Name in the results; {exploration} stands for that parameter's value. "
        "Parameters with several values that it does not name are added. Default: the player.",
        json_schema_extra=text("1 to 60 printable characters"),
    )
    iterations: Annotated[Values, PlainValidator(ranges.integers(1, ITERATIONS_MAX))] | None = (
        Field(
            default=None,
            description="As in limits. An entrant that names iterations or think_ms takes neither "
            "from there; where nobody names one, the player's own limits hold.",
            json_schema_extra=several(f"an integer from 1 to {ITERATIONS_MAX}"),
        )
    )
    think_ms: Annotated[Values, PlainValidator(ranges.numbers(0, THINK_MS_MAX))] | None = Field(
        default=None,
        description="As in limits.",
        json_schema_extra=several(f"a number above 0 up to {THINK_MS_MAX}"),
    )
    nodes: Annotated[Values, PlainValidator(ranges.integers(*NODES))] | None = Field(
        default=None,
        description="As in limits.",
        json_schema_extra=several("an integer from {} to {}".format(*NODES)),
    )
    threads: Annotated[Values, PlainValidator(ranges.integers(*THREADS))] | None = Field(
        default=None,
        description="As in limits.",
        json_schema_extra=several("an integer from {} to {}".format(*THREADS)),
    )
    settings: dict[str, Setting] = Field(
        default={},
        description="Settings of the player by name.",
        json_schema_extra=text(
            "a table of the player's settings: each a number, true or false, a list of them, or "
            "{ from, to, steps, scale }"
        ),
    )


class Format(Keys):
    """What all formats have."""

    rotations: Literal["all"] | Annotated[int, Field(ge=1)] = Field(
        default="all",
        description="Matches of one deal: a line-up's rotations over the seats, all or at most so "
        "many. With fewer, deals take turns, so that over all deals every rotation comes equally "
        "often.",
        json_schema_extra=text('"all", or an integer of 1 or more'),
    )


class RoundRobin(Format):
    """Every two entrants meet. At more than two seats they sit alternately, A B A B."""

    kind: Literal["round_robin"] = Field(description="Format: everybody against everybody.")


class Gauntlet(Format):
    """Challengers meet everybody who is no challenger, two by two as in a round robin."""

    kind: Literal["gauntlet"] = Field(description="Format: some against all the others.")
    challengers: list[str] = Field(
        min_length=1,
        description="Labels of the challengers; * stands for any characters.",
        json_schema_extra=text("a list of labels, * for any characters; not all entrants"),
    )


class Ladder(Format):
    """Every entrant meets the next one of the file, two by two as in a round robin."""

    kind: Literal["ladder"] = Field(
        description="Format: every entrant against the next one, the later of the two first."
    )


class Swiss(Format):
    """Rounds between entrants with like scores, two by two; no pairing twice if avoidable."""

    kind: Literal["swiss"] = Field(
        description="Format: pairs of like scores, round by round. A meeting won is a point, a "
        "tied one half a point; who has no opponent gets the point, nobody twice where that can "
        "be avoided."
    )
    rounds: int = Field(
        ge=1,
        le=1_000,
        description="Number of rounds, at most as many as let everybody meet everybody: one fewer "
        "than entrants, or as many as entrants where these are an odd number.",
    )


class KnockOut(Format):
    """Who loses a meeting is out. Entrants are seeded in the order of the file."""

    kind: Literal["knock_out"] = Field(
        description="Format: who loses is out. The first entrants of the file are kept apart "
        "longest, and have the byes where the field is no power of two."
    )
    third_place: bool = Field(
        default=False, description="The losers of the semi-finals play for the third place."
    )
    tie_deals: int = Field(
        default=0,
        ge=0,
        le=DEALS_MAX,
        description="Deals that a tied meeting is prolonged by, once; if it is still tied, the "
        "entrant that stands first in the file goes on.",
    )


class Mixed(Format):
    """Tables of as many different entrants as there are seats."""

    kind: Literal["mixed"] = Field(
        description="Format: different entrants in all seats. Every two meet equally often, "
        "everybody sits in every seat, and over the deals every two have had every two seats."
    )
    tables: Literal["auto", "all", "balanced"] = Field(
        default="auto",
        description="Which entrants sit down together: all combinations; a balanced design in "
        "which every two meet equally often; or all up to 200 of them, else a design.",
    )


AnyFormat = RoundRobin | Gauntlet | Ladder | Swiss | KnockOut | Mixed


class Stop(Keys):
    """What all stopping rules have."""

    deals: int = Field(
        ge=1,
        le=DEALS_MAX,
        description="Deals of a meeting (of every table, in mixed); at most so many under sprt and "
        "width. A deal is one match for each of its rotations, all with the same chance.",
    )


class Count(Stop):
    """A number of deals that is known beforehand."""

    rule: Literal["count"] = Field(description="Stop after a number of deals.")


class EarlyStop(Stop):
    """What rules have that look at the results on the way.

    They look at the differences of two entrants, first minus second, deal by deal. In mixed all
    go on until every two are decided, which keeps the tables balanced.
    """

    every: int = Field(default=20, ge=1, le=DEALS_MAX, description="Deals between two looks.")
    deals_min: int = Field(
        default=20, ge=2, le=DEALS_MAX, description="Deals before the first look."
    )
    measure: Literal["utility", "win_share"] = Field(
        default="utility",
        description="What differs: the placement utility of a seat, or its share of first places, "
        "both from 0 to 1.",
    )


class Sprt(EarlyStop):
    """A sequential probability ratio test of two mean differences."""

    rule: Literal["sprt"] = Field(
        description="Stop when a sequential probability ratio test decides between h0 and h1."
    )
    h0: float = Field(
        ge=-1, le=1, description="Mean difference, first entrant minus second, of hypothesis 0."
    )
    h1: float = Field(ge=-1, le=1, description="Mean difference of hypothesis 1; greater than h0.")
    alpha: float = Field(
        default=0.05, ge=1e-6, le=0.4, description="Chance to accept h1 where h0 is true."
    )
    beta: float = Field(
        default=0.05, ge=1e-6, le=0.4, description="Chance to accept h0 where h1 is true."
    )


class Width(EarlyStop):
    """An interval that is narrow enough."""

    rule: Literal["width"] = Field(
        description="Stop when the 95 % interval of the difference is narrow enough."
    )
    half_width: float = Field(gt=0, le=1, description="Half the width at which to stop.")


AnyStop = Count | Sprt | Width
_POLICY = FaultPolicy()


class Faults(Keys):
    """What is done about players that misbehave."""

    on_fault: Literal["replace", "forfeit"] = Field(
        default="replace",
        description="After an illegal action, a crash or a hang: replace lets the rule of thumb "
        "play on for that seat; forfeit ends the match, with that seat last and utility 0.",
    )
    on_slow: Literal["count", "fault"] = Field(
        default="count",
        description="A late answer is counted and played, or is a fault as above; then results "
        "depend on the clock.",
    )
    patience_ms: float = Field(
        default=_POLICY.patience_ms,
        gt=0,
        le=86_400_000,
        description="Milliseconds, beyond think_ms where that is set, after which a player hangs.",
    )
    slow_factor: float = Field(
        default=_POLICY.slow_factor,
        ge=1,
        le=1_000,
        description="An answer is late after think_ms times this, plus slow_ms.",
    )
    slow_ms: float = Field(
        default=_POLICY.slow_ms, ge=0, le=3_600_000, description="See slow_factor; milliseconds."
    )
    faults_max: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="Faults with which an entrant is withdrawn: it is planned no more from the "
        "next block of matches on, and what it has played stands. Default: never.",
    )


class Tournament(Keys):
    """A tournament file."""

    title: str = Field(
        default="Tournament", min_length=1, max_length=200, description="Heading of the report."
    )
    seed: int = Field(default=1, ge=0, lt=1 << 63, description="The same seed, the same deals.")
    games: list[Game] = Field(
        min_length=1, description="Games that are played.", json_schema_extra=text("[[games]]")
    )
    limits: Limits = Field(default=Limits(), description="Limits of entrants that name none.")
    entrants: list[Entrant] = Field(
        min_length=1, description="Who takes part.", json_schema_extra=text("[[entrants]]")
    )
    format: Annotated[AnyFormat, Field(discriminator="kind")] = Field(description="Who meets whom.")
    stop: Annotated[AnyStop, Field(discriminator="rule")] = Field(
        description="When a meeting ends."
    )
    faults: Faults = Field(
        default=Faults(), description="What is done about players that misbehave."
    )
