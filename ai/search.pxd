# One thread's search tree and what it found out at the root; the loop over it is in _search.pxi.
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint32_t, uint64_t

from tavolata.ai.observers cimport InformationSets, Told
from tavolata.ai.stop cimport Stop
from tavolata.ext.core.chance cimport Chance
from tavolata.ext.core.game cimport SEATS_MAX, Dealer, Game
from tavolata.ext.core.log cimport EventLog

cdef enum:
    NO_NODE = 0          # index of no node: node 0 is the root, which is nobody's child
    PATH_MAX = 4096      # edges of one iteration; deeper ones are played out

cdef struct Node:        # an edge and the node it leads to; 32 bytes
    double reward        # sum of the actor's utility over the visits
    uint32_t visits
    uint32_t availability    # iterations in whose world the action was there to take
    uint32_t first_child
    uint32_t next_sibling
    int16_t action
    int8_t actor             # -1: an outcome of chance, by its number in `action`
    uint8_t padding[5]

cdef struct RootAction:      # what is kept of an action of the deciding seat at the root
    int action
    uint32_t visits
    uint32_t gained          # visits after which the seat's total was greater than at the root
    double square            # sum of squares of the seat's utility
    double utility[SEATS_MAX]    # sums
    double score[SEATS_MAX]      # sums of totals at the horizon
    double regret            # regret matching at a simultaneous root
    double strategy          # sum of the strategies played there

cdef enum:               # where other seats follow the rule of thumb
    NOWHERE = 0
    WHERE_SIMULTANEOUS = 1
    EVERYWHERE = 2

cdef struct Plan:            # what a search may use, and how it goes about it
    uint64_t iterations      # 0: no limit
    double think_ms          # 0: no limit
    double exploration       # in standard deviations of the seat's utility
    int policy               # of playouts
    int others_by_rule       # where other seats follow the rule of thumb
    uint32_t observed        # kinds of events, a bit each: nodes by what the acting seat was told of them;
                             # 0: one tree of actions for all
    int depth                # decisions in the tree; deeper ones are played out
    bint even                # the root's actions are tried in turn, to be compared with each other
    double widening          # actions tried at a node after n visits: at most 1 + widening x sqrt(n); 0: all at once


cdef class Searcher:
    cdef Game game
    cdef Dealer dealer
    cdef Stop stop
    cdef int seat
    cdef Plan plan
    cdef Node* nodes
    cdef uint32_t used, capacity
    cdef uint8_t* state
    cdef int32_t* actions        # scratch for lists of legal actions
    cdef uint8_t* marks          # scratch: a byte an action, all zero between uses
    cdef RootAction* root
    cdef int root_count
    cdef Chance chance
    cdef uint64_t iterations     # done
    cdef double elapsed_ms
    cdef uint64_t pause_at       # iterations in all after which to pause; 0: don't
    cdef double pause_ms         # time after which to pause; 0.0: don't
    cdef int32_t total_before    # of the seat, at the root
    cdef double sum, square      # of the seat's utility
    cdef uint64_t next_spread    # iterations at which the spread is taken again
    cdef double spread           # standard deviation of the seat's utility so far
    cdef bint mixed              # the root is a decision for regret matching
    cdef InformationSets sets    # with plan.observed: every node but the root
    cdef EventLog log            # with plan.observed: the events of the last decision
    cdef Told told               # with plan.observed: what seats were told in this iteration

    cdef void run(self) noexcept nogil
    cdef uint32_t* first_edge(self, int seat) noexcept nogil
    cdef bint carry_out(self, uint32_t seats, const int* choice, bint tell) noexcept nogil
