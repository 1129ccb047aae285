"""A flag that ends a running search from another thread."""


cdef class Stop:
    def set(self) -> None:
        """Ask the search to end; it answers with the best it has within half a millisecond."""
        self.flag = 1

    def is_set(self) -> bool:
        return self.flag != 0
