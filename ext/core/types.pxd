# A byte as a number. Cython turns arrays of uint8_t into Python bytes cut at the first zero, like C strings;
# arrays of octet become lists, which is what a state struct seen as a dict needs.
cdef extern from "<stdint.h>" nogil:
    ctypedef unsigned int octet "uint8_t"
