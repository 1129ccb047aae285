"""`tavolata tournament`: players against each other by the hundred thousand, from one TOML file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tavolata.service.cli import tournament_remote as remote
from tavolata.service.cli.tournament_run import (
    FAILED,
    REFUSED,
    Where,
    play,
    play_again,
    rehearse,
    stop,
)

if TYPE_CHECKING:
    from tavolata.ai.arena.tournament.folder import Tournament
    from tavolata.ai.arena.tournament.model import MatchOutcome
    from tavolata.ai.arena.tournament.summary import Summary

WIDTH = 120  # of tables where there is no terminal

app = typer.Typer(
    name="tournament", help="Tournaments of AI players, from one TOML file.", no_args_is_help=True
)


class Format(StrEnum):
    """What results can be written as."""

    json = "json"
    csv = "csv"
    records = "records"


SpecFile = Annotated[Path, typer.Argument(metavar="SPEC", help="The tournament's TOML file.")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a tournament.")]
Place = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER", help="The folder of a tournament; with --server, its id there."
    ),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Matches at the same time. Default: one a core.")
]
Backends = Annotated[
    Where,
    typer.Option(
        help="Where to play: spawned processes; inline, in this one, where a crash or a hang is "
        "not contained; ray, for which the extra `ray` has to be installed."
    ),
]
Address = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="A Ray cluster to play on; implies ray."),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON, for programs.")]


@app.command()
def run(
    spec: SpecFile,
    folder: Annotated[
        Path | None,
        typer.Option(help="A new folder for the results. Default: the file's name without .toml."),
    ] = None,
    workers: Workers = None,
    backend: Backends = Where.processes,
    ray: Address = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Keep nothing: play a few matches, and tell how many there would be, how long "
            "they would take, and which differences they could tell.",
        ),
    ] = False,
) -> None:
    """Play a tournament, and keep every match in a folder.

    Ctrl-C ends it after the matches in progress, a second one at once; what was played is kept
    either way, and `resume` goes on from there.
    """
    from tavolata.ai.arena.tournament import folder as folders
    from tavolata.ai.arena.tournament.specification import load

    with _refusals(spec):
        specification = load(spec)
        if dry_run:
            rehearse(specification, workers, backend, ray)
            return
        tournament = folders.create(folder or Path(spec.stem), specification)
    play(tournament, workers, backend, ray)


@app.command()
def resume(
    folder: Folder,
    workers: Workers = None,
    backend: Backends = Where.processes,
    ray: Address = None,
) -> None:
    """Go on with a tournament that was interrupted. Refused if its file was changed since."""
    from tavolata.ai.arena.tournament import folder as folders

    with _refusals(folder):
        tournament = folders.open_to_run(folder)
    if tournament.result_hash is not None:
        with closing(tournament):
            typer.echo(f"finished: {tournament.store.count()} matches, {tournament.result_hash}")
        return
    play(tournament, workers, backend, ray)


@app.command()
def status(
    folder: Place,
    as_json: AsJson = False,
    server: remote.Server = "",
    tls: remote.Tls = False,
    tls_ca: remote.TlsCa = None,
) -> None:
    """How far a tournament is, also while it runs."""
    if server:
        remote.status(server, tls, tls_ca, str(folder), as_json)
        return
    from tavolata.ai.arena.tournament import folder as folders

    with _reading(folder) as tournament:
        kinds = Counter(
            (fault.label, fault.kind.value)
            for outcome in tournament.store.outcomes(records=False)
            for fault in outcome.faults
        )
        said = {
            "title": tournament.specification.title,
            "state": "finished"
            if tournament.result_hash
            else "running"
            if folders.is_running(folder)
            else "interrupted",
            "matches": tournament.store.count(),
            "faults": [
                {"entrant": label, "kind": kind, "count": count}
                for (label, kind), count in sorted(kinds.items())
            ],
            "result_hash": tournament.result_hash,
        }
    typer.echo(json.dumps(said) if as_json else _status_text(said))


def _status_text(said: dict[str, Any]) -> str:
    lines = [f"{said['title']}: {said['state']}, {said['matches']} matches played"]
    lines += [f"  {row['entrant']}: {row['count']} x {row['kind']}" for row in said["faults"]]
    if said["result_hash"]:
        lines.append(f"result hash: {said['result_hash']}")
    return "\n".join(lines)


@app.command()
def standings(
    folder: Place,
    as_json: AsJson = False,
    server: remote.Server = "",
    tls: remote.Tls = False,
    tls_ca: remote.TlsCa = None,
) -> None:
    """Standings, crosstable, decision times and faults, also while it runs.

    Of a server's tournament: the standings; with --json all of it.
    """
    if server:
        remote.standings(server, tls, tls_ca, str(folder), as_json)
        return
    from rich.console import Console

    with _reading(folder) as tournament:
        summary = _summary(tournament)
    if as_json:
        from tavolata.ai.arena.tournament.report.structured import as_json as text_of

        typer.echo(text_of(summary), nl=False)
        return
    from tavolata.ai.arena.tournament.report.terminal import terminal

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    terminal(summary, console)


@app.command()
def meetings(folder: Folder) -> None:
    """Who met whom and what was decided: rounds, byes, brackets, and where a rule stopped."""
    from tavolata.ai.arena.tournament.course import lines

    with _reading(folder) as tournament:
        for line in lines(tournament.specification, tournament.store.of_block):
            typer.echo(line)


@app.command()
def pairs(folder: Folder) -> None:
    """Who met whom at tables of their own, compared deal by deal: Elo and utility with 95 %
    intervals, as a table in Markdown.
    """
    from tavolata.ai.arena.tournament.comparison_text import markdown
    from tavolata.ai.arena.tournament.comparisons import comparisons
    from tavolata.ai.arena.tournament.course import courses

    with _reading(folder) as tournament:
        found, _ = courses(tournament.specification, tournament.store.of_block)
        met = [
            (each.first, each.second)
            for course in found
            for each in course.encounters
            if each.second is not None
        ]
        rows = comparisons(
            tournament.field,
            tournament.store.outcomes(records=False),
            list(dict.fromkeys(met)),
        )
        typer.echo(markdown(tournament.specification.title, rows), nl=False)


@app.command()
def export(
    folder: Place,
    to: Annotated[Path, typer.Argument(metavar="TO", help="A JSON file, or a folder to fill.")],
    as_: Annotated[
        Format,
        typer.Option(
            "--as",
            help="json: all results in one file; csv: tables in a folder; records: every match "
            "in a folder, each a file that `tavolata replay` plays and checks.",
        ),
    ] = Format.json,
    server: remote.Server = "",
    tls: remote.Tls = False,
    tls_ca: remote.TlsCa = None,
) -> None:
    """Write results or matches to files."""
    if server:
        remote.export(server, tls, tls_ca, str(folder), to, as_.value)
        return
    with _reading(folder) as tournament:
        for name, text in _files(tournament, as_):
            _write(to / name if name else to, text)


def _files(tournament: Tournament, as_: Format) -> Iterator[tuple[str, str]]:
    """File names and texts; a single file has none."""
    if as_ is Format.records:
        for outcome in tournament.store.outcomes():
            yield f"{outcome.plan.id}.json", _record_text(tournament, outcome)
    elif as_ is Format.csv:
        from tavolata.ai.arena.tournament.report.delimited import as_csv

        yield from as_csv(_summary(tournament)).items()
    else:
        from tavolata.ai.arena.tournament.report.structured import as_json

        yield "", as_json(_summary(tournament))


@app.command()
def report(
    folder: Folder,
    to: Annotated[
        Path | None, typer.Option(help="The file. Default: report.html in the folder.")
    ] = None,
) -> None:
    """Write the report: one HTML page with its pictures in it."""
    with _reading(folder) as tournament:
        summary, title = _summary(tournament), tournament.specification.title
    from tavolata.ai.arena.tournament.report.page import html

    path = to or folder / "report.html"
    _write(path, html(summary, title))
    typer.echo(path)


@app.command()
def match(
    folder: Folder,
    match_id: Annotated[
        str, typer.Argument(metavar="ID", help="contest.round.group.deal.rotation, like 0.0.2.11.1")
    ],
    record: Annotated[
        Path | None,
        typer.Option(help="Write the match to this file, for `tavolata replay`."),
    ] = None,
    backend: Backends = Where.processes,
    stored: Annotated[bool, typer.Option("--stored", help="Show it, don't play it.")] = False,
) -> None:
    """Play one match of a tournament again, alone, and compare it with the one that is kept.

    Ends with 1 if it came out otherwise, as it may where players think by the clock.
    """
    from tavolata.ai.arena.tournament.folder import FolderError

    with _reading(folder) as tournament:
        try:
            outcome = tournament.find(match_id)
        except FolderError as error:
            stop(str(error), REFUSED)
        typer.echo(_match_text(tournament, outcome))
        if record is not None:
            _write(record, _record_text(tournament, outcome))
        again = outcome if stored else play_again(tournament, outcome, backend)
    if again.hash != outcome.hash:
        stop(f"played again it came out otherwise: hash {again.hash.hex()}", FAILED)
    if not stored:
        typer.echo("played again it is the same")


def _record_text(tournament: Tournament, outcome: MatchOutcome) -> str:
    """The match as a file; what is kept may have been changed since it was played."""
    from tavolata.ai.arena.tournament.play import record_of
    from tavolata.ext.core.errors import RulesError
    from tavolata.ext.core.record import RecordMismatch, dumps

    try:
        return dumps(record_of(tournament.field, outcome))
    except (RulesError, RecordMismatch) as error:
        stop(f"match {outcome.plan.id} is not as it was played: {error}", FAILED)


def _match_text(tournament: Tournament, outcome: MatchOutcome) -> str:
    contest = tournament.field.contests[outcome.plan.contest]
    lines = [f"match {outcome.plan.id} of {contest.name}: {contest.game}, {contest.seats} seats"]
    lines += [
        f"  seat {seat.seat}: {seat.label}, place {seat.place}, total {seat.total}"
        for seat in outcome.seats
    ]
    lines += [
        f"  {fault.kind} of {fault.label} in seat {fault.seat} at decision {fault.decision}: "
        f"{fault.detail}"
        for fault in outcome.faults
    ]
    return "\n".join([*lines, f"  hash {outcome.hash.hex()}"])


@app.command()
def keys() -> None:
    """Every key of a tournament's file, with what it may hold."""
    from tavolata.ai.arena.tournament.key_texts import key_texts

    for key in key_texts():
        only = f" ({key.only})" if key.only else ""
        default = f"; default: {key.default}" if key.default not in ("", "required") else ""
        required = "; required" if key.default == "required" else ""
        typer.echo(f"{key.path}{only}: {key.allowed}{default}{required}\n    {key.description}")


app.command("submit")(remote.submit)
app.command("watch")(remote.watch)
app.command("cancel")(remote.cancel)
app.command("list")(remote.list_)


# -- reading ------------------------------------------------------------------------------------


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


@contextmanager
def _reading(folder: Path) -> Iterator[Tournament]:
    from tavolata.ai.arena.tournament.folder import open_to_read

    with _refusals(folder):
        tournament = open_to_read(folder)
    with closing(tournament):
        yield tournament


def _summary(tournament: Tournament) -> Summary:
    try:
        from tavolata.ai.arena.tournament.results import summary
    except ModuleNotFoundError as error:
        stop(
            f"{error.name} is not installed; it comes with the extra: tavolata[tournament]", REFUSED
        )
    from tavolata.ai.arena.tournament.course import courses

    found, withdrawn = courses(tournament.specification, tournament.store.of_block)
    made = summary(tournament.field, tournament.store.outcomes(records=False))
    return replace(made, courses=found, withdrawn=withdrawn)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        stop(str(error), FAILED)
