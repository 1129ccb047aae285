"""What every RPC asks of its caller, and callers with every kind of wrong credential.

An RPC that isn't in `ACCESS` makes the test of access fail: who adds one says here what it asks.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

import tavolata.v1
from tavolata.v1 import analysis_service_pb2 as analysis
from tavolata.v1 import catalog_service_pb2 as catalog
from tavolata.v1 import player_service_pb2 as players
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1 import tournament_service_pb2 as tournaments
from tavolata.v1.bouillabaisse_pb2 import BouillabaisseAction, BouillabaissePlay
from tavolata.v1.card_pb2 import Card
from tavolata.v1.game_pb2 import Action
from tavolata.v1.remote_player_pb2 import PlayerOffer
from tavolata.v1.table_pb2 import OpenSeat, TableSettings
from tests.service.house import CALLER, GREEDY, OPEN, fresh_id

PROTO = Path(__file__).parents[2] / "proto" / "tavolata" / "v1"
ANY_CARD = Action(
    bouillabaisse=BouillabaisseAction(play=BouillabaissePlay(card=Card.CARD_TWO_OF_CLUBS))
)


class Asks(Enum):
    """What an RPC asks of its caller."""

    NOTHING = auto()  # and reads no token
    NO_WRONG_TOKEN = auto()  # none, or one of the table
    SEAT = auto()  # the token of a seat
    OWNER = auto()  # the owner's token
    PERSON = auto()  # an identity, where the server wants one; reads no token
    PERSON_OR_TOKEN = auto()  # that, or a token of the table
    IN_ITS_MESSAGES = auto()  # tokens aren't in the header


class Holds(Enum):
    """What a caller has of a table."""

    NOTHING = auto()
    WRONG_TOKEN = auto()
    OTHER_SEAT = auto()  # not the owner's
    NO_SEAT = auto()  # the owner's token, without a seat


class Shows(Enum):
    """What a caller says of who it is."""

    NOBODY = auto()
    WRONG = auto()
    SOMEBODY = auto()


@dataclass(frozen=True)
class Caller:
    """Somebody who calls with these headers. token: in them, None if there is none that is
    well-formed."""

    name: str
    metadata: tuple[tuple[str, str], ...]
    token: str | None = None
    holds: Holds = Holds.NOTHING
    shows: Shows = Shows.NOBODY


def reason_for(asks: Asks, caller: Caller) -> str:
    """The reason with which the documentation says that the caller is refused; empty: it isn't."""
    person = {Shows.NOBODY: "MISSING_IDENTITY", Shows.WRONG: "BAD_IDENTITY", Shows.SOMEBODY: ""}
    wrong = "BAD_TOKEN" if caller.holds is Holds.WRONG_TOKEN else ""
    match asks:
        case Asks.NO_WRONG_TOKEN:
            return wrong
        case Asks.SEAT:
            held = {Holds.NOTHING: "MISSING_TOKEN", Holds.NO_SEAT: "NOT_SEATED"}
            return wrong or held.get(caller.holds, "")
        case Asks.OWNER:
            held = {Holds.NOTHING: "MISSING_TOKEN", Holds.OTHER_SEAT: "NOT_OWNER"}
            return wrong or held.get(caller.holds, "")
        case Asks.PERSON:
            return person[caller.shows]
        case Asks.PERSON_OR_TOKEN:
            if caller.shows is Shows.NOBODY and caller.holds is not Holds.NOTHING:
                return wrong
            return person[caller.shows] or wrong
    return ""


Build = Callable[[str], Message]  # a request about a table, right but for who calls


def _of_table(message: type[Message], **fields: Any) -> Build:
    return lambda table_id: message(table_id=table_id, **_named(message), **fields)


def _alone(message: type[Message], **fields: Any) -> Build:
    return lambda _: message(**_named(message), **fields)


def _named(message: type[Message]) -> dict[str, Any]:
    return {"request_id": fresh_id()} if "request_id" in message.DESCRIPTOR.fields_by_name else {}


_SETTINGS = TableSettings(game_id="bouillabaisse")
_EXPLAIN = {"explain": [ANY_CARD]}

# By service and RPC: what it asks, and how it is asked.
ACCESS: dict[str, tuple[Asks, Build]] = {
    "CatalogService.ListGames": (Asks.NOTHING, _alone(catalog.ListGamesRequest)),
    "CatalogService.GetGame": (
        Asks.NOTHING,
        _alone(catalog.GetGameRequest, game_id="bouillabaisse"),
    ),
    "CatalogService.GetRules": (
        Asks.NOTHING,
        _alone(catalog.GetRulesRequest, game_id="bouillabaisse"),
    ),
    "CatalogService.GetServerInfo": (Asks.NOTHING, _alone(catalog.GetServerInfoRequest)),
    "TableService.CreateTable": (
        Asks.PERSON,
        _alone(pb.CreateTableRequest, settings=_SETTINGS, seats=[CALLER, OPEN]),
    ),
    "TableService.GetTable": (Asks.NO_WRONG_TOKEN, _of_table(pb.GetTableRequest)),
    "TableService.ListTables": (Asks.NOTHING, _alone(pb.ListTablesRequest)),
    "TableService.JoinTable": (Asks.PERSON_OR_TOKEN, _of_table(pb.JoinTableRequest)),
    "TableService.LeaveTable": (Asks.SEAT, _of_table(pb.LeaveTableRequest)),
    "TableService.SetSeat": (Asks.OWNER, _of_table(pb.SetSeatRequest, seat=1, ai=GREEDY)),
    "TableService.StartMatch": (Asks.OWNER, _of_table(pb.StartMatchRequest)),
    "TableService.GetView": (Asks.NO_WRONG_TOKEN, _of_table(pb.GetViewRequest)),
    "TableService.PlayAction": (Asks.SEAT, _of_table(pb.PlayActionRequest, action=ANY_CARD)),
    "TableService.WatchTable": (Asks.NO_WRONG_TOKEN, _of_table(pb.WatchTableRequest)),
    "TableService.PlayStream": (Asks.IN_ITS_MESSAGES, _alone(pb.PlayStreamRequest)),
    "TableService.Resign": (Asks.SEAT, _of_table(pb.ResignRequest)),
    "TableService.AbortMatch": (Asks.OWNER, _of_table(pb.AbortMatchRequest)),
    "TableService.Rematch": (Asks.SEAT, _of_table(pb.RematchRequest)),
    "TableService.GetReplay": (Asks.NO_WRONG_TOKEN, _of_table(pb.GetReplayRequest)),
    # In play Analyze asks for a seat; of a match that is over, for nothing.
    "AnalysisService.Analyze": (Asks.NO_WRONG_TOKEN, _of_table(analysis.AnalyzeRequest)),
    "AnalysisService.ReviewMatch": (Asks.NO_WRONG_TOKEN, _of_table(analysis.ReviewMatchRequest)),
    "PlayerService.ListPlayers": (Asks.NOTHING, _alone(players.ListPlayersRequest)),
    "PlayerService.Serve": (
        Asks.PERSON,
        _alone(players.ServeRequest, offer=PlayerOffer(player="zoe", game_ids=["bouillabaisse"])),
    ),
    "TournamentService.CreateTournament": (
        Asks.PERSON,
        _alone(tournaments.CreateTournamentRequest),
    ),
    "TournamentService.GetTournament": (Asks.NOTHING, _alone(tournaments.GetTournamentRequest)),
    "TournamentService.ListTournaments": (
        Asks.NOTHING,
        _alone(tournaments.ListTournamentsRequest),
    ),
    "TournamentService.WatchTournament": (
        Asks.NOTHING,
        _alone(tournaments.WatchTournamentRequest),
    ),
    "TournamentService.CancelTournament": (
        Asks.PERSON,
        _alone(tournaments.CancelTournamentRequest),
    ),
    "TournamentService.ExportTournament": (
        Asks.NOTHING,
        _alone(tournaments.ExportTournamentRequest),
    ),
}
# Other ways to ask than the one in the table above, which ask more of the caller.
FURTHER: list[tuple[str, Asks, Build]] = [
    ("TableService.GetView", Asks.SEAT, _of_table(pb.GetViewRequest, **_EXPLAIN)),
    ("TableService.SetSeat", Asks.OWNER, _of_table(pb.SetSeatRequest, seat=1, open=OpenSeat())),
]


@cache
def methods() -> dict[str, MethodDescriptor]:
    """Every RPC of the API by service and name, from the generated code that there is."""
    found: dict[str, MethodDescriptor] = {}
    for module in pkgutil.iter_modules(tavolata.v1.__path__):
        if module.name.endswith("_pb2"):
            file = importlib.import_module(f"tavolata.v1.{module.name}").DESCRIPTOR
            for service in file.services_by_name.values():
                found |= {f"{service.name}.{method.name}": method for method in service.methods}
    return found


def documented(name: str) -> dict[str, str]:
    """The reasons that the comments of an RPC and of its service name, with their status codes."""
    service: ServiceDescriptor = methods()[name].containing_service
    text = (PROTO / Path(service.file.name).name).read_text()
    head, _, body = text.partition(f"service {service.name} {{")
    comment = re.findall(r"(?:^ *//.*\n)+(?= *rpc (\w+))", body, re.MULTILINE)
    blocks = re.split(r"^  rpc ", body, flags=re.MULTILINE)
    place = comment.index(methods()[name].name)
    said = head + blocks[place].rpartition("\n\n")[2]
    return {reason: code for code, reason in re.findall(r"([A-Z_]+) / ([A-Z_]+)", said)}


async def outcome(channel: Any, name: str, request: Message, caller: Caller) -> Any:
    """What an RPC answers, as `AioRpcError` or as the first message."""
    method = methods()[name]
    path = f"/{method.containing_service.full_name}/{method.name}"
    answer = GetMessageClass(method.output_type).FromString
    kind = channel.unary_stream if method.server_streaming else channel.unary_unary
    call = kind(path, type(request).SerializeToString, answer)(request, metadata=caller.metadata)
    try:
        if not method.server_streaming:
            return await call
        first = await call.read()
        call.cancel()
        return first
    except grpc.aio.AioRpcError as error:
        return error


def tried(asked: set[str]) -> Iterator[tuple[str, Asks, Build]]:
    """Every way to ask, of those RPCs that tokens and identities come to by header."""
    for name, (asks, build) in ACCESS.items():
        if asks is not Asks.IN_ITS_MESSAGES:
            asked.add(name)
            yield name, asks, build
    yield from FURTHER
