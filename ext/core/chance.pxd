# Chance: one struct for search (a fast generator, nothing recorded) and for play (a keyed stream, all recorded).
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from tavolata.ext.core.ahead cimport Ahead
from tavolata.ext.core.log cimport EventLog

cdef extern from *:
    """
    #include <stdint.h>
    /* wyrand: one multiplication a draw, the state a counter, so nothing but an addition chains draws. */
    static inline uint64_t tav_random(uint64_t *state) {
        *state += 0xa0761d6478bd642fULL;
        unsigned __int128 product = (unsigned __int128)*state * (*state ^ 0xe7037ed1a0b428dbULL);
        return (uint64_t)(product >> 64) ^ (uint64_t)product;
    }
    /* Multiply-shift; for n <= 2^10 no value is favoured by more than 2^-54. */
    static inline uint32_t tav_below(uint64_t *state, uint32_t n) {
        return (uint32_t)(((unsigned __int128)tav_random(state) * n) >> 64);
    }
    static inline double tav_unit(uint64_t *state) {
        return (double)(tav_random(state) >> 11) * 0x1.0p-53;
    }
    """
    uint64_t random_word "tav_random"(uint64_t* state) noexcept nogil
    uint32_t random_below "tav_below"(uint64_t* state, uint32_t n) noexcept nogil
    double random_unit "tav_unit"(uint64_t* state) noexcept nogil

cdef struct Keyed:
    uint8_t seed[32]
    const unsigned char** names    # of the purposes, in ASCII
    int* name_sizes
    EventLog* log                  # where draws are written down, or NULL
    void* script                   # the KeyedChance (borrowed) if outcomes are scripted, or NULL
    int failed                     # a scripted outcome can't be: KeyedChance.failure says why
    Ahead* ahead                   # streams that draws are expected from, or NULL

cdef struct Chance:
    uint64_t state      # of the fast generator
    Keyed* keyed        # of the match (borrowed), or NULL in search

cdef class KeyedChance:
    cdef readonly bytes seed
    cdef readonly tuple purposes
    cdef readonly dict script
    cdef object failure    # what went wrong in a draw, for Match to raise
    cdef list names        # keeps what ``keyed.names`` points to
    cdef Keyed keyed
    cdef _prepare(self)

cdef void keyed_expect(Keyed* keyed, int purpose, int round, int index, int words) noexcept nogil
cdef int keyed_pick(Chance* chance, int purpose, int round, int index, int n) noexcept nogil
cdef void keyed_shuffle(Chance* chance, int purpose, int round, int index, uint8_t* items, int count) noexcept nogil

# What is drawn is the same with and without the next two. With them, a match of record has its draws sooner.

cdef inline void chance_expect_pick(Chance* chance, int purpose, int round, int index) noexcept nogil:
    """That pick is likely to come."""
    if chance.keyed != NULL:
        keyed_expect(chance.keyed, purpose, round, index, 1)

cdef inline void chance_expect_shuffle(Chance* chance, int purpose, int round, int index, int count) noexcept nogil:
    """That shuffle is likely to come, of about ``count`` items."""
    if chance.keyed != NULL:
        keyed_expect(chance.keyed, purpose, round, index, count - 1)

cdef inline int chance_pick(Chance* chance, int purpose, int round, int index, int n) noexcept nogil:
    """A number 0..n-1, every one equally likely."""
    if chance.keyed != NULL:
        return keyed_pick(chance, purpose, round, index, n)
    return <int> random_below(&chance.state, <uint32_t> n)

cdef inline void chance_shuffle(Chance* chance, int purpose, int round, int index,
                                uint8_t* items, int count, int unordered=1) noexcept nogil:
    """Put items into an order, every one equally likely.

    unordered: so many items at the front need no order among themselves (a hand), which saves a
    search their draws; play always draws them all.
    """
    if chance.keyed != NULL:
        keyed_shuffle(chance, purpose, round, index, items, count)
    else:
        random_shuffle(&chance.state, items, count, unordered)

cdef inline void random_shuffle(uint64_t* state, uint8_t* items, int count, int unordered=1) noexcept nogil:
    cdef uint64_t local = state[0]
    cdef int i
    cdef uint32_t j
    cdef uint8_t item
    for i in range(count - 1, unordered - 1, -1):
        j = random_below(&local, <uint32_t> (i + 1))
        item = items[i]
        items[i] = items[j]
        items[j] = item
    state[0] = local
