/* SHAKE-256 (FIPS 202) for short inputs, one stream at a time or eight side by side: rules draw chance while the GIL is
 * free, each draw from a stream of its own. */
#ifndef TAVOLATA_SHAKE256_H
#define TAVOLATA_SHAKE256_H

#include <stddef.h>
#include <string.h>

#include "digest_types.h"

static const uint64_t tav_keccak_round_constant[24] = {
    0x0000000000000001ULL, 0x0000000000008082ULL, 0x800000000000808aULL, 0x8000000080008000ULL,
    0x000000000000808bULL, 0x0000000080000001ULL, 0x8000000080008081ULL, 0x8000000000008009ULL,
    0x000000000000008aULL, 0x0000000000000088ULL, 0x0000000080008009ULL, 0x000000008000000aULL,
    0x000000008000808bULL, 0x800000000000008bULL, 0x8000000000008089ULL, 0x8000000000008003ULL,
    0x8000000000008002ULL, 0x8000000000000080ULL, 0x000000000000800aULL, 0x800000008000000aULL,
    0x8000000080008081ULL, 0x8000000000008080ULL, 0x0000000080000001ULL, 0x8000000080008008ULL,
};

/* Rotation and place of each lane along the path of the rho and pi steps, which starts at lane 1. */
static const uint8_t tav_keccak_turn[24] = {
    1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
};
static const uint8_t tav_keccak_place[24] = {
    10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1,
};

#define TAV_TURNED(x, n) ((x) << (n) | (x) >> (64 - (n)))

/* Permute `a`, 25 lanes of any type that has the operators of a number: numbers, or vectors of them. */
#define TAV_KECCAK_ROUNDS(lane_type, a) \
    lane_type column[5], moved, next; \
    for (int round = 0; round < 24; round++) { \
        _Pragma("GCC unroll 5") \
        for (int x = 0; x < 5; x++) column[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]; \
        _Pragma("GCC unroll 5") \
        for (int x = 0; x < 5; x++) { \
            moved = column[(x + 4) % 5] ^ TAV_TURNED(column[(x + 1) % 5], 1); \
            _Pragma("GCC unroll 5") \
            for (int y = 0; y < 25; y += 5) a[x + y] ^= moved; \
        } \
        moved = a[1]; \
        _Pragma("GCC unroll 24") \
        for (int i = 0; i < 24; i++) { \
            next = a[tav_keccak_place[i]]; \
            a[tav_keccak_place[i]] = TAV_TURNED(moved, tav_keccak_turn[i]); \
            moved = next; \
        } \
        _Pragma("GCC unroll 5") \
        for (int y = 0; y < 25; y += 5) { \
            const lane_type first = a[y], second = a[y + 1]; \
            a[y] ^= ~second & a[y + 2]; \
            a[y + 1] ^= ~a[y + 2] & a[y + 3]; \
            a[y + 2] ^= ~a[y + 3] & a[y + 4]; \
            a[y + 3] ^= ~a[y + 4] & first; \
            a[y + 4] ^= ~first & second; \
        } \
        a[0] ^= tav_keccak_round_constant[round]; \
    }

static void tav_keccak_portable(uint64_t *a) { TAV_KECCAK_ROUNDS(uint64_t, a) }

static void (*tav_keccak)(uint64_t *) = tav_keccak_portable;

/* Eight permutations side by side: lanes[i][n] is lane i of the n-th. The first `count` are wanted, the others may be
 * permuted or not. */
static void tav_keccak_in_turn(uint64_t (*lanes)[TAV_SIDE_BY_SIDE], int count) {
    uint64_t a[25];
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < 25; i++) a[i] = lanes[i][n];
        tav_keccak(a);
        for (int i = 0; i < 25; i++) lanes[i][n] = a[i];
    }
}

static void (*tav_keccak_eight)(uint64_t (*)[TAV_SIDE_BY_SIDE], int) = tav_keccak_in_turn;

#if defined(__x86_64__) && defined(__GNUC__)
typedef uint64_t tav_four __attribute__((vector_size(32)));
typedef uint64_t tav_eight __attribute__((vector_size(64)));

__attribute__((target("bmi,bmi2")))
static void tav_keccak_bmi(uint64_t *a) { TAV_KECCAK_ROUNDS(uint64_t, a) }

__attribute__((target("avx2")))
static void tav_keccak_avx2(uint64_t (*lanes)[TAV_SIDE_BY_SIDE], int count) {
    tav_four a[25];
    if (count == 1) {
        tav_keccak_in_turn(lanes, 1);
        return;
    }
    for (int n = 0; n < count; n += 4) {
        for (int i = 0; i < 25; i++) memcpy(&a[i], &lanes[i][n], sizeof a[i]);
        TAV_KECCAK_ROUNDS(tav_four, a)
        for (int i = 0; i < 25; i++) memcpy(&lanes[i][n], &a[i], sizeof a[i]);
    }
}

__attribute__((target("avx512f")))
static void tav_keccak_avx512(uint64_t (*lanes)[TAV_SIDE_BY_SIDE], int count) {
    tav_eight a[25];
    if (count == 1) {
        tav_keccak_in_turn(lanes, 1);
        return;
    }
    for (int i = 0; i < 25; i++) memcpy(&a[i], lanes[i], sizeof a[i]);
    TAV_KECCAK_ROUNDS(tav_eight, a)
    for (int i = 0; i < 25; i++) memcpy(lanes[i], &a[i], sizeof a[i]);
}

/* level: 0 for the portable build, 1 with BMI, 2 with AVX2 too, 3 with AVX-512 too. */
static int tav_has_keccak(int level) {
    __builtin_cpu_init();
    if (level >= 1 && !(__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))) return 0;
    if (level >= 2 && !__builtin_cpu_supports("avx2")) return 0;
    return level < 3 || __builtin_cpu_supports("avx512f");
}
#else
#define tav_keccak_bmi tav_keccak_portable
#define tav_keccak_avx2 tav_keccak_in_turn
#define tav_keccak_avx512 tav_keccak_in_turn
static int tav_has_keccak(int level) { return level == 0; }
#endif

/* Take the best build up to `level` that this processor can run; which one that is. */
static int tav_keccak_choose(int level) {
    while (!tav_has_keccak(level)) level--;
    tav_keccak = level >= 1 ? tav_keccak_bmi : tav_keccak_portable;
    tav_keccak_eight = level >= 3 ? tav_keccak_avx512 : level >= 2 ? tav_keccak_avx2 : tav_keccak_in_turn;
    return level;
}

static inline void tav_shake256_begin(tav_shake256 *shake) { memset(shake, 0, sizeof *shake); }

static void tav_shake256_add(tav_shake256 *shake, const uint8_t *data, size_t size) {
    uint8_t *bytes = (uint8_t *)shake->lane;  /* lanes are little-endian, as this machine is */
    while (size) {
        size_t room = TAV_SHAKE256_RATE - shake->used, part = size < room ? size : room;
        for (size_t i = 0; i < part; i++) bytes[shake->used + i] ^= data[i];
        shake->used += (unsigned)part;
        data += part;
        size -= part;
        if (shake->used == TAV_SHAKE256_RATE) {
            tav_keccak(shake->lane);
            shake->used = 0;
        }
    }
}

/* Nothing can be added after this. */
static void tav_shake256_end(tav_shake256 *shake) {
    shake->lane[shake->used / 8] ^= (uint64_t)0x1f << (8 * (shake->used % 8));
    shake->lane[TAV_SHAKE256_RATE / 8 - 1] ^= 0x8000000000000000ULL;
    tav_keccak(shake->lane);
    shake->used = 0;
}

/* The next four bytes of output as a big-endian number. */
static uint32_t tav_shake256_word(tav_shake256 *shake) {
    if (shake->used == TAV_SHAKE256_RATE) {
        tav_keccak(shake->lane);
        shake->used = 0;
    }
    uint32_t word = (uint32_t)(shake->lane[shake->used / 8] >> (8 * (shake->used % 8)));
    shake->used += 4;
    return __builtin_bswap32(word);
}

/* Make lanes of the n-th of eight streams from all that goes into it, fewer bytes than the rate. */
static void tav_shake256_place(uint64_t (*lanes)[TAV_SIDE_BY_SIDE], int n, const uint8_t *data, size_t size) {
    uint64_t block[TAV_SHAKE256_RATE / 8] = {0};
    memcpy(block, data, size);
    block[size / 8] ^= (uint64_t)0x1f << (8 * (size % 8));
    block[TAV_SHAKE256_RATE / 8 - 1] ^= 0x8000000000000000ULL;
    for (int i = 0; i < TAV_SHAKE256_RATE / 8; i++) lanes[i][n] = block[i];
    for (int i = TAV_SHAKE256_RATE / 8; i < 25; i++) lanes[i][n] = 0;
}

#endif
