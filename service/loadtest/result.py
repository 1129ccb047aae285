"""What a load test found: rows, failures, seconds; and the same for programs.

`result.schema.json` describes the JSON; its `format` is raised when a field changes its meaning.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib import resources
from typing import Any

from tavolata.service.loadtest.latencies import QUANTILES, Latencies
from tavolata.service.loadtest.plan import Plan
from tavolata.service.loadtest.tally import (
    ACTIONS,
    SLICE_DIGITS,
    SLICE_S,
    Account,
    Failure,
    Operation,
    Slice,
)

FORMAT = "tavolata.load/1"
NO_RPC = ("resume", "event told")
SATURATED_CPU = 0.9  # of a core: from there on the tool is what is slow
LATE_S = 0.005


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one kind of call: in one game, or in all of them ("")."""

    what: str
    game: str
    succeeded: int
    failed: int
    per_s: float
    latencies: Latencies

    @property
    def failed_share(self) -> float:
        """Of all that were made."""
        return self.failed / max(1, self.failed + self.succeeded)


@dataclass(slots=True)
class Second:
    """A second of all processes, from the beginning of the load. open: tables, watches, streams."""

    number: int
    latencies: Latencies = field(default_factory=lambda: Latencies(SLICE_DIGITS))
    failed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    parts: int = 0

    def add(self, part: Slice) -> None:
        """What one process has told of it."""
        self.latencies.add_packed(part.actions)
        self.failed += part.failed
        self.counts.update(part.counts)
        self.open.update(part.open)
        self.parts += 1


@dataclass(frozen=True, slots=True)
class Server:
    """The server: its version and, if the tool has started it, processor seconds while it counted
    and resident bytes at the end."""

    target: str
    version: str
    is_own: bool = False
    cpu_s: float | None = None
    rss_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the tool ran. load: the load average of a minute before it and at its end."""

    cpus: int
    python: str
    load: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Result:
    """Everything. seconds: that counted."""

    plan: Plan
    server: Server
    machine: Machine
    began: str
    seconds: float
    ended_early: bool
    latencies: Mapping[Operation, Latencies]
    failures: Mapping[Failure, int]
    counts: Mapping[str, int]
    problems: tuple[str, ...]
    timeline: Sequence[Second]
    late: Latencies
    cpu_shares: tuple[float, ...]

    def rows(self) -> list[Row]:
        """By kind of call, over all games."""
        kinds = {what for what, _ in self.latencies} | {what for what, *_ in self.failures}
        return [self._row(what, "") for what in sorted(kinds, key=_order)]

    def rows_by_game(self) -> list[Row]:
        """By kind of call and game."""
        found = set(self.latencies) | {(what, game) for what, game, *_ in self.failures if game}
        return [self._row(*key) for key in sorted(found, key=lambda key: (_order(key[0]), key[1]))]

    def actions(self) -> Row:
        """All actions, by calls and streams, in all games."""
        rows = [self._row(what, "") for what in ACTIONS]
        latencies = Latencies()
        for row in rows:
            latencies.add(row.latencies)
        count, failed = sum(each.succeeded for each in rows), sum(each.failed for each in rows)
        return Row("actions", "", count, failed, count / self.seconds, latencies)

    def _row(self, what: str, game: str) -> Row:
        latencies, failed = Latencies(), 0
        for (kind, of), found in self.latencies.items():
            if kind == what and game in ("", of):
                latencies.add(found)
        for (kind, of, *_), count in self.failures.items():
            if kind == what and game in ("", of):
                failed += count
        return Row(what, game, len(latencies), failed, len(latencies) / self.seconds, latencies)

    def warnings(self) -> list[str]:
        """What makes the figures worth less."""
        found = []
        if any(share > SATURATED_CPU for share in self.cpu_shares):
            found.append(
                f"a process of the tool used {max(self.cpu_shares):.0%} of a core: the latencies"
                " are its own as well; use more --processes, or another machine"
            )
        if len(self.late) and self.late.quantile(0.99) > LATE_S:
            late = 1000 * self.late.quantile(0.99)
            found.append(
                f"the tool woke up {late:.1f} ms late (p99) for what was due: latencies contain it"
            )
        if self.ended_early:
            found.append("it was ended early")
        return found

    def as_json(self) -> dict[str, Any]:
        """For programs; see result.schema.json."""
        plan = {each.name: getattr(self.plan, each.name) for each in fields(self.plan)}
        plan["games"] = dict(self.plan.games)
        del plan["reach"]
        return {
            "format": FORMAT,
            "began": self.began,
            "seconds": self.seconds,
            "ended_early": self.ended_early,
            "plan": plan,
            "server": asdict(self.server),
            "machine": asdict(self.machine) | {"load": list(self.machine.load)},
            "actions": _row_json(self.actions()),
            "rpcs": [_row_json(row) for row in self.rows()],
            "by_game": [_row_json(row) for row in self.rows_by_game()],
            "failures": [
                dict(zip(("what", "game", "kind", "reason"), key, strict=True)) | {"count": count}
                for key, count in sorted(self.failures.items())
            ],
            "counts": dict(sorted(self.counts.items())),
            "problems": list(self.problems),
            "timeline": [self._second_json(each) for each in self.timeline],
            "tool": {
                "cpu_shares": list(self.cpu_shares),
                "late_p50_ms": _ms(self.late.quantile(0.5)),
                "late_p99_ms": _ms(self.late.quantile(0.99)),
                "warnings": self.warnings(),
            },
        }

    def phase(self, second: Second) -> str:
        """ramp, warmup, counted or after."""
        plan, at = self.plan, second.number * SLICE_S
        if at < plan.ramp_s:
            return "ramp"
        if at < plan.ramp_s + plan.warmup_s:
            return "warmup"
        return "counted" if at < plan.ramp_s + plan.warmup_s + self.seconds else "after"

    def _second_json(self, second: Second) -> dict[str, Any]:
        return {
            "second": second.number,
            "phase": self.phase(second),
            "actions": len(second.latencies),
            "failed": second.failed,
            "p50_ms": _ms(second.latencies.quantile(0.5)),
            "p99_ms": _ms(second.latencies.quantile(0.99)),
            "max_ms": _ms(second.latencies.longest_s) if len(second.latencies) else None,
            "events": second.counts["events"],
            "open": dict(sorted(second.open.items())),
        }


def result_of(
    plan: Plan,
    accounts: Iterable[Account],
    timeline: Mapping[int, Second],
    **others: Any,
) -> Result:
    """The accounts of all processes together."""
    latencies: dict[Operation, Latencies] = {}
    failures: Counter[Failure] = Counter()
    counts: Counter[str] = Counter()
    problems: list[str] = []
    late, cpu_shares = Latencies(), []
    for account in accounts:
        for key, packed in account.latencies.items():
            latencies.setdefault(key, Latencies()).add_packed(packed)
        failures.update(account.failures)
        counts.update(account.counts)
        problems += account.problems
        late.add_packed(account.late)
        cpu_shares.append(account.cpu_s / max(1e-9, account.seconds))
    return Result(
        plan=plan,
        latencies=latencies,
        failures=dict(failures),
        counts=dict(counts),
        problems=tuple(problems),
        timeline=[timeline[number] for number in sorted(timeline)],
        late=late,
        cpu_shares=tuple(cpu_shares),
        **others,
    )


def schema() -> dict[str, Any]:
    """The JSON schema of `Result.as_json`."""
    text = resources.files(__package__).joinpath("result.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _order(what: str) -> tuple[bool, bool, str]:
    """Actions first, then other calls, then what isn't one."""
    return (what in NO_RPC, what not in ACTIONS, what)


def _row_json(row: Row) -> dict[str, Any]:
    found = row.latencies
    return {
        "what": row.what,
        "game": row.game,
        "succeeded": row.succeeded,
        "failed": row.failed,
        "per_s": row.per_s,
        "mean_ms": _ms(found.mean_s),
        **{f"{name_of(share)}_ms": _ms(found.quantile(share)) for share in QUANTILES},
        "max_ms": _ms(found.longest_s) if len(found) else None,
        "histogram": found.pack()[0].decode(),
    }


def name_of(share: float) -> str:
    """p50, p99, p999."""
    return f"p{100 * share:g}".replace(".", "")


def _ms(seconds: float) -> float | None:
    return None if math.isnan(seconds) else round(1000 * seconds, 4)
