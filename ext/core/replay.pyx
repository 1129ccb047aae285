"""A round so far, to be played again in a world that fits what a seat has seen.

Only for games in which nothing but decisions happens between the first decision of a round and its end:
no chance, and no decision that is hidden from a seat.
"""
from libc.stdint cimport int32_t
from libc.stdio cimport fprintf, stderr
from libc.stdlib cimport abort, free, malloc

import array


def events_of(bytes event_words, int kind) -> list:
    """The public words of each event of a kind, from words as Match.event_words gives them."""
    words = array.array("i", event_words)
    events = []
    at = 0
    while at < len(words):
        if words[at + 1] == kind:
            events.append(tuple(words[at + 4:at + 4 + words[at + 3]]))
        at += words[at]
    return events


cdef class Replay:
    """decisions: (seat, action) from the first of the round on."""

    def __cinit__(self, list decisions, *args):
        cdef int i
        self.count = len(decisions)
        self.seats = <int32_t*> malloc((self.count + 1) * sizeof(int32_t))
        self.actions = <int32_t*> malloc((self.count + 1) * sizeof(int32_t))
        if not (self.seats and self.actions):
            raise MemoryError
        for i in range(self.count):
            self.seats[i], self.actions[i] = decisions[i]

    def __dealloc__(self):
        free(self.seats)
        free(self.actions)

    @property
    def decisions(self) -> list:
        """(seat, action) in order."""
        return [(self.seats[i], self.actions[i]) for i in range(self.count)]

    cdef void restart(self, void* state) noexcept nogil:
        """From a world dealt now, the position at the first decision of the round in that world."""
        fprintf(stderr, "tavolata: a Replay does not implement restart\n")
        abort()
