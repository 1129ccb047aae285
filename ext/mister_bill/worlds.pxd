# Every way to place the unseen cards; see worlds.pyx.
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from tavolata.ext.core.chance cimport Chance
from tavolata.ext.mister_bill.state cimport KINDS, SEATS

cdef enum:
    MOVES_MAX = 70              # ways to choose 4 of 8 hands

cdef struct Slot:               # of a hash table; free while value is 0
    uint64_t first, second
    uint32_t value

cdef struct Table:
    Slot* slots
    uint32_t mask               # slots - 1
    uint32_t used

cdef struct Move:               # one way to place a kind in a position of the walk
    double upto                 # ways of this move and those before it
    uint32_t child              # the position after it
    uint32_t takes              # how many hands of each group get one, four bits a group

cdef struct Place:              # a position of the walk
    uint16_t nodes[8]           # of the hands, ascending
    double ways
    uint32_t first_move
    uint32_t move_count

cdef struct Frame:              # a position while its moves are counted
    uint16_t nodes[8]
    int group_start[9]
    int group_count
    int layer
    Move moves[MOVES_MAX]
    int move_count
    double ways

cdef class Worlds:
    cdef readonly int hand_count
    cdef int layer_kind[KINDS]          # the kinds in the order of the walk
    cdef int layer_unseen[KINDS]
    cdef int sizes[SEATS]
    cdef int level_count[SEATS]         # limits on a hand: at most `level_limit` of ...
    cdef uint32_t level_held[SEATS][2 * KINDS]    # ... these kinds missing
    cdef uint32_t level_absent[SEATS][2 * KINDS]  # ... these kinds present
    cdef int level_limit[SEATS][2 * KINDS]
    cdef uint32_t level_kinds[SEATS]    # kinds under any limit
    cdef uint16_t* low                  # node of a hand without / with the layer's kind
    cdef uint16_t* high
    cdef uint32_t node_count, node_capacity
    cdef Place* places
    cdef uint32_t place_count, place_capacity
    cdef Move* moves
    cdef uint32_t move_count, move_capacity
    cdef Table nodes_seen, places_seen
    cdef uint32_t root
    cdef uint8_t root_hand[SEATS]       # the hand at each place of the root
    cdef int failure                    # memory or node numbers have run out

    cdef _limit(self, unseen, sizes, facts)
    cdef _add_level(self, int hand, int limit, held, absent)
    cdef uint32_t node(self, int hand, int layer, int left, uint32_t chosen) noexcept nogil
    cdef bint breaks_limit(self, int hand, int layer, uint32_t chosen) noexcept nogil
    cdef uint32_t make_node(self, int layer, uint32_t low, uint32_t high) noexcept nogil
    cdef uint32_t place(self, int layer, uint16_t* nodes) noexcept nogil
    cdef void place_kind(self, Frame* frame, int group, int need, double ways, uint32_t takes,
                         uint16_t* next) noexcept nogil
    cdef uint32_t store(self, Frame* frame) noexcept nogil
    cdef void sample(self, uint16_t* hands, Chance* chance) noexcept nogil
