"""Keyed chance: the same seed deals the same cards in every round, whatever was played before.

The stream is documented in docs/decisions/0001-five-games-one-interface.md so that an independent
program can re-deal a match. Search never touches this: it draws from its own generator (chance.pxd).
"""
import hashlib

from libc.stdint cimport int32_t, uint8_t, uint32_t

from tavolata.ext.core.log cimport TAG_CHANCE, EventLog, log_begin, log_end, log_word

DOMAIN = b"tavolata.chance.v1\x00"
SEED_BYTES = 32


def chance_words(seed: bytes, round: int, purpose: str, index: int, count: int) -> list[int]:
    """The first ``count`` 32-bit words of the stream keyed by (seed, round, purpose, index)."""
    name = purpose.encode("ascii")
    key = DOMAIN + seed + round.to_bytes(4, "big") + bytes([len(name)]) + name + index.to_bytes(4, "big")
    raw = hashlib.shake_256(key).digest(4 * count)
    return [int.from_bytes(raw[at:at + 4], "big") for at in range(0, len(raw), 4)]


class WordStream:
    """Unbiased draws from one keyed stream."""

    def __init__(self, seed: bytes, round: int, purpose: str, index: int, expected: int) -> None:
        self._key = (seed, round, purpose, index)
        self._words = chance_words(seed, round, purpose, index, expected + 8)
        self._next = 0

    def below(self, n: int) -> int:
        """A number 0..n-1; words at the ragged top of the 32-bit range are passed over."""
        fair = 2**32 - 2**32 % n
        while True:
            if self._next == len(self._words):
                self._words = chance_words(*self._key, 2 * len(self._words))
            word = self._words[self._next]
            self._next += 1
            if word < fair:
                return word % n


cdef class KeyedChance:
    """The chance of one match.

    ``script`` fixes outcomes by (purpose, round, index): a number for a pick, the final order
    for a shuffle. Puzzles, tests and hindsight analysis use it; matches of record do not.
    """

    def __init__(self, bytes seed, tuple purposes, dict script=None):
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a match seed has {SEED_BYTES} bytes, not {len(seed)}")
        for key in script or {}:
            if not self._may_be_drawn(key, purposes):
                raise ValueError(
                    f"a script is by purpose, round and index, not by {key!r}; purposes: {', '.join(purposes)}"
                )
        self.seed = seed
        self.purposes = purposes
        self.script = script or {}
        self.failure = None
        self.log = NULL

    @staticmethod
    def _may_be_drawn(key, tuple purposes) -> bool:
        return (
            isinstance(key, tuple) and len(key) == 3 and key[0] in purposes
            and isinstance(key[1], int) and isinstance(key[2], int)
        )

    def outcome_of_pick(self, int purpose, int round, int index, int n) -> int:
        name = self.purposes[purpose]
        if (name, round, index) in self.script:
            value = self.script[name, round, index]
            if type(value) is not int or not 0 <= value < n:
                raise ValueError(f"{name} of round {round}: {value!r} is scripted, 0..{n - 1} are possible")
            return value
        return WordStream(self.seed, round, name, index, 1).below(n)

    def outcome_of_shuffle(self, int purpose, int round, int index, list items) -> list:
        name = self.purposes[purpose]
        if (name, round, index) in self.script:
            scripted = self.script[name, round, index]
            order = list(scripted) if isinstance(scripted, (list, tuple)) else []
            if any(type(item) is not int for item in order) or sorted(order) != sorted(items):
                raise ValueError(f"{name} of round {round}: the scripted order is not one of the items dealt")
            return order
        stream = WordStream(self.seed, round, name, index, len(items))
        for i in range(len(items) - 1, 0, -1):
            j = stream.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


cdef int keyed_pick(Chance* chance, int purpose, int round, int index, int n) noexcept nogil:
    cdef int value
    cdef EventLog* log
    with gil:
        keyed = <KeyedChance> chance.keyed
        log = keyed.log
        try:
            value = keyed.outcome_of_pick(purpose, round, index, n)
        except Exception as failure:    # rules can't raise; Match takes the step back and raises this
            keyed.failure = failure
            value = 0
    if log != NULL:
        log_begin(log, TAG_CHANCE)
        log_word(log, purpose)
        log_word(log, round)
        log_word(log, index)
        log_word(log, n)
        log_word(log, value)
        log_end(log)
    return value


cdef void keyed_shuffle(Chance* chance, int purpose, int round, int index,
                        uint8_t* items, int count) noexcept nogil:
    cdef int i
    cdef EventLog* log
    with gil:
        keyed = <KeyedChance> chance.keyed
        log = keyed.log
        try:
            order = keyed.outcome_of_shuffle(purpose, round, index, [items[i] for i in range(count)])
            for i in range(count):
                items[i] = order[i]
        except Exception as failure:
            keyed.failure = failure
    if log != NULL:
        log_begin(log, TAG_CHANCE)
        log_word(log, purpose)
        log_word(log, round)
        log_word(log, index)
        log_word(log, -count)
        for i in range(count):
            log_word(log, items[i])
        log_end(log)
