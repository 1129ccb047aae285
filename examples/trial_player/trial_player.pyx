"""A compiled player of its own package: every action gets a fair trial.

World after world is dealt that fits what the seat knows; in each of them every legal action is tried,
and the round is played out. The action with the best mean wins. All that it calls of a game is in the
game interface (tavolata/ext/core/game.pxd), so it plays every game; all of it runs without the GIL.
"""
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from tavolata.ai.stop cimport Stop
from tavolata.ext.core.chance cimport Chance
from tavolata.ext.core.game cimport POLICY_RANDOM, POLICY_RULE, SEATS_MAX, Dealer, Game

from time import perf_counter

from tavolata.ai.player import Decision


def trial(game, *, rule_playouts: bool = True):
    """What the entry point names. Its keyword-only parameters are the player's settings; they are read
    from the signature, which a compiled class, unlike a compiled function, does not have.

    rule_playouts: play out by the game's rule of thumb, not at random.
    """
    return TrialPlayer(game, rule_playouts)


cdef class TrialPlayer:
    cdef Game game
    cdef int policy

    def __init__(self, Game game, bint rule_playouts):
        self.game = game
        self.policy = POLICY_RULE if rule_playouts and game.has_rule() else POLICY_RANDOM

    def decide(self, observation, limits, *, seed, Stop stop):
        """An iteration is one playout. One pass over the actions is made in any case, so that all
        are compared; then passes go on to the first limit."""
        actions = observation.legal_actions
        if len(actions) == 1:
            return Decision(actions[0])
        started = perf_counter()
        cdef double until = started + (limits.think_ms or 3.6e6) / 1000
        cdef long passes = max(1, (limits.iterations or 1_000_000_000) // len(actions))
        cdef Trial trial = Trial(self.game, observation, seed)
        cdef long done = 0
        while done < passes:
            with nogil:
                trial.run(self.policy)
            done += 1
            if stop.flag or perf_counter() >= until:
                break
        return Decision(
            actions[trial.best()],
            iterations=done * len(actions),
            elapsed_ms=1000 * (perf_counter() - started),
        )


cdef class Trial:
    """The memory of one decision; nothing is kept for the next."""
    cdef Game game
    cdef Dealer dealer
    cdef Chance chance
    cdef int seat, count
    cdef char* world      # as it was dealt
    cdef char* state      # where it is played out
    cdef int32_t* actions
    cdef double* sums     # of the seat's utility, by action

    def __cinit__(self, Game game, observation, seed):
        cdef int i
        self.game, self.seat = game, observation.seat
        self.dealer = game.dealer(observation.view_bytes, self.seat)
        self.chance.state = <uint64_t> (seed & 0xFFFFFFFFFFFFFFFF)
        self.chance.keyed = NULL  # search draws from its own generator, never from the match's
        self.count = len(observation.legal_actions)
        self.world = <char*> malloc(game.state_bytes)
        self.state = <char*> malloc(game.state_bytes)
        self.actions = <int32_t*> malloc(self.count * sizeof(int32_t))
        self.sums = <double*> malloc(self.count * sizeof(double))
        if not (self.world and self.state and self.actions and self.sums):
            raise MemoryError
        for i in range(self.count):
            self.actions[i] = observation.legal_actions[i]
            self.sums[i] = 0

    def __dealloc__(self):
        free(self.world)
        free(self.state)
        free(self.actions)
        free(self.sums)

    cdef void run(self, int policy) noexcept nogil:
        """Try every action in one more world. All in the same one: so what the world is worth by
        itself makes no difference between them."""
        cdef double utility[SEATS_MAX]
        cdef int i
        self.dealer.deal(self.world, &self.chance)
        for i in range(self.count):
            memcpy(self.state, self.world, self.game.state_bytes)
            self.game.apply(self.state, self.seat, self.actions[i], &self.chance, NULL)
            self.game.playout(self.state, &self.chance, policy)
            self.game.utility(self.state, utility)
            self.sums[i] += utility[self.seat]

    cdef int best(self) noexcept:
        """The first of those with the best mean."""
        cdef int i, found = 0
        for i in range(1, self.count):
            if self.sums[i] > self.sums[found]:
                found = i
        return found
