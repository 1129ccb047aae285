"""Streams of chance worked out ahead of their use, eight side by side.

A match draws every die and every deal from a stream of its own, of which it takes a word or a few
dozen. Vector instructions work out eight streams in little more than the time of one. So rules say
which draws are to come (``chance_expect``), and what is drawn is the same whether they do or not.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

from tavolata.ext.core.digest cimport (
    RATE_LANES,
    SHAKE256_RATE,
    SIDE_BY_SIDE,
    Row,
    shake256_permute,
    shake256_place,
)


cdef Ahead* ahead_new() noexcept nogil:
    """None expected yet; NULL without memory."""
    return <Ahead*> calloc(1, sizeof(Ahead))


cdef void ahead_free(Ahead* ahead) noexcept nogil:
    if ahead != NULL:
        free(ahead.rows)
        free(ahead)


cdef inline int slot_of(const Ahead* ahead, uint32_t key) noexcept nogil:
    """Where the key is, or else would be."""
    cdef uint32_t slot = (key * <uint32_t> 0x9e3779b1) >> 23
    while ahead.slots[slot] and ahead.keys[ahead.slots[slot] - 1] != key:
        slot = (slot + 1) % SLOTS
    return <int> slot


cdef void ahead_expect(Ahead* ahead, uint32_t key, const uint8_t* text, size_t size, int words) noexcept nogil:
    """The stream of ``text`` will be asked for by ``key``, and ``words`` 32-bit words of it be wanted.

    Nothing happens where the text is too long for one permutation, or where there is no more room.
    """
    cdef int slot, number
    if size >= SHAKE256_RATE or ahead.batch == BATCHES:
        return
    slot = slot_of(ahead, key)
    if ahead.slots[slot]:
        return
    number = ahead.batch * SIDE_BY_SIDE + ahead.collected
    ahead.slots[slot] = <uint8_t> (number + 1)
    ahead.keys[number] = key
    shake256_place(ahead.lanes, ahead.collected, text, size)
    ahead.collected += 1
    ahead.wanted = max(ahead.wanted, words)
    if ahead.collected == SIDE_BY_SIDE:
        work_out(ahead)


cdef int ahead_find(Ahead* ahead, uint32_t key, const uint64_t** lanes) noexcept nogil:
    """How many words are there of the stream of this key; 0 if it was not expected.

    lanes: where to write the place of the first two; two more are after every SIDE_BY_SIDE numbers.
    """
    cdef int number = ahead.slots[slot_of(ahead, key)] - 1
    cdef int batch = number // SIDE_BY_SIDE
    if number < 0:
        return 0
    if batch == ahead.batch:
        work_out(ahead)
    lanes[0] = <const uint64_t*> (ahead.rows + ahead.first_rows[batch]) + number % SIDE_BY_SIDE
    return ahead.words[batch]


cdef void work_out(Ahead* ahead) noexcept nogil:
    """Work out the batch that was collected, and begin another. Without memory it has no words."""
    cdef size_t left = <size_t> (ahead.wanted + 1) // 2
    cdef size_t part
    ahead.first_rows[ahead.batch] = <uint32_t> ahead.row_count
    if has_room(ahead, left):
        ahead.words[ahead.batch] = <uint16_t> (2 * left)
        while left:
            shake256_permute(ahead.lanes, ahead.collected)
            part = min(left, <size_t> RATE_LANES)
            memcpy(ahead.rows + ahead.row_count, ahead.lanes, part * sizeof(Row))
            ahead.row_count += part
            left -= part
    ahead.batch += 1
    ahead.collected = ahead.wanted = 0


cdef bint has_room(Ahead* ahead, size_t more) noexcept nogil:
    cdef size_t capacity = max(2 * ahead.row_capacity, ahead.row_count + more)
    if ahead.row_count + more <= ahead.row_capacity:
        return True
    rows = <Row*> realloc(ahead.rows, capacity * sizeof(Row))
    if rows == NULL:
        return False
    ahead.rows = rows
    ahead.row_capacity = capacity
    return True
