# The log of a match as machine words; layout in log.pyx.
from libc.stdint cimport int32_t, uint32_t

cdef enum:
    SPECTATOR = -1
    EVERYBODY = 0xFFFFFFFF     # a set of viewers: bit s for seat s, and the top bit for spectators

cdef enum Tag:
    TAG_CHANCE = 0
    TAG_DECISION = 1
    TAG_EVENT = 2

cdef struct EventLog:
    int32_t* words       # entries laid end to end
    size_t used          # words in use
    size_t capacity      # words allocated
    size_t entry         # first word of the entry being written
    int out_of_memory    # set once an append could not be stored

cdef void log_begin(EventLog* log, int tag) noexcept nogil
cdef void log_word(EventLog* log, int32_t word) noexcept nogil
cdef void log_end(EventLog* log) noexcept nogil
cdef void event_begin(EventLog* log, int kind, uint32_t viewers) noexcept nogil
cdef void event_secret(EventLog* log) noexcept nogil
