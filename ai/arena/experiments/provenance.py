"""Where results come from: commit, specification, machine."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tavolata import __version__
from tavolata.ext.core.cpu import level


def provenance(text: str) -> dict[str, Any]:
    """The facts by which a result can be had again, as JSON types; text: of the file that was run.

    commit: of the working tree that the program runs from, with ``+changes`` where it is not as
    committed; None where it runs from an installed package.
    """
    return {
        "program": __version__,
        "commit": _commit(),
        "specification_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "build": str(level()),
            "system": platform.platform(),
            "python": platform.python_version(),
        },
    }


def _commit() -> str | None:
    here = Path(__file__).resolve()
    folder = here.parent
    # An installed package may lie in a repository that is not its own.
    if not _git(folder, "ls-files", "--", str(here)):
        return None
    head = _git(folder, "rev-parse", "HEAD")
    return head + ("+changes" if _git(folder, "status", "--porcelain", "-uno") else "")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
