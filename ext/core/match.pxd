# A match for compiled code: the same door that Match.play goes through, without the GIL.
from libc.stdint cimport int32_t, uint8_t, uint32_t

from tavolata.ext.core.chance cimport Chance, KeyedChance
from tavolata.ext.core.digest cimport Sha256
from tavolata.ext.core.game cimport Game
from tavolata.ext.core.log cimport EventLog

cdef enum Fault:
    FAULT_NONE = 0
    FAULT_MEMORY = 1       # the log could not grow
    FAULT_CHANCE = 2       # a scripted outcome of chance can't be
    FAULT_INVARIANT = 3    # of the state, in the checked build

cdef class Match:
    cdef readonly Game game
    cdef readonly int turn
    cdef readonly int decision_count
    cdef readonly int round_start         # events before the round in progress
    cdef KeyedChance keyed
    cdef Chance chance
    cdef EventLog log
    cdef uint8_t* state
    cdef uint8_t* before                  # the state to go back to when a step fails
    cdef int32_t* actions                 # legal actions while they are looked at
    cdef uint32_t asked                   # the seats of the decision in progress, committed or not
    cdef size_t* event_at                 # first word of every event
    cdef size_t numbered                  # events that have a number
    cdef size_t event_capacity
    cdef size_t settled                   # words of whole steps, their events numbered
    cdef size_t hashed                    # words that are in the hash
    cdef int broken                       # the number of the invariant that does not hold
    cdef Sha256 running                   # the running hash, not brought to an end

    cdef bint allows(self, int seat, int action) noexcept nogil
    cdef Fault step(self, int seat, int action) noexcept nogil
    cdef Fault _settle(self, uint32_t pending) noexcept nogil
    cdef void _close(self) noexcept nogil
    cdef size_t _count_events(self) noexcept nogil
    cdef bint _number(self) noexcept nogil
    cdef void _hash(self) noexcept nogil
    cdef bint _is_to_act(self, int seat) noexcept nogil
    cdef _raise(self, Fault fault)
    cdef object _event(self, size_t at, int viewer, bint all_seen)

# Events as a viewer may know them, see Match.event_words.
cdef int event_size(const int32_t* event, int viewer) noexcept nogil
cdef int tell_event(const int32_t* event, int viewer, int32_t* out) noexcept nogil
