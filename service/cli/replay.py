"""`tavolata replay FILE`: a recorded match, step by step, played again and checked.

docs/replay-format.md describes the file and what `--json` prints.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from tavolata.ext.core.match import Match
    from tavolata.ext.core.record import Record, Step

Line = dict[str, Any]

UNREADABLE = 2  # exit code: the file is no record that this program can play
MISMATCH = 1  # exit code: the match does not come to what the file says


def replay(
    file: Annotated[Path, typer.Argument(help="A record of a match (tavolata.match/2).")],
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, for programs.")
    ] = False,
) -> None:
    """Play a recorded match again, show every step, and check that it comes to the same end.

    Exit code 0: it does; 1: it does not; 2: the file is no record that can be played.
    """
    from tavolata.ext.core.record import RecordError, RecordMismatch, check, loads, retrace
    from tavolata.ext.registry import UnknownGame, game_spec
    from tavolata.service.replays import check_fairness

    try:
        record = loads(file.read_text(encoding="utf-8"))
        match, steps = retrace(record, game_spec)
    except (OSError, UnicodeDecodeError, RecordError, UnknownGame) as error:
        stop(file, error, UNREADABLE)
    except RecordMismatch as error:
        stop(file, error, MISMATCH)
    for line in lines_of(record, match, steps):
        typer.echo(json.dumps(line) if as_json else words_of(line))
    try:
        check_fairness(record)
        check(record, match)
    except RecordMismatch as error:
        stop(file, error, MISMATCH)


def stop(file: Path, error: Exception, code: int) -> NoReturn:
    """Say what is wrong with a file, and end with that exit code."""
    what = "not the recorded match: " if code == MISMATCH else ""
    typer.echo(f"{file}: {what}{error}", err=True)
    raise typer.Exit(code)


def lines_of(record: Record, match: Match, steps: list[Step]) -> Iterator[Line]:
    """The match in order, an object a line: see docs/replay-format.md."""
    yield {
        "type": "match",
        "game": record.game,
        "rules_version": record.rules_version,
        "seats": record.seats,
        "options": match.game.options,
        "seed": record.seed.hex(),
        "commitment": record.commitment,
    }
    for step in steps:
        yield from _lines_of_step(match, step)
    yield {
        "type": "result",
        "over": match.over,
        "totals": match.totals(),
        "placement": match.placement() if match.over else None,
        "hash": match.hash.hex(),
    }


def _lines_of_step(match: Match, step: Step) -> Iterator[Line]:
    from tavolata.ext.core.records import ChanceOutcome

    if step.decision is not None:
        yield {
            "type": "decision",
            "turn": step.decision.turn,
            "seat": step.decision.seat,
            "legal": [match.game.action_name(action) for action in step.legal],
            "action": step.decision.action,
        }
    for entry in step.entries:
        if isinstance(entry, ChanceOutcome):
            yield _chance_line(entry.purpose, entry.round, entry.index) | (
                {"choices": entry.choices, "picked": entry.values[0]}
                if entry.choices
                else {"shuffled": entry.items}
            )
        else:
            yield _event_line(entry.number, entry.event)
    yield {
        "type": "scores",
        "turn": step.turn,
        "totals": step.totals,
        "points": step.points,
        "hash": step.hash.hex(),
    }


def _chance_line(purpose: str, round_number: int, index: int) -> Line:
    return {"type": "chance", "purpose": purpose, "round": round_number, "index": index}


def _event_line(number: int, event: Any) -> Line:
    from dataclasses import asdict
    from re import sub

    name = sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    return {"type": "event", "number": number, "event": name, **asdict(event)}


# -- for people ---------------------------------------------------------------------------------


def words_of(line: Line) -> str:
    """A line in words."""
    match line:
        case {"type": "match"}:
            options = ", ".join(f"{name} {_said(value)}" for name, value in line["options"].items())
            return (
                f"{line['game']}, rules version {line['rules_version']}, {line['seats']} seats\n"
                f"options: {options}\nseed: {line['seed']}"
            )
        case {"type": "chance", "shuffled": items}:
            return f"  chance {_key(line)}: {' '.join(items)}"
        case {"type": "chance"}:
            return f"  chance {_key(line)}: {line['picked']} of {line['choices']}, from 0"
        case {"type": "decision"}:
            legal = ", ".join(line["legal"])
            return f"turn {line['turn']}: seat {line['seat']} {line['action']} (out of: {legal})"
        case {"type": "event"}:
            shown = {k: v for k, v in line.items() if k not in ("type", "number", "event")}
            told = ", ".join(f"{name} {_said(value)}" for name, value in shown.items())
            return f"  {line['number']}. {line['event'].replace('_', ' ')}: {told}"
        case {"type": "scores"}:
            return f"  totals {_said(line['totals'])}; this round {_said(line['points'])}"
        case {"type": "result", "over": True}:
            places = _said(line["placement"])
            return f"result: totals {_said(line['totals'])}; places {places}\nhash: {line['hash']}"
    return f"not played to its end: totals {_said(line['totals'])}\nhash: {line['hash']}"


def _key(line: Line) -> str:
    where = f"of round {line['round']}" if line["round"] else "of the match"
    return f"{line['purpose']} {where}, index {line['index']}"


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return " ".join(map(_said, value))
    return str(value)
