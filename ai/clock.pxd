# A clock that only goes forward, in milliseconds.
cdef extern from *:
    """
    #include <time.h>
    static inline double tav_now_ms(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
    }
    """
    double now_ms "tav_now_ms"() noexcept nogil
