cdef class Stop:
    cdef volatile int flag      # read by searches without the GIL
