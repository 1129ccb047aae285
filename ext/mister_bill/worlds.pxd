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
    cdef int lost[SEATS][KINDS]         # of kinds that may be missing: cards lost since, else 0
    cdef int gained[SEATS][KINDS]       # of kinds that may have come: cards gained since, else 0
    cdef int elsewhere[SEATS]           # unseen cards that are not in the hand: what it can have lost
    cdef int gainable[SEATS]            # what it can have gained
    cdef uint32_t held[SEATS]           # kinds with a count in `lost`
    cdef uint32_t absent[SEATS]         # kinds with a count in `gained`
    cdef uint32_t forced[SEATS]         # kinds that are there for certain
    cdef uint32_t forbidden[SEATS]      # kinds that are not
    cdef uint16_t* low                  # node of a hand without / with the layer's kind
    cdef uint16_t* high
    cdef double* low_weight             # of these two steps
    cdef double* high_weight
    cdef uint32_t node_count, node_capacity
    cdef Place* places
    cdef uint32_t place_count, place_capacity
    cdef Move* moves
    cdef uint32_t move_count, move_capacity
    cdef Table nodes_seen, places_seen
    cdef uint32_t root
    cdef uint8_t root_hand[SEATS]       # the hand at each place of the root
    cdef int failure                    # memory or node numbers have run out

    cdef _read(self, unseen, sizes, facts)
    cdef _sort(self, int hand, int kind, int count, uint32_t* open, uint32_t* certain)
    cdef bint _try(self)
    cdef uint32_t node(self, int hand, int layer, int left) noexcept nogil
    cdef uint32_t make_node(self, int hand, int layer, uint32_t low, uint32_t high) noexcept nogil
    cdef bint reserve_node(self) noexcept nogil
    cdef uint32_t place(self, int layer, uint16_t* nodes) noexcept nogil
    cdef void place_kind(self, Frame* frame, int group, int need, double ways, uint32_t takes,
                         uint16_t* next) noexcept nogil
    cdef uint32_t store(self, Frame* frame) noexcept nogil
    cdef double ordered(self, int hand, uint32_t kinds) noexcept nogil
    cdef void propose(self, uint16_t* hands, uint64_t* random) noexcept nogil
    cdef void sample(self, uint16_t* hands, Chance* chance) noexcept nogil
