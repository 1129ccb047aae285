"""A worker process: plays what it is given until nothing more comes.

It stands in a process group of its own, so that Ctrl-C at the terminal reaches the runner only and
what a player has started can be ended with it; it does not outlive the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from tavolata.ai.arena.tournament.backends import Known, play_all
from tavolata.ai.arena.tournament.model import Field, MatchPlan
from tavolata.ai.arena.tournament.notes import Notes
from tavolata.ai.arena.tournament.play import Referee
from tavolata.ai.arena.tournament.policy import FaultPolicy

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker waits for plans."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The worker can't go on, for a reason that is no player's."""

    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """Plans to play, with the faults that are known to happen in them."""

    plans: tuple[MatchPlan, ...]
    known: Known


def work(
    connection: Connection, notes_buffer: Any, field: Field, policy: FaultPolicy, parent: int
) -> None:
    """Send Ready, then a Played for each Task, until the connection closes."""
    _stand_apart(parent)
    try:
        notes = Notes(notes_buffer)
        referee = Referee(field, policy, notes)
        connection.send(Ready())
        while True:
            task: Task = connection.recv()
            connection.send(play_all(referee, task.plans, task.known))
    except (EOFError, OSError):
        return  # nobody listens
    except Exception:  # noqa: BLE001 - told to the one who can do something about it
        connection.send(Broken(traceback.format_exc()))


def _stand_apart(parent: int) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what a player prints must not get into the runner's own output
    sys.stdout = sys.stderr
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the line above
        os._exit(1)
