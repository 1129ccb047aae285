"""A compiled player that needs no Python to choose: the rule of thumb, and now and then something else.

Tournaments play matches of such players as a whole without the GIL.
"""
from libc.stdint cimport int32_t, uint64_t

from tavolata.ai.basic cimport NativePlayer
from tavolata.ext.core.chance cimport Chance, random_below
from tavolata.ext.core.game cimport Game


def eager(game, *, adventures: int = 10):
    """What the entry point names.

    adventures: of a hundred decisions, how many go to any legal action.
    """
    if not 0 <= adventures <= 100:
        raise ValueError(f"adventures is {adventures}; allowed: 0 to 100")
    return EagerPlayer(game, adventures)


cdef class EagerPlayer(NativePlayer):
    cdef unsigned int adventures

    def __init__(self, game, unsigned int adventures):
        super().__init__(game)
        self.adventures = adventures

    cdef int choose(self, Game game, const void* view, int seat,
                    const int32_t* legal, int count, uint64_t seed) noexcept nogil:
        cdef Chance chance
        if not game.has_rule() or random_below(&seed, 100) < self.adventures:
            return legal[random_below(&seed, <unsigned int> count)]
        chance.state = seed
        chance.keyed = NULL
        return game.rule(view, seat, &chance)
