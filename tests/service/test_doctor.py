"""`tavolata doctor`: what is wrong is found, and what is right is left in peace."""

from __future__ import annotations

import asyncio
import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
import trustme
from typer.testing import CliRunner

from tavolata.service import settings
from tavolata.service.cli.main import app
from tavolata.service.doctor import environment
from tavolata.service.doctor import settings as of_settings
from tavolata.service.doctor.finding import Finding
from tavolata.service.store.sqlite import SqliteStore
from tests.service.house import House
from tests.service.postgres import Databases, execute


def doctor(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    """Exit code and findings by check, the worst of each."""
    told = CliRunner().invoke(
        app, ["doctor", "--json", "--bind", "127.0.0.1:0", *arguments], env=env
    )
    assert told.exit_code in (0, 1), told.output
    order = ["ok", "warn", "fail"]
    found = sorted(json.loads(told.stdout), key=lambda each: order.index(each["level"]))
    assert all(bool(each["advice"]) == (each["level"] != "ok") for each in found)
    return told.exit_code, {each["check"]: each for each in found}


def levels(found: dict[str, Any]) -> dict[str, str]:
    """Level by check."""
    return {check: each["level"] for check, each in found.items()}


def test_where_all_is_well_nothing_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    db = tmp_path / "tables.db"
    code, found = doctor("--db", str(db), "--ai-threads", "1")
    assert code == 0
    assert {check for check, level in levels(found).items() if level == "fail"} == set()
    assert levels(found)["python"] == levels(found)["packages"] == levels(found)["store"] == "ok"
    assert not db.exists()
    asyncio.run(SqliteStore(db).close())
    code, found = doctor("--db", str(db))
    assert (code, levels(found)["write"]) == (0, "ok")
    plain = CliRunner().invoke(app, ["doctor", "--db", str(db)])
    assert "ok    write: a durable write took" in plain.stdout


async def test_a_file_that_a_server_has_is_left_to_it(house: House) -> None:
    code, found = await asyncio.to_thread(doctor, "--db", str(house.db))
    assert (code, levels(found)["store"]) == (0, "ok")
    assert "in use by another server" in found["store"]["says"]
    assert "write" not in found
    assert (await house.create()).token


def test_stores_that_can_not_be_used_fail(tmp_path: Path) -> None:
    newer, foreign, text = (tmp_path / name for name in ("newer.db", "foreign.db", "text.db"))
    asyncio.run(SqliteStore(newer).close())
    for path, statement in (
        (newer, "UPDATE alembic_version SET version_num = '0099'"),
        (foreign, "CREATE TABLE x (y)"),
    ):
        connection = apsw.Connection(str(path))
        connection.execute(statement)
        connection.close()
    text.write_text("no database at all, but a text of some length" * 50)
    for path, says in ((newer, "0099"), (foreign, "no store of"), (text, "no SQLite file")):
        code, found = doctor("--db", str(path))
        assert (code, levels(found)["store"]) == (1, "fail")
        assert says in found["store"]["says"]
    code, found = doctor("--db", str(tmp_path / "nowhere" / "tables.db"))
    assert (code, levels(found)["folder"]) == (1, "fail")


async def test_a_database_is_tried_and_asked(postgres: str, databases: Databases) -> None:
    code, found = await asyncio.to_thread(doctor, "--store", postgres)
    assert code == 0
    assert levels(found)["store"] == levels(found)["write"] == levels(found)["clock"] == "ok"
    assert await execute(postgres, "SELECT probe_id FROM probes") == [("doctor",)]
    empty = await databases.empty()
    code, found = await asyncio.to_thread(doctor, "--store", empty)
    assert (code, levels(found)["store"]) == (1, "fail")
    assert found["store"]["advice"] == "tavolata migrate"
    code, found = await asyncio.to_thread(doctor, "--store", "postgresql://u:pw@127.0.0.1:1/x")
    assert (code, levels(found)["store"]) == (1, "fail")
    assert "pw@" not in json.dumps(found)


def test_settings_that_contradict_are_told(tmp_path: Path) -> None:
    db = ("--db", str(tmp_path / "tables.db"))
    for flags, level, says in (
        (("--tls-cert", "x.pem"), "fail", "TLS needs both"),
        (("--identity", "required"), "fail", "identity_issuer"),
        (("--bus", "off"), "warn", "bus = off"),
        (("--watchers-max", "3"), "warn", "more often than all together"),
        (("--probe-s", "1"), "warn", "longer than the time between"),
        (("--tournaments-dir", str(tmp_path / "a" / "b")), "warn", "tournaments_dir"),
    ):
        code, found = doctor(*db, *flags)
        assert (levels(found)["settings"], code) == (level, int(level == "fail"))
        assert says in found["settings"]["says"]
    code, found = doctor(*db, "--bind", "0.0.0.0:0")
    assert (code, "--insecure-public" in found["settings"]["says"]) == (1, True)
    code, found = doctor(*db, env={"TAVOLATA_WATCHER_MAX": "1"})
    assert (code, levels(found)["environment"]) == (0, "warn")
    code, found = doctor(*db, env={"TAVOLATA_CPU": "z80"})
    assert (code, levels(found)["processor"]) == (1, "fail")


def test_addresses_that_are_taken_or_open_to_all_are_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        assert of_settings.address("bind", bind).level == "warn"
    assert of_settings.address("bind", bind).level == "ok"
    assert of_settings.address("bind", "192.0.2.1:5000").level == "fail"
    chosen = settings.load(None, bind="127.0.0.1:0", metrics_bind="0.0.0.0:0")
    told = [each for each in of_settings.look(chosen) if each.check == "metrics_bind"]
    assert [each.level for each in told] == ["ok", "warn"]


def test_certificates_are_read_and_their_days_counted(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    authority = trustme.CA()

    def told(days: float, *, other_key: bool = False) -> Finding:
        made = authority.issue_cert("localhost", not_after=now + timedelta(days=days),
                                    not_before=now - timedelta(days=100))  # fmt: skip
        cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
        made.cert_chain_pems[0].write_to_path(cert)
        keyed = authority.issue_cert("localhost") if other_key else made
        keyed.private_key_pem.write_to_path(key)
        return of_settings.certificate(settings.load(None, tls_cert=cert, tls_key=key), now)

    assert told(200).level == "ok"
    assert told(5).level == "warn"
    assert told(-1).level == "fail"
    assert "expired" in told(-1).says
    assert told(200, other_key=True).level == "fail"
    gone = settings.load(None, tls_cert=tmp_path / "no.pem", tls_key=tmp_path / "no.pem")
    assert of_settings.certificate(gone, now).level == "fail"


@pytest.mark.parametrize(
    ("version", "level"), [((3, 10), "fail"), ((3, 11), "ok"), ((3, 13), "ok"), ((3, 14), "fail")]
)
def test_the_python_has_to_be_one_of_those_supported(version: tuple[int, int], level: str) -> None:
    assert environment.python(version).level == level


def test_packages_and_limits_are_compared_with_what_is_needed() -> None:
    assert (
        environment.packages(["grpcio>=1.0,<2", 'nothing-like-it>=1; extra == "x"']).level == "ok"
    )
    old = environment.packages(["grpcio>=999.1,<1000", "pydantic>=2"])
    assert (old.level, "older than 999.1" in old.says) == ("fail", True)
    assert "missing" in environment.packages(["nothing-like-it>=1"]).says
    chosen = settings.load(None, streams_max=1000, ai_threads=250)
    assert environment.descriptors(chosen, 1024).level == "warn"
    assert environment.descriptors(chosen, 65_536).level == "ok"
    assert environment.threads(chosen).level == "warn"
