"""A PostgreSQL of the tests' own: started by the first test that needs it, gone with the process.

TAVOLATA_TEST_POSTGRES=postgresql://... names one to use instead; its user must be allowed to make
databases.
"""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from tavolata.service.store.migrate import migrate_postgres

GIVEN = "TAVOLATA_TEST_POSTGRES"
VERSION_MIN = 15
START_S = 60.0
_TEMPLATE = "tavolata_template"
_PR_SET_PDEATHSIG = 1
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "fsync": "on",
    "autovacuum": "off",  # databases live for seconds
    "max_wal_size": "256MB",
    # Before a recovery every file is synced: as one call, not one by one.
    "recovery_init_sync_method": "syncfs",
}


def programs() -> Path:
    """The folder with PostgreSQL's programs; fails when there is none that is new enough."""
    found = [Path(each).resolve().parent for each in [shutil.which("initdb")] if each]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in found:
        if not (folder / "initdb").exists() or not (folder / "postgres").exists():
            continue
        told = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, check=True
        ).stdout
        version = re.search(r"\d+", told)
        if version is not None and int(version[0]) >= VERSION_MIN:
            return folder
    pytest.fail(
        f"these tests need PostgreSQL {VERSION_MIN} or newer: `./run test` installs it where it "
        f"may; else install the package postgresql, or set {GIVEN}=postgresql://..."
    )


def _ordinary_user() -> str | None:
    """Who PostgreSQL has to run as, None for ourselves: it refuses to run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    pytest.fail("PostgreSQL does not run as root, and there is no user postgres or nobody")


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


class Cluster:
    """A database server in a temporary folder, on a socket in it."""

    def __init__(self) -> None:
        self._programs = programs()
        self._user = _ordinary_user()
        self.folder = Path(tempfile.mkdtemp(prefix="tavolata-pg-"))
        self._log = self.folder / "log"
        self.process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        subprocess.run(
            [
                str(self._programs / "initdb"),
                *("--pgdata", str(self.folder / "data")),
                *("--username", "tavolata", "--auth", "trust", "--encoding", "UTF8"),
                *("--locale", "C", "--no-sync", "--no-instructions"),
            ],
            user=self._user,
            check=True,
            capture_output=True,
            cwd=self.folder,
        )

    @property
    def dsn(self) -> str:
        """Of the database that is always there."""
        return f"postgresql://tavolata@/postgres?host={self.folder}"

    def start(self) -> None:
        """Start it, and return when it answers."""
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            with self._log.open("ab") as log:
                self.process = subprocess.Popen(
                    [
                        str(self._programs / "postgres"),
                        *("-D", str(self.folder / "data"), "-k", str(self.folder), *settings),
                    ],
                    user=self._user,
                    preexec_fn=_die_with_parent,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                )
            # After a kill it can't be started before the last of its processes has gone.
            while self.process.poll() is None and time.monotonic() < until:
                if self._answers():
                    return
                time.sleep(0.02)
        raise AssertionError(f"PostgreSQL did not start:\n{self._log.read_text()[-3000:]}")

    def _answers(self) -> bool:
        ready = subprocess.run(
            [self._programs / "pg_isready", "-q", "-h", self.folder], check=False
        )
        return ready.returncode == 0

    def kill(self) -> None:
        """SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Stop it, and remove all that it had."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)  # nothing is to be kept
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Databases:
    """Databases with our tables, one for each test that asks."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._names = (f"tavolata_{os.getpid()}_{number}" for number in itertools.count(1))
        self._template = f"{_TEMPLATE}_{os.getpid()}"
        self._made: list[str] = []
        self._idle: list[str] = []

    def named(self, name: str) -> str:
        """The address of a database."""
        return urlunsplit(urlsplit(self._dsn)._replace(path=f"/{name}"))

    async def _command(self, text: str) -> None:
        connection: Any = await asyncpg.connect(self._dsn)
        try:
            await connection.execute(text)
        finally:
            await connection.close()

    async def empty(self) -> str:
        """A database without tables."""
        name = next(self._names)
        await self._command(f"CREATE DATABASE {name}")
        self._made.append(name)
        return self.named(name)

    async def prepare(self) -> None:
        """Make the one that the others are copies of."""
        await self._command(f"CREATE DATABASE {self._template}")
        self._made.append(self._template)
        connection: Any = await asyncpg.connect(self.named(self._template))
        try:
            await migrate_postgres(connection, "the template")
        finally:
            await connection.close()

    async def fresh(self) -> str:
        """A database with all tables, empty ones."""
        name = next(self._names)
        await self._command(f"CREATE DATABASE {name} TEMPLATE {self._template}")
        self._made.append(name)
        return self.named(name)

    async def borrow(self) -> str:
        """A database with all tables, empty ones, to be given back as it was but for their rows."""
        return self._idle.pop() if self._idle else await self.fresh()

    async def give_back(self, dsn: str) -> None:
        """Empty a database for the next test, whoever is still connected to it."""
        connection: Any = await asyncpg.connect(dsn)
        try:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid();"
                "TRUNCATE tables, entries, work, servers, probes"
            )
        finally:
            await connection.close()
        self._idle.append(dsn)

    async def drop_all(self) -> None:
        """Remove what was made."""
        for name in self._made:
            await self._command(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


async def execute(dsn: str, query: str, *values: object) -> Any:
    """What a statement gives, on a connection of its own."""
    connection: Any = await asyncpg.connect(dsn)
    try:
        return await connection.fetch(query, *values)
    finally:
        await connection.close()


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """A PostgreSQL for all tests of this process."""
    given = os.environ.get(GIVEN)
    if given:
        databases = Databases(given)
        asyncio.run(databases.prepare())
        yield databases
        asyncio.run(databases.drop_all())
        return
    cluster = Cluster()
    try:
        cluster.start()
        databases = Databases(cluster.dsn)
        asyncio.run(databases.prepare())
        yield databases
    finally:
        cluster.stop()


@pytest.fixture
def postgres(databases: Databases) -> Iterator[str]:
    """The address of a database for this test, with all tables, empty ones."""
    dsn = asyncio.run(databases.borrow())
    yield dsn
    asyncio.run(databases.give_back(dsn))
