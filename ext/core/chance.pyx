"""Keyed chance: the same seed deals the same cards in every round, whatever was played before.

The stream is documented in docs/decisions/0001-five-games-one-interface.md so that an independent
program can re-deal a match. Search never touches this: it draws from its own generator (chance.pxd).
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from tavolata.ext.core.digest cimport (
    Shake256,
    put_number32,
    shake256_add,
    shake256_begin,
    shake256_end,
    shake256_word,
)
from tavolata.ext.core.log cimport TAG_CHANCE, EventLog, log_begin, log_end, log_word

DOMAIN = b"tavolata.chance.v1\x00"
SEED_BYTES = 32

cdef enum:
    DOMAIN_SIZE = 19

cdef uint8_t[DOMAIN_SIZE] DOMAIN_START
DOMAIN_START[:] = list(DOMAIN)


cdef void open_stream(Shake256* stream, const uint8_t* seed, uint32_t round,
                      const unsigned char* name, int name_size, uint32_t index) noexcept nogil:
    """Key a stream: domain, seed, round, length and name of the purpose, index."""
    cdef uint8_t number[4]
    cdef uint8_t size = <uint8_t> name_size
    shake256_begin(stream)
    shake256_add(stream, DOMAIN_START, DOMAIN_SIZE)
    shake256_add(stream, seed, 32)
    put_number32(number, round)
    shake256_add(stream, number, 4)
    shake256_add(stream, &size, 1)
    shake256_add(stream, name, name_size)
    put_number32(number, index)
    shake256_add(stream, number, 4)
    shake256_end(stream)


cdef uint32_t below(Shake256* stream, uint64_t n) noexcept nogil:
    """A number 0..n-1; words at the ragged top of the 32-bit range are passed over."""
    cdef uint64_t fair = (<uint64_t> 1 << 32) - (<uint64_t> 1 << 32) % n
    cdef uint32_t word
    while True:
        word = shake256_word(stream)
        if word < fair:
            return <uint32_t> (word % n)


cdef class WordStream:
    """The stream keyed by (seed, round, purpose, index): 32-bit words, and unbiased draws from them."""
    cdef Shake256 stream

    def __init__(self, bytes seed, uint32_t round, str purpose, uint32_t index):
        cdef bytes name = purpose.encode("ascii")
        if len(seed) != SEED_BYTES or len(name) > 255:
            raise ValueError(f"a stream has a seed of {SEED_BYTES} bytes and a purpose of up to 255 letters")
        open_stream(&self.stream, <const uint8_t*> seed, round, <const unsigned char*> name, len(name), index)

    def word(self) -> int:
        """The next word."""
        return shake256_word(&self.stream)

    def below(self, uint64_t n) -> int:
        """A number 0..n-1, n up to 2**32."""
        if not 1 <= n <= <uint64_t> 1 << 32:
            raise ValueError(f"a draw is out of 1 to 2**32, not {n}")
        return below(&self.stream, n)


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
        self._prepare()

    cdef _prepare(self):
        cdef bytes name
        cdef int i
        self.names = [purpose.encode("ascii") for purpose in self.purposes]
        self.keyed.names = <const unsigned char**> calloc(max(len(self.names), 1), sizeof(unsigned char*))
        self.keyed.name_sizes = <int*> calloc(max(len(self.names), 1), sizeof(int))
        if self.keyed.names == NULL or self.keyed.name_sizes == NULL:
            raise MemoryError
        for i in range(len(self.names)):
            name = self.names[i]
            self.keyed.names[i] = <const unsigned char*> name
            self.keyed.name_sizes[i] = len(name)
        memcpy(self.keyed.seed, <const uint8_t*> self.seed, 32)
        self.keyed.script = <void*> self if self.script else NULL

    def __dealloc__(self):
        free(self.keyed.names)
        free(self.keyed.name_sizes)

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
        return drawn_pick(&self.keyed, purpose, round, index, n)

    def outcome_of_shuffle(self, int purpose, int round, int index, list items) -> list:
        name = self.purposes[purpose]
        if (name, round, index) in self.script:
            scripted = self.script[name, round, index]
            order = list(scripted) if isinstance(scripted, (list, tuple)) else []
            if any(type(item) is not int for item in order) or sorted(order) != sorted(items):
                raise ValueError(f"{name} of round {round}: the scripted order is not one of the items dealt")
            return order
        return drawn_order(&self.keyed, purpose, round, index, items)


cdef int drawn_pick(const Keyed* keyed, int purpose, int round, int index, int n) noexcept nogil:
    cdef Shake256 stream
    open_stream(&stream, keyed.seed, <uint32_t> round, keyed.names[purpose], keyed.name_sizes[purpose], <uint32_t> index)
    return <int> below(&stream, <uint64_t> n)


cdef void drawn_shuffle(const Keyed* keyed, int purpose, int round, int index,
                        uint8_t* items, int count) noexcept nogil:
    cdef Shake256 stream
    cdef uint8_t item
    cdef uint32_t j
    cdef int i
    open_stream(&stream, keyed.seed, <uint32_t> round, keyed.names[purpose], keyed.name_sizes[purpose], <uint32_t> index)
    for i in range(count - 1, 0, -1):
        j = below(&stream, <uint64_t> i + 1)
        item = items[i]
        items[i] = items[j]
        items[j] = item


cdef list drawn_order(const Keyed* keyed, int purpose, int round, int index, list items):
    cdef bytearray order = bytearray(items)
    cdef uint8_t* raw = order
    drawn_shuffle(keyed, purpose, round, index, raw, len(order))
    return list(order)


cdef int scripted_pick(Keyed* keyed, int purpose, int round, int index, int n) noexcept with gil:
    chance = <KeyedChance> keyed.script
    try:
        return chance.outcome_of_pick(purpose, round, index, n)
    except Exception as failure:    # rules can't raise; Match takes the step back and raises this
        chance.failure = failure
        keyed.failed = 1
        return 0


cdef void scripted_shuffle(Keyed* keyed, int purpose, int round, int index, uint8_t* items, int count) noexcept with gil:
    cdef int i
    chance = <KeyedChance> keyed.script
    try:
        order = chance.outcome_of_shuffle(purpose, round, index, [items[i] for i in range(count)])
        for i in range(count):
            items[i] = order[i]
    except Exception as failure:
        chance.failure = failure
        keyed.failed = 1


cdef int keyed_pick(Chance* chance, int purpose, int round, int index, int n) noexcept nogil:
    cdef EventLog* log = chance.keyed.log
    cdef int value
    if chance.keyed.script != NULL:
        value = scripted_pick(chance.keyed, purpose, round, index, n)
    else:
        value = drawn_pick(chance.keyed, purpose, round, index, n)
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
    cdef EventLog* log = chance.keyed.log
    cdef int i
    if chance.keyed.script != NULL:
        scripted_shuffle(chance.keyed, purpose, round, index, items, count)
    else:
        drawn_shuffle(chance.keyed, purpose, round, index, items, count)
    if log != NULL:
        log_begin(log, TAG_CHANCE)
        log_word(log, purpose)
        log_word(log, round)
        log_word(log, index)
        log_word(log, -count)
        for i in range(count):
            log_word(log, items[i])
        log_end(log)
