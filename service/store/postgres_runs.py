"""Batches as runs: consecutive entries of one table, which go in together or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tavolata.service.ports import NO_EPOCH, Append, Conflict, StoreError


@dataclass(slots=True)
class _Undecided(StoreError):
    """Not an outcome yet."""


UNDECIDED = _Undecided()


@dataclass(slots=True, eq=False)
class Run:
    """Entries of a table, each following the one before. places: in the batch."""

    table_id: str
    appends: list[Append] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    outcomes: list[StoreError | None] = field(default_factory=list)

    @property
    def head(self) -> Append:
        """The first one, which decides whether all fit."""
        return self.appends[0]

    @property
    def epoch(self) -> int:
        """Of the claim under which any of the entries was made."""
        return max(append.epoch for append in self.appends)

    @property
    def has_summary(self) -> bool:
        """Whether the table's summary changes."""
        return any(append.summary is not None for append in self.appends)

    def add(self, place: int, append: Append) -> bool:
        """Add an append if it follows the last one, and under the same claim."""
        if self.appends:
            last = self.appends[-1]
            follows = (last.entry.number + 1, last.entry.chain)
            if follows != (append.entry.number, append.previous):
                return False
            if NO_EPOCH not in (self.epoch, append.epoch) and self.epoch != append.epoch:
                return False
        self.appends.append(append)
        self.places.append(place)
        self.outcomes.append(UNDECIDED)
        return True

    def settle(self, outcome: StoreError | None) -> None:
        """All of it has come to this."""
        self.outcomes[:] = [outcome] * len(self.appends)

    def singles(self) -> list[Run]:
        """A run for each entry, whose outcome is kept here, too; a conflict is all the others' that
        follow, until they are tried themselves."""
        return [_Single(self, place) for place in range(len(self.appends))]

    def summary(self, first_epoch: int) -> tuple[object, ...]:
        """What the table's summary is in the end: the columns of `summaries` in postgres_sql."""
        given = [append.summary for append in self.appends if append.summary is not None]
        claimant = next((each.claimant for each in given if each.claimant), "")
        entry, last = self.head.entry, given[-1]
        made_us = entry.time_us if entry.number == 1 else None
        work = None if last.work is None else int(last.work)
        epoch = first_epoch if claimant else 0
        return (
            self.table_id,
            last.state,
            last.expires_us,
            given[0].creation_id,
            made_us,
            work,
            claimant,
            epoch,
            given[0].listing,
            given[0].game_id,
        )


class _Single(Run):
    """One entry of a run."""

    def __init__(self, whole: Run, place: int) -> None:
        super().__init__(whole.table_id, [whole.appends[place]], [place], [UNDECIDED])
        self._whole = whole

    def settle(self, outcome: StoreError | None) -> None:
        """Tell the run; those that follow a conflict conflict."""
        self.outcomes[0] = outcome
        (place,) = self.places
        rest = 1 if outcome is None else len(self._whole.appends) - place
        self._whole.outcomes[place : place + rest] = [outcome] * rest


def runs_of(batch: Sequence[Append]) -> list[Run]:
    """One run for each table; what doesn't follow the run of its table has no place in any."""
    runs: dict[str, Run] = {}
    broken: set[str] = set()
    for place, append in enumerate(batch):
        run = runs.setdefault(append.table_id, Run(append.table_id))
        if append.table_id not in broken and not run.add(place, append):
            broken.add(append.table_id)
    return list(runs.values())


def outcomes_of(
    batch: Sequence[Append], runs: Sequence[Run], failure: StoreError | None
) -> list[StoreError | None]:
    """The outcome of each append, in order; failure: of those that aren't decided."""
    outcomes: list[StoreError | None] = [UNDECIDED] * len(batch)
    for run in runs:
        for place, outcome in zip(run.places, run.outcomes, strict=True):
            outcomes[place] = outcome
    unfit = failure or Conflict("the entry follows one that isn't there")
    return [unfit if outcome is UNDECIDED else outcome for outcome in outcomes]
