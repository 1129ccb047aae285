"""Playing a whole match with a function that decides: a bot in twenty lines."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Protocol

from tavolata.service.client.errors import Refused, ServiceError
from tavolata.service.client.watching import Update
from tavolata.v1 import event_pb2, game_pb2, play_pb2, score_pb2, view_pb2

Decide = Callable[[view_pb2.View], game_pb2.Action | Awaitable[game_pb2.Action]]

# The decision is no longer the seat's to make: a stand-in made it, or an attempt of ours that was
# thought lost.
_MOVED_ON = ("STALE_TURN", "NOT_YOUR_TURN", "ALREADY_COMMITTED", "MATCH_FINISHED")


class MatchLost(ServiceError):
    """The match ended without a result, or the seat is somebody else's now."""


class Player(Protocol):
    """What ``play_match`` needs of a seat: a Seat, or an AttachedSeat of a PlayStream."""

    @property
    def number(self) -> int | None:
        """The seat, None for the owner's place beside the table."""

    def watch(self) -> AsyncGenerator[Update, None]:
        """Snapshots after each action, and the closing message."""

    async def play(self, action: game_pb2.Action, *, turn: int) -> play_pb2.ActionReceipt:
        """Play."""


async def play_match(seat: Player, decide: Decide) -> score_pb2.MatchResult:
    """The result of the match, having played it with ``decide``.

    decide: gets the view whenever the seat is to act and returns one of its legal actions, at once
    or as an awaitable. Raises MatchLost, and what the calls of a Seat raise.
    """
    answered = -1
    async with aclosing(seat.watch()) as updates:
        async for update in updates:
            if isinstance(update, event_pb2.Closing):
                reason = event_pb2.ClosingReason.Name(update.reason)
                raise MatchLost(f"no result: {reason.removeprefix('CLOSING_REASON_')}")
            if not isinstance(update, event_pb2.Snapshot) or not update.HasField("view"):
                continue
            view = update.view
            if view.HasField("result"):
                return view.result
            if seat.number in view.seats_to_act and view.turn > answered:
                await _answer(seat, view, decide)
                answered = view.turn
    raise MatchLost("the watch ended without a result")


async def _answer(seat: Player, view: view_pb2.View, decide: Decide) -> None:
    action = decide(view)
    if inspect.isawaitable(action):
        action = await action
    try:
        await seat.play(action, turn=view.turn)
    except Refused as refusal:
        if refusal.reason not in _MOVED_ON:
            raise
