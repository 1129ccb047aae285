# Sets of chairs as 128-bit numbers, and the board in them. The board is the same at every table of the game, so it
# is kept once for the module.
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from tavolata.ext.cafe_international.state cimport CHAIRS, FIRST_JOKER, KINDS, NONE, PLACES, TABLES
from tavolata.ext.core.bits cimport lowest

from tavolata.ext.cafe_international import board as seed_board

cdef extern from *:
    # Cython needs some width to reckon with; in C it is the real type.
    ctypedef unsigned long long Chairs "unsigned __int128"

cdef Chairs[TABLES] TABLE_CHAIRS
cdef Chairs[KINDS] FITTING                # chairs at tables of a kind's nation (CI-6)
cdef int[TABLES] NATION_OF                # of each table
cdef int[CHAIRS] TABLE_COUNT              # tables of a chair: 1 or 2
cdef int[CHAIRS][2] TABLES_OF             # NONE where there is no second
cdef uint32_t[CHAIRS] TABLE_BITS          # the same as a set
cdef int[PLACES] BAR_VALUE

cdef enum:
    WOMEN_KINDS = 0x1555555               # the even kinds
    MEN_KINDS = 0x2AAAAAA
    JOKER_KINDS = 0x3000000


cdef inline Chairs one(int chair) noexcept nogil:
    return <Chairs> 1 << chair


cdef inline Chairs joined(const uint64_t* words) noexcept nogil:
    return <Chairs> words[1] << 64 | <Chairs> words[0]


cdef inline void split(Chairs chairs, uint64_t* words) noexcept nogil:
    words[0] = <uint64_t> chairs
    words[1] = <uint64_t> (chairs >> 64)


cdef inline int first_chair(Chairs chairs) noexcept nogil:
    """The lowest chair of a set that is not empty."""
    cdef uint64_t low = <uint64_t> chairs
    return lowest(low) if low else 64 + lowest(<uint64_t> (chairs >> 64))


cdef inline Chairs chairs_at(uint32_t tables) noexcept nogil:
    """All chairs of the tables."""
    cdef Chairs chairs = 0
    while tables:
        chairs |= TABLE_CHAIRS[lowest(tables)]
        tables &= tables - 1
    return chairs


cdef inline int sex_of(int kind) noexcept nogil:
    return kind & 1


cdef inline uint32_t kinds_of_sex(int sex) noexcept nogil:
    return MEN_KINDS if sex else WOMEN_KINDS


def _load_board():
    cdef int table, chair, kind
    for table in range(TABLES):
        NATION_OF[table] = seed_board.TABLE_NATIONS[table]
        TABLE_CHAIRS[table] = 0
        for chair in seed_board.TABLE_CHAIRS[table]:
            TABLE_CHAIRS[table] |= one(chair)
    for chair in range(CHAIRS):
        tables = seed_board.CHAIR_TABLES[chair]
        TABLE_COUNT[chair] = len(tables)
        TABLES_OF[chair][0] = tables[0]
        TABLES_OF[chair][1] = tables[len(tables) - 1] if len(tables) > 1 else NONE
        TABLE_BITS[chair] = 0
        for table in tables:
            TABLE_BITS[chair] |= <uint32_t> 1 << table
    for kind in range(KINDS):
        FITTING[kind] = 0
        for chair in range(CHAIRS):
            if seed_board.fits(kind, chair):
                FITTING[kind] |= one(chair)
    for chair in range(PLACES):
        BAR_VALUE[chair] = seed_board.BAR[chair]


_load_board()
