"""Hashes for match and chance, computed while the GIL is free.

One copy of the C code for all that cimport it, and a door for tests: both builds of SHA-256 and the
stream of SHAKE-256 are compared with Python's own there.
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

cdef extern from "digest.h" nogil:
    int tav_digest_choose(int wanted)
    void tav_sha256_begin(Sha256* hash)
    void tav_sha256_add(Sha256* hash, const uint8_t* data, size_t size)
    void tav_sha256_end(Sha256* hash, uint8_t* digest)
    void tav_sha256_chain(uint8_t* digest, const int32_t* words, size_t count)
    void tav_sha256_numbers(const Sha256* prefix, uint64_t number, uint64_t* out)
    void tav_shake256_begin(Shake256* shake)
    void tav_shake256_add(Shake256* shake, const uint8_t* data, size_t size)
    void tav_shake256_end(Shake256* shake)
    uint32_t tav_shake256_word(Shake256* shake)
    void tav_store_be32(uint8_t* p, uint32_t x)


cdef void sha256_begin(Sha256* hash) noexcept nogil:
    tav_sha256_begin(hash)


cdef void sha256_add(Sha256* hash, const uint8_t* data, size_t size) noexcept nogil:
    tav_sha256_add(hash, data, size)


cdef void sha256_end(Sha256* hash, uint8_t* digest) noexcept nogil:
    """Write the 32 bytes of the digest; the hash must be begun again after it."""
    tav_sha256_end(hash, digest)


cdef void sha256_chain(uint8_t* digest, const int32_t* words, size_t count) noexcept nogil:
    """For every entry of a log, replace the 32 bytes of ``digest`` by the hash of them and the entry."""
    tav_sha256_chain(digest, words, count)


cdef void sha256_numbers(const Sha256* prefix, uint64_t number, uint64_t* out) noexcept nogil:
    """Of the hashes of ``prefix`` with ``number``, and with the next, in eight bytes: 64 bits each."""
    tav_sha256_numbers(prefix, number, out)


cdef void shake256_begin(Shake256* shake) noexcept nogil:
    tav_shake256_begin(shake)


cdef void shake256_add(Shake256* shake, const uint8_t* data, size_t size) noexcept nogil:
    tav_shake256_add(shake, data, size)


cdef void shake256_end(Shake256* shake) noexcept nogil:
    """All has been added: words can be drawn."""
    tav_shake256_end(shake)


cdef uint32_t shake256_word(Shake256* shake) noexcept nogil:
    """The next four bytes of the output as a big-endian number."""
    return tav_shake256_word(shake)


cdef void put_number32(uint8_t* bytes, uint32_t number) noexcept nogil:
    """Write four bytes, big-endian."""
    tav_store_be32(bytes, number)


def choose_build(bint native) -> bool:
    """Use the processor's own instructions where it has them and ``native``; whether SHA-256 has them.

    For tests; the best build is in use from the start. Not while another thread hashes.
    """
    return bool(tav_digest_choose(native))


def sha256(parts) -> bytes:
    """The SHA-256 of byte strings one after the other. For tests: hashlib is the way to it elsewhere."""
    cdef Sha256 hash
    cdef uint8_t digest[32]
    cdef bytes part
    sha256_begin(&hash)
    for part in parts:
        sha256_add(&hash, <const uint8_t*> part, len(part))
    sha256_end(&hash, digest)
    return digest[:32]


def numbers(bytes prefix, uint64_t number) -> tuple:
    """What ``sha256_numbers`` gives. For tests."""
    cdef Sha256 hash
    cdef uint64_t out[2]
    sha256_begin(&hash)
    sha256_add(&hash, <const uint8_t*> prefix, len(prefix))
    sha256_numbers(&hash, number, out)
    return out[0], out[1]


def shake256_words(bytes data, int count) -> list:
    """The first words of the SHAKE-256 stream of some bytes, 32 bits each, big-endian. For tests."""
    cdef Shake256 shake
    shake256_begin(&shake)
    shake256_add(&shake, <const uint8_t*> data, len(data))
    shake256_end(&shake)
    return [shake256_word(&shake) for _ in range(count)]


choose_build(True)
