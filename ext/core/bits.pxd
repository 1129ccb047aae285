# Bit sets of up to 64 actions. What the compiler may use (popcnt, pdep) is decided by the flags of the
# module that cimports this, so the same line serves the portable and the x86-64-v3 build.
from libc.stdint cimport uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__BMI2__)
    #include <immintrin.h>
    #endif

    static inline int tav_popcount(uint64_t set) {
    #if defined(__POPCNT__)
        return __builtin_popcountll(set);
    #else  /* SWAR: gcc's fallback is a library call */
        set = set - ((set >> 1) & 0x5555555555555555ULL);
        set = (set & 0x3333333333333333ULL) + ((set >> 2) & 0x3333333333333333ULL);
        set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
        return (int)((set * 0x0101010101010101ULL) >> 56);
    #endif
    }

    static inline int tav_lowest(uint64_t set) { return __builtin_ctzll(set); }
    static inline int tav_highest(uint64_t set) { return 63 - __builtin_clzll(set); }

    /* Position of the k-th (from 0) set bit; set must have more than k bits. */
    static inline int tav_nth(uint64_t set, unsigned k) {
    #if defined(__BMI2__)
        return __builtin_ctzll(_pdep_u64(1ULL << k, set));
    #else
        /* Byte-wise prefix counts find the byte without branches; at most seven steps remain in it. */
        uint64_t s = set - ((set >> 1) & 0x5555555555555555ULL);
        s = (s & 0x3333333333333333ULL) + ((s >> 2) & 0x3333333333333333ULL);
        s = ((s + (s >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL;
        uint64_t at_most = ((k * 0x0101010101010101ULL) | 0x8080808080808080ULL) - s;
        unsigned byte = (unsigned)(((at_most >> 7) & 0x0101010101010101ULL) * 0x0101010101010101ULL >> 56) * 8;
        k -= (unsigned)((s << 8) >> byte) & 0xff;
        uint64_t rest = (set >> byte) & 0xff;
        while (k--) rest &= rest - 1;
        return (int)byte + __builtin_ctzll(rest);
    #endif
    }
    """
    int popcount "tav_popcount"(uint64_t set) noexcept nogil
    int lowest "tav_lowest"(uint64_t set) noexcept nogil
    int highest "tav_highest"(uint64_t set) noexcept nogil
    int nth "tav_nth"(uint64_t set, unsigned int k) noexcept nogil
