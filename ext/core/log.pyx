"""The log of a match: what chance gave, what seats decided, what happened, in one order.

Every entry is a run of 32-bit words: ``[size, tag, ...]`` with size counting all its words.

======== =====================================================================
tag      words after size and tag
======== =====================================================================
chance   purpose, round, index, n, value (a pick), or
         purpose, round, index, -length, items... (a shuffle, in its final order)
decision turn, seat, action
event    kind, viewers, public count, public words..., secret words...
======== =====================================================================

``viewers`` is the set of seats (bit s) that may see the secret words; the top bit stands for
spectators. No protobuf, no clock, no Python objects here: rules append while the GIL is free.
"""
from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport realloc


cdef void log_word(EventLog* log, int32_t word) noexcept nogil:
    cdef size_t capacity
    cdef void* grown
    if log.used == log.capacity:
        capacity = 2 * log.capacity if log.capacity else 1024
        grown = realloc(log.words, capacity * sizeof(int32_t))
        if grown == NULL:
            log.out_of_memory = 1
            return
        log.words = <int32_t*> grown
        log.capacity = capacity
    log.words[log.used] = word
    log.used += 1


cdef void log_begin(EventLog* log, int tag) noexcept nogil:
    log.entry = log.used
    log_word(log, 0)
    log_word(log, tag)


cdef void log_end(EventLog* log) noexcept nogil:
    if not log.out_of_memory:
        log.words[log.entry] = <int32_t> (log.used - log.entry)


cdef void event_begin(EventLog* log, int kind, uint32_t viewers) noexcept nogil:
    """Open an event whose secret words only ``viewers`` may see; public words follow."""
    log_begin(log, TAG_EVENT)
    log_word(log, kind)
    log_word(log, <int32_t> viewers)
    log_word(log, -1)          # public count, filled by event_secret or left at "all are public"


cdef void event_secret(EventLog* log) noexcept nogil:
    """The words that follow in this event are secret."""
    if not log.out_of_memory:
        log.words[log.entry + 4] = <int32_t> (log.used - log.entry - 5)
