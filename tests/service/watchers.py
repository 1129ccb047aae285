"""A thousand watchers, over 250 tables and at one, some of whom never read: delays and memory.

Tables are played at one action a second. Spread: 1,000 watchers over 250 tables, 100 of whom stop
reading; one: 1,000 at a single table. Every reader must get every event, in order, and 99 of 100
within 50 ms (spread) or 250 ms (one) of the event's time, which the client's own delay is stated
beside; a watcher that doesn't read may cost the server 64 KiB. For that, the stalled ones come
after a quarter of the time, and what memory had grown by until then is taken off.

    python -m tests.service.watchers
    python -m tests.service.watchers --layout one --minutes 0.5
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import uvloop

from tavolata.service.own_server import own_server
from tests.service.audience import Hall, Place, read, seated, stall
from tests.service.campaign import Problems, Progress, Used, conclude, parser_of, quantile, used_by

MINUTES = 10.0
INTERVAL_S = 1.0
STALLED_BYTES = 64 << 10
STALLED_FROM = 0.4  # of the time
STEADY_MINUTES = 5.0  # in less than that memory says little
SAMPLE_S, COMING_S, COMING_SHARE = 1.0, 30.0, 0.4


@dataclass(frozen=True)
class Layout:
    """Who sits where. p99_ms: of the delays that are aimed at."""

    name: str
    tables: int
    watchers: int
    stalled: int
    p99_ms: float


LAYOUTS = {
    each.name: each
    for each in (Layout("spread", 250, 1000, 100, 50.0), Layout("one", 1, 1000, 0, 250.0))
}


@dataclass
class Memory:
    """What the server used: a sample a second, and how many there were when the stalled came."""

    samples: list[Used]
    stalled_at: int = 0

    def stalled_bytes(self, stalled: int) -> float:
        """What one of those who don't read has cost: growth since they came, without as much a
        second as there was before. The first half of that is left out, as all begins then."""
        rss = [each.rss_bytes for each in self.samples]
        begin, end = self.stalled_at, len(rss) - 1
        half = begin // 2
        before = (rss[begin] - rss[half]) / max(1, begin - half)
        return (rss[end] - rss[begin] - max(0.0, before) * (end - begin)) / stalled


async def watchers(
    target: str,
    layout: Layout,
    seconds: float,
    *,
    seed: int,
    interval_s: float = INTERVAL_S,
    process: int | None = None,
    quiet: bool = False,
) -> tuple[str, Problems]:
    """Let them play and watch for so long. process: the server's, whose memory is looked at."""
    problems, memory = Problems(), Memory([])
    progress = Progress(f"seconds, {layout.name}", seconds, quiet=quiet)
    begun = time.time()
    # Not while all come in.
    hall = Hall(target, problems, begun + min(COMING_S, COMING_SHARE * seconds), begun + seconds)
    places = [Place(hall, number, seed, interval_s) for number in range(layout.tables)]
    stalling: list[asyncio.Task[None]] = []

    async def look() -> None:
        while hall.open:
            await asyncio.sleep(min(SAMPLE_S, max(0.0, hall.until - time.time())))
            if process is not None:
                memory.samples.append(used_by(process))
            now_ms = 1000 * quantile(hall.delays_s[-5000:], 0.99)
            progress.step(time.time() - begun - progress.done, f"p99 {now_ms:.0f} ms")

    async def come_and_stall() -> None:
        await asyncio.sleep(seconds * STALLED_FROM)
        memory.stalled_at = max(0, len(memory.samples) - 1)
        stalling.extend(
            asyncio.create_task(stall(hall, seated(places, number)))
            for number in range(layout.stalled)
        )
        await asyncio.gather(*stalling)

    reading = layout.watchers - layout.stalled
    try:
        await asyncio.gather(
            look(),
            hall.measure_lag(),
            come_and_stall(),
            *(place.play() for place in places),
            *(read(hall, seated(places, number), number) for number in range(reading)),
        )
    finally:
        for task in stalling:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*stalling, return_exceptions=True)
        await hall.close()
    progress.end()
    problems.check(hall.events > 0, "nothing was watched")
    return _told(layout, hall, memory, progress.seconds), problems


def _told(layout: Layout, hall: Hall, memory: Memory, seconds: float) -> str:
    p50, p99, lag = (
        1000 * quantile(values, share)
        for values, share in ((hall.delays_s, 0.5), (hall.delays_s, 0.99), (hall.lags_s, 0.99))
    )
    text = (
        f"{layout.name}: {layout.watchers} watchers, {layout.stalled} stalled, {layout.tables}"
        f" tables, {seconds:.0f} s: {hall.actions} actions, {hall.events} events read, delay p50"
        f" {p50:.1f} ms, p99 {p99:.1f} ms (client's own p99 {lag:.1f} ms), PlayAction p99"
        f" {1000 * quantile(hall.play_s, 0.99):.1f} ms, {hall.overflows} moved ahead"
    )
    if memory.samples:
        first, last = memory.samples[len(memory.samples) // 4], memory.samples[-1]
        text += f", RSS {first.rss_bytes / 2**20:.0f} to {last.rss_bytes / 2**20:.0f} MiB"
        if layout.stalled:
            text += f", {memory.stalled_bytes(layout.stalled) / 1024:.0f} KiB a stalled one"
        if seconds >= 60 * STEADY_MINUTES and layout.stalled:
            cost = memory.stalled_bytes(layout.stalled)
            hall.problems.check(cost <= STALLED_BYTES, f"a stalled watcher costs {cost:.0f} bytes")
        goal = max(layout.p99_ms, 0.0)
        hall.problems.check(p99 <= goal, f"p99 is {p99:.1f} ms, aimed at {goal:g} ms")
    return text


async def _against_own_server(arguments: Any) -> tuple[str, Problems]:
    names = list(LAYOUTS) if arguments.layout == "both" else [arguments.layout]
    texts, all_problems = [], Problems()
    for name in names:
        flags = ("--caller-watchers-max", "2000", "--caller-tables-per-min", "0")
        async with own_server(*flags) as server:
            text, problems = await watchers(
                server.target,
                LAYOUTS[name],
                60 * arguments.minutes,
                seed=arguments.seed,
                process=server.process,
            )
        texts.append(text)
        all_problems.count += problems.count
        all_problems.told += problems.told
    return "; ".join(texts), all_problems


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--layout", choices=[*LAYOUTS, "both"], default="both", help="[both]")
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"of each [{MINUTES:g}]")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_against_own_server(arguments))
    return conclude("watchers", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
