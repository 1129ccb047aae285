"""What the long campaigns share: progress, the line at the end, what a process uses, tables whose
matches are known beforehand.

A campaign is `python -m tests.service.NAME`. It writes its progress to standard error and one line
to standard output: what it did and found. Its exit status is 0 if all that it looks for held, and 1
if not; then the line is followed by what was wrong and by the command that shows it again.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions

from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service.codecs import codec_of
from tavolata.v1 import (
    analysis_service_pb2,
    catalog_service_pb2,
    player_service_pb2,
    table_service_pb2,
    tournament_service_pb2,
)
from tavolata.v1.game_pb2 import Action

TOLD_MAX = 20  # problems that are kept; more of the same say nothing new
TERMINAL_S, LOG_S = 0.5, 15.0  # between two signs of progress


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A campaign's command line, with the seed that every campaign has."""
    head, _, rest = (doc or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=head, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn [1]")
    return parser


@dataclass
class Problems:
    """What was found to be wrong."""

    count: int = 0
    told: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Note a problem."""
        self.count += 1
        if len(self.told) < TOLD_MAX:
            self.told.append(text)

    def check(self, held: bool, text: str) -> None:
        """Note a problem unless this held."""
        if not held:
            self.add(text)

    def __str__(self) -> str:
        more = [f"... and {self.count - len(self.told)} more"] if self.count > TOLD_MAX else []
        return "\n".join([*self.told, *more])


class Progress:
    """A line about how far it is, now and then; `quiet` for the suite."""

    def __init__(self, what: str, goal: float, *, quiet: bool = False) -> None:
        self.done = 0.0
        self._what, self._goal, self._quiet = what, goal, quiet
        self._terminal = sys.stderr.isatty()
        self._began = self._told = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def step(self, count: float = 1, note: str = "") -> None:
        """So much more is done."""
        self.done += count
        self.show(note)

    def show(self, note: str = "") -> None:
        """Say how far it is, if it is time to."""
        now = time.monotonic()
        if self._quiet or now - self._told < (TERMINAL_S if self._terminal else LOG_S):
            return
        self._told = now
        rate = self.done / max(self.seconds, 1e-9)
        left = (self._goal - self.done) / rate if rate else float("inf")
        text = f"{self.done:,.0f} of {self._goal:,.0f} {self._what}, {rate:,.0f}/s"
        text += f", {left:,.0f} s left" if math.isfinite(left) else ""
        line = f"{text}{'; ' + note if note else ''}"
        sys.stderr.write(f"\r\x1b[K{line}" if self._terminal else f"{line}\n")
        sys.stderr.flush()

    def end(self) -> None:
        """Let the terminal's line be."""
        if self._terminal and not self._quiet:
            sys.stderr.write("\r\x1b[K")


def conclude(name: str, arguments: argparse.Namespace, summary: str, problems: Problems) -> int:
    """Write the line at the end; the exit status."""
    if not problems.count:
        sys.stdout.write(f"{name}: {summary}; all held\n")
        return 0
    flags = [
        f"--{key.replace('_', '-')}" + ("" if value is True else f" {value}")
        for key, value in sorted(vars(arguments).items())
        if value is not None and value is not False
    ]
    again = f"python -m tests.service.{name} {' '.join(flags)}"
    sys.stdout.write(
        f"{name}: {summary}; FAILED, {problems.count} problems\n{problems}\nagain: {again}\n"
    )
    return 1


@dataclass(frozen=True)
class Used:
    """What a process holds at a moment."""

    rss_bytes: int
    descriptors: int
    threads: int


def used_by(pid: int) -> Used:
    """What the process holds now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    return Used(
        int(values["VmRSS"][0]) * 1024,
        len(list(Path(f"/proc/{pid}/fd").iterdir())),
        int(values["Threads"][0]),
    )


def quantile(values: Iterable[float], share: float) -> float:
    """The value below which that share lies; NaN of nothing."""
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))] if ordered else math.nan


@dataclass
class KnownMatch:
    """A match that is played here, too: from the seed, by the same rules and without a server."""

    game: str
    seats: int
    seed: bytes
    draws: random.Random

    def __post_init__(self) -> None:
        self.match = Match(GAMES[self.game].make(self.seats), self.seed)
        self._codec = codec_of(self.game)

    def next_actions(self) -> list[tuple[int, int, int, Action]]:
        """Turn, seat, number and message of an action for every seat that has to act; none when it
        is over."""
        if self.match.over:
            return []
        chosen = [(seat, self.draws.choice(self.match.legal(seat))) for seat in self.match.to_act]
        turn = self.match.turn
        return [(turn, seat, action, self._codec.action_to(action)) for seat, action in chosen]

    def played(self, actions: Sequence[tuple[int, int, int, Action]]) -> None:
        """Go on as the server has."""
        for _, seat, action, _ in actions:
            self.match.play(seat, action)


def _methods(*files: ModuleType) -> dict[str, MethodDescriptor]:
    services = [service for file in files for service in file.DESCRIPTOR.services_by_name.values()]
    return {f"/{s.full_name}/{method.name}": method for s in services for method in s.methods}


METHODS = _methods(catalog_service_pb2, table_service_pb2, tournament_service_pb2)
"""The RPCs of people, tables and tournaments by their paths."""
EVERY_METHOD = METHODS | _methods(analysis_service_pb2, player_service_pb2)
"""Those, and the RPCs of analyses and of programs that offer players."""


def changes_something(method: MethodDescriptor) -> bool:
    """Whether the API says of an RPC that it isn't just reading."""
    return bool(method.GetOptions().idempotency_level != MethodOptions.NO_SIDE_EFFECTS)
