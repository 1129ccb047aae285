# What an observer knows of a hand (MB-27), a byte a kind:
#   0               nothing
#   1 + lost        held at the last sighting; the hand has lost so many cards unseen since
#   128 + gained    certainly absent then; the hand has gained so many cards unseen since
# Numbers stay at 126 or 127 once they get there: they mean nothing from the number of kinds on.
#
# A hand fits a row if the cards lost and gained can explain it. Each sighted kind that is missing takes a loss of its
# own, one of the last `lost` ones; these are nested, so this can be done exactly if among the kinds with lost <= j at
# most j are missing, for every j. Likewise at most j of the kinds with gained <= j may be present.
from libc.stdint cimport uint8_t, uint32_t

cdef enum:
    UNKNOWN = 0
    HELD = 1
    ABSENT = 128

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__SSE2__)
    #include <emmintrin.h>
    #endif
    #define MB_KINDS 13
    #define MB_ROW 16

    static inline void mb_lose_unseen(uint8_t *row) {
        for (int k = 0; k < MB_ROW; k++) row[k] = (uint8_t)(row[k] + ((uint8_t)(row[k] - 1) < 126));
    }

    static inline void mb_gain_unseen(uint8_t *row) {
        for (int k = 0; k < MB_ROW; k++) row[k] = (uint8_t)(row[k] + ((uint8_t)(row[k] - 128) < 127));
    }

    /* The kinds whose byte is `value`. */
    static inline uint32_t mb_kinds_at(const uint8_t *row, uint8_t value) {
    #if defined(__SSE2__)
        __m128i bytes = _mm_loadu_si128((const __m128i *)row);
        return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)value))) & 0x1fff;
    #else
        uint32_t kinds = 0;
        for (int k = 0; k < MB_KINDS; k++) kinds |= (uint32_t)(row[k] == value) << k;
        return kinds;
    #endif
    }

    /* Whole knowledge: these kinds and no others. */
    static inline void mb_know_whole(uint8_t *row, uint32_t hand) {
        for (int k = 0; k < MB_KINDS; k++) row[k] = hand >> k & 1 ? 1 : 128;
    }

    static inline int mb_fits(const uint8_t *row, uint32_t hand) {
        int missing[MB_KINDS + 1] = {0}, extra[MB_KINDS + 1] = {0}, far = MB_KINDS;
        for (int k = 0; k < MB_KINDS; k++) {
            if (row[k] >= 128) {
                int gained = row[k] - 128;
                extra[gained < far ? gained : far] += hand >> k & 1;
            } else if (row[k]) {
                int lost = row[k] - 1;
                missing[lost < far ? lost : far] += !(hand >> k & 1);
            }
        }
        for (int j = 0, m = 0, e = 0; j < MB_KINDS; j++) {
            m += missing[j];
            e += extra[j];
            if (m > j || e > j) return 0;
        }
        return 1;
    }
    """
    void lose_unseen "mb_lose_unseen"(uint8_t* row) noexcept nogil
    void gain_unseen "mb_gain_unseen"(uint8_t* row) noexcept nogil
    uint32_t kinds_at "mb_kinds_at"(const uint8_t* row, uint8_t value) noexcept nogil
    void know_whole "mb_know_whole"(uint8_t* row, uint32_t hand) noexcept nogil
    bint fits "mb_fits"(const uint8_t* row, uint32_t hand) noexcept nogil
