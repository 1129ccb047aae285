"""Access: every RPC with every wrong credential, over a socket, and what is left of tokens."""

from __future__ import annotations

import asyncio
import base64
import io
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import structlog

from tavolata.service import logs
from tavolata.service.refusals import STATUS_CODES
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.play_pb2 import AttachSeat, PlayAttached
from tavolata.v1.table_pb2 import SeatPlan, TableSettings
from tests.service.access import (
    ACCESS,
    ANY_CARD,
    Asks,
    Caller,
    Holds,
    Shows,
    documented,
    methods,
    outcome,
    reason_for,
    tried,
)
from tests.service.house import CALLER, GREEDY, OPEN, House, fresh_id, house_in, refusal_of
from tests.service.issuer import Issuer, flags_of, issuing, known

PHASES = ("open", "playing", "over")


def test_every_rpc_says_what_it_asks_of_its_caller() -> None:
    assert set(ACCESS) == set(methods())


@dataclass
class Scene:
    """A server with tables in every phase, and the tokens that were given for them. By phase."""

    house: House
    issuer: Issuer
    tables: dict[str, str] = field(default_factory=dict)
    unseated: dict[str, tuple[str, str]] = field(default_factory=dict)  # table, owner's token
    seats: dict[str, list[str]] = field(default_factory=dict)
    lost: dict[str, dict[str, str]] = field(default_factory=dict)  # by how they were lost
    given: set[str] = field(default_factory=set)

    async def create(self, *seats: SeatPlan) -> tuple[str, str]:
        """A table and its owner's token."""
        request = pb.CreateTableRequest(
            request_id=fresh_id(), settings=TableSettings(game_id="bouillabaisse"), seats=seats
        )
        call = self.house.stub.CreateTable(request, metadata=known(self.issuer.token("owner")))
        made = await call
        self.given.add(made.token)
        return made.table.table_id, made.token

    async def join(self, table_id: str, who: str, request_id: str = "") -> str:
        """Somebody's token for a seat."""
        request = pb.JoinTableRequest(request_id=request_id or fresh_id(), table_id=table_id)
        call = self.house.stub.JoinTable(request, metadata=known(self.issuer.token(who)))
        joined = await call
        self.given.add(joined.token)
        return joined.token

    async def make(self, phase: str) -> None:
        """A table in a phase, with tokens that aren't worth anything any more."""
        house = self.house
        table_id, owner = await self.create(CALLER, OPEN, OPEN)
        lost = self.lost[phase] = {}
        lost["of an answer that was lost"] = await self.join(table_id, "bob", f"bob-{phase}")
        lost["of somebody who got a new one"] = await self.join(table_id, "bob", f"bob-{phase}")
        seat = await self.join(table_id, "bob")
        lost["of a seat that was left"] = await self.join(table_id, "eve")
        await house.leave(table_id, lost["of a seat that was left"])
        lost["of a seat that was given away"] = await self.join(table_id, "eve")
        request = pb.SetSeatRequest(request_id=fresh_id(), table_id=table_id, seat=2, ai=GREEDY)
        await house.stub.SetSeat(request, metadata=known(None, owner))
        other, unseated = await self.create(OPEN, SeatPlan(ai=GREEDY))
        await self.join(other, "bob")
        if phase != "open":
            await house.start(table_id, owner)
            await house.start(other, unseated)
        for each, token in ((table_id, seat), (table_id, owner), (other, unseated)):
            await house.stub.GetTable(
                pb.GetTableRequest(table_id=each), metadata=known(None, token)
            )
        if phase == "over":
            await house.abort(table_id, owner)
            await house.abort(other, unseated)
        self.tables[phase], self.seats[phase] = table_id, [owner, seat]
        self.unseated[phase] = (other, unseated)

    def everything(self) -> list[Any]:
        """All that is recorded."""
        names = ("tables", "entries", "work")
        return [self.house.rows(f"SELECT * FROM {name} ORDER BY 1, 2") for name in names]  # noqa: S608

    def bad_tokens(self, phase: str) -> dict[str, str]:
        """Tokens that aren't any of the phase's table."""
        good, other = self.seats[phase][1], next(each for each in PHASES if each != phase)
        raw = base64.urlsafe_b64decode(good + "=")
        return self.lost[phase] | {
            "of nothing": "A" * 43,
            "empty": "",
            "shortened": good[:-1],
            "lengthened": good + "A",
            "in capitals": good.upper(),
            "of another table": self.seats[other][0],
            "of another table's seat": self.seats[other][1],
            "of an owner of another table": self.unseated[phase][1],
            "what the server keeps": self.house.rows(
                "SELECT json_extract(body, '$.token') FROM entries WHERE kind = 'created'"
            )[0][0],
            "its bytes in hexadecimal": raw.hex(),
        }

    def callers(self, phase: str) -> list[Caller]:
        """Everybody who calls with something wrong, or nothing."""
        issuer, good = self.issuer, self.seats[phase][1]
        expired = issuer.token("bob", exp=1)
        made = [
            Caller("nobody", ()),
            Caller("a seat's", known(None, good), good, Holds.OTHER_SEAT),
            Caller("a seat's of yesterday", known(expired, good), good, Holds.OTHER_SEAT,
                   Shows.WRONG),
            Caller("a header of another name", (("x-authorization", f"Bearer {good}"),)),
        ]  # fmt: skip
        for name, identity, shows in (
            ("somebody without token", issuer.token("zoe"), Shows.SOMEBODY),
            ("somebody of yesterday", expired, Shows.WRONG),
            ("another issuer's", issuer.token(iss="https://example.org"), Shows.WRONG),
            ("an identity that is none", "nonsense", Shows.WRONG),
        ):
            made.append(Caller(name, known(identity), None, Holds.NOTHING, shows))
        for name, header in {
            "another scheme": f"Basic {good}",
            "no scheme": good,
            "scheme alone": "Bearer",
            "two schemes": f"Bearer Bearer {good}",
        }.items():
            made.append(Caller(name, (("authorization", header),), None, Holds.WRONG_TOKEN))
        twice = (*known(None, "A" * 43), *known(None, good))
        made.append(Caller("two tokens, one right", twice, None, Holds.WRONG_TOKEN))
        for name, token in self.bad_tokens(phase).items():
            headers = (("authorization", f"Bearer {token}"),)
            made.append(Caller(f"with a token {name}", headers, token, Holds.WRONG_TOKEN))
        return made

    async def wrong(self, name: str, asks: Asks, request: Any, caller: Caller) -> str:
        """What is wrong about an RPC's answer to a caller; empty if nothing is."""
        wanted = reason_for(asks, caller)
        answer = await outcome(self.house.channel, name, request, caller)
        if isinstance(answer, grpc.aio.AioRpcError):
            if answer.code() is grpc.StatusCode.UNIMPLEMENTED and not answer.trailing_metadata():
                return ""  # no handler, nothing to guard
            found = refusal_of(answer)
            reason, code = found.reason, found.code
        else:
            reason, code = "", grpc.StatusCode.OK
        if not wanted:
            denied = code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
            return f"{name}, {caller.name}: {reason}, though it is allowed" if denied else ""
        said = documented(name).get(wanted)
        right = STATUS_CODES[ErrorReason.Value(f"ERROR_REASON_{wanted}")]
        if (reason, code, said) != (wanted, right, right.name):
            return f"{name}, {caller.name}: {reason or 'not refused'} {code}, not {wanted} ({said})"
        return ""


async def tried_out(scene: Scene) -> list[str]:
    """Every RPC with every caller in every phase: what was wrong."""
    wrongs: list[str] = []
    asked: set[str] = set()
    for phase in PHASES:
        before = scene.everything()
        for name, asks, build in tried(asked):
            wanted_by = [(scene.tables[phase], each) for each in scene.callers(phase)]
            other, unseated = scene.unseated[phase]
            owner = Caller("the owner, unseated", known(None, unseated), unseated, Holds.NO_SEAT)
            wanted_by.append((other, owner))
            for table_id, caller in wanted_by:
                if reason_for(asks, caller) or asks is Asks.NOTHING:
                    wrongs.append(await scene.wrong(name, asks, build(table_id), caller))
        if scene.everything() != before:
            wrongs.append(f"{phase}: something has changed")
    streams = {name for name, (asks, _) in ACCESS.items() if asks is Asks.IN_ITS_MESSAGES}
    assert asked | streams == set(methods())
    return [wrong for wrong in wrongs if wrong]


async def streamed(scene: Scene) -> list[str]:
    """PlayStream with every wrong token in its messages: what was wrong."""
    wrongs = []
    for phase in PHASES:
        before = scene.everything()
        table_id = scene.tables[phase]
        tokens = {name: token for name, token in scene.bad_tokens(phase).items() if token}
        stream = scene.house.stub.PlayStream()
        for handle, (name, token) in enumerate(tokens.items(), start=1):
            attach = AttachSeat(handle=handle, table_id=table_id, token=token)
            await stream.write(pb.PlayStreamRequest(attach=attach))
            answer: Any = await stream.read()
            refused = answer.refused
            if refused.reason != ErrorReason.ERROR_REASON_BAD_TOKEN:
                wrongs.append(f"{phase}, {name}: {refused}")
        await stream.done_writing()
        if phase != "over":  # then the watch has ended, and nothing is attached
            # A spectator's place can't play, and an owner without seat neither.
            wrongs += await _played(scene, table_id, "", ErrorReason.ERROR_REASON_MISSING_TOKEN)
            other, owner = scene.unseated[phase]
            wrongs += await _played(scene, other, owner, ErrorReason.ERROR_REASON_NOT_SEATED)
        if scene.everything() != before:
            wrongs.append(f"{phase}: something has changed")
    return wrongs


async def _played(scene: Scene, table_id: str, token: str, reason: int) -> list[str]:
    stream = scene.house.stub.PlayStream()
    attach = AttachSeat(handle=1, table_id=table_id, token=token)
    await stream.write(pb.PlayStreamRequest(attach=attach))
    play = PlayAttached(handle=1, request_id=fresh_id(), action=ANY_CARD)
    await stream.write(pb.PlayStreamRequest(play=play))
    await stream.done_writing()
    async for message in stream:
        if message.HasField("result"):
            found = message.result.refused.reason
            return [] if found == reason else [f"play: {found}, not {reason}"]
    return ["play: no result"]


def test_every_wrong_credential_is_refused_as_documented_and_changes_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    async def scene(issuer: Issuer) -> tuple[list[str], Scene]:
        # AI players take their time, so that nothing changes by itself.
        flags = flags_of(issuer, ai_floor_s=60.0)
        async with house_in(tmp_path, **flags) as house:
            made = Scene(house, issuer)
            for phase in PHASES:
                await made.make(phase)
            found = await tried_out(made) + await streamed(made)
            assert_hidden(made, tmp_path)
            return found, made

    written = io.StringIO()
    with redirect_stderr(written), issuing() as issuer:
        logs.configure("json", "debug")
        structlog.configure(cache_logger_on_first_use=False)
        try:
            wrongs, made = asyncio.run(scene(issuer))
        finally:
            structlog.reset_defaults()
    assert not wrongs, "\n".join(wrongs)
    assert_hidden(made, tmp_path)
    text = written.getvalue()
    assert text.count("BAD_TOKEN") > 100
    for token in made.given:
        assert not any(form.decode() in text for form in forms_of(token))
    for identity in (issuer.token("bob"), issuer.token("bob", exp=1)):
        assert identity.split(".")[1] not in text


def forms_of(token: str) -> tuple[bytes, ...]:
    """What a token could be written as."""
    raw = base64.urlsafe_b64decode(token + "=")
    return (
        token.encode(),
        raw.hex().encode(),
        base64.b64encode(raw).rstrip(b"="),
    )


def assert_hidden(scene: Scene, folder: Path) -> None:
    """No file of the server has any token in it, as text or as bytes."""
    held = b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())
    assert len(scene.given) > 20
    for token in scene.given:
        assert base64.urlsafe_b64decode(token + "=") not in held
        assert not any(form in held for form in forms_of(token))
