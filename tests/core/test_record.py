"""Records: read back as written, played again to the same end, and refused when changed."""

from __future__ import annotations

import hashlib
import json
import random
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tavolata.ext.core.match import Match
from tavolata.ext.core.record import (
    Fairness,
    Record,
    RecordError,
    RecordMismatch,
    dumps,
    loads,
    record_of,
    replay,
    retrace,
)
from tavolata.ext.core.records import ChanceOutcome, Decision
from tavolata.ext.registry import GAMES, UnknownGame, game_spec
from tests.reference.chance import below, stream_words

DOC = Path(__file__).parents[2] / "docs" / "replay-format.md"
KINDS = ["minotaur", "griffin", "mermaid", "red", "yellow", "purple", "gray"]
FACES = ["minotaur", "griffin", "mermaid", "flag", "1", "2", "3", "4", "5", "6", "7"]
TABLES = [
    ("bids", 4),
    ("bids", 6),
    ("bouillabaisse", 2),
    ("bouillabaisse", 4),
    ("bouillabaisse", 7),
    ("mino_dice", 3),
]
PROMISE = Fairness(
    table_id="t",
    commitment=bytes(range(32)),
    server_seed=bytes(32),
    salt=bytes([7]) * 32,
    nonces=((0, b"\x01"), (None, b"\xff" * 64)),
    reproducible=False,
)


def played(game_id: str, seats: int, *, actions: int = 10_000, fairness: bool = False) -> Match:
    """A match of random actions, with options other than the defaults."""
    chance = random.Random(seats)
    spec = GAMES[game_id]
    options = {option.name: option.values[-1] for option in spec.options if option.values}
    if game_id == "bids":
        options |= {"surprise": True, "lowest": True, "thief": True}
    commitment = PROMISE.commitment.hex() if fairness else ""
    match = Match(spec.make(seats, options), chance.randbytes(32), commitment=commitment)
    while not match.over and match.decision_count < actions:
        seat = chance.choice(match.to_act)
        match.play(seat, chance.choice(match.legal(seat)))
    return match


@pytest.fixture(scope="module")
def record() -> Record:
    return record_of(played("mino_dice", 3))


# -- the file -----------------------------------------------------------------------------------


@pytest.mark.parametrize("game_id, seats", TABLES)
@pytest.mark.parametrize("fairness", [None, PROMISE], ids=["no promise", "promise"])
def test_a_record_is_read_back_as_it_was_written(
    game_id: str, seats: int, fairness: Fairness | None
) -> None:
    made = record_of(played(game_id, seats, fairness=fairness is not None), fairness)
    assert loads(dumps(made)) == made
    assert replay(made, game_spec).hash == made.hash


def test_a_record_says_what_reproduces_the_match_and_what_it_comes_to(record: Record) -> None:
    match = played("mino_dice", 3)
    data = json.loads(dumps(record))
    assert data["format"] == "tavolata.match/2"
    assert (data["game"], data["rules_version"], data["seats"]) == ("mino_dice", "1", 3)
    assert data["options"] == match.game.options
    assert data["seed"] == match.seed.hex()
    assert data["decisions"][0][2].startswith("bid ")
    assert len(data["decisions"]) == match.decision_count
    assert data["hash"] == match.hash.hex()
    assert data["totals"] == list(match.totals())
    assert data["placement"] == list(match.placement())
    assert "fairness" not in data


def test_a_match_that_was_not_played_to_its_end_has_no_result() -> None:
    part = record_of(played("mino_dice", 3, actions=17))
    assert (part.totals, part.placement) == (None, None)
    assert loads(dumps(part)) == part
    assert replay(part, game_spec).decision_count == 17


@pytest.mark.parametrize(
    "change, place",
    [
        ({"format": "tavolata.match/1"}, "record.format"),
        ({"seed": "ab"}, "record.seed"),
        ({"seed": "Z" * 64}, "record.seed"),
        ({"seats": "3"}, "record.seats"),
        ({"seats": 40}, "record.seats"),
        ({"decisions": [[0, 1]]}, "record.decisions[0]"),
        ({"decisions": [[0, 1, "bid 0", 4]]}, "record.decisions[0]"),
        ({"decisions": [[0, -1, "bid 0"]]}, "record.decisions[0][1]"),
        ({"options": {"scoring": [1]}}, "record.options.scoring"),
        ({"totals": [1.5]}, "record.totals[0]"),
        ({"comment": "mine"}, "record"),
        ({"fairness": {"table_id": "t"}}, "record.fairness"),
    ],
)
def test_what_is_not_of_the_format_is_refused_by_its_place(
    record: Record, change: dict[str, Any], place: str
) -> None:
    data = json.loads(dumps(record)) | change
    with pytest.raises(RecordError) as caught:
        loads(json.dumps(data))
    assert caught.value.place == place


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '"x"', "{}", "7" * 5_000])
def test_a_file_that_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        loads(text)


def test_a_whole_number_may_be_written_with_a_point(record: Record) -> None:
    data = json.loads(dumps(record))
    data["seats"] = float(data["seats"])
    data["decisions"] = [[float(turn), float(seat), name] for turn, seat, name in data["decisions"]]
    assert dumps(loads(json.dumps(data))) == dumps(record)


# -- playing it again ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, place",
    [
        ({"seed": bytes(31) + b"\x01"}, "decision|totals|hash"),
        ({"hash": bytes(32)}, "hash"),
        ({"totals": (0, 0, 0)}, "totals"),
        ({"placement": (1, 1, 1)}, "placement"),
        ({"decisions": ()}, "totals"),
        ({"options": {}}, "options|decision|totals"),
        ({"fairness": PROMISE}, "hash"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_changed_record_does_not_pass(record: Record, change: dict[str, Any], place: str) -> None:
    with pytest.raises(RecordMismatch) as caught:
        replay(replace(record, **change), game_spec)
    assert re.match(place, caught.value.place)


def test_a_decision_that_the_rules_refuse_is_named(record: Record) -> None:
    turn, seat, _ = record.decisions[1]
    for name, why in (("bid 7", "MD-4"), ("roll red", "MD|G-2"), ("dance", "dance")):
        decisions = (record.decisions[0], (turn, seat, name), *record.decisions[2:])
        with pytest.raises(RecordMismatch, match=why) as caught:
            replay(replace(record, decisions=decisions), game_spec)
        assert caught.value.place == "decision 1"


def test_a_record_of_other_rules_is_refused_before_anything_is_played(record: Record) -> None:
    with pytest.raises(RecordError, match="version '1'"):
        retrace(replace(record, rules_version="0"), game_spec)
    with pytest.raises(RecordError, match="3 to 6"):
        retrace(replace(record, seats=7), game_spec)
    with pytest.raises(RecordError, match="full, simple"):
        retrace(replace(record, options={"scoring": "double"}), game_spec)
    with pytest.raises(UnknownGame, match="mino_dice"):
        retrace(replace(record, game="chess"), game_spec)


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_steps_hold_the_whole_log_and_the_standing_after_each_decision(
    game_id: str, seats: int
) -> None:
    match = played(game_id, seats)
    again, steps = retrace(record_of(match), game_spec)
    log = [entry for step in steps for entry in (step.decision, *step.entries) if entry]
    assert log == match.entries()
    live = Match(match.game, match.seed)
    assert steps[0].decision is None
    for step, (turn, seat, action) in zip(steps[1:], match.decisions, strict=True):
        assert step.legal == live.legal(seat)
        live.play(seat, action, turn)
        assert (step.turn, step.hash) == (live.turn, live.hash)
        assert (step.totals, step.points) == (live.totals(), live.running_points())
    assert again.hash == match.hash


# -- the page -----------------------------------------------------------------------------------


class Page:
    """What docs/replay-format.md says, as a program that is not ours would follow it."""

    def __init__(self, game_id: str) -> None:
        row = next(
            line
            for line in DOC.read_text("utf-8").splitlines()
            if line.startswith(f"| `{game_id}`")
        )
        _, _, purposes, _, kinds, _ = row.split("|")
        self.purposes = re.findall(r"`(\w+)`", purposes)
        self.kinds = ["match_ended", *re.findall(r"`(\w+)`", kinds)]
        self.game_id = game_id

    def item(self, name: str) -> int:
        """The number of a card or a kind of die."""
        if self.game_id == "bids":
            special = ["2X", "-5", "Surprise", "Lowest", "Thief", "Ally"]
            if name in special:
                return 70 + special.index(name)
            return 14 * "RGBYK".index(name[0]) + int(name[1:]) - 1
        if self.game_id == "bouillabaisse":
            return 16 * "CDHS".index(name[1]) + "23456789TJQKA".index(name[0])
        return KINDS.index(name)

    def action(self, text: str) -> int:
        verb, *seat, what = text.split()
        if verb == "steal":
            return 76 + 16 * int(seat[0]) + (14 if what == "-5" else int(what[1:]) - 1)
        if verb == "bid" and self.game_id == "mino_dice":
            return int(what)
        return self.item(what) + (16 if verb == "roll" else 0)

    def words_of_value(self, key: str, value: Any) -> list[int]:
        if isinstance(value, tuple):
            return [word for each in value for word in self.words_of_value(key, each)]
        if key == "face":
            return [
                ["minotaur", "griffin", "mermaid", "flag", "1", "2", "3", "4", "5", "6", "7"].index(
                    value
                )
            ]
        if key in ("suit", "rank"):
            return [{"suit": "CDHS", "rank": "23456789TJQKA"}[key].index(value)]
        return [self.item(value)] if isinstance(value, str) else [value]

    def viewers(self, name: str, seat: int, seats: int) -> int:
        """Who sees the secret words: the seat, or both of two."""
        return 3 if name == "dealt" and seats == 2 else 1 << seat

    def entry(self, entry: object, seats: int) -> list[int]:
        """The words of an entry, its size apart."""
        if isinstance(entry, Decision):
            return [1, entry.turn, entry.seat, self.action(entry.action)]
        if isinstance(entry, ChanceOutcome):
            key = [0, self.purposes.index(entry.purpose), entry.round, entry.index]
            if entry.choices:
                return [*key, entry.choices, *entry.values]
            return [*key, -len(entry.items), *map(self.item, entry.items)]
        event: Any = entry.event  # type: ignore[attr-defined]
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
        keys = list(type(event).__dataclass_fields__)
        words = [self.words_of_value(key, getattr(event, key)) for key in keys]
        flat = [word for part in words for word in part]
        if name in ("dealt", "drawn", "bid_committed"):
            public = len(flat) - len(words[-1])
            return [2, self.kinds.index(name), self.viewers(name, event.seat, seats), public, *flat]
        return [2, self.kinds.index(name), -1, -1, *flat]


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_the_running_hash_is_the_one_that_the_page_describes(game_id: str, seats: int) -> None:
    match = played(game_id, seats, fairness=True)
    page = Page(game_id)
    header = {
        "game": game_id,
        "rules_version": "1",
        "seats": seats,
        "options": match.game.options,
        "commitment": PROMISE.commitment.hex(),
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(b"tavolata.log.v2\x00" + text.encode("ascii"))
    for entry in match.entries():
        words = page.entry(entry, seats)
        packed = struct.pack(f"<{len(words) + 1}i", len(words) + 1, *words)
        digest.update(packed)
    assert digest.digest() == match.hash


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_every_pick_can_be_drawn_again_from_the_seed(game_id: str, seats: int) -> None:
    match = played(game_id, seats)
    picks = [e for e in match.entries() if isinstance(e, ChanceOutcome) and e.choices]
    assert picks
    for pick in picks:
        words = stream_words(match.seed, pick.purpose, pick.round, pick.index)
        assert pick.values == (below(words, pick.choices),)
