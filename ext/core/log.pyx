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
from libc.stdint cimport int32_t
from libc.stdlib cimport realloc


cdef void log_grow(EventLog* log) noexcept nogil:
    """Make room for more words; sets ``out_of_memory`` if there is none."""
    cdef size_t capacity = 2 * log.capacity if log.capacity else 1024
    cdef void* grown = realloc(log.words, capacity * sizeof(int32_t))
    if grown == NULL:
        log.out_of_memory = 1
        return
    log.words = <int32_t*> grown
    log.capacity = capacity
