/* Hashes in progress; the functions on them are in sha256.h and shake256.h. */
#ifndef TAVOLATA_DIGEST_TYPES_H
#define TAVOLATA_DIGEST_TYPES_H

#include <stdint.h>

enum { TAV_SHA256_BLOCK = 64, TAV_SHAKE256_RATE = 136, TAV_SIDE_BY_SIDE = 8 };

typedef struct {
    uint32_t state[8];
    uint64_t length;                     /* bytes taken in */
    uint8_t block[TAV_SHA256_BLOCK];     /* those that do not fill a block yet */
} tav_sha256;

typedef struct {
    uint64_t lane[25];
    unsigned used;                       /* bytes of the rate taken in, then given out */
} tav_shake256;

#endif
