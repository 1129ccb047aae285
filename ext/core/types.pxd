# A byte as a number. Cython turns arrays of uint8_t into Python bytes cut at the first zero, like C strings;
# arrays of octet become lists, which is what a state struct seen as a dict needs. It is declared as a short
# (not an int), so that Cython computes with it in int: intermediate results must not be cut to a byte.
cdef extern from "<stdint.h>" nogil:
    ctypedef unsigned short octet "uint8_t"
