"""`tavolata verify`: a downloaded match is dealt and played again, and no changed bit gets by.

There is no field of a file outside the promise that a change is noticed: in a record everything is
bound by commitment, seed or running hash, or compared with the match; in a replay the digest covers
the rest. What someone changes on purpose, digest included, is noticed but for what `SAID` lists.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToJson, Parse
from google.protobuf.message import Message
from typer.testing import CliRunner, Result

from tavolata.ext.core.match import Match
from tavolata.ext.core.record import RecordError, RecordMismatch, dumps, loads, record_of
from tavolata.ext.registry import GAMES
from tavolata.service.cli.main import app
from tavolata.service.replays import record_of_replay, sealed
from tavolata.service.verify import verify
from tavolata.v1.fairness_pb2 import Reveal
from tavolata.v1.replay_pb2 import Replay
from tavolata.v1.table_service_pb2 import GetReplayResponse
from tests.service.house import AI, CALLER, GREEDY, OPEN, House, house_in

SHORT = "aborted"  # after one decision


async def _finished(house: House, game: str) -> Replay:
    made = await house.create([CALLER, OPEN, AI], game=game, show_search=True, stand_in=GREEDY)
    table_id = made.table.table_id
    joined = await house.join(table_id, nonce=b"\x00\xffsalt")
    await house.start(table_id, made.token, nonce=b"mine")
    await house.resign(table_id, joined.token)
    await house.play_as_told(table_id, made.token)
    return await house.replay(table_id)


async def _aborted(house: House) -> Replay:
    sitting = await house.sitting(3, game="mino_dice", start=False)
    await house.start(sitting.table_id, sitting.owner, nonce=b"n")
    await house.play_on(sitting, 4)
    await house.abort(sitting.table_id, sitting.owner)
    return await house.replay(sitting.table_id)


async def _all_replays(folder: Path) -> dict[str, Replay]:
    async with house_in(folder) as house:
        made = {game: await _finished(house, game) for game in GAMES}
        return made | {SHORT: await _aborted(house)}


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Replay]:
    """What a server answered to GetReplay: a match of each game, and a short one."""
    return asyncio.run(_all_replays(tmp_path_factory.mktemp("house")))


def written(replay: Replay, form: str) -> bytes:
    """The bytes of a file."""
    if form == "binary":
        return replay.SerializeToString()
    return (dumps(record_of_replay(replay)) if form == "record" else MessageToJson(replay)).encode()


def content(data: bytes, form: str) -> object:
    """What the bytes say, by the readers that everybody has."""
    if form == "binary":
        return Replay.FromString(data)
    return loads(data.decode()) if form == "record" else Parse(data.decode(), Replay())


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def unnoticed(data: bytes, form: str, bits: Iterator[int] | range) -> list[int]:
    """The bits that can be flipped without refusal though the file says something else then."""
    assert verify(data).verified
    original, found = content(data, form), []
    for bit in bits:
        changed = flipped(data, bit)
        try:
            verify(changed)
        except (RecordError, RecordMismatch):
            continue
        if content(changed, form) != original:
            found.append(bit)
    return found


@pytest.mark.parametrize("form", ["record", "binary"])
def test_every_flipped_bit_of_a_short_match_is_refused(
    replays: dict[str, Replay], form: str
) -> None:
    data = written(replays[SHORT], form)
    assert unnoticed(data, form, range(8 * len(data))) == []


def test_flipped_bits_of_a_short_match_in_json_are_refused(replays: dict[str, Replay]) -> None:
    data = written(replays[SHORT], "json")
    bits = random.Random(5).sample(range(8 * len(data)), 1_500)
    assert unnoticed(data, "json", iter(bits)) == []


@pytest.mark.parametrize("form, count", [("record", 150), ("binary", 300), ("json", 30)])
@pytest.mark.parametrize("game", GAMES)
def test_flipped_bits_of_a_whole_match_are_refused(
    replays: dict[str, Replay], game: str, form: str, count: int
) -> None:
    data = written(replays[game], form)
    chance = random.Random(game + form)
    bits = [chance.randrange(8 * len(data)) for _ in range(count)]
    assert unnoticed(data, form, iter(bits)) == []


# -- changes on purpose: the digest is made anew after each -------------------------------------

# What a server says that nobody can recompute.
SAID = {
    "entries.decision.made_by",
    "entries.decision.request_id",
    "entries.decision.time.nanos",
    "entries.decision.time.seconds",
    "entries.event.event.table.match_started.seats.control",
    "entries.event.event.table.match_started.seats.occupant.person.display_name",
    "entries.event.event.table.match_started.seats.seat",
    "entries.event.event.table.seat_changed.seat.control",
    "entries.event.event.table.seat_changed.seat.seat",
    "entries.event.event.time.nanos",
    "entries.event.event.time.seconds",
    "table.create_time.nanos",
    "table.create_time.seconds",
    "table.end_time.nanos",
    "table.end_time.seconds",
    "table.expire_time.nanos",
    "table.expire_time.seconds",
    "table.owner_seat",
    "table.seats.control",
    "table.seats.occupant.person.display_name",
    "table.settings.hints",
    "table.settings.stand_in.level",
    "table.settings.stand_in.player",
    "table.settings.visibility",
    "table.start_time.nanos",
    "table.start_time.seconds",
}


def leaves(message: Message, path: str = "") -> Iterator[tuple[str, Message, FieldDescriptor]]:
    """Every field with a value in it: its path without places in lists, its message, itself."""
    for field, value in message.ListFields():
        here = f"{path}{field.name}"
        if field.type != FieldDescriptor.TYPE_MESSAGE:
            yield here, message, field
            continue
        for each in value if field.is_repeated else [value]:
            yield from leaves(each, here + ".")


def change(message: Message, field: FieldDescriptor) -> None:
    """Give the field another value of its type; of a list, its first."""
    value = getattr(message, field.name)
    if field.is_repeated:
        value[0] = _other(value[0], field)
    else:
        setattr(message, field.name, _other(value, field))


def _other(value: Any, field: FieldDescriptor) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    if isinstance(value, str):
        return value + "x"
    if field.enum_type is not None:
        return next(each.number for each in field.enum_type.values if each.number not in (0, value))
    return value + 1 if field.name != "nanos" else value ^ 1


def accepted(original: Replay, within: str = "") -> set[str]:
    """The paths of fields that can be changed, and the digest with them, without refusal."""
    found = set()
    for place, (path, _, _) in enumerate(list(leaves(original))):
        if not path.startswith(within):
            continue
        changed = copied(original)
        _, message, field = list(leaves(changed))[place]
        change(message, field)
        if path != "digest":
            sealed(changed)
        if not is_refused(changed):
            found.add(path)
    return found


def copied(replay: Replay) -> Replay:
    return Replay.FromString(replay.SerializeToString())


def is_refused(replay: Replay) -> bool:
    try:
        verify(replay.SerializeToString())
    except (RecordError, RecordMismatch):
        return True
    return False


def test_what_is_changed_on_purpose_is_noticed_but_for_what_only_the_server_can_know(
    replays: dict[str, Replay],
) -> None:
    assert accepted(replays[SHORT]) == SAID


def test_a_result_that_was_changed_on_purpose_is_noticed(replays: dict[str, Replay]) -> None:
    assert accepted(replays["mister_bill"], "table.result") == set()


def _dropped(place: int) -> Callable[[Replay], None]:
    def drop(replay: Replay) -> None:
        del replay.entries[place]

    return drop


def _doubled(place: int) -> Callable[[Replay], None]:
    def double(replay: Replay) -> None:
        replay.entries.insert(place, replay.entries[place])

    return double


def _doubled_at_the_end(replay: Replay) -> None:
    last = next(e for e in reversed(replay.entries) if e.event.event.HasField("game"))
    replay.entries.append(last)
    replay.entries[-1].event.event.number = len([e for e in replay.entries if e.HasField("event")])
    replay.table.last_event += 1


def _unfinished(replay: Replay) -> None:
    replay.table.ClearField("result")


def _unnonced(replay: Replay) -> None:
    del replay.table.fairness.nonces[:]


@pytest.mark.parametrize(
    "forge",
    [
        *map(_dropped, (3, 10, -1)),
        *map(_doubled, (4, -1)),
        *(_doubled_at_the_end, _unfinished, _unnonced),
    ],
)
@pytest.mark.parametrize("game", ["mister_bill", SHORT])
def test_entries_and_parts_that_are_gone_or_doubled_are_noticed(
    replays: dict[str, Replay], game: str, forge: Callable[[Replay], None]
) -> None:
    changed = copied(replays[game])
    forge(changed)
    # The short match has no result that could be taken out.
    assert is_refused(sealed(changed)) != (changed == replays[game])


def test_a_replay_without_digest_or_with_unknown_fields_is_refused(
    replays: dict[str, Replay],
) -> None:
    bare = copied(replays[SHORT])
    bare.ClearField("digest")
    with pytest.raises(RecordError, match="digest: is absent"):
        verify(bare.SerializeToString())
    with pytest.raises(RecordError, match="doesn't know"):
        verify(replays[SHORT].SerializeToString() + b"\xf8\x07\x01")


# -- the command --------------------------------------------------------------------------------


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["verify", *map(str, arguments)])


def write(file: Path, replay: Replay) -> None:
    file.write_bytes(replay.SerializeToString())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "match"


@pytest.mark.parametrize("form", ["record", "binary", "json", "answer"])
def test_every_form_of_a_match_is_verified_and_told_in_words(
    replays: dict[str, Replay], file: Path, form: str
) -> None:
    replay = replays["bids"]
    if form == "answer":
        file.write_text(MessageToJson(GetReplayResponse(replay=replay), indent=None))
    else:
        file.write_bytes(written(replay, form))
    result = run(file)
    assert result.exit_code == 0, result.output
    kind = "record" if form == "record" else "replay"
    assert result.stdout.startswith(f"{file}: verified ({kind} of bids)\n")
    assert "checked: the match, dealt and played again" in result.stdout
    assert "can't be checked: that the commitment was published before the deal" in result.stdout
    assert ("can't be checked: names, times" in result.stdout) == (kind == "replay")
    assert f"commitment: {replay.table.fairness.commitment.hex()}\n" in result.stdout


def test_the_commitment_that_its_reader_noted_is_compared(
    replays: dict[str, Replay], file: Path
) -> None:
    file.write_bytes(written(replays[SHORT], "binary"))
    noted = replays[SHORT].table.fairness.commitment.hex()
    told = json.loads(run(file, "--json", "--commitment", noted.upper()).stdout)
    assert (told["verdict"], told["game"], told["kind"]) == ("verified", "mino_dice", "replay")
    assert "the commitment is the one that you noted" in told["checked"]
    assert not any("compare it" in line for line in told["not_checked"])
    other = run(file, "--json", "--commitment", "0" * 64)
    assert other.exit_code == 1
    assert json.loads(other.stdout)["verdict"] == "mismatch"
    assert noted in json.loads(other.stdout)["problem"]
    wrong = run(file, "--commitment", "12")
    assert wrong.exit_code == 2
    assert "64 hex digits" in wrong.stderr


def test_what_differs_is_named_and_told_by_exit_code_1(
    replays: dict[str, Replay], file: Path
) -> None:
    changed = copied(replays[SHORT])
    place = next(n for n, entry in enumerate(changed.entries) if entry.HasField("chance"))
    changed.entries[place].chance.index += 1
    file.write_bytes(changed.SerializeToString())
    assert "mismatch: replay.digest: recorded" in run(file).stderr
    file.write_bytes(sealed(changed).SerializeToString())
    result = run(file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"mismatch: replay.entries[{place}]: recorded" in result.stderr


@pytest.mark.parametrize(
    "data, told",
    [
        (b"", "replay.digest: is absent"),
        (b"\xff\xfe", "neither a JSON object nor"),
        (b"{", "top level: is no JSON"),
        (b"[" * 100_000, "neither a JSON object nor"),
        (b'{"a":' * 100_000, "top level: is no JSON"),
        (b'{"tables": 1}', "is no tavolata.v1.Replay in JSON"),
        (b'{"format": "tavolata.match/2"}', "record"),
        (b'{"format": "tavolata.match/2", "format": "tavolata.match/2"}', "has a key twice"),
        (b'{"format": "\\ud800"}', "half a character"),
    ],
)
def test_files_that_are_none_are_told_by_exit_code_2(file: Path, data: bytes, told: str) -> None:
    file.write_bytes(data)
    result = run(file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert json.loads(run(file, "--json").stdout)["verdict"] == "unreadable"
    assert run(file.parent / "missing").exit_code == 2


async def test_a_table_that_never_reveals_can_not_be_verified(house: House, file: Path) -> None:
    sitting = await house.sitting(2, reveal=Reveal.REVEAL_NEVER)
    await house.abort(sitting.table_id, sitting.owner)
    told = await house.replay(sitting.table_id)
    write(file, told)
    result = run(file)
    assert result.exit_code == 2
    assert "can't be verified" in result.stdout
    assert "its seed stays secret" in result.stdout
    assert json.loads(run(file, "--json").stdout)["verdict"] == "unverifiable"
    told.table.settings.reveal = Reveal.REVEAL_AT_END  # then its seed is missing
    write(file, sealed(told))
    assert "without the seed nothing can be played again" in run(file).stderr


async def test_of_a_table_with_a_given_seed_the_match_is_checked_and_not_its_choice(
    house: House, file: Path
) -> None:
    sitting = await house.sitting(2, seed=bytes(range(32)))
    await house.abort(sitting.table_id, sitting.owner)
    write(file, await house.replay(sitting.table_id))
    result = run(file)
    assert result.exit_code == 0
    assert "can't be checked: whether the deal was chosen: whoever made the table" in result.stdout


def test_a_record_without_promise_is_played_and_its_deal_not_vouched_for(file: Path) -> None:
    file.write_text(dumps(record_of(Match(GAMES["bids"].make(4), bytes(32)))))
    result = run(file)
    assert result.exit_code == 0
    assert "can't be checked: whether the deal was chosen: the file has no commitment" in (
        result.stdout
    )
