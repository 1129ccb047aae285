"""What every Store has to do. A store's tests inherit this and give the fixture `shelf`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tavolata.service.clock import SystemClock
from tavolata.service.committer import Committer
from tavolata.service.ports import (
    FIRST_EPOCH,
    Append,
    Claim,
    Conflict,
    Entry,
    Fenced,
    Store,
    StoreError,
    Summary,
    Wanted,
)

LEASE_S = 30.0
OPEN, PLAYING, PARKED, OVER = 1, 2, 3, 4


@dataclass
class Shelf:
    """A store under test. again: opens the same store anew, beside the first one if it is shared,
    in its place if not; move_on: lets time go on for the store by seconds."""

    store: Store
    again: Callable[[], Awaitable[Store]]
    move_on: Callable[[float], Awaitable[None]]


def entry(number: int, **fields: object) -> Entry:
    """An entry that says little."""
    return Entry(number, 1_000_000 + number, "played", 1, 2, 3, **fields)  # type: ignore[arg-type]


@dataclass
class Log:
    """Appends to one table's log that fit each other."""

    table_id: str
    chain: bytes = b""
    number: int = 0
    salt: str = ""
    kept: list[Entry] = field(default_factory=list)

    def next(self, summary: Summary | None = None, epoch: int = -1, **fields: object) -> Append:
        """The next append."""
        self.number += 1
        previous = self.chain
        said = f"{self.salt}{self.number}{fields}".encode()
        self.chain = hashlib.sha256(previous + said).digest()[:16]
        made = entry(self.number, chain=self.chain, **fields)
        self.kept.append(made)
        return Append(self.table_id, made, summary, previous, epoch)

    def made(self, creation_id: str = "", expires_us: int = 0) -> Append:
        """The append that makes the table."""
        return self.next(Summary(OPEN, expires_us, creation_id or f"c-{self.table_id}"))

    def started(self, claimant: str = "") -> Append:
        """The append that makes it work for a server."""
        return self.next(Summary(PLAYING, 0, work=True, claimant=claimant))

    def fork(self) -> Log:
        """The same log as somebody else would carry it on."""
        return replace(self, salt=f"{self.salt}'", kept=list(self.kept))


async def entries_in(store: Store, table_id: str) -> list[Entry]:
    """The entries of a table that is there."""
    stored = await store.load(table_id)
    assert stored is not None
    return stored.entries


def kinds(outcomes: object) -> list[type[object]]:
    """The outcomes by type."""
    return [type(each) for each in outcomes]  # type: ignore[attr-defined]


NONE = type(None)


class StoreConformance:
    """See the module."""

    # -- logs -------------------------------------------------------------------------------------

    async def test_what_was_written_is_read_back_as_it_was(self, shelf: Shelf) -> None:
        log = Log("t")
        rich: dict[str, Any] = {
            "maker": 1, "request_id": "r", "scope": 4, "digest": b"\x00\xff",
            "body": {"name": "Zoë \x00 🂡", "n": [1, 2.5, None], "big": 2**63, "deep": {"x": True}},
        }  # fmt: skip
        assert await shelf.store.write([log.made("c"), log.next(**rich)]) == [None, None]
        assert await entries_in(shelf.store, "t") == log.kept
        stored = await shelf.store.load("t", 1)
        assert stored is not None
        assert stored.entries == log.kept[1:]
        stored = await shelf.store.load("t", 2)
        assert stored is not None
        assert stored.entries == []
        for unknown in ("nothing", "", "t\x00", "T", "'; DROP TABLE entries; --"):
            assert await shelf.store.load(unknown) is None
        assert await shelf.store.last_numbers(["t", "nothing", "t\x00"]) == {"t": 2}
        assert await shelf.store.last_numbers([]) == {}
        assert await shelf.store.find_creation("c") == "t"
        assert await shelf.store.find_creation("d") is None
        again = await shelf.again()
        assert await entries_in(again, "t") == log.kept

    async def test_only_what_follows_the_last_entry_is_taken_and_other_tables_go_on(
        self, shelf: Shelf
    ) -> None:
        a, b, c = Log("a"), Log("b"), Log("c")
        await shelf.store.write([a.made(), b.made()])
        late, gap = a.fork(), b.fork()
        c.number = 1
        gap.number = 2
        batch = [a.next(), gap.next(), a.next(), late.next(), b.next(), c.next()]
        # What comes after a conflict in its table was built on it, though it might fit.
        assert kinds(await shelf.store.write(batch)) == [
            NONE, Conflict, NONE, Conflict, Conflict, Conflict,
        ]  # fmt: skip
        assert await entries_in(shelf.store, "a") == a.kept
        assert await entries_in(shelf.store, "b") == b.kept[:1]
        assert await shelf.store.load("c") is None
        assert await shelf.store.write([batch[4]]) == [None]

    async def test_an_entry_that_fits_by_number_but_not_by_running_hash_is_not_taken(
        self, shelf: Shelf
    ) -> None:
        log = Log("t")
        await shelf.store.write([log.made()])
        other = log.fork()
        await shelf.store.write([log.next()])
        lost = [other.next(), other.next()]
        assert kinds(await shelf.store.write(lost[:1])) == [Conflict]
        assert kinds(await shelf.store.write(lost[1:])) == [Conflict]
        assert await entries_in(shelf.store, "t") == log.kept

    async def test_a_creation_id_or_request_id_is_taken_once(self, shelf: Shelf) -> None:
        a, b, c = Log("a"), Log("b"), Log("c")
        made = [a.made("same"), b.made("same"), c.made("other")]
        assert kinds(await shelf.store.write(made)) == [NONE, Conflict, NONE]
        assert await shelf.store.load("b") is None
        batch = [
            a.next(request_id="r", scope=1),
            a.next(request_id="r", scope=2),
            c.next(request_id="r", scope=1),
        ]
        assert await shelf.store.write(batch) == [None] * 3
        kept, fork = a.fork(), a.fork()
        doubled = [fork.next(), fork.next(request_id="r", scope=1), fork.next(), c.next()]
        assert kinds(await shelf.store.write(doubled)) == [NONE, Conflict, Conflict, NONE]
        assert [each.number for each in await entries_in(shelf.store, "a")] == [1, 2, 3, 4]
        assert (await entries_in(shelf.store, "a"))[:3] == kept.kept

    async def test_batches_of_every_size_are_written_whole(self, shelf: Shelf) -> None:
        log = Log("t")
        await shelf.store.write([log.made()])
        for size in (1, 2, 3, 5, 63, 64, 65, 130, 512):
            assert await shelf.store.write([log.next() for _ in range(size)]) == [None] * size
        assert await entries_in(shelf.store, "t") == log.kept
        assert await shelf.store.write([]) == []

    async def test_what_is_appended_together_shares_a_transaction(self, shelf: Shelf) -> None:
        failures: list[StoreError] = []
        committer = Committer(shelf.store, SystemClock(), failures.append)
        outcomes: list[StoreError | None] = []
        for number in range(200):
            committer.submit(Log(f"t{number}").made(), outcomes.append)
        await committer.drain()
        assert outcomes == [None] * 200
        assert committer.appends == 200
        assert committer.batches < 10
        assert not failures

    async def test_listed_tables_come_newest_first_page_by_page_and_no_other_does(
        self, shelf: Shelf
    ) -> None:
        store, kept = shelf.store, {}
        for number in range(12):
            log = Log(f"t{number:02}")
            summary = Summary(
                OPEN, 0, f"c{number}", listing=number % 3, game_id="bids" if number < 6 else "mino"
            )
            kept[log.table_id] = log
            made = log.next(summary)
            made.entry.time_us = 100 + number // 4  # several at the same time
            assert await store.write([made]) == [None]
        pages, before = [], None
        while page := await store.listed(Wanted(limit=3, before=before)):
            pages.append(page)
            before = page[-1]
        told = [place for page in pages for place in page]
        assert [time for time, _ in told] == [102] * 3 + [101] * 3 + [100] * 2
        assert {name for _, name in told} == {f"t{n:02}" for n in range(12) if n % 3}
        assert len(told) == 8
        of_game = await store.listed(Wanted(game_id="bids"))
        assert {name for _, name in of_game} == {"t01", "t02", "t04", "t05"}
        assert await store.listed(Wanted(game_id="b\x00ids")) == []
        # Later summaries change the state alone; where spectators are late it isn't looked at.
        for name in ("t01", "t02"):
            await store.write([kept[name].next(Summary(PLAYING, 0, work=True))])
        playing = await store.listed(Wanted(game_id="bids", states=(PLAYING, PARKED)))
        assert {name for _, name in playing} == {"t01", "t02", "t05"}
        waiting = await (await shelf.again()).listed(Wanted(game_id="bids", states=(OPEN,)))
        assert {name for _, name in waiting} == {"t02", "t04", "t05"}

    async def test_summaries_change_with_the_entries_and_expired_tables_are_removed(
        self, shelf: Shelf
    ) -> None:
        a, b, c = Log("a"), Log("b"), Log("c")
        await shelf.store.write([a.made("1", 50), b.made("2", 500), c.made("3")])
        assert await shelf.store.tables_in(OPEN) == ["a", "b", "c"]
        await shelf.store.write([b.next(Summary(OVER, 0))])
        assert await shelf.store.tables_in(OVER) == ["b"]
        # A summary comes with its entry or not at all.
        stale = c.fork()
        await shelf.store.write([c.next()])
        assert kinds(await shelf.store.write([stale.next(Summary(OVER, 7))])) == [Conflict]
        assert await shelf.store.remove_expired(100) == ["a"]
        assert await shelf.store.remove_expired(10**9) == []
        assert await shelf.store.load("a") is None
        assert await shelf.store.last_numbers(["a"]) == {}
        assert kinds(await shelf.store.write([a.next()])) == [Conflict]
        assert await shelf.store.write([Log("a").made("1")]) == [None]

    async def test_a_whole_life_in_one_batch_comes_to_its_last_summary(self, shelf: Shelf) -> None:
        log = Log("t")
        batch = [log.made("c"), log.started("s"), log.next(Summary(PARKED, 0, work=False))]
        assert await shelf.store.write(batch) == [None] * 3
        assert await shelf.store.tables_in(PARKED) == ["t"]
        assert await shelf.store.find_creation("c") == "t"
        assert await shelf.store.claim("s", 10) == []

    async def test_probing_again_and_again_changes_nothing_that_is_kept(self, shelf: Shelf) -> None:
        log = Log("t")
        await shelf.store.write([log.made()])
        for time_us in range(1, 4):
            await asyncio.gather(*(shelf.store.probe(who, time_us) for who in ("a", "b")))
            assert await shelf.store.write([log.next()]) == [None]
        assert await entries_in(shelf.store, "t") == log.kept
        assert await shelf.store.find_creation("c-t") == "t"

    # -- who acts ---------------------------------------------------------------------------------

    async def test_work_belongs_to_who_began_it_until_the_lease_runs_out(
        self, shelf: Shelf
    ) -> None:
        store, log = shelf.store, Log("t")
        assert await store.renew("first", LEASE_S)
        assert await store.renew("second", 10 * LEASE_S)
        await store.write([log.made(), log.started("first")])
        assert await store.claim("second", 10) == []
        assert await store.claim("first", 10) == []
        await shelf.move_on(LEASE_S / 2)
        assert await store.renew("first", LEASE_S)
        await shelf.move_on(LEASE_S * 0.75)
        assert await store.claim("second", 10) == []
        await shelf.move_on(LEASE_S / 2)
        assert await store.claim("second", 10, among=["u"]) == []
        assert await store.claim("second", 10, without=["t"]) == []
        assert await store.claim("second", 0) == []
        (claim,) = await store.claim("second", 10, among=["t"])
        assert claim == Claim("t", FIRST_EPOCH + 1, first=False)
        # The first one has noticed nothing.
        assert await store.claim("first", 10) == []
        assert not await store.renew("first", LEASE_S)
        fenced = log.fork().next(epoch=FIRST_EPOCH)
        assert kinds(await store.write([fenced])) == [Fenced]
        assert await store.write([log.next(), log.next(epoch=claim.epoch)]) == [None, None]
        assert await entries_in(store, "t") == log.kept

    async def test_work_that_nobody_began_is_given_out_once(self, shelf: Shelf) -> None:
        store = shelf.store
        logs = [Log(f"t{number}") for number in range(30)]
        await store.write([append for log in logs for append in (log.made(), log.started())])
        for server in ("a", "b", "c"):
            assert await store.renew(server, LEASE_S)
        given = await asyncio.gather(
            *(store.claim(server, 4) for _ in range(4) for server in ("a", "b", "c"))
        )
        claims = [claim for each in given for claim in each]
        claims += await store.claim("a", 30)
        assert sorted(claim.table_id for claim in claims) == sorted(log.table_id for log in logs)
        assert all(claim.first and len(each) <= 4 for each in given for claim in each)

    async def test_work_that_is_given_back_is_anybodys(self, shelf: Shelf) -> None:
        store, logs = shelf.store, [Log("t"), Log("u"), Log("v")]
        for server in ("a", "b"):
            assert await store.renew(server, LEASE_S)
        await store.write([append for log in logs for append in (log.made(), log.started("a"))])
        await store.release("a", ["t"])
        assert [claim.table_id for claim in await store.claim("b", 10)] == ["t"]
        await store.release("a")
        assert {claim.table_id for claim in await store.claim("b", 10)} == {"u", "v"}
        await store.release("a", ["t"])  # isn't a's any more
        assert await store.renew("c", LEASE_S)
        assert await store.claim("c", 10) == []

    async def test_a_parked_match_keeps_its_server_and_one_that_is_over_is_no_work(
        self, shelf: Shelf
    ) -> None:
        store, log = shelf.store, Log("t")
        assert await store.renew("a", LEASE_S)
        await store.write([log.made(), log.started("a")])
        await store.write([log.next(Summary(PARKED, 0, work=False))])
        assert await store.renew("b", 10 * LEASE_S)
        await shelf.move_on(2 * LEASE_S)
        assert await store.claim("b", 10) == []  # nothing to do for it
        await store.write([log.next(Summary(PLAYING, 0, work=True))])
        assert await store.claim("b", 10) == [Claim("t", FIRST_EPOCH + 1, first=False)]
        await store.write([log.next(Summary(OVER, 0))])
        assert await store.renew("c", LEASE_S)
        await store.release("b")
        assert await store.claim("c", 10) == []
        assert kinds(await store.write([log.next(epoch=FIRST_EPOCH + 1)])) == [Fenced]
