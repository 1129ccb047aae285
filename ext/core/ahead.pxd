# Streams of chance worked out ahead of their use; see ahead.pyx.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from tavolata.ext.core.digest cimport LANES, SIDE_BY_SIDE, Row

cdef enum:
    BATCHES = 31          # so that a stream's number and one fits into a byte
    SLOTS = 512

cdef struct Ahead:
    Row lanes[LANES]                        # of the batch that is being collected
    uint32_t keys[BATCHES * SIDE_BY_SIDE]   # of the streams, by number
    uint8_t slots[SLOTS]                    # number + 1 of a stream, by its key's hash; 0: free
    uint32_t first_rows[BATCHES]            # where a batch begins in ``rows``
    uint16_t words[BATCHES]                 # how many are there of each stream of a batch
    Row* rows                               # what the streams begin with, batch by batch
    size_t row_count
    size_t row_capacity
    int batch                               # the batch that is being collected
    int collected                           # streams in it
    int wanted                              # most words that are wanted of one of them

cdef Ahead* ahead_new() noexcept nogil
cdef void ahead_free(Ahead* ahead) noexcept nogil
cdef void ahead_expect(Ahead* ahead, uint32_t key, const uint8_t* text, size_t size, int words) noexcept nogil
cdef int ahead_find(Ahead* ahead, uint32_t key, const uint64_t** lanes) noexcept nogil
