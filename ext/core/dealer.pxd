# The exact dealer of unseen items; see dealer.pyx.
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from tavolata.ext.core.chance cimport Chance

cdef enum:
    ITEMS_MAX = 128     # unseen cards, dice or tiles
    CLASSES_MAX = 8     # kinds of constraint among them
    PLACES_MAX = 16     # hands, bag, pile, left-over

cdef class ExactDealer:
    cdef readonly int item_count
    cdef int class_count, group_count
    cdef uint8_t items[ITEMS_MAX]            # class by class
    cdef int class_size[CLASSES_MAX]
    cdef int group_size[PLACES_MAX]          # items of the merged places together
    cdef int group_places[PLACES_MAX]        # places merged into the group
    cdef uint32_t group_allowed[PLACES_MAX]  # classes that the group may hold, a bit each
    cdef int place_at[PLACES_MAX]            # where in the output the group's k-th place begins
    cdef int place_size[PLACES_MAX]
    cdef double binomial[ITEMS_MAX + 1][ITEMS_MAX + 1]
    cdef double* ways                        # completions by (group, what is left of each class)
    cdef size_t stride[CLASSES_MAX]
    cdef size_t table_size
    cdef int joint_count                     # whole count matrices in the alias table, 0 without one
    cdef uint8_t* joint                      # [joint][group][class]
    cdef double* joint_threshold
    cdef int32_t* joint_alias

    cdef double count(self, int group, int* left) noexcept nogil
    cdef double count_split(self, int group, int* left, int first, int need, double factor) noexcept nogil
    cdef void split(self, int group, int* left, int* taken, uint64_t* state) noexcept nogil
    cdef bint list_joint(self, int group, int* left, int first, int need, double weight,
                         uint8_t* row, double* shares) noexcept nogil
    cdef _fill_alias(self, double* shares)
    cdef void sample(self, uint8_t* out, Chance* chance) noexcept nogil
