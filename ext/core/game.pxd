# The one interface: a game is rules without I/O, clock, global random or locks.
#
# Everything declared nogil works on a flat state struct that the caller owns (game.state_bytes long) and may be
# called from any number of threads at once: a Game never changes after it was made.
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from tavolata.ext.core.chance cimport Chance
from tavolata.ext.core.log cimport EventLog

cdef enum:
    SEATS_MAX = 12

cdef enum Policy:
    POLICY_RANDOM = 0     # uniformly random legal actions
    POLICY_RULE = 1       # the game's rule of thumb


cdef class Dealer:
    """Deals worlds that fit one view; made once a decision, used for every iteration."""
    cdef void deal(self, void* state, Chance* chance) noexcept nogil


cdef class PlayoutLoop:
    """The generic playout over the interface, compiled once for each processor level."""
    cdef void run(self, Game game, void* state, Chance* chance, int policy) noexcept nogil


cdef class Game:
    cdef readonly object spec            # GameSpec: names, options, seats
    cdef readonly dict options           # every option with its value
    cdef readonly int seat_count
    cdef readonly size_t state_bytes
    cdef readonly int action_count       # actions are 0..action_count-1
    cdef readonly int legal_max          # most legal actions a seat can have
    cdef readonly bint has_bits          # action_count <= 64 and legal_bits is there
    cdef readonly bint has_outcomes      # actions have outcomes of chance that everybody sees
    cdef readonly tuple purposes         # names of chance purposes, by number
    cdef readonly object face            # Face: the game as people and programs outside see it
    cdef PlayoutLoop loop
    cdef bytes hash_begun                # of matches without a commitment, for Match; None until it is wanted

    # -- the course of a match -------------------------------------------------------------------
    cdef void deal(self, void* state, Chance* chance, EventLog* log) noexcept nogil
    cdef uint32_t to_act(self, const void* state) noexcept nogil
    cdef int legal(self, const void* state, int seat, int32_t* out) noexcept nogil
    cdef uint64_t legal_bits(self, const void* state, int seat) noexcept nogil
    cdef void apply(self, void* state, int seat, int action, Chance* chance, EventLog* log) noexcept nogil
    cdef int outcome(self, const void* state) noexcept nogil
    cdef bint horizon(self, const void* state) noexcept nogil
    cdef bint over(self, const void* state) noexcept nogil
    cdef void advance(self, void* state, Chance* chance, EventLog* log) noexcept nogil

    # -- scores ----------------------------------------------------------------------------------
    cdef void totals(self, const void* state, int32_t* out) noexcept nogil
    cdef void running_points(self, const void* state, int32_t* out) noexcept nogil
    cdef void placement(self, const void* state, int32_t* places) noexcept nogil
    cdef void utility(self, const void* state, double* out) noexcept nogil

    # -- what a seat knows -----------------------------------------------------------------------
    cdef void blank(self, void* state, int viewer) noexcept nogil
    cpdef Dealer dealer(self, bytes view, int viewer)

    # -- playing it out --------------------------------------------------------------------------
    cdef bint has_rule(self) noexcept nogil
    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil
    cdef void playout(self, void* state, Chance* chance, int policy) noexcept nogil

    # -- checks (the checked build calls it after every step) -------------------------------------
    cdef int broken_invariant(self, const void* state) noexcept nogil


cdef void places_from_scores(const int32_t* scores, int count, bint low_wins, int32_t* places) noexcept nogil
cdef void utility_from_scores(const int32_t* scores, int count, bint low_wins, double* out) noexcept nogil
cdef void expected_utility(const int32_t* scores, int count, bint low_wins, double scale, double* out) noexcept nogil
