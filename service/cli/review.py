"""`tavolata review FILE`: what the decisions of a recorded match cost, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tavolata.service.cli.replay import MISMATCH, UNREADABLE, stop

if TYPE_CHECKING:
    from tavolata.ai.review import Question
    from tavolata.ext.core.match import Match


def review(
    file: Annotated[Path, typer.Argument(help="A record of a match (tavolata.match/2).")],
    seat: Annotated[
        list[int] | None,
        typer.Option("--seat", min=0, help="Seat to judge; may be repeated. Default: all."),
    ] = None,
    iterations: Annotated[
        int, typer.Option(min=1, max=10_000_000, help="Of each search; two to four a decision.")
    ] = 1_000,
    hindsight: Annotated[bool, typer.Option(help="Judge with all hands open, too.")] = True,
    every: Annotated[
        bool, typer.Option("--every", help="Tell of every decision, not of errors alone.")
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, max=2**64 - 1, help="For the searches' random numbers.")
    ] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="The messages of ReviewMatch, one a line, for programs.")
    ] = False,
) -> None:
    """Judge the decisions of a recorded match by what they cost, given what each seat knew then.

    Exit code 0: done; 1: the record is not of the match it says; 2: no record that can be played.
    """
    from tavolata.ai.player import Limits
    from tavolata.ai.review import Question
    from tavolata.ext.core.record import RecordError, RecordMismatch, loads, replay
    from tavolata.ext.registry import UnknownGame, game_spec

    try:
        match = replay(loads(file.read_text(encoding="utf-8")), game_spec)
    except (OSError, UnicodeDecodeError, RecordError, UnknownGame) as error:
        stop(file, error, UNREADABLE)
    except RecordMismatch as error:
        stop(file, error, MISMATCH)
    seats = sorted(set(seat or range(match.game.seat_count)))
    if seats[-1] >= match.game.seat_count:
        last = match.game.seat_count - 1
        raise typer.BadParameter(f"{seats[-1]}; allowed: 0 to {last}", param_hint="--seat")
    question = Question(Limits(iterations=iterations), hindsight, seed)
    (_print_json if as_json else _print_words)(match, seats, question, every)


def _print_json(match: Match, seats: list[int], question: Question, every: bool) -> None:
    """Every message, whether ``every`` or not."""
    from google.protobuf.json_format import MessageToDict

    from tavolata.service.analysis.local import review_match

    for message in review_match(match, seats, question):
        line = MessageToDict(message, preserving_proto_field_name=True)
        typer.echo(json.dumps(line, separators=(",", ":")))


def _print_words(played: Match, seats: list[int], question: Question, every: bool) -> None:
    from tavolata.service.analysis.local import review_match
    from tavolata.service.codecs import codec_of
    from tavolata.service.terminal.reviewing import decision_told, is_error, summary_told
    from tavolata.v1.game_pb2 import Action

    codec = codec_of(played.game.spec.id)

    def name_of(action: Action) -> str:
        return played.game.action_name(codec.action_from(action))

    def who(number: int) -> str:
        return f"seat {number}"

    for message in review_match(played, seats, question):
        match message.WhichOneof("message"):
            case "start":
                typer.echo(f"{message.start.decisions} decisions.")
            case "decision" if every or is_error(message.decision):
                typer.echo(decision_told(message.decision, name_of, who))
            case "summary":
                for told in summary_told(message.summary, who):
                    typer.echo(told[0].upper() + told[1:])
