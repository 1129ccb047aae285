/* SHA-256 (FIPS 180-4) without an allocation or a call into Python: matches are hashed and decisions get their seeds
 * while the GIL is free. */
#ifndef TAVOLATA_SHA256_H
#define TAVOLATA_SHA256_H

#include <stddef.h>
#include <string.h>

#include "digest_types.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define TAV_HAS_SHA_BUILD 1
#else
#define TAV_HAS_SHA_BUILD 0
#endif

static const uint32_t tav_sha256_k[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t tav_rotr(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static inline uint32_t tav_load_be32(const uint8_t *p) {
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static inline void tav_store_be32(uint8_t *p, uint32_t x) {
    p[0] = (uint8_t)(x >> 24);
    p[1] = (uint8_t)(x >> 16);
    p[2] = (uint8_t)(x >> 8);
    p[3] = (uint8_t)x;
}

static inline void tav_store_be64(uint8_t *p, uint64_t x) {
    tav_store_be32(p, (uint32_t)(x >> 32));
    tav_store_be32(p + 4, (uint32_t)x);
}

static inline uint64_t tav_load_be64(const uint8_t *p) {
    return ((uint64_t)tav_load_be32(p) << 32) | tav_load_be32(p + 4);
}

#define TAV_ROUND(a, b, c, d, e, f, g, h, t) \
    first = h + (tav_rotr(e, 6) ^ tav_rotr(e, 11) ^ tav_rotr(e, 25)) + (g ^ (e & (f ^ g))) + tav_sha256_k[t] + w[t]; \
    d += first; \
    h = first + (tav_rotr(a, 2) ^ tav_rotr(a, 13) ^ tav_rotr(a, 22)) + ((a & b) | (c & (a | b)));

static void tav_sha256_portable(uint32_t *state, const uint8_t *p, size_t blocks) {
    uint32_t w[64], a, b, c, d, e, f, g, h, first;
    for (; blocks; blocks--, p += TAV_SHA256_BLOCK) {
        for (int t = 0; t < 16; t++) w[t] = tav_load_be32(p + 4 * t);
        for (int t = 16; t < 64; t++)
            w[t] = w[t - 16] + w[t - 7] + (tav_rotr(w[t - 15], 7) ^ tav_rotr(w[t - 15], 18) ^ (w[t - 15] >> 3))
                + (tav_rotr(w[t - 2], 17) ^ tav_rotr(w[t - 2], 19) ^ (w[t - 2] >> 10));
        a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
        for (int t = 0; t < 64; t += 8) {  /* eight rounds bring every letter back to its place */
            TAV_ROUND(a, b, c, d, e, f, g, h, t)
            TAV_ROUND(h, a, b, c, d, e, f, g, t + 1)
            TAV_ROUND(g, h, a, b, c, d, e, f, t + 2)
            TAV_ROUND(f, g, h, a, b, c, d, e, t + 3)
            TAV_ROUND(e, f, g, h, a, b, c, d, t + 4)
            TAV_ROUND(d, e, f, g, h, a, b, c, t + 5)
            TAV_ROUND(c, d, e, f, g, h, a, b, t + 6)
            TAV_ROUND(b, c, d, e, f, g, h, a, t + 7)
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

static void tav_sha256_portable_pair(uint32_t *one, const uint8_t *p, uint32_t *other, const uint8_t *q) {
    tav_sha256_portable(one, p, 1);
    tav_sha256_portable(other, q, 1);
}

#if TAV_HAS_SHA_BUILD
/* The processor's own instructions keep a state as two vectors, (f e b a) and (h g d c) from the low end. `width`
 * blocks of as many hashes are taken in at once: each has to wait for its own last result only, which two of them
 * do in the time of one. */
__attribute__((target("sha,sse4.1,ssse3"), always_inline))
static inline void tav_sha256_rounds(uint32_t *const *states, const uint8_t *const *blocks, const int width) {
    const __m128i to_big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i abef[2], cdgh[2], abef_before[2], cdgh_before[2], w[2][4];
#pragma GCC unroll 2
    for (int n = 0; n < width; n++) {
        const __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)states[n]), 0xb1);
        const __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(states[n] + 4)), 0x1b);
        abef[n] = abef_before[n] = _mm_alignr_epi8(low, high, 8);
        cdgh[n] = cdgh_before[n] = _mm_blend_epi16(high, low, 0xf0);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            w[n][i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks[n] + 16 * i)), to_big_endian);
    }
#pragma GCC unroll 16
    for (int r = 0; r < 16; r++) {
        const __m128i k = _mm_load_si128((const __m128i *)(tav_sha256_k + 4 * r));
#pragma GCC unroll 2
        for (int n = 0; n < width; n++) {
            const __m128i sum = _mm_add_epi32(w[n][r & 3], k);
            cdgh[n] = _mm_sha256rnds2_epu32(cdgh[n], abef[n], sum);
            abef[n] = _mm_sha256rnds2_epu32(abef[n], cdgh[n], _mm_shuffle_epi32(sum, 0x0e));
            if (r < 12) {  /* words 4r+16 to 4r+19 take the place of those just used */
                const __m128i seventh = _mm_alignr_epi8(w[n][(r + 3) & 3], w[n][(r + 2) & 3], 4);
                const __m128i begun = _mm_sha256msg1_epu32(w[n][r & 3], w[n][(r + 1) & 3]);
                w[n][r & 3] = _mm_sha256msg2_epu32(_mm_add_epi32(begun, seventh), w[n][(r + 3) & 3]);
            }
        }
    }
#pragma GCC unroll 2
    for (int n = 0; n < width; n++) {
        const __m128i low = _mm_shuffle_epi32(_mm_add_epi32(abef[n], abef_before[n]), 0x1b);   /* a b e f */
        const __m128i high = _mm_shuffle_epi32(_mm_add_epi32(cdgh[n], cdgh_before[n]), 0xb1);  /* g h c d */
        _mm_storeu_si128((__m128i *)states[n], _mm_blend_epi16(low, high, 0xf0));
        _mm_storeu_si128((__m128i *)(states[n] + 4), _mm_alignr_epi8(high, low, 8));
    }
}

__attribute__((target("sha,sse4.1,ssse3")))
static void tav_sha256_native(uint32_t *state, const uint8_t *p, size_t blocks) {
    for (; blocks; blocks--, p += TAV_SHA256_BLOCK) tav_sha256_rounds(&state, &p, 1);
}

__attribute__((target("sha,sse4.1,ssse3")))
static void tav_sha256_native_pair(uint32_t *one, const uint8_t *p, uint32_t *other, const uint8_t *q) {
    uint32_t *const states[2] = {one, other};
    const uint8_t *const blocks[2] = {p, q};
    tav_sha256_rounds(states, blocks, 2);
}

static int tav_has_sha(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 19)) || !(c & (1u << 9))) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29));
}
#else
#define tav_sha256_native tav_sha256_portable
#define tav_sha256_native_pair tav_sha256_portable_pair
static int tav_has_sha(void) { return 0; }
#endif

static void (*tav_sha256_blocks)(uint32_t *, const uint8_t *, size_t) = tav_sha256_portable;
static void (*tav_sha256_pair)(uint32_t *, const uint8_t *, uint32_t *, const uint8_t *) = tav_sha256_portable_pair;

static inline void tav_sha256_begin(tav_sha256 *hash) {
    static const uint32_t first[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    memcpy(hash->state, first, sizeof first);
    hash->length = 0;
}

static void tav_sha256_add(tav_sha256 *hash, const uint8_t *data, size_t size) {
    size_t held = (size_t)(hash->length % TAV_SHA256_BLOCK), part;
    hash->length += size;
    if (held) {
        part = size < TAV_SHA256_BLOCK - held ? size : TAV_SHA256_BLOCK - held;
        memcpy(hash->block + held, data, part);
        if (held + part < TAV_SHA256_BLOCK) return;
        tav_sha256_blocks(hash->state, hash->block, 1);
        data += part;
        size -= part;
    }
    if (size >= TAV_SHA256_BLOCK) tav_sha256_blocks(hash->state, data, size / TAV_SHA256_BLOCK);
    memcpy(hash->block, data + size - size % TAV_SHA256_BLOCK, size % TAV_SHA256_BLOCK);
}

static void tav_sha256_end(tav_sha256 *hash, uint8_t *digest) {
    size_t held = (size_t)(hash->length % TAV_SHA256_BLOCK);
    hash->block[held++] = 0x80;
    if (held > TAV_SHA256_BLOCK - 8) {
        memset(hash->block + held, 0, TAV_SHA256_BLOCK - held);
        tav_sha256_blocks(hash->state, hash->block, 1);
        held = 0;
    }
    memset(hash->block + held, 0, TAV_SHA256_BLOCK - 8 - held);
    tav_store_be64(hash->block + TAV_SHA256_BLOCK - 8, hash->length * 8);
    tav_sha256_blocks(hash->state, hash->block, 1);
    for (int i = 0; i < 8; i++) tav_store_be32(digest + 4 * i, hash->state[i]);
}

/* The hash that goes on with `number`, then the one that goes on with the number after it, each as four big-endian
 * numbers. */
static void tav_sha256_numbers(const tav_sha256 *prefix, uint64_t number, uint64_t *out) {
    size_t held = (size_t)(prefix->length % TAV_SHA256_BLOCK);
    uint32_t state[2][8];
    uint8_t block[2][TAV_SHA256_BLOCK], digest[32];
    if (held > TAV_SHA256_BLOCK - 17) {  /* number and end do not fit into the block */
        for (int n = 0; n < 2; n++) {
            tav_sha256 hash = *prefix;
            tav_store_be64(digest, number + (uint64_t)n);
            tav_sha256_add(&hash, digest, 8);
            tav_sha256_end(&hash, digest);
            for (int i = 0; i < 4; i++) out[4 * n + i] = tav_load_be64(digest + 8 * i);
        }
        return;
    }
    for (int n = 0; n < 2; n++) {
        memcpy(state[n], prefix->state, sizeof state[n]);
        memcpy(block[n], prefix->block, held);
        memset(block[n] + held, 0, TAV_SHA256_BLOCK - held);
        tav_store_be64(block[n] + held, number + (uint64_t)n);
        block[n][held + 8] = 0x80;
        tav_store_be64(block[n] + TAV_SHA256_BLOCK - 8, (prefix->length + 8) * 8);
    }
    tav_sha256_pair(state[0], block[0], state[1], block[1]);
    for (int i = 0; i < 8; i++) {
        const uint32_t *pair = state[i / 4] + 2 * (i % 4);
        out[i] = ((uint64_t)pair[0] << 32) | pair[1];
    }
}

/* Take the processor's own instructions where it has them and `wanted`; whether it does. */
static int tav_sha256_choose(int wanted) {
    int native = wanted && tav_has_sha();
    tav_sha256_blocks = native ? tav_sha256_native : tav_sha256_portable;
    tav_sha256_pair = native ? tav_sha256_native_pair : tav_sha256_portable_pair;
    return native;
}

#endif
