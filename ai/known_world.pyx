"""A dealer that knows the position: for a search with hindsight, and for searches of one world.

Whoever searches with it sees through it all that was dealt. A seat's player must never be given one
that was made of the true position.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from tavolata.ext.core.chance cimport Chance
from tavolata.ext.core.game cimport Dealer, Game


cdef class KnownWorld(Dealer):
    """Deals the same position every time; what chance does later stays open.

    state: all bytes of a position, as Match.state_bytes gives them. ValueError if they can be no
    position of ``game`` by their number.
    """
    cdef bytes position
    cdef const uint8_t* raw
    cdef size_t size

    def __init__(self, Game game, bytes state):
        if <size_t> len(state) != game.state_bytes:
            raise ValueError(f"a position of {game.spec.id} has {game.state_bytes} bytes, not {len(state)}")
        self.position = state
        self.raw = <const uint8_t*> self.position
        self.size = game.state_bytes

    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        memcpy(state, self.raw, self.size)
