# What was decided in a round, and how to begin the round again with other cards.
from libc.stdint cimport int32_t

cdef class Replay:
    cdef int count               # decisions so far
    cdef int32_t* seats          # who decided,
    cdef int32_t* actions        # and what

    cdef void restart(self, void* state) noexcept nogil
