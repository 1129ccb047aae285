"""Players that do not search: any legal action, and the game's rule of thumb.

They are compiled players: matches between such players run as a whole while the GIL is free
(``arena.native``), and ``decide`` asks the same code from Python.
"""
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdio cimport fprintf, stderr
from libc.stdlib cimport abort, free, malloc

from tavolata.ext.core.chance cimport Chance, random_below
from tavolata.ext.core.game cimport Game

from tavolata.ai.player import Decision


cdef class NativePlayer:
    def __init__(self, game=None):
        """A player for matches of ``game``; players that need nothing of it are made without."""

    cdef int choose(self, Game game, const void* view, int seat,
                    const int32_t* legal, int count, uint64_t seed) noexcept nogil:
        fprintf(stderr, "tavolata: a NativePlayer does not implement choose\n")
        abort()
        return 0

    def decide(self, observation, limits, *, seed, stop):
        """What ``choose`` chooses. A class that overrides this is asked here and nowhere else."""
        cdef bytes view = observation.view_bytes
        cdef tuple actions = observation.legal_actions
        cdef Game game = observation.game
        cdef int count = len(actions)
        cdef int seat = observation.seat
        cdef uint64_t bits = seed & 0xFFFFFFFFFFFFFFFF
        cdef const uint8_t* raw = view
        cdef int32_t* legal = <int32_t*> malloc(max(count, 1) * sizeof(int32_t))
        cdef int i, action
        if legal == NULL:
            raise MemoryError
        for i in range(count):
            legal[i] = actions[i]
        with nogil:
            action = self.choose(game, raw, seat, legal, count, bits)
        free(legal)
        return Decision(action)


cdef class RandomPlayer(NativePlayer):
    """Any legal action, each as likely."""

    cdef int choose(self, Game game, const void* view, int seat,
                    const int32_t* legal, int count, uint64_t seed) noexcept nogil:
        return legal[random_below(&seed, <unsigned int> count)]


cdef class GreedyPlayer(NativePlayer):
    """The game's rule of thumb, or any legal action where the game has none."""

    cdef int choose(self, Game game, const void* view, int seat,
                    const int32_t* legal, int count, uint64_t seed) noexcept nogil:
        cdef Chance chance
        if not game.has_rule():
            return legal[random_below(&seed, <unsigned int> count)]
        chance.state = seed
        chance.keyed = NULL
        return game.rule(view, seat, &chance)


def is_native(kind) -> bool:
    """Whether players of this class choose by ``choose`` alone, so that they can be asked without Python."""
    return isinstance(kind, type) and issubclass(kind, NativePlayer) and kind.decide is NativePlayer.decide
