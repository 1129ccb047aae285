"""Players from elsewhere, as an installed package brings them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ai.arena.tournament import bad_players

PACKAGE = "tests.ai.arena.tournament.bad_players"


@pytest.fixture(scope="session")
def bad_players_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that, on the path, makes every class of ``bad_players`` a player of its name."""
    folder = tmp_path_factory.mktemp("players")
    facts = folder / "bad_players-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-players\nVersion: 1\n")
    lines = [f"{name} = {PACKAGE}:{cls.__name__}" for name, cls in bad_players.PLAYERS.items()]
    (facts / "entry_points.txt").write_text("\n".join(["[tavolata.players]", *lines, ""]))
    return folder


@pytest.fixture
def _bad_players(bad_players_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad players are there, in this process and in those it starts."""
    monkeypatch.syspath_prepend(str(bad_players_path))
