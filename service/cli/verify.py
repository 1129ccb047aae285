"""`tavolata verify FILE`: whether a downloaded match is what was promised, without a server.

docs/replay-format.md says what is checked, what can't be, and what `--json` prints.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tavolata.service.cli.replay import MISMATCH, UNREADABLE

if TYPE_CHECKING:
    from tavolata.service.verify import Verdict


def _commitment(given: str) -> str:
    if given and re.fullmatch("[0-9a-fA-F]{64}", given) is None:
        raise typer.BadParameter(f"is {given!r}; a commitment has 64 hex digits")
    return given


def verify(
    file: Annotated[
        Path, typer.Argument(help="A record (tavolata.match/2) or a Replay, binary or JSON.")
    ],
    commitment: Annotated[
        str,
        typer.Option(
            metavar="HEX",
            callback=_commitment,
            help="The commitment that you noted before the deal: 64 hex digits.",
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Check a downloaded match: the promise, the deal, every step, the result; no server is asked.

    Exit code 0: all agrees; 1: something doesn't; 2: the file can't be read or can't be verified.
    """
    from tavolata.ext.core.record import RecordError, RecordMismatch
    from tavolata.service.verify import verify as verdict_on

    try:
        verdict = verdict_on(file.read_bytes(), commitment)
    except (OSError, RecordError) as error:
        _stop(file, str(error), UNREADABLE, as_json)
    except RecordMismatch as error:
        _stop(file, str(error), MISMATCH, as_json)
    else:
        _tell(file, verdict, as_json)


def _stop(file: Path, problem: str, code: int, as_json: bool) -> None:
    """End with what is wrong."""
    word = "mismatch" if code == MISMATCH else "unreadable"
    if as_json:
        typer.echo(json.dumps({"file": str(file), "verdict": word, "problem": problem}))
    else:
        typer.echo(f"{file}: {word}: {problem}", err=True)
    raise typer.Exit(code)


def _tell(file: Path, verdict: Verdict, as_json: bool) -> None:
    if as_json:
        told: dict[str, Any] = {
            "file": str(file),
            "verdict": "verified" if verdict.verified else "unverifiable",
            "kind": verdict.kind,
            "game": verdict.game,
            "commitment": verdict.commitment,
            "checked": verdict.checked,
            "not_checked": verdict.open,
        }
        typer.echo(json.dumps(told))
    else:
        word = "verified" if verdict.verified else "can't be verified"
        lines = [f"{file}: {word} ({verdict.kind} of {verdict.game})"]
        lines += [f"  checked: {line}" for line in verdict.checked]
        lines += [f"  can't be checked: {line}" for line in verdict.open]
        if verdict.commitment:
            lines.append(f"  commitment: {verdict.commitment}")
        typer.echo("\n".join(lines))
    if not verdict.verified:
        raise typer.Exit(UNREADABLE)
