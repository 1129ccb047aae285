# SHA-256 and SHAKE-256 without the GIL; what they are for is in sha256.h and shake256.h.
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "tavolata/ext/core/digest_types.h" nogil:
    ctypedef struct Sha256 "tav_sha256":
        uint64_t length
    ctypedef struct Shake256 "tav_shake256":
        unsigned int used
    enum:
        SHAKE256_RATE "TAV_SHAKE256_RATE"       # bytes of a stream for one permutation
        SIDE_BY_SIDE "TAV_SIDE_BY_SIDE"         # streams that are worked out at a time

cdef enum:
    LANES = 25                                  # numbers of 64 bits in a stream's state
    RATE_LANES = 17                             # of these, those that the stream's bytes are in

ctypedef uint64_t[SIDE_BY_SIDE] Row             # a lane of each of so many streams

cdef void sha256_begin(Sha256* hash) noexcept nogil
cdef void sha256_add(Sha256* hash, const uint8_t* data, size_t size) noexcept nogil
cdef void sha256_end(Sha256* hash, uint8_t* digest) noexcept nogil
cdef void sha256_numbers(const Sha256* prefix, uint64_t number, uint64_t* out) noexcept nogil
cdef void shake256_begin(Shake256* shake) noexcept nogil
cdef void shake256_add(Shake256* shake, const uint8_t* data, size_t size) noexcept nogil
cdef void shake256_end(Shake256* shake) noexcept nogil
cdef uint32_t shake256_word(Shake256* shake) noexcept nogil
cdef void shake256_place(Row* lanes, int n, const uint8_t* data, size_t size) noexcept nogil
cdef void shake256_permute(Row* lanes, int count) noexcept nogil
cdef bint shake256_is_quicker_side_by_side() noexcept nogil
cdef void put_number32(uint8_t* bytes, uint32_t number) noexcept nogil
