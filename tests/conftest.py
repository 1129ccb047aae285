"""Refuses to test compiled modules that are not the ones the sources describe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tavolata
from tests.project.extensions import SOURCE, outdated, unchecked

CHECKED = os.environ.get("TAVOLATA_CHECKED", "0") not in ("", "0")


def pytest_configure(config: pytest.Config) -> None:
    """Stop before the first test; worker processes trust the one that started them."""
    if hasattr(config, "workerinput"):
        return
    package = Path(tavolata.__file__).parent
    is_tree = package.is_relative_to(SOURCE)
    if CHECKED:
        _refuse(
            unchecked(package) if not is_tree else ["the package in the source tree"],
            "TAVOLATA_CHECKED is set, but these are not of the checked build",
            "./run test-checked",
        )
    elif is_tree and not os.environ.get("TAVOLATA_ALLOW_STALE"):
        _refuse(
            outdated(),
            "compiled modules are not current",
            "./run build, or set TAVOLATA_ALLOW_STALE=1 to test what is compiled",
        )


def _refuse(problems: list[str], what: str, command: str) -> None:
    if problems:
        pytest.exit(f"{what}: {'; '.join(problems)}. Run {command}", returncode=4)
