"""A player that sits at a server's tables from anywhere: here one that picks at random.

    python remote_player.py --server localhost:50051 --name rosa

It needs `grpcio` and the messages of the API, `tavolata.v1`; nothing of how games are played.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import AsyncIterator

import grpc

from tavolata.v1 import catalog_service_pb2, catalog_service_pb2_grpc
from tavolata.v1.player_service_pb2 import ServeRequest
from tavolata.v1.player_service_pb2_grpc import PlayerServiceStub
from tavolata.v1.remote_player_pb2 import Observation, PlayerAnswer, PlayerOffer

AT_ONCE = 8


def choose(observation: Observation) -> PlayerAnswer:
    """The place for thought: `observation` has the position as the seat sees it, the events of the
    round, what may be done, and how much time is left."""
    chance = random.Random(observation.seed)  # noqa: S311
    return PlayerAnswer(
        question=observation.question, action=chance.choice(observation.legal_actions)
    )


async def serve(channel: grpc.aio.Channel, name: str, token: str) -> None:
    """Offer the player for all games of the server, and answer until the stream ends."""
    catalog = catalog_service_pb2_grpc.CatalogServiceStub(channel)
    games = (await catalog.ListGames(catalog_service_pb2.ListGamesRequest())).games
    answers: asyncio.Queue[ServeRequest] = asyncio.Queue()

    async def requests() -> AsyncIterator[ServeRequest]:
        game_ids = [game.game_id for game in games]
        offer = PlayerOffer(player=name, game_ids=game_ids, decisions_at_once=AT_ONCE)
        yield ServeRequest(offer=offer)
        while True:
            yield await answers.get()

    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    async for response in PlayerServiceStub(channel).Serve(requests(), metadata=metadata):
        match response.WhichOneof("message"):
            case "accepted":
                print(f"{name} is there", flush=True)
            case "observation":
                answers.put_nowait(ServeRequest(answer=choose(response.observation)))
            case "fault":
                print("fault:", response.fault.message, flush=True)


async def main() -> None:
    """Come back whenever the connection is lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--server", default="localhost:50051", help="address and port")
    parser.add_argument("--name", default="rosa", help="by which the player is seated")
    parser.add_argument("--token", default="", help="the server's token for players, if it has one")
    chosen = parser.parse_args()
    async with grpc.aio.insecure_channel(chosen.server) as channel:
        while True:
            try:
                await serve(channel, chosen.name, chosen.token)
            except grpc.aio.AioRpcError as error:
                if error.code() != grpc.StatusCode.UNAVAILABLE:
                    raise
            await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main())
