"""A disk that is full, read-only or fails to sync, under load: nothing is acknowledged falsely.

People play over real sockets while the disk under the server gets into trouble at random moments.
Full: actions are refused with STORE_FULL, reads and watches go on, and playing goes on once there
is room; now and then the server is killed in between. Syncs that fail (what was written since the
last one is lost, too) and a disk that has become read-only: the server acknowledges nothing more
and ends by itself with the status for that, and another goes on from the file. In the end every
match must be over and its record must have every acknowledged action exactly once.

    python -m tests.service.disk_trouble
    python -m tests.service.disk_trouble --rounds 20 --seed 3 --tables 2
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import uvloop

from tavolata.v1 import table_service_pb2 as pb
from tests.service.campaign import Problems, Progress, conclude, parser_of
from tests.service.faulty_disk import Disk, Trouble, disk_in
from tests.service.house import bearer, refusal_of
from tests.service.kill_loop import TABLES as AT_TABLES
from tests.service.kill_loop import Load, Seating, Tally, Target

ROUNDS, TABLES = 200, 4
STORE_FAILED = 3  # the exit status of a server whose store can't be trusted any more
WITHIN_S = 60.0  # what takes longer hangs
FULL = (Trouble.FULL, Trouble.REALLY_FULL)


class PatientLoad(Load):
    """People who also wait until there is room again."""

    def __init__(self, binds: Sequence[str], seed: int, tally: Tally) -> None:
        super().__init__(binds, seed, tally)
        self.refused = 0  # for want of room

    async def insist(self, method: str, request: Any, token: str | None = None) -> Any:
        """Repeat a call until there is an answer that isn't a want of room."""
        while True:
            try:
                return await super().insist(method, request, token)
            except grpc.aio.AioRpcError as error:
                refusal = refusal_of(error)
                if refusal.reason != "STORE_FULL":
                    raise
                assert refusal.retry, "STORE_FULL without a time to try again"
                self.refused += 1
                await asyncio.sleep(0.02)


class Troublemaker:
    """Brings trouble to the disk of one server, and looks at what becomes of it."""

    def __init__(self, disk: Disk, target: Target, load: PatientLoad, problems: Problems) -> None:
        self.disk, self.target, self.load, self.problems = disk, target, load, problems
        self.live: dict[str, Seating] = {}
        self.counts: Counter[str] = Counter()

    async def bring(self, trouble: Trouble) -> None:
        """One kind of trouble, to where all goes on."""
        self.counts[trouble.name.lower().replace("_", " ")] += 1
        self.disk.be(trouble)
        if trouble in FULL:
            await self._be_full()
        else:
            await self._end()
        acknowledged = self.load.tally.actions
        await self._until(
            lambda: self.load.tally.actions > acknowledged, f"went on after {trouble}"
        )

    async def _be_full(self) -> None:
        refused = self.load.refused
        await self._until(lambda: self.load.refused > refused, "was refused on a full disk")
        await self._read()
        killed = self.load.random.random() < 0.3
        if killed:
            self.counts["killed when full"] += 1
            await self.target.kill()
        self.disk.be(Trouble.NONE)
        if killed:
            await self.target.start()

    async def _end(self) -> None:
        process = self.target.process
        assert process is not None
        try:
            status = await asyncio.wait_for(process.wait(), WITHIN_S)
            self.problems.check(status == STORE_FAILED, f"ended with {status}")
        except TimeoutError:
            self.problems.add(f"goes on, though the disk has failed:\n{self._log_end()}")
            await self.target.kill()
        self.disk.be(Trouble.NONE)
        await self.target.start()

    async def _read(self) -> None:
        """Every way to read must work by itself."""
        stub, done = self.load.stub, "nothing"
        try:
            async with asyncio.timeout(WITHIN_S):
                for seating in list(self.live.values()):
                    table_id, (seat, token) = seating.table_id, next(iter(seating.tokens.items()))
                    read = pb.GetViewRequest(table_id=table_id)
                    view = (await stub.GetView(read, metadata=bearer(token))).view
                    done = "GetView"
                    self.problems.check(view.viewer_seat == seat, f"view of {view.viewer_seat}")
                    await stub.GetTable(pb.GetTableRequest(table_id=table_id))
                    done = "GetTable"
                    watch = stub.WatchTable(pb.WatchTableRequest(table_id=table_id, after_event=0))
                    first = await watch.read()
                    self.problems.check(first.event.number == 1, f"the first event is {first}")
                    watch.cancel()
                    self.counts["reads on a full disk"] += 3
        except (TimeoutError, grpc.aio.AioRpcError) as error:
            self.problems.add(f"reading on a full disk, after {done}: {error!r}")

    async def _until(self, condition: Any, what: str) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WITHIN_S):
                while not condition():  # noqa: ASYNC110 - of what others count
                    await asyncio.sleep(0.005)
                return
        self.problems.add(f"nobody {what} for {WITHIN_S:g} s:\n{self._log_end()}")

    def _log_end(self) -> str:
        return self.target.log.read_text()[-1500:]

    def check_log(self) -> None:
        """The server must have noted no fault of its own."""
        text = self.target.log.read_text()
        for sign in ("call.fault", "Traceback"):
            at = text.find(sign)
            self.problems.check(at < 0, f"in the log: {text[max(0, at - 300) : at + 1500]}")


async def disk_trouble(
    disk: Disk,
    log_folder: Path,
    rounds: int,
    *,
    seed: int,
    tables: int = TABLES,
    kinds: Sequence[Trouble] = (Trouble.FULL, Trouble.SYNC_FAILS, Trouble.READ_ONLY),
    places: Sequence[tuple[str, int, int]] = AT_TABLES,
    quiet: bool = False,
) -> tuple[str, Problems]:
    """So many rounds of trouble, of all kinds in turn."""
    problems, progress = Problems(), Progress("rounds", rounds, quiet=quiet)
    tally = Tally()
    target = Target(disk.folder)
    target.log = log_folder / "log"
    target.environment |= disk.environment
    await target.start()
    load = PatientLoad([target.bind], seed, tally)
    trouble = Troublemaker(disk, target, load, problems)
    enough = asyncio.Event()

    async def keep_playing(place: int) -> None:
        while not enough.is_set():
            seating = await load.sit_down(*places[place % len(places)])
            trouble.live[seating.table_id] = seating
            seats = (load.play_seat(seating, seat, asyncio.Event()) for seat in seating.tokens)
            await asyncio.gather(load.watch(seating), *seats)
            del trouble.live[seating.table_id]
            await load.check(seating)
            tally.tables += 1

    async def bring_all() -> None:
        for number in range(rounds):
            await asyncio.sleep(load.random.uniform(0.02, 0.3))
            await trouble.bring(kinds[number % len(kinds)])
            progress.step(note=f"{tally.actions} actions acknowledged")
            if problems.count:
                break
        enough.set()

    work = [asyncio.create_task(keep_playing(place)) for place in range(tables)]
    work.append(asyncio.create_task(bring_all()))
    try:
        await asyncio.gather(*work)
    except AssertionError as error:
        problems.add(str(error))
    finally:
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        await load.close()
        with contextlib.suppress(ProcessLookupError):
            problems.check(await target.stop() == 0, "the last server did not stop well")
    trouble.check_log()
    progress.end()
    counts = ", ".join(f"{count} {name}" for name, count in sorted(trouble.counts.items()))
    return (
        f"{sum(trouble.counts[each.name.lower().replace('_', ' ')] for each in kinds)} troubles in"
        f" {progress.seconds:.0f} s ({counts}): {tally.tables} matches to their end,"
        f" {tally.actions} actions acknowledged, {load.refused} refused for want of room,"
        f" {tally.repeats} calls repeated"
    ), problems


async def _on_own_disk(arguments: Any) -> tuple[str, Problems]:
    draws = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="disk-trouble-") as name:
        folder = Path(name)
        with disk_in(folder, draws) as disk:
            kinds = [each for each in Trouble if each is not Trouble.NONE]
            if not disk.small:
                kinds.remove(Trouble.REALLY_FULL)
                sys.stderr.write("may not mount a small disk: full is what the library says\n")
            return await disk_trouble(
                disk,
                folder,
                arguments.rounds,
                seed=arguments.seed,
                tables=arguments.tables,
                kinds=kinds,
            )


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of trouble [{ROUNDS}]")
    parser.add_argument("--tables", type=int, default=TABLES, help=f"at a time [{TABLES}]")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_on_own_disk(arguments))
    return conclude("disk_trouble", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
