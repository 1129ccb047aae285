"""The Locust file of the examples, by the real Locust against a real server.

The long form: `locust -f examples/load/locustfile.py --host HOST:PORT --headless -u 50 -t 10m`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tavolata.service.tables.apply import BY_PERSON
from tests.project.extensions import ROOT
from tests.service.house import House, house_in, until

USERS, ACTIONS = 5, 20

# Importing Locust here would change the sockets of this process.
pytestmark = pytest.mark.skipif(find_spec("locust") is None, reason="needs tavolata[locust]")


def played(house: House) -> int:
    """Actions of people that the server has recorded for good."""
    query = "SELECT count(*) FROM entries WHERE kind = 'played' AND maker = ?"
    return int(house.rows(query, BY_PERSON)[0][0])


def refused(house: House, method: str) -> float:
    """How often the server has refused a call for a limit."""
    registry = house.server._metrics.registry  # type: ignore[union-attr]
    labels = {"method": f"TableService/{method}", "code": "RESOURCE_EXHAUSTED"}
    return registry.get_sample_value("tavolata_rpc_duration_seconds_count", labels) or 0.0


async def test_locust_reports_as_success_what_the_server_has_done_and_nothing_else(
    tmp_path: Path,
) -> None:
    limits = {"caller_tables_max": 2, "metrics_bind": "127.0.0.1:0"}
    async with house_in(tmp_path, **limits) as house:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "locust", "-f", str(ROOT / "examples/load/locustfile.py")),
            *("--host", house.target, "--headless", "--json", "--loglevel", "ERROR"),
            *("-u", str(USERS), "-r", str(USERS), "--games", "mino_dice,bids"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )

        async def seen_enough() -> bool:
            return played(house) >= ACTIONS and refused(house, "CreateTable") > 0

        try:
            await until(seen_enough, within_s=60.0)
        finally:
            process.terminate()
            out, _ = await process.communicate()
        rows = {row["name"]: row for row in json.loads(out)}
        play = rows["PlayAction"]
        succeeded = play["num_requests"] - play["num_failures"]
        # A user whose time is up may be in the middle of a call.
        assert ACTIONS - USERS <= succeeded <= played(house) <= succeeded + USERS
        failed = rows["CreateTable"]["num_failures"]
        assert 0 < failed <= refused(house, "CreateTable") <= failed + USERS
