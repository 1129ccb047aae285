# UCB with availability counts (Cowling, Powley, Whitehouse 2012): an action is compared by how often it could have been
# taken, not by how often its parent was visited.
from libc.stdint cimport uint32_t

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    /* ln(n) to 7e-4 from the exponent and a cubic in the mantissa (least squares, exact at powers of two):
       a tenth of the cost of logf, and the same bits on every processor. */
    static inline float tav_ln(uint32_t n) {
        float x = (float)n;
        uint32_t bits;
        memcpy(&bits, &x, 4);
        float exponent = (float)((int)(bits >> 23) - 127);
        bits = (bits & 0x7fffffu) | 0x3f800000u;
        memcpy(&x, &bits, 4);
        float mantissa = -2.15684951f + (3.0489706f + (-1.04896925f + 0.15684817f * x) * x) * x;
        return 0.69314718f * (exponent + mantissa);
    }
    static inline float tav_ucb(double reward, uint32_t visits, uint32_t availability, float c) {
        float n = (float)visits;
        return (float)reward / n + c * sqrtf(tav_ln(availability) / n);
    }
    """
    float ucb "tav_ucb"(double reward, uint32_t visits, uint32_t availability, float c) noexcept nogil
    float fast_ln "tav_ln"(uint32_t n) noexcept nogil
