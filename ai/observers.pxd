# A tree for each seat without a tree for each seat: nodes found by what the acting seat has been told since the root.
#
# Each seat has a running 64-bit key of its own decisions and of the events it has been told, hidden words left out. A
# node belongs to one key of one seat, so it can't separate what that seat can't tell apart. Two keys that ought to
# differ are equal with probability 2^-64.
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from tavolata.ext.core.bits cimport lowest
from tavolata.ext.core.game cimport SEATS_MAX
from tavolata.ext.core.log cimport TAG_EVENT, EventLog

cdef extern from *:
    """
    #include <stdint.h>
    /* A bijection of the key for every word, and of the word for every key. */
    static inline uint64_t tav_mix(uint64_t key, uint64_t word) {
        key = key * 0x9e3779b97f4a7c15ULL + word;
        key = (key ^ key >> 32) * 0xd6e8feb86659fd93ULL;
        return key ^ key >> 32;
    }
    """
    uint64_t mix "tav_mix"(uint64_t key, uint64_t word) noexcept nogil

cdef enum:
    FEWEST_SETS = 1024

cdef struct InformationSet:     # 16 bytes
    uint64_t key
    uint32_t first_child        # of its edges in the arena; 0: the place is free
    uint32_t arrivals           # iterations that came here

cdef struct InformationSets:    # open addressing, at most three quarters full
    InformationSet* places
    uint32_t size, most         # places there are, and may be; powers of two
    uint32_t used


cdef struct Told:               # as running keys
    uint64_t all                # what every seat has been told
    uint64_t alone[SEATS_MAX]   # what a seat has been told beyond that, and after which of it


cdef inline uint64_t known_to(const Told* told, int seat) noexcept nogil:
    """The key of all that a seat has been told, and of whose key it is."""
    return mix(mix(told.all, told.alone[seat]), seat)


cdef inline void decided(Told* told, int seat, int action) noexcept nogil:
    """Everybody knows that a seat has decided, and the seat what."""
    told.all = mix(told.all, seat)
    told.alone[seat] = mix(mix(told.alone[seat], told.all), action)


cdef inline void hear(Told* told, int seat_count, const EventLog* log, uint32_t kinds) noexcept nogil:
    """The events of a log, of these kinds, as each seat is told of them."""
    cdef const int32_t* words
    cdef size_t at = 0
    cdef uint64_t secret
    cdef uint32_t viewers
    cdef int i, public
    while at < log.used:
        words = log.words + at
        at += words[0]
        if words[1] != TAG_EVENT or words[2] > 31 or not kinds >> words[2] & 1:
            continue
        public = words[4] if words[4] >= 0 else words[0] - 5
        told.all = mix(told.all, words[2])
        for i in range(5, 5 + public):
            told.all = mix(told.all, <uint32_t> words[i])
        if words[4] < 0:
            continue
        secret = told.all
        for i in range(5 + public, words[0]):
            secret = mix(secret, <uint32_t> words[i])
        viewers = <uint32_t> words[3] & ((<uint32_t> 1 << seat_count) - 1)
        while viewers:
            i = lowest(viewers)
            viewers &= viewers - 1
            told.alone[i] = mix(told.alone[i], secret)


cdef inline InformationSet* place_of(const InformationSets* sets, uint64_t key) noexcept nogil:
    """Where a key is, or would go."""
    cdef uint32_t at = <uint32_t> key & (sets.size - 1)
    while sets.places[at].first_child and sets.places[at].key != key:
        at = (at + 1) & (sets.size - 1)
    return &sets.places[at]


cdef inline bint grow(InformationSets* sets) noexcept nogil:
    """Twice as many places; whether there was memory."""
    cdef InformationSets larger
    cdef uint32_t i
    larger.size = 2 * sets.size
    larger.places = <InformationSet*> calloc(larger.size, sizeof(InformationSet))
    if larger.places == NULL:
        return False
    for i in range(sets.size):
        if sets.places[i].first_child:
            place_of(&larger, sets.places[i].key)[0] = sets.places[i]
    free(sets.places)
    sets.places = larger.places
    sets.size = larger.size
    return True


cdef inline InformationSet* find(InformationSets* sets, uint64_t key, bint may_add) noexcept nogil:
    """The information set of a key, made if need be; NULL if it is not there and can't be.

    One that was made has no edge yet, and is there only once it has.
    """
    cdef InformationSet* place = place_of(sets, key)
    if place.first_child:
        place.arrivals += 1
        return place
    if not may_add:
        return NULL
    if 4 * <uint64_t> sets.used >= 3 * <uint64_t> sets.size:
        if sets.size >= sets.most or not grow(sets):
            return NULL
        place = place_of(sets, key)
    sets.used += 1
    place.key = key
    place.arrivals = 1
    return place
