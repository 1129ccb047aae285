"""Whole matches played beforehand from known seeds, so that whoever measures a server with them
has nothing to do but send bytes that lie ready."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import grpc

from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service.codecs import codec_of
from tavolata.v1 import game_pb2, table_pb2, table_service_pb2, table_service_pb2_grpc

GAME = "bouillabaisse"


@dataclass(frozen=True, slots=True)
class Move:
    """An action of a script and the seat that plays it."""

    seat: int
    turn: int
    request_id: str
    action: game_pb2.Action


@dataclass(frozen=True, slots=True)
class Script:
    """A table with a person in every seat, their tokens, and all moves of its match in order."""

    table_id: str
    tokens: list[str]
    moves: list[Move] = field(repr=False)


async def scripts(target: str, numbers: range) -> list[Script]:
    """Tables on a server, a started match each; equal numbers give equal matches."""
    async with grpc.aio.insecure_channel(target) as channel:
        stub = table_service_pb2_grpc.TableServiceStub(channel)
        return [await _script(stub, number) for number in numbers]


async def _script(stub: table_service_pb2_grpc.TableServiceAsyncStub, number: int) -> Script:
    spec = GAMES[GAME]
    seed = (1 + number).to_bytes(32, "big")
    open_seat = table_pb2.SeatPlan(open=table_pb2.OpenSeat())
    created = await stub.CreateTable(
        table_service_pb2.CreateTableRequest(
            request_id=f"create-{number}",
            settings=table_pb2.TableSettings(game_id=GAME),
            seats=[open_seat] * spec.seats_usual,
            seed=seed,
        )
    )
    table_id = created.table.table_id
    tokens = []
    for seat in range(spec.seats_usual):
        joined = await stub.JoinTable(
            table_service_pb2.JoinTableRequest(
                request_id=f"join-{number}-{seat}", table_id=table_id, seat=seat
            )
        )
        tokens.append(joined.token)
    await stub.StartMatch(
        table_service_pb2.StartMatchRequest(request_id="start", table_id=table_id),
        metadata=(("authorization", f"Bearer {created.token}"),),
    )
    match = Match(spec.make(spec.seats_usual), seed)
    return Script(table_id, tokens, list(_moves(match, number)))


def _moves(match: Match, number: int) -> Iterator[Move]:
    """The match by random legal actions."""
    codec = codec_of(GAME)
    draws = random.Random(number)  # noqa: S311 - any legal actions will do
    while not match.over:
        seat = match.to_act[0]
        action = draws.choice(match.legal(seat))
        name = f"play-{match.decision_count}"
        yield Move(seat, match.turn, name, codec.action_to(action))
        match.play(seat, action)
