"""A service of one's own in a subprocess, on its embedded store in a temporary directory."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_START_S = 30.0
_STOP_S = 35.0  # the server promises to be gone within 30


class ServerFailed(Exception):
    """The service did not start, or did not stop well."""


@dataclass(frozen=True, slots=True)
class OwnServer:
    """Where it listens, where its store is, and the number of its process."""

    target: str
    store: Path
    process: int


@asynccontextmanager
async def own_server(
    *flags: str, core: int | None = None, apart: bool = False
) -> AsyncIterator[OwnServer]:
    """A running service, with more flags for `serve` and on one core if that is asked for.

    apart: what a terminal tells this process, such as Ctrl-C, doesn't reach the service.

    Raises ServerFailed with the end of its log.
    """
    with tempfile.TemporaryDirectory(prefix="tavolata-own-") as folder:
        store, log = Path(folder) / "tavolata.db", Path(folder) / "log"
        with log.open("wb") as err:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tavolata", "serve", "--db", str(store)),
                *("--bind", "127.0.0.1:0", "--print-port"),
                *flags,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=err,
                start_new_session=apart,
                preexec_fn=None if core is None else partial(os.sched_setaffinity, 0, {core}),
            )
        try:
            yield OwnServer(await _target(process, log), store, process.pid)
        finally:
            await _stop(process)
        if process.returncode != 0:
            raise ServerFailed(f"the service ended with {process.returncode}:\n{_tail(log)}")


async def _target(process: asyncio.subprocess.Process, log: Path) -> str:
    """The address that the service listens at, once it says so."""
    printed = b""
    if process.stdout is not None:
        with suppress(TimeoutError):
            printed = await asyncio.wait_for(process.stdout.readline(), _START_S)
    if not printed.strip().isdigit():
        raise ServerFailed(f"the service did not start:\n{_tail(log)}")
    return f"127.0.0.1:{int(printed)}"


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Ask the service to stop, and make it if it doesn't."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-20:])
