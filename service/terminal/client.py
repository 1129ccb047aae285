"""The terminal client from the first line to the last: one person, at one table or beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from pathlib import Path

from tavolata.ext.core.record import RecordError, dumps
from tavolata.service.client import Connection, Seat, ServiceError
from tavolata.service.replays import record_of_replay
from tavolata.service.terminal.lines import Lines
from tavolata.service.terminal.reviewing import (
    decision_told,
    is_error,
    naming,
    summary_told,
)
from tavolata.service.terminal.session import Session
from tavolata.service.terminal.spectator import Spectator
from tavolata.service.terminal.table import rules_of
from tavolata.service.terminal.voice import Tone, Voice

_FAREWELL_S = 2.0


async def play_at(
    server: Connection,
    seat: Seat,
    lines: Lines,
    voice: Voice,
    seated: Callable[[Seat], None] = lambda _: None,
) -> bool:
    """Play a seat, and those at rematches, until the person leaves: whether the match goes on
    without them. seated: told of each seat at a rematch.

    Raises ServiceError if the table can't be followed.
    """
    while True:
        session = await _session(Session, server, seat, voice)
        try:
            await _attend(server, session, lines, voice)
        finally:
            await _get_up(session)
        if session.again is None:
            return session.view is not None and not session.over
        seat = session.again
        seated(seat)


async def watch_at(server: Connection, table_id: str, lines: Lines, voice: Voice) -> None:
    """Tell what happens at a table, as everybody may see it, until the person has seen enough.

    If no more lines will come, until the match is over. Raises ServiceError if the table can't be
    followed.
    """
    session = await _session(Spectator, server, server.seat(table_id, "", None), voice)
    await _attend(server, session, lines, voice)


async def _session(kind: type[Session], server: Connection, seat: Seat, voice: Voice) -> Session:
    table = await server.table(seat.table_id)
    game = await server.game(table.settings.game_id)
    voice.say(f"{game.title}. Type ? and Enter for the keys.")
    return kind(seat, game, await rules_of(server, game.game_id), voice)


async def _attend(server: Connection, session: Session, lines: Lines, voice: Voice) -> None:
    """Tell what happens and answer what is typed."""
    following = asyncio.create_task(session.follow())
    # The first key is to be answered from what there is.
    first = asyncio.create_task(session.ready.wait())
    await asyncio.wait({following, first}, return_when=asyncio.FIRST_COMPLETED)
    first.cancel()
    typing = asyncio.create_task(lines.next())
    reviewing: asyncio.Task[None] | None = None
    try:
        while not session.gone:
            waited = {typing} if following.done() else {typing, following}
            done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if following in done:
                following.result()
                voice.say(_over(session))
            if typing in done:
                if reviewing is not None:
                    reviewing.cancel()  # it goes on only as long as nothing is typed
                typed = typing.result()
                if typed is None:
                    if isinstance(session, Spectator):
                        await following
                    break
                await session.answer(typed)
                if session.save_as is not None:
                    await _save(server, session, voice)
                if session.review_of is not None:
                    reviewing = asyncio.create_task(_review(session, voice))
                typing = asyncio.create_task(lines.next())
    finally:
        tasks = [following, typing, *([reviewing] if reviewing is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _over(session: Session) -> str:
    more = "" if isinstance(session, Spectator) else ", rematch plays again"
    return (
        f"Save saves the replay, review tells what decisions cost{more}, Q leaves; the other keys "
        "still work."
    )


async def _review(session: Session, voice: Voice) -> None:
    """Tell the errors of a match that is over, and how the seats did."""
    seats, session.review_of = session.review_of or [], None
    room = session.room
    name_of = naming(room.table.settings, len(room.table.seats))
    try:
        async with aclosing(session.seat.review(seats, hindsight=True)) as told:
            async for message in told:
                match message.WhichOneof("message"):
                    case "start":
                        voice.say(f"{message.start.decisions} decisions. Enter ends the review.")
                    case "decision" if is_error(message.decision):
                        voice.say(decision_told(message.decision, name_of, room.who))
                    case "summary":
                        for each in summary_told(message.summary, room.who):
                            voice.say(each[0].upper() + each[1:], Tone.SCORE)
    except ServiceError as error:
        voice.say(f"There is no review: {error}", Tone.TROUBLE)


async def _get_up(session: Session) -> None:
    """Let the stand-in play for a person who went without a word, so that nobody waits for them."""
    if session.gone or session.over:
        return
    with suppress(ServiceError, TimeoutError):
        async with asyncio.timeout(_FAREWELL_S):
            await session.seat.leave()


async def _save(server: Connection, session: Session, voice: Voice) -> None:
    path, session.save_as = Path(session.save_as or ""), None
    try:
        record = record_of_replay(await server.replay(session.seat.table_id))
        await asyncio.to_thread(path.write_text, dumps(record), encoding="utf-8")
    except (OSError, ServiceError, RecordError) as error:
        voice.say(f"The replay could not be saved: {error}", Tone.TROUBLE)
    else:
        voice.say(f"The replay is in {path}. To read it: tavolata replay {path}")
