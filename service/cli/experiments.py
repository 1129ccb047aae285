"""`tavolata ablate` and `tavolata tune`: what settings of a player are worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tavolata.service.cli.tournament_run import REFUSED, Where, play, stop

Folder = Annotated[
    Path | None,
    typer.Option(help="The folder for the results. Default: the file's name without .toml."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Matches at the same time. Default: one a core.")
]
Backends = Annotated[
    Where, typer.Option(help="Where to play: spawned processes, or inline, in this one.")
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The experiment's TOML file.")]


def ablate(
    file: File,
    folder: Folder = None,
    workers: Workers = None,
    backend: Backends = Where.processes,
) -> None:
    """Play every ablation of a list against the default, over the same duplicate deals.

    Everything is kept in a folder, with the commit and the machine; the same command goes on where
    it stopped, and once all is played tells the results again. See docs/tuning.md.
    """
    from tavolata.ai.arena.experiments import place
    from tavolata.ai.arena.experiments.ablation import as_object, load_study, markdown, rows

    with _refusals(file):
        study = load_study(file)
        folder = folder or Path(file.stem)
        place.begin(folder, study.text)
        for part in study.parts:
            if not part.is_over(folder):
                again = f"tavolata ablate {file} --folder {folder}"
                play(part.open(folder), workers, backend, None, go_on=again)
        found = rows(study, folder)
        table = markdown(study, found)
        place.keep(folder, [as_object(row) for row in found], table)
    typer.echo(table)
    typer.echo(f"{folder / place.TABLE}, {folder / place.RESULTS}; by {place.origin(folder)}")


def tune(
    file: File,
    folder: Folder = None,
    workers: Workers = None,
    backend: Backends = Where.processes,
) -> None:
    """Look for better settings of a player: trials against the default over the same deals, then
    the best one against it over fresh ones.

    Needs the extra `tune`. Kept and gone on with like an ablation. See docs/tuning.md.
    """
    from tavolata.ai.arena.experiments import place

    try:
        from tavolata.ai.arena.experiments.tuning import Search, load_tuning, markdown
    except ModuleNotFoundError as error:
        stop(f"{error.name} is not installed; it comes with the extra: tavolata[tune]", REFUSED)

    with _refusals(file):
        tuning = load_tuning(file)
        folder = folder or Path(file.stem)
        place.begin(folder, tuning.text)
        again = f"tavolata tune {file} --folder {folder}"
        search = Search(tuning, folder)
        while (part := search.next_part()) is not None:
            if not part.is_over(folder):
                play(part.open(folder), workers, backend, None, go_on=again)
            search.learn(part)
        table = markdown(search)
        place.keep(folder, search.as_object(), table)
    typer.echo(table)
    typer.echo(f"{folder / place.TABLE}, {folder / place.RESULTS}; by {place.origin(folder)}")


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Say what is wrong with a file or folder, and end."""
    from tavolata.ai.arena.tournament.folder import FolderError
    from tavolata.ai.arena.tournament.specification import SpecificationError
    from tavolata.ai.arena.tournament.store import StoreError

    try:
        yield
    except SpecificationError as error:
        stop(f"{path} can't be run:\n{error}", REFUSED)
    except (FolderError, StoreError, OSError) as error:
        stop(str(error), REFUSED)
