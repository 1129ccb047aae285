"""Players that do not search: any legal action, and the game's rule of thumb."""
from libc.stdint cimport uint8_t, uint64_t

from tavolata.ext.core.chance cimport Chance, random_below
from tavolata.ext.core.game cimport Game

from tavolata.ai.player import Decision


class RandomPlayer:
    """Any legal action, each as likely."""

    def decide(self, observation, limits, *, seed, stop):
        cdef uint64_t state = seed & 0xFFFFFFFFFFFFFFFF
        legal = observation.legal_actions
        return Decision(legal[random_below(&state, len(legal))])


class GreedyPlayer:
    """The game's rule of thumb, or any legal action where the game has none."""

    def decide(self, observation, limits, *, seed, stop):
        cdef Game game = observation.game
        cdef Chance chance
        cdef bytes view = observation.view_bytes
        if not game.has_rule():
            return RandomPlayer().decide(observation, limits, seed=seed, stop=stop)
        chance.state = seed & 0xFFFFFFFFFFFFFFFF
        chance.keyed = NULL
        return Decision(game.rule(<const uint8_t*> view, observation.seat, &chance))
