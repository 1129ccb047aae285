"""The load tool: what it counts, from when, and what it finds."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import pytest_asyncio
import trustme
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from tavolata.service.cli.loadtest import is_well
from tavolata.service.cli.main import app
from tavolata.service.loadtest import page, result
from tavolata.service.loadtest.follow import Follow
from tavolata.service.loadtest.latencies import ERROR, QUANTILES, Latencies
from tavolata.service.loadtest.plan import Plan, Reach, WrongPlan, games_from, tables_for
from tavolata.service.loadtest.run import run
from tavolata.service.loadtest.tally import Account, Slice, Tally
from tavolata.service.loadtest.worker import NOT_SENT, Go, Load
from tavolata.service.own_server import OwnServer, own_server
from tavolata.v1.event_pb2 import (
    CLOSING_REASON_MATCH_FINISHED,
    SNAPSHOT_REASON_OVERFLOW,
    Closing,
    Event,
    Snapshot,
)
from tavolata.v1.table_service_pb2 import WatchTableResponse
from tests.project.extensions import ROOT
from tests.service.house import House, house_in, until

ANY_NUMBER = {"caller_tables_per_min": 0, "caller_tables_max": 0}


async def load(
    house: House, enough: Callable[[Tally], bool] | None = None, **plan: Any
) -> tuple[Account, list[Slice]]:
    """What a load in this process comes to; ended as soon as there was enough, if that is told."""
    slices: list[Slice] = []
    reach = plan.pop("reach", None) or Reach(house.target)
    fields = {"warmup_s": 0.0, "duration_s": 60.0, "timeout_s": 30.0, "connections": 2} | plan
    tool = Load(Plan(reach, **fields), 0)
    running = asyncio.create_task(tool.run(Go(time.monotonic(), 0.0), slices.append))
    if enough is not None:
        is_enough = enough

        async def ended() -> bool:
            return running.done() or is_enough(tool.tally)

        await until(ended, within_s=60.0)
        tool.stop(within_s=30.0)
    account = await running
    await tool.wire.close()
    return account, slices


def at_least(number: int, *whats: str) -> Callable[[Tally], bool]:
    """Whether so many of each have succeeded."""

    def enough(tally: Tally) -> bool:
        counts = Counter(tally.counts)
        for (what, _), found in tally.latencies.items():
            counts[what] += len(found)
        for (what, _, kind, _), count in tally.failures.items():
            counts[f"{what} {kind}"] += count
        return all(counts[what] >= number for what in whats)

    return enough


def succeeded(account: Account, what: str) -> int:
    """How often, in all games."""
    return sum(
        len(Latencies().add_packed(packed))
        for (kind, _), packed in account.latencies.items()
        if kind == what
    )


# -- histograms ----------------------------------------------------------------------------------


def test_quantiles_are_within_the_stated_error_of_the_true_ones() -> None:
    draws = random.Random(7)
    values = [10 ** draws.uniform(-5, 2.5) for _ in range(5_000)]
    found = Latencies()
    for value in values:
        found.record(value)
    ordered = sorted(values)
    for share in (*QUANTILES, 0.01, 1.0):
        true = ordered[max(0, math.ceil(share * len(ordered)) - 1)]
        # To a microsecond at best: that is the least that is told apart.
        assert found.quantile(share) == pytest.approx(true, rel=ERROR, abs=1e-6)
    assert len(found) == len(values)
    assert found.mean_s == pytest.approx(sum(values) / len(values))
    assert found.longest_s == ordered[-1]


def test_histograms_of_several_processes_together_are_that_of_all() -> None:
    draws = random.Random(8)
    parts, whole = [Latencies() for _ in range(3)], Latencies()
    for number in range(3_000):
        value = draws.expovariate(50) * (1 + number % 3)
        parts[number % 3].record(value)
        whole.record(value)
    merged = Latencies()
    for part in parts:
        merged.add_packed(part.pack())
    assert list(merged.steps()) == list(whole.steps())
    assert [merged.quantile(share) for share in QUANTILES] == [
        whole.quantile(share) for share in QUANTILES
    ]
    assert (len(merged), merged.longest_s) == (3_000, whole.longest_s)
    assert merged.sum_s == pytest.approx(whole.sum_s)


def test_what_takes_longer_than_an_hour_counts_and_nothing_has_no_quantile() -> None:
    found = Latencies()
    assert math.isnan(found.quantile(0.5))
    assert math.isnan(found.mean_s)
    found.record(9_000.0)
    found.record(0.0)
    assert (len(found), found.longest_s) == (2, 9_000.0)
    assert found.quantile(1.0) == pytest.approx(3_600.0, rel=ERROR)


# -- what a plan can't be -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"tables": 0}, "tables is 0; allowed: 1 or more"),
        ({"rate": 0.0}, "rate is 0.0; allowed: more than 0"),
        ({"rate": 5.0, "think_s": 1.0}, "a rate has no think time"),
        ({"transport": "carrier pigeon"}, "allowed: unary, stream"),
        ({"processes": 3, "tables": 2}, "from 1 to the number of tables"),
        ({"ai_share": 1.5}, "from 0 to 1"),
        ({"duration_s": 0.0}, "more than 0"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused_with_what_is_allowed(
    wrong: dict[str, Any], told: str
) -> None:
    with pytest.raises(WrongPlan, match=re.escape(told)):
        Plan(Reach("nowhere:1"), **wrong)


def test_with_an_identity_somebody_has_one_seat_at_a_table() -> None:
    somebody = Reach("nowhere:1", identity=Path("jwt"))
    with pytest.raises(WrongPlan, match="set ai_share to 1"):
        Plan(somebody, ai_share=0.9)
    assert Plan(somebody, ai_share=1.0).reach == somebody


def test_games_come_by_weight_and_unknown_ones_are_refused() -> None:
    assert games_from("bids=2, mino_dice") == {"bids": 2.0, "mino_dice": 1.0}
    assert len(games_from("")) == 5
    with pytest.raises(WrongPlan, match=r"no game 'chess'; there are: mino_dice"):
        games_from("chess")
    with pytest.raises(WrongPlan, match="a number above 0"):
        games_from("bids=-1")
    assert tables_for(40, {"bids": 1.0}, "usual") == 10
    assert tables_for(1, {"bids": 1.0}, "usual") == 1


def test_the_command_says_what_is_wrong_with_its_options() -> None:
    for arguments, told in (
        (["--games", "chess"], "there is no game"),
        (["--tls"], "TLS is for a server elsewhere"),
        (["--server", "x:1", "--setting", "calls_max=1"], "of your own"),
        (["--setting", "calls_max"], "name=value"),
        (["--json", "/nowhere/at/all.json"], "there is no folder /nowhere/at"),
    ):
        ended = CliRunner().invoke(app, ["loadtest", *arguments])
        assert ended.exit_code == 2
        assert told in " ".join(re.sub("[│╭╮╰╯─]", " ", ended.output).split())


def test_the_command_says_that_a_server_is_not_there() -> None:
    ended = CliRunner().invoke(app, ["loadtest", "--server", "127.0.0.1:1"])
    assert ended.exit_code == 1
    assert "127.0.0.1:1: UNAVAILABLE" in ended.output


# -- what counts as a success ----------------------------------------------------------------------


async def test_only_calls_that_succeeded_count_as_such_as_the_server_itself_counts(
    tmp_path: Path,
) -> None:
    flags = ANY_NUMBER | {"calls_max": 2, "metrics_bind": "127.0.0.1:0"}
    async with house_in(tmp_path, **flags) as house:
        enough = at_least(10, "PlayAction", "PlayAction refused")
        account, _ = await load(house, enough, tables=8)
        registry = house.server._metrics.registry  # type: ignore[union-attr]

        def told(method: str, code: str) -> float:
            labels = {"method": f"TableService/{method}", "code": code}
            found = registry.get_sample_value("tavolata_rpc_duration_seconds_count", labels)
            return found or 0.0

        refused = sum(
            count
            for (what, _, kind, reason), count in account.failures.items()
            if (what, kind, reason) == ("PlayAction", "refused", "LIMIT_EXCEEDED")
        )
        assert set(account.failures) == {key for key in account.failures if key[2] == "refused"}
        assert refused > 0
        assert succeeded(account, "PlayAction") > 0
        assert succeeded(account, "PlayAction") == told("PlayAction", "OK")
        assert refused == told("PlayAction", "RESOURCE_EXHAUSTED")
        durable = house.rows("SELECT count(*) FROM entries WHERE kind = 'played'")
        assert durable == [(succeeded(account, "PlayAction"),)]
    assert not account.problems


async def test_an_answer_that_is_not_what_was_asked_for_is_no_success() -> None:
    tally = Tally()
    tool = Load(Plan(Reach("127.0.0.1:1")), 0)
    tool.wire.tally = tally
    with pytest.raises(Exception, match="no token"):
        tool.wire.settle("JoinTable", "bids", time.monotonic(), "no token of seat 1")
    await tool.wire.close()
    assert not tally.latencies
    assert tally.failures == {("JoinTable", "bids", "wrong", "no token of seat 1"): 1}
    assert tally.problems == ["wrong answers: JoinTable, bids: no token of seat 1"]


async def test_a_server_that_is_not_there_has_no_success_and_an_error() -> None:
    house = House(Path("/nonexistent"))
    house.target = "127.0.0.1:1"
    account, _ = await load(house, tables=1, duration_s=0.3)
    assert not account.latencies
    assert {(what, kind, reason) for what, _, kind, reason in account.failures} == {
        ("CreateTable", "error", "UNAVAILABLE")
    }


# -- how people play -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        {"transport": "unary"},
        {"transport": "stream"},
        {"transport": "unary", "ai_share": 0.5, "ai_player": "greedy"},
        {"transport": "stream", "views": True, "seats": "min"},
        {"transport": "unary", "rate": 100.0},
    ],
    ids=lambda how: " ".join(map(str, how.values())),
)
async def test_people_play_all_games_and_every_receipt_is_the_one_expected(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    what = "PlayStream play" if how["transport"] == "stream" else "PlayAction"
    async with house_in(tmp_path, **ANY_NUMBER) as house:
        account, slices = await load(house, at_least(20, what), tables=5, **how)
    assert not account.failures
    assert not account.problems
    in_slices = sum(len(Latencies(2).add_packed(each.actions)) for each in slices)
    assert in_slices >= succeeded(account, what) >= 20
    assert slices[-1].open.get("tables", 0) == 0


async def test_a_server_is_reached_by_tls_and_by_it_alone(tmp_path: Path) -> None:
    authority = trustme.CA()
    own = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    own.private_key_pem.write_to_path(tmp_path / "key.pem")
    own.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    flags = {"tls_cert": tmp_path / "cert.pem", "tls_key": tmp_path / "key.pem"}
    async with house_in(tmp_path, **flags) as house:
        reach = Reach(house.target, ca=tmp_path / "ca.pem")
        for how in ({"transport": "stream"}, {"transport": "unary"}):
            what = "PlayStream play" if how["transport"] == "stream" else "PlayAction"
            account, _ = await load(house, at_least(1, what), tables=1, reach=reach, **how)
            assert not account.failures
        account, _ = await load(house, tables=1, duration_s=0.2)
        assert not account.latencies
        assert account.failures


async def test_nothing_is_missing_or_doubled_after_storms(tmp_path: Path) -> None:
    async with house_in(tmp_path, **ANY_NUMBER) as house:
        for transport in ("unary", "stream"):
            enough = at_least(10, "cuts", "resume", "events")
            plan = {"tables": 4, "watchers": 2, "storm_s": 0.06, "transport": transport}
            account, _ = await load(house, enough, **plan)
            assert not account.problems
            assert not account.failures


def follow_told(*messages: Any) -> list[str]:
    """The problems that somebody finds who is told this; True resumes."""
    tally = Tally()
    follow = Follow(tally, "bids", "T", 0.0)
    follow.begin(with_views=False)
    for message in messages:
        if message is True:
            follow.begin(with_views=False)
        elif isinstance(message, int):
            follow.take(WatchTableResponse(event=Event(number=message)))
        else:
            follow.take(message)
    follow.ended_at(3)
    return [problem.partition(":")[0] for problem in tally.problems]


def closing(number: int) -> WatchTableResponse:
    reason = CLOSING_REASON_MATCH_FINISHED
    return WatchTableResponse(closing=Closing(reason=reason, resume_after=number))


def test_whoever_follows_finds_what_is_missing_doubled_or_changed() -> None:
    changed = WatchTableResponse(event=Event(number=2, turn=9))
    moved = WatchTableResponse(snapshot=Snapshot(reason=SNAPSHOT_REASON_OVERFLOW, event_number=7))
    assert follow_told(1, 2, 3, closing(3)) == []
    assert follow_told(1, 2, True, 2, 3, closing(3)) == []
    assert follow_told(1, 2, moved, 8, closing(8)) == []
    assert follow_told(1, 3, closing(3)) == ["events missing"]
    assert follow_told(1, 2, 2, 3, closing(3)) == ["events doubled"]
    assert follow_told(1, 2, True, 3, closing(3)) == ["events missing"]
    assert follow_told(1, 2, True, 1, 2, 3, closing(3)) == ["events doubled"]
    assert follow_told(1, 2, True, changed, 3, closing(3)) == ["events changed"]
    assert follow_told(1, 2, closing(2)) == ["events missing"]
    assert follow_told(1, 2, 3, closing(4)) == ["events missing"]


# -- with processes and a server of its own --------------------------------------------------------


@pytest_asyncio.fixture
async def own() -> AsyncIterator[OwnServer]:
    """A server in a process, which can be stopped."""
    async with own_server("--ai-floor", "0", "--caller-tables-per-min", "0") as server:
        yield server


async def _stand_still(process: int, after_s: float, for_s: float) -> None:
    await asyncio.sleep(after_s)
    os.kill(process, signal.SIGSTOP)
    try:
        await asyncio.sleep(for_s)
    finally:
        os.kill(process, signal.SIGCONT)


async def test_an_open_loop_counts_the_time_that_actions_wait_for_a_server_that_stands_still(
    own: OwnServer, tmp_path: Path
) -> None:
    seconds: list[result.Second] = []
    stop, tables, rate, still_s = asyncio.Event(), 4, 100.0, 0.5
    plan = Plan(
        *(Reach(own.target), tables),
        rate=rate,
        arrivals="even",
        warmup_s=0.5,
        duration_s=1.5,
        processes=2,
    )

    def observe(second: result.Second) -> None:
        if not seconds:
            tasks.append(asyncio.create_task(_stand_still(own.process, 0.1, still_s)))
        seconds.append(second)

    tasks: list[asyncio.Task[None]] = []
    found = await run(plan, observe, stop, own.process)
    await asyncio.gather(*tasks)
    actions = found.actions()
    assert not found.problems
    assert not found.failures
    # Every action is accounted for, and those that were due while it stood still have waited: in a
    # closed loop only one of each table would have.
    assert actions.succeeded == pytest.approx(rate * plan.duration_s, abs=2)
    steps = [so_far for upto, so_far in actions.latencies.steps() if upto < 0.2]
    waited = actions.succeeded - max(steps, default=0)
    assert waited >= 0.5 * rate * (still_s - 0.2) > 2 * tables
    assert actions.latencies.longest_s >= still_s - 0.05
    _check_json_and_page(found)


def _check_json_and_page(found: result.Result) -> None:
    written = json.loads(json.dumps(found.as_json(), allow_nan=False))
    jsonschema.Draft202012Validator.check_schema(result.schema())
    jsonschema.validate(written, result.schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written | {"format": "tavolata.load/0"}, result.schema())
    assert sum(row["succeeded"] for row in written["by_game"]) == sum(
        row["succeeded"] for row in written["rpcs"]
    )
    text = page.html(found)
    # Names of XML are no addresses that anybody fetches.
    loaded = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert "http:" not in loaded
    assert "https:" not in loaded
    assert not re.search(r"<(script|link|img|iframe|object|embed)\b|@import|\bsrc=", loaded)
    assert set(re.findall(r"url\((.)", loaded)) <= {"#"}
    assert set(re.findall(r'href="(.)', loaded)) == {"#"}
    assert text.count("<svg ") == 7
    assert is_well(found)


async def test_what_nobody_could_send_is_told_as_not_sent() -> None:
    house = House(Path("/nonexistent"))
    house.target = "127.0.0.1:1"
    account, _ = await load(house, tables=1, duration_s=0.4, rate=50.0, arrivals="even")
    unsent = account.failures["PlayAction", "", "error", NOT_SENT]
    # Of the 20 that were due; nobody ever got to a table.
    assert 19 <= unsent <= 20


@pytest.mark.parametrize("version", ["1.30", "1.34"])
def test_the_job_for_a_cluster_is_one_and_its_options_are_those_of_the_command(
    version: str,
) -> None:
    job = yaml.safe_load((ROOT / "deploy" / "load" / "job.yaml").read_text())
    kubernetes_validate.validate(job, version, strict=True)
    pod = job["spec"]["template"]
    command, *options = pod["spec"]["containers"][0]["args"]
    known = {
        name
        for each in get_command(app).commands[command].params  # type: ignore[attr-defined]
        for name in each.opts
    }
    assert {option.partition("=")[0] for option in options} <= known
    # The servers' budget, service and selectors must not take it for one of them.
    assert pod["metadata"]["labels"]["app.kubernetes.io/name"] != "tavolata"
