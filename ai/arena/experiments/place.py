"""The folder of an experiment: its file, where its results come from, and the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tavolata.ai.arena.experiments.provenance import provenance
from tavolata.ai.arena.tournament.folder import FolderError

FILE = "experiment.toml"
RUNS = "runs.json"
RESULTS = "results.json"
TABLE = "table.md"


def begin(folder: Path, text: str) -> None:
    """Take up an experiment in its folder, new or not, and note by what it is run this time.

    FolderError if something else is there.
    """
    kept = folder / FILE
    if kept.exists():
        if kept.read_text(encoding="utf-8") != text:
            raise FolderError(
                f"{folder} holds an experiment by another file; choose another folder, or undo "
                f"what was changed since {kept}"
            )
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderError(f"{folder} is not an empty folder; choose another one")
    folder.mkdir(parents=True, exist_ok=True)
    runs = folder / RUNS
    before = json.loads(runs.read_text(encoding="utf-8")) if runs.exists() else []
    _write(runs, _json([*before, provenance(text)]))
    _write(kept, text)


def keep(folder: Path, results: Any, table: str) -> None:
    """The results as JSON and as a table, beside the runs that they come from."""
    runs = json.loads((folder / RUNS).read_text(encoding="utf-8"))
    _write(folder / RESULTS, _json({"runs": runs, "results": results}))
    _write(folder / TABLE, table)


def origin(folder: Path) -> str:
    """By what the results were made, in a line."""
    runs = json.loads((folder / RUNS).read_text(encoding="utf-8"))
    commits = dict.fromkeys(run["commit"] or f"version {run['program']}" for run in runs)
    machine = runs[-1]["machine"]
    processor = f"{machine['processor']}, {machine['cores']} cores, {machine['build']}"
    return f"{', '.join(commits)} on {processor}"


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
