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

cdef void log_grow(EventLog* log) noexcept nogil

# Rules write several words for every action, so the writing is compiled into them.

cdef inline void log_word(EventLog* log, int32_t word) noexcept nogil:
    if log.used == log.capacity:
        log_grow(log)
        if log.out_of_memory:
            return
    log.words[log.used] = word
    log.used += 1

cdef inline void log_begin(EventLog* log, int tag) noexcept nogil:
    log.entry = log.used
    log_word(log, 0)
    log_word(log, tag)

cdef inline void log_end(EventLog* log) noexcept nogil:
    if not log.out_of_memory:
        log.words[log.entry] = <int32_t> (log.used - log.entry)

cdef inline void event_begin(EventLog* log, int kind, uint32_t viewers) noexcept nogil:
    """Open an event whose secret words only ``viewers`` may see; public words follow."""
    log_begin(log, TAG_EVENT)
    log_word(log, kind)
    log_word(log, <int32_t> viewers)
    log_word(log, -1)          # public count, filled by event_secret or left at "all are public"

cdef inline void event_secret(EventLog* log) noexcept nogil:
    """The words that follow in this event are secret."""
    if not log.out_of_memory:
        log.words[log.entry + 4] = <int32_t> (log.used - log.entry - 5)
