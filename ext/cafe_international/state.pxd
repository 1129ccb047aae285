# A position of Café International. Kinds of guests 0..25: 2 x nation + sex (0 woman, 1 man), then the jokers 24
# (woman) and 25 (man). Nations 0..11, tables 0..23 and chairs 0..67 as in board.py; outside, tables and chairs count
# from 1. A set of chairs is 128 bits in two words: chair c is bit c % 64 of word c // 64.
from libc.stdint cimport int32_t, uint32_t, uint64_t

from tavolata.ext.core.types cimport octet

cdef enum:
    NONE = 255            # no guest, nation, chair or seat
    SEATS = 5             # most seats of a table
    NATIONS = 12
    KINDS = 26
    FIRST_JOKER = 24
    TABLES = 24
    CHAIRS = 68
    TILES = 100
    PLACES = 20           # of the bar
    GUESTS_MAX = 4        # most guests of a turn (CI-25)
    COMPLETED_MAX = 5     # most tables that these can complete

cdef enum Phase:
    TURN = 0              # the active seat begins its turn, or goes on seating guests
    LIMIT = 1             # it may lower its hand limit (CI-15)
    BIRTHDAY = 2          # it names the birthday nation (CI-24)
    OVER = 3

cdef enum BirthdayState:
    OFF = 0
    WAITING = 1           # no total has reached the threshold
    NAMED = 2
    DECLINED = 3

cdef struct State:
    uint64_t free[2]          # chairs nobody sits on
    uint64_t company[2]       # chairs of tables where somebody sits
    uint64_t jokers[2]        # chairs where a joker sits
    uint32_t blocked[2]       # tables that a woman more, or a man more, would put out of balance
    uint32_t unmended         # tables one of which must get another guest before the turn may end (CI-7, CI-8)
    uint32_t parties          # tables whose balance is waived (CI-25)
    uint32_t held[5]          # kinds a seat holds at least one guest of
    int32_t totals[5]
    octet guests[68]          # kind on each chair, or NONE
    octet declared[68]        # what a declared joker counts as there, or NONE (CI-19)
    octet women[24]           # at each table
    octet men[24]
    octet natives[24]         # guests that count as the table's nation
    octet hands[5][26]        # guests of each kind that a seat holds
    octet hand_sizes[5]
    octet limits[5]
    octet bag[26]             # guests of each kind in the bag: what nobody has seen
    octet order[100]          # 1 + kind, the next to be drawn at place 100 - bag_size; 0 once drawn, or not to be seen
    octet bag_size
    octet bar[20]             # kinds in the order laid, 0 beyond bar_count
    octet bar_count
    octet out[5]              # seats in the order they went out (CI-17), NONE beyond out_count
    octet out_count
    octet seated_kinds[4]     # guests of this turn in order, 0 beyond seated_count
    octet seated_chairs[4]
    octet booked[4][2]        # what each has scored at its first and second table
    octet seated_count
    octet completed[5]        # tables this turn completed under CI-13, in order, 0 beyond completed_count
    octet completed_count
    octet opening             # 1 in the starting seat's first turn (CI-10)
    octet lone                # the chair of a guest left alone in it, NONE once somebody has joined
    octet birthday            # BirthdayState
    octet birthday_nation     # or NONE
    octet passes              # in a row (CI-20)
    octet seat                # active
    octet phase
    octet padding[4]          # zero: to a multiple of 8 bytes, so that equal positions are equal bytes
