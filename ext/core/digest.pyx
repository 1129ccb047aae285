"""Hashes for match and chance, computed while the GIL is free.

One copy of the C code for all that cimport it, and a door for tests: every build of SHA-256 and of
SHAKE-256 is compared with Python's own there.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from tavolata.ext.core.cpu import is_portable_wanted

cdef extern from "sha256.h" nogil:
    int tav_sha256_choose(int wanted)
    void tav_sha256_begin(Sha256* hash)
    void tav_sha256_add(Sha256* hash, const uint8_t* data, size_t size)
    void tav_sha256_end(Sha256* hash, uint8_t* digest)
    void tav_sha256_numbers(const Sha256* prefix, uint64_t number, uint64_t* out)
    void tav_store_be32(uint8_t* p, uint32_t x)

cdef extern from "shake256.h" nogil:
    int tav_keccak_choose(int level)
    void tav_keccak_eight(Row* lanes, int count)
    void tav_shake256_begin(Shake256* shake)
    void tav_shake256_add(Shake256* shake, const uint8_t* data, size_t size)
    void tav_shake256_end(Shake256* shake)
    uint32_t tav_shake256_word(Shake256* shake)
    void tav_shake256_place(Row* lanes, int n, const uint8_t* data, size_t size)

KECCAK_BUILDS = ("portable", "bmi", "avx2", "avx512")

cdef int keccak_build


cdef void sha256_begin(Sha256* hash) noexcept nogil:
    tav_sha256_begin(hash)


cdef void sha256_add(Sha256* hash, const uint8_t* data, size_t size) noexcept nogil:
    tav_sha256_add(hash, data, size)


cdef void sha256_end(Sha256* hash, uint8_t* digest) noexcept nogil:
    """Write the 32 bytes of the digest; the hash must be begun again after it."""
    tav_sha256_end(hash, digest)


cdef void sha256_numbers(const Sha256* prefix, uint64_t number, uint64_t* out) noexcept nogil:
    """The hash of ``prefix`` with ``number``, then that with the next: four numbers of 64 bits each."""
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


cdef void shake256_place(Row* lanes, int n, const uint8_t* data, size_t size) noexcept nogil:
    """Begin the n-th of streams side by side with all its bytes, fewer than SHAKE256_RATE.

    lanes: LANES rows. After each ``shake256_permute`` the first RATE_LANES rows hold the streams' next
    SHAKE256_RATE bytes.
    """
    tav_shake256_place(lanes, n, data, size)


cdef void shake256_permute(Row* lanes, int count) noexcept nogil:
    """Go on with the first ``count`` of the streams; the others are undefined after it."""
    tav_keccak_eight(lanes, count)


cdef bint shake256_is_quicker_side_by_side() noexcept nogil:
    """Whether this processor works out several streams in much less time than one after the other."""
    return keccak_build >= 2


cdef void put_number32(uint8_t* bytes, uint32_t number) noexcept nogil:
    """Write four bytes, big-endian."""
    tav_store_be32(bytes, number)


def choose_build(bint native) -> bool:
    """Use the processor's own instructions where it has them and ``native``; whether SHA-256 has them.

    For tests; the best build is in use from the start, unless TAVOLATA_CPU is "base". Not while another
    thread hashes.
    """
    choose_keccak("avx512" if native else "portable")
    return bool(tav_sha256_choose(native))


def choose_keccak(build: str) -> str:
    """Use this one of KECCAK_BUILDS for SHAKE-256, or the best one before it that the processor can run;
    which one that is. For tests, as ``choose_build``."""
    global keccak_build
    keccak_build = tav_keccak_choose(KECCAK_BUILDS.index(build))
    return KECCAK_BUILDS[keccak_build]


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
    cdef uint64_t out[8]
    sha256_begin(&hash)
    sha256_add(&hash, <const uint8_t*> prefix, len(prefix))
    sha256_numbers(&hash, number, out)
    return tuple([out[i] for i in range(8)])


def shake256_words(bytes data, int count) -> list:
    """The first words of the SHAKE-256 stream of some bytes, 32 bits each, big-endian. For tests."""
    cdef Shake256 shake
    shake256_begin(&shake)
    shake256_add(&shake, <const uint8_t*> data, len(data))
    shake256_end(&shake)
    return [shake256_word(&shake) for _ in range(count)]


def shake256_streams(list texts, int size) -> list:
    """The first bytes of the SHAKE-256 streams of up to SIDE_BY_SIDE texts, side by side. For tests."""
    cdef Row lanes[LANES]
    cdef bytes text
    cdef int n
    streams = [bytearray() for _ in texts]
    for n, text in enumerate(texts):
        shake256_place(lanes, n, <const uint8_t*> text, len(text))
    while len(streams[0]) < size:
        shake256_permute(lanes, len(texts))
        for n in range(len(texts)):
            for row in range(RATE_LANES):
                streams[n] += lanes[row][n].to_bytes(8, "little")
    return [bytes(stream[:size]) for stream in streams]


choose_build(not is_portable_wanted())
