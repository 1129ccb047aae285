"""Disks with faults for a server process: a library between it and the system, or a small disk."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

SOURCE = Path(__file__).with_name("disk_fault.c")
DISK_BYTES = 256 << 20
_CHUNK = b"\0" * (1 << 20)


class Trouble(StrEnum):
    """What can be wrong with a disk; the values are what disk_fault.c reads."""

    NONE = "-"
    FULL = "f"
    READ_ONLY = "r"
    SYNC_FAILS = "s"
    REALLY_FULL = "small"  # a disk of its own that is filled up


class Disk:
    """The folder of a server's file, and what is wrong with the disk under it."""

    def __init__(self, folder: Path, *, small: bool, draws: random.Random) -> None:
        """folder: for what goes with it; small: the server's file is on a disk of its own, which
        has been made."""
        self.small = small
        self.folder = folder / "disk" if small else folder
        self._told = folder / "fault"
        self._library = folder / "disk_fault.so"
        self._filler = self.folder / "filler"
        self._draws = draws
        compiler = shutil.which("cc") or "gcc"
        subprocess.run(
            [compiler, "-O1", "-shared", "-fPIC", "-o", self._library, SOURCE, "-ldl"], check=True
        )
        self.be(Trouble.NONE)

    @property
    def environment(self) -> dict[str, str]:
        """For the server's process."""
        return {"LD_PRELOAD": str(self._library), "DISK_FAULT_FILE": str(self._told)}

    def be(self, trouble: Trouble) -> None:
        """From now on this is wrong, and nothing else."""
        self._filler.unlink(missing_ok=True)
        if trouble is Trouble.REALLY_FULL:
            self._fill()
            trouble = Trouble.NONE
        beside = self._told.with_name("fault.new")
        beside.write_text(trouble.value)
        beside.rename(self._told)

    def _fill(self) -> None:
        """Leave a few pages, so that it is met at any place of a transaction."""
        with self._filler.open("wb", buffering=0) as filler:
            with contextlib.suppress(OSError):
                while filler.write(_CHUNK) == len(_CHUNK):
                    pass
            filler.truncate(max(0, filler.tell() - self._draws.randrange(0, 65_536)))


@contextlib.contextmanager
def disk_in(folder: Path, draws: random.Random, *, small: bool = True) -> Iterator[Disk]:
    """A disk; a small one of its own where that is wanted and this process may mount one."""
    mount = folder / "disk"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(mount)]
    mounted = (
        small
        and os.getuid() == 0
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )
    try:
        yield Disk(folder, small=mounted, draws=draws)
    finally:
        if mounted:
            subprocess.run(["umount", str(mount)], check=True)
