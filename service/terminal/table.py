"""Getting to a table: make one as asked for, or sit down at one that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tavolata.service.client import (
    Connection,
    Seat,
    ai_player,
    open_seat,
    person,
    settings,
)
from tavolata.service.terminal.lines import Lines
from tavolata.service.terminal.options import options_of
from tavolata.service.terminal.voice import Tone, Voice
from tavolata.service.terminal.words import listed, plain
from tavolata.v1 import catalog_pb2, player_pb2, table_pb2

_HINTS = {True: table_pb2.HINTS_ALLOWED, False: table_pb2.HINTS_FORBIDDEN}
_PUBLIC, _UNLISTED = table_pb2.VISIBILITY_PUBLIC, table_pb2.VISIBILITY_UNLISTED


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person asked for. Empty or None: ask, or take what is usual.

    people: seats, the person's own included, that are for people; AI players get the others. hints:
    whether the table allows them; None: where the person is alone with AI players.
    """

    game_id: str = ""
    seats: int | None = None
    people: int = 1
    name: str = ""
    player: str = ""
    level: str = ""
    options: Sequence[str] = field(default_factory=tuple)
    seed: bytes = b""
    is_public: bool = False
    hints: bool | None = None


class NoTable(Exception):
    """The person left before there was a table, or asked for what can't be."""


async def make_table(server: Connection, wanted: Wanted, lines: Lines, voice: Voice) -> Seat:
    """The person's seat at a new table; asks what is not said in ``wanted``."""
    game = await _game(server, wanted, lines, voice)
    seats = await _seat_count(game, wanted, lines, voice)
    if not 1 <= wanted.people <= seats:
        raise NoTable(f"{wanted.people} people don't fit at a table of {seats} seats")
    others = [open_seat()] * (wanted.people - 1)
    ai = [ai_player(wanted.player, wanted.level)] * (seats - wanted.people)
    return await server.create_table(
        settings(
            game.game_id,
            options_of(game, wanted.options),
            visibility=_PUBLIC if wanted.is_public else _UNLISTED,
            hints=_HINTS[wanted.people == 1 if wanted.hints is None else wanted.hints],
            fill_empty_seats=player_pb2.AiPlayer(player=wanted.player, level=wanted.level),
        ),
        [person(wanted.name), *others, *ai],
        seed=wanted.seed,
    )


async def _game(server: Connection, wanted: Wanted, lines: Lines, voice: Voice) -> catalog_pb2.Game:
    if wanted.game_id:
        return await server.game(wanted.game_id)
    games = await server.games()
    titles = [f"{place}. {game.title}" for place, game in enumerate(games, 1)]
    names = {
        name.casefold(): place
        for place, game in enumerate(games, 1)
        for name in (game.title, game.game_id, game.game_id.replace("_", " "))
    }
    place = await _number(
        f"Which game? {'; '.join(titles)}.", range(1, len(games) + 1), 1, lines, voice, names
    )
    game = games[place - 1]
    voice.say(f"{game.title}. {game.summary}")
    return game


async def _seat_count(game: catalog_pb2.Game, wanted: Wanted, lines: Lines, voice: Voice) -> int:
    if wanted.seats is not None or wanted.game_id:
        return wanted.seats if wanted.seats is not None else game.usual_seat_count
    counts = list(game.seat_counts)
    question = f"How many seats? {counts[0]} to {counts[-1]}."
    return await _number(question, counts, game.usual_seat_count, lines, voice)


async def _number(
    question: str,
    allowed: Sequence[int],
    usual: int,
    lines: Lines,
    voice: Voice,
    names: Mapping[str, int] | None = None,
) -> int:
    """A number that the person types, or a name of it; Enter alone takes the usual one."""
    while True:
        voice.say(f"{question} Enter alone: {usual}.", Tone.TURN)
        typed = await lines.next()
        if typed is None or typed.strip().casefold() in ("q", "quit"):
            raise NoTable("no table was made")
        if not typed.strip():
            return usual
        if typed.strip().isdecimal() and int(typed) in allowed:
            return int(typed)
        if names and (named := names.get(typed.strip().casefold())) is not None:
            return named
        voice.say(f"{typed.strip()!r} is not among {listed(map(str, allowed))}.", Tone.TROUBLE)


async def sit_down(
    server: Connection, table_id: str, name: str, number: int | None, token: str
) -> Seat:
    """A seat at a table that is there: an open one, or the one that the token has had before."""
    if not token:
        return await server.join(table_id, name, seat=number)
    seat = server.seat(table_id, token, number)
    table = await server.table(table_id)
    if table.state in (table_pb2.TABLE_STATE_FINISHED, table_pb2.TABLE_STATE_ABORTED):
        raise NoTable("the match at this table is over")
    await seat.come_back()
    return seat


async def rules_of(server: Connection, game_id: str) -> dict[str, str]:
    """All rules of a game as plain sentences, by number."""
    return {rule.rule_id: plain(rule.text) for rule in await server.rules(game_id)}
