"""Keyed chance: the same seed deals the same cards in every round, whatever was played before.

The stream is documented in docs/decisions/0001-five-games-one-interface.md so that an independent
program can re-deal a match. Search never touches this: it draws from its own generator (chance.pxd).
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from tavolata.ext.core.ahead cimport ahead_expect, ahead_find, ahead_free, ahead_new
from tavolata.ext.core.digest cimport (
    SIDE_BY_SIDE,
    Shake256,
    put_number32,
    shake256_add,
    shake256_begin,
    shake256_end,
    shake256_is_quicker_side_by_side,
    shake256_word,
)
from tavolata.ext.core.log cimport TAG_CHANCE, EventLog, log_begin, log_end, log_word

cdef extern from *:
    """
    #include <stdint.h>
    /* word % n by two multiplications; inverse: floor((2^64 - 1) / n) + 1, modulo 2^64. */
    static inline uint32_t tav_rest(uint32_t word, uint32_t n, uint64_t inverse) {
        return (uint32_t)(((unsigned __int128)(inverse * word) * n) >> 64);
    }
        static inline uint32_t tav_swapped(uint32_t word) { return __builtin_bswap32(word); }
    """
    uint32_t rest "tav_rest"(uint32_t word, uint32_t n, uint64_t inverse) noexcept nogil
    uint32_t swapped "tav_swapped"(uint32_t word) noexcept nogil

DOMAIN = b"tavolata.chance.v1\x00"
SEED_BYTES = 32

cdef enum:
    DOMAIN_SIZE = 19
    TEXT_MAX = DOMAIN_SIZE + 32 + 4 + 1 + 255 + 4
    SMALL = 257                    # draws out of fewer are made without a division

cdef uint8_t[DOMAIN_SIZE] DOMAIN_START
DOMAIN_START[:] = list(DOMAIN)

cdef uint64_t[SMALL] INVERSE       # of n, as ``rest`` wants it
cdef uint32_t[SMALL] LAST_FAIR     # the last word of which as many before it give every number below n
for _n in range(1, SMALL):
    INVERSE[_n] = ((2**64 - 1) // _n + 1) % 2**64
    LAST_FAIR[_n] = 2**32 - 2**32 % _n - 1


cdef inline bint has_ahead_key(int purpose, uint32_t round, uint32_t index) noexcept nogil:
    return 0 <= purpose < 32 and round < 256 and index < 1 << 19


cdef inline uint32_t ahead_key(int purpose, uint32_t round, uint32_t index) noexcept nogil:
    """The number that an expected stream is found by."""
    return <uint32_t> purpose << 27 | round << 19 | index


cdef struct Draws:
    const Keyed* keyed             # of these, the stream of
    int purpose
    uint32_t round
    uint32_t index
    const uint64_t* ahead          # words that are there already, two every SIDE_BY_SIDE numbers
    int available                  # how many
    int taken
    bint is_open                   # whether ``own`` has begun, and is read from
    Shake256 own


cdef inline void begin_draws(Draws* draws, const Keyed* keyed, int purpose, uint32_t round, uint32_t index) noexcept nogil:
    """The stream from its first word on."""
    draws.keyed = keyed
    draws.purpose = purpose
    draws.round = round
    draws.index = index
    draws.available = draws.taken = draws.is_open = 0
    if keyed.ahead != NULL and has_ahead_key(purpose, round, index):
        draws.available = ahead_find(keyed.ahead, ahead_key(purpose, round, index), &draws.ahead)


cdef size_t write_key(uint8_t* text, const Keyed* keyed, int purpose, uint32_t round, uint32_t index) noexcept nogil:
    """What keys a stream: domain, seed, round, length and name of the purpose, index; how many bytes."""
    cdef size_t name_size = <size_t> keyed.name_sizes[purpose]
    memcpy(text, DOMAIN_START, DOMAIN_SIZE)
    memcpy(text + DOMAIN_SIZE, keyed.seed, 32)
    put_number32(text + DOMAIN_SIZE + 32, round)
    text[DOMAIN_SIZE + 36] = <uint8_t> name_size
    memcpy(text + DOMAIN_SIZE + 37, keyed.names[purpose], name_size)
    put_number32(text + DOMAIN_SIZE + 37 + name_size, index)
    return DOMAIN_SIZE + 37 + name_size + 4


cdef inline uint32_t word_of(Draws* draws) noexcept nogil:
    """The next word of the stream."""
    cdef uint64_t pair
    if draws.taken < draws.available:
        pair = draws.ahead[SIDE_BY_SIDE * (draws.taken >> 1)]
        draws.taken += 1
        return swapped(<uint32_t> (pair if draws.taken & 1 else pair >> 32))
    if not draws.is_open:
        open_own(draws)
    return shake256_word(&draws.own)


cdef void open_own(Draws* draws) noexcept nogil:
    """Begin the stream by itself, where the words that were there end."""
    cdef uint8_t text[TEXT_MAX]
    cdef size_t size = write_key(text, draws.keyed, draws.purpose, draws.round, draws.index)
    cdef int i
    shake256_begin(&draws.own)
    shake256_add(&draws.own, text, size)
    shake256_end(&draws.own)
    for i in range(draws.taken):
        shake256_word(&draws.own)
    draws.is_open = True


cdef inline uint32_t below(Draws* draws, uint64_t n) noexcept nogil:
    """A number 0..n-1; words at the ragged top of the 32-bit range are passed over."""
    cdef uint64_t fair
    cdef uint32_t word
    if n < SMALL:
        while True:
            word = word_of(draws)
            if word <= LAST_FAIR[n]:
                return rest(word, <uint32_t> n, INVERSE[n])
    fair = (<uint64_t> 1 << 32) - (<uint64_t> 1 << 32) % n
    while True:
        word = word_of(draws)
        if word < fair:
            return <uint32_t> (word % n)


cdef class WordStream:
    """The stream keyed by (seed, round, purpose, index): 32-bit words, and unbiased draws from them."""
    cdef KeyedChance chance        # keeps what ``draws`` points to
    cdef Draws draws

    def __init__(self, bytes seed, uint32_t round, str purpose, uint32_t index):
        self.chance = KeyedChance(seed, (purpose,))
        begin_draws(&self.draws, &self.chance.keyed, 0, round, index)

    def word(self) -> int:
        """The next word."""
        return word_of(&self.draws)

    def below(self, uint64_t n) -> int:
        """A number 0..n-1, n up to 2**32."""
        if not 1 <= n <= <uint64_t> 1 << 32:
            raise ValueError(f"a draw is out of 1 to 2**32, not {n}")
        return below(&self.draws, n)


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
        if any([len(name) > 255 for name in self.names]):
            raise ValueError("the name of a purpose has up to 255 letters")
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
        ahead_free(self.keyed.ahead)
        free(self.keyed.names)
        free(self.keyed.name_sizes)

    @staticmethod
    def _may_be_drawn(key, tuple purposes) -> bool:
        return (
            isinstance(key, tuple) and len(key) == 3 and key[0] in purposes
            and isinstance(key[1], int) and isinstance(key[2], int)
        )

    def expect(self, int purpose, int round, int index, int words) -> None:
        """Have the first words of a stream worked out beside others, where that is quicker. For tests."""
        keyed_expect(&self.keyed, purpose, round, index, words)

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


cdef void keyed_expect(Keyed* keyed, int purpose, int round, int index, int words) noexcept nogil:
    """So many words are likely to be drawn from this stream."""
    cdef uint8_t text[TEXT_MAX]
    cdef size_t size
    if keyed.script != NULL or words < 1 or not shake256_is_quicker_side_by_side():
        return
    if not has_ahead_key(purpose, <uint32_t> round, <uint32_t> index):
        return
    if keyed.ahead == NULL:
        keyed.ahead = ahead_new()
        if keyed.ahead == NULL:
            return
    size = write_key(text, keyed, purpose, <uint32_t> round, <uint32_t> index)
    ahead_expect(keyed.ahead, ahead_key(purpose, <uint32_t> round, <uint32_t> index), text, size, words)


cdef int drawn_pick(const Keyed* keyed, int purpose, int round, int index, int n) noexcept nogil:
    cdef Draws draws
    begin_draws(&draws, keyed, purpose, <uint32_t> round, <uint32_t> index)
    return <int> below(&draws, <uint64_t> n)


cdef void drawn_shuffle(const Keyed* keyed, int purpose, int round, int index,
                        uint8_t* items, int count) noexcept nogil:
    cdef Draws draws
    cdef uint8_t item
    cdef uint32_t j
    cdef int i
    begin_draws(&draws, keyed, purpose, <uint32_t> round, <uint32_t> index)
    for i in range(count - 1, 0, -1):
        j = below(&draws, <uint64_t> i + 1)
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
