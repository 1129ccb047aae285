"""A dealer of listed worlds: for positions in which whoever asks knows all that can be.

For searches whose answers are compared with exact ones over the same worlds, and for worlds that have
been weighted.
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from tavolata.ext.core.chance cimport Chance, random_below, random_unit
from tavolata.ext.core.game cimport Dealer, Game


cdef class ListedWorlds(Dealer):
    """Deals positions of a list in proportion to their weights; what chance does later stays open.

    states: all bytes of each position, as Match.state_bytes gives them; weights: one each, 0 or more and
    not all 0. ValueError if a position has another size than those of ``game``, or weights don't fit.
    """
    cdef uint8_t* positions
    cdef double* threshold      # Walker's alias table: keep a place below it, else take its alias
    cdef int32_t* alias
    cdef uint32_t count
    cdef size_t size

    def __cinit__(self, Game game, list states, list weights):
        cdef size_t i
        cdef bytes state
        if not states or len(states) != len(weights) or min(weights) < 0 or not 0 < sum(weights) < float("inf"):
            raise ValueError("each of one or more worlds needs a weight, 0 or more and not all 0")
        self.count = len(states)
        self.size = game.state_bytes
        self.positions = <uint8_t*> malloc(self.count * self.size)
        self.threshold = <double*> malloc(self.count * sizeof(double))
        self.alias = <int32_t*> malloc(self.count * sizeof(int32_t))
        if not (self.positions and self.threshold and self.alias):
            raise MemoryError
        for i in range(self.count):
            state = states[i]
            if <size_t> len(state) != self.size:
                raise ValueError(f"a position of {game.spec.id} has {self.size} bytes, not {len(state)}")
            memcpy(self.positions + i * self.size, <const uint8_t*> state, self.size)
        self._fill(weights)

    def __dealloc__(self):
        free(self.positions)
        free(self.threshold)
        free(self.alias)

    def _fill(self, list weights):
        """The alias table by Vose's method."""
        total = sum(weights)
        shares = [weight * len(weights) / total for weight in weights]
        poor = [place for place, share in enumerate(shares) if share < 1]
        rich = [place for place, share in enumerate(shares) if share >= 1]
        for place in range(len(weights)):
            self.threshold[place], self.alias[place] = 1.0, place
        while poor and rich:
            place, giver = poor.pop(), rich.pop()
            self.threshold[place], self.alias[place] = shares[place], giver
            shares[giver] -= 1 - shares[place]
            (poor if shares[giver] < 1 else rich).append(giver)

    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        memcpy(state, self.positions + self.drawn(chance) * self.size, self.size)

    cdef inline uint32_t drawn(self, Chance* chance) noexcept nogil:
        cdef uint32_t place = random_below(&chance.state, self.count)
        return place if random_unit(&chance.state) < self.threshold[place] else self.alias[place]

    def sample(self, seed: int, int count) -> list:
        """The places in the list of so many positions as they are dealt."""
        cdef Chance chance
        chance.state = seed & 0xFFFFFFFFFFFFFFFF
        chance.keyed = NULL
        return [self.drawn(&chance) for _ in range(count)]
