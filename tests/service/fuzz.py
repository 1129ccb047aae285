"""Requests without sense on every RPC, in streams and as raw bytes: no crash, hang or INTERNAL.

Requests are made from the API's descriptors (fuzzing.py): values at the ends of their ranges,
unknown and contradicting fields, text that is no UTF-8, damaged copies, messages too deep or too
large, with ids, actions and tokens that exist and ones that don't. Every answer must be an answer
or a refusal with one reason, in time; the server must not have noted a fault, must serve an
ordinary table in between and in the end, and must not have grown since it was warm.

    python -m tests.service.fuzz
    python -m tests.service.fuzz --requests 20000 --seed 5
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import uvloop
from google.rpc import error_details_pb2, status_pb2

from tavolata.ext.registry import GAMES
from tavolata.v1 import errors_pb2
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.table_pb2 import TableSettings
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.campaign import (
    EVERY_METHOD,
    Problems,
    Progress,
    conclude,
    parser_of,
    used_by,
)
from tests.service.fuzzing import Known, Maker, raw_bytes
from tests.service.house import CALLER, GREEDY, OPEN, bearer
from tests.service.kill_loop import Target

REQUESTS = 1_000_000
AT_A_TIME = 64
IN_TIME_S = 20.0
RAW_SHARE, STREAM_SHARE = 0.02, 0.5  # connections of raw bytes; messages on PlayStream
A_STREAM = 200  # messages of a stream, as a rule
TABLES_EVERY = 50_000  # requests; then the known tables are new ones
GROWTH_BYTES = 48 << 20  # since the server was warm, whatever the number of requests
STREAM = "/tavolata.v1.TableService/PlayStream"
FAULTS = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
DETAILS = "grpc-status-details-bin"
_REASONS = errors_pb2.ErrorReason.DESCRIPTOR.values
CODES = {
    each.name.removeprefix("ERROR_REASON_"): each.GetOptions().Extensions[errors_pb2.status_code]
    for each in _REASONS
}


@dataclass
class Ground:
    """What exists at the server and may be named: values by the fields' names, and tokens."""

    known: Known
    tokens: list[str | None]


async def prepare(target: str) -> Ground:
    """Tables of every game, open and in play, for requests to hit."""
    known: Known = {"game_id": list(GAMES), "table_id": [], "action": [], "explain": []}
    tokens: list[str | None] = [None, "", "x" * 43, "\t"]
    async with grpc.aio.insecure_channel(target) as channel:
        stub: Any = TableServiceStub(channel)
        for number, (game, spec) in enumerate(GAMES.items()):
            for start in (False, True):
                seats = [CALLER, *[OPEN] * (spec.seats_min - 1)]
                settings = TableSettings(game_id=game, fill_empty_seats=GREEDY)
                request = pb.CreateTableRequest(
                    request_id=os.urandom(8).hex(), settings=settings, seats=seats
                )
                made = await stub.CreateTable(request)
                table_id = made.table.table_id
                known["table_id"].append(table_id)
                tokens.append(made.token)
                if not start:
                    continue
                begin = pb.StartMatchRequest(request_id="s", table_id=table_id)
                await stub.StartMatch(begin, metadata=bearer(made.token))
                read = pb.GetViewRequest(table_id=table_id)
                view = (await stub.GetView(read, metadata=bearer(made.token))).view
                known["action"] += list(view.legal_actions)[:5]
                known.setdefault("turn", []).append(view.turn)
            known["request_id"] = [*known.get("request_id", []), f"fuzz-{number}", "s"]
    known["explain"] = known["action"]
    # As they stand in a stream, too.
    known["token"] = [token for token in tokens if token]
    known["handle"] = [1, 2, 3]
    return Ground(known, tokens)


class Fuzzer:
    """Sends to one server."""

    def __init__(self, target: str, seed: int, problems: Problems) -> None:
        self.target, self.seed, self.problems = target, seed, problems
        self.codes: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.ground = Ground({}, [None])
        # Transport refuses what is larger by itself, so let all be sent.
        self.channel = grpc.aio.insecure_channel(target)
        self._calls: dict[str, Any] = {}
        for path, method in EVERY_METHOD.items():
            if path == STREAM:
                self._calls[path] = self.channel.stream_stream(path)
            elif (
                method.server_streaming
            ):  # and of a program that offers a player, the first message
                self._calls[path] = self.channel.unary_stream(path)
            else:
                self._calls[path] = self.channel.unary_unary(path)
        self._unary = [path for path in EVERY_METHOD if path != STREAM]

    async def one(self, number: int) -> int:
        """One call, stream or connection; how many requests it was."""
        draws = random.Random(f"{self.seed} {number}")
        maker = Maker(draws, self.ground.known)
        dice = draws.random()
        if dice < RAW_SHARE:
            await self._raw(number, draws, maker)
            return 1
        if dice < RAW_SHARE + STREAM_SHARE / (A_STREAM * (1 - STREAM_SHARE)):
            return await self._stream(number, draws, maker)
        await self._call(number, draws, maker)
        return 1

    def _complain(self, number: int, path: str, what: str) -> None:
        self.problems.add(f"request {number}, {path}: {what}")

    async def _call(self, number: int, draws: random.Random, maker: Maker) -> None:
        path = draws.choice(self._unary)
        self.sent[path] += 1
        request = maker.request(EVERY_METHOD[path])
        metadata = _metadata(draws.choice(self.ground.tokens))
        try:
            if EVERY_METHOD[path].server_streaming:
                await self._watch(path, request, metadata, draws.randrange(5))
            else:
                await self._calls[path](request, metadata=metadata, timeout=IN_TIME_S)
            self.codes["OK"] += 1
        except grpc.aio.AioRpcError as error:
            self._judge(number, path, request, error)

    async def _watch(self, path: str, request: bytes, metadata: Any, messages: int) -> None:
        call = self._calls[path](request, metadata=metadata, timeout=IN_TIME_S)
        try:
            for _ in range(messages):
                # Where nothing happens nothing is sent: that is no hang.
                if await asyncio.wait_for(call.read(), 0.05) is grpc.aio.EOF:
                    break
        except TimeoutError:
            return
        finally:
            call.cancel()

    def _judge(self, number: int, path: str, request: bytes, error: grpc.aio.AioRpcError) -> None:
        """Whether that is how the service refuses."""
        code = error.code()
        self.codes[code.name] += 1
        if code in FAULTS:
            self._complain(number, path, f"{code.name} {error.details()} for {request.hex()}")
            return
        if code == grpc.StatusCode.DEADLINE_EXCEEDED:
            self._complain(number, path, f"no answer for {request.hex()}")
            return
        details = [value for key, value in error.trailing_metadata() or () if key == DETAILS]
        if not details:
            # What the transport refuses (a header that is none) has no reason; nothing else.
            if code not in (grpc.StatusCode.CANCELLED, grpc.StatusCode.RESOURCE_EXHAUSTED):
                self._complain(number, path, f"{code.name} without a reason: {error.details()}")
            return
        info = error_details_pb2.ErrorInfo()
        status = status_pb2.Status.FromString(bytes(details[0]))  # type: ignore[arg-type]
        infos = sum(detail.Unpack(info) for detail in status.details)
        if infos != 1 or CODES.get(info.reason) != code.name:
            self._complain(number, path, f"{code.name} with {infos} reasons, {info.reason}")

    async def _stream(self, number: int, draws: random.Random, maker: Maker) -> int:
        """Messages in any order; the stream must go on over every refusal, to its half-closing."""
        count = draws.randint(1, 2 * A_STREAM)
        self.sent[STREAM] += count
        call = self._calls[STREAM](metadata=_metadata(draws.choice(self.ground.tokens)))
        reading = asyncio.create_task(self._read(number, call))
        try:
            async with asyncio.timeout(IN_TIME_S):
                for _ in range(count):
                    await call.write(maker.request(EVERY_METHOD[STREAM]))
                if draws.random() < 0.8:
                    await call.done_writing()
                    await reading
        except TimeoutError:
            self._complain(number, STREAM, "the stream stands still")
        except asyncio.InvalidStateError:
            pass  # it has ended, and the reader says how
        except grpc.aio.AioRpcError as error:
            self._judge(number, STREAM, b"", error)
        finally:
            call.cancel()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        return count

    async def _read(self, number: int, call: Any) -> None:
        try:
            async for message in call:
                told = pb.PlayStreamResponse.FromString(message)
                which = told.WhichOneof("message")
                refusal = told.refused if which == "refused" else told.result.refused
                if refusal.code in (grpc.StatusCode.INTERNAL.value[0], 2):
                    self._complain(number, STREAM, f"{refusal}")
        except grpc.aio.AioRpcError as error:
            self._judge(number, STREAM, b"", error)

    async def _raw(self, number: int, draws: random.Random, maker: Maker) -> None:
        path = draws.choice(self._unary)
        self.sent["raw"] += 1
        host, _, port = self.target.rpartition(":")
        sent = raw_bytes(draws, path, maker.request(EVERY_METHOD[path]))
        try:
            async with asyncio.timeout(IN_TIME_S):
                reader, writer = await asyncio.open_connection(host, int(port))
                with suppress(ConnectionError):
                    writer.write(sent)
                    await writer.drain()
                    if draws.random() < 0.3:
                        writer.write_eof()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(reader.read(200), 0.02)
                writer.close()
        except (TimeoutError, OSError) as error:
            self._complain(number, "raw bytes", f"{error!r} for {sent.hex()}")

    async def ordinary(self) -> None:
        """A table that is made and played by somebody with sense."""
        stub: Any = TableServiceStub(self.channel)
        ground = await prepare(self.target)
        table_id = ground.known["table_id"][-1]
        await stub.GetTable(pb.GetTableRequest(table_id=table_id), timeout=IN_TIME_S)


def _metadata(token: str | None) -> tuple[tuple[str, str], ...]:
    # A tab isn't allowed in a header by gRPC's own client.
    return bearer(None if token == "\t" else token)  # noqa: S105


async def fuzz(
    target: str,
    requests: int,
    *,
    seed: int,
    pid: int = 0,
    quiet: bool = False,
    first: int = 0,
) -> tuple[str, Problems]:
    """Send that many; pid: of the server, whose memory is looked at if it is given."""
    problems, progress = Problems(), Progress("requests", requests, quiet=quiet)
    fuzzer = Fuzzer(target, seed, problems)
    warm = 0
    number = first
    renewed_at = -1

    async def keep_on() -> None:
        nonlocal number, warm, renewed_at
        while progress.done < requests and problems.count < 1000:
            number += 1
            if progress.done // TABLES_EVERY > renewed_at:
                renewed_at = int(progress.done // TABLES_EVERY)
                fuzzer.ground = await prepare(target)
            count = await fuzzer.one(number)
            memory = f"{used_by(pid).rss_bytes >> 20} MiB" if pid and number % 500 == 0 else ""
            progress.step(count, memory)
            if pid and not warm and progress.done >= requests / 5:
                warm = used_by(pid).rss_bytes

    fuzzer.ground = await prepare(target)
    await asyncio.gather(*(keep_on() for _ in range(AT_A_TIME)))
    await fuzzer.ordinary()
    grown = used_by(pid).rss_bytes - warm if pid else 0
    problems.check(grown <= GROWTH_BYTES, f"the server grew by {grown} bytes")
    for path in EVERY_METHOD:
        problems.check(fuzzer.sent[path] > 0, f"nothing was sent to {path}")
    await fuzzer.channel.close()
    progress.end()
    codes = ", ".join(f"{name} {count}" for name, count in fuzzer.codes.most_common())
    memory = f"; memory {warm >> 20} MiB warm, {grown / (1 << 20):+.1f} MiB since" if pid else ""
    return (
        f"{progress.done:.0f} requests to {len(EVERY_METHOD)} methods and {fuzzer.sent['raw']}"
        f" connections of raw bytes in {progress.seconds:.0f} s: {codes}{memory}"
    ), problems


async def _against_own_server(arguments: argparse.Namespace) -> tuple[str, Problems]:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        target = Target(Path(folder))
        # Tables that are made by chance go soon, so that what stays is what leaks.
        target.environment |= {
            "TAVOLATA_OPEN_TABLE_S": "20",
            "TAVOLATA_OVER_TABLE_S": "1",
            "TAVOLATA_AI_ITERATIONS_MAX": "50",
            "TAVOLATA_LOG_LEVEL": "warning",
        }
        await target.start()
        assert target.process is not None
        try:
            summary, problems = await fuzz(
                target.bind, arguments.requests, seed=arguments.seed, pid=target.process.pid
            )
        finally:
            code = await target.stop() if target.process.returncode is None else -1
        problems.check(code == 0, f"the server ended with {code}, {target.process.returncode}")
        faults = [
            line
            for line in target.log.read_text("utf-8", "replace").splitlines()
            if "call.fault" in line
        ]
        problems.check(not faults, "\n".join(faults[:3]))
        return summary, problems


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS, help=f"[{REQUESTS}]")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_against_own_server(arguments))
    return conclude("fuzz", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
