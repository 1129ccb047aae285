from libc.stdint cimport int32_t, uint32_t, uint64_t

from tavolata.ext.core.bits cimport lowest, nth, popcount
from tavolata.ext.core.chance cimport Chance, random_below
from tavolata.ext.core.game cimport POLICY_RULE, Game, PlayoutLoop


cdef class Loop(PlayoutLoop):
    """Random or rule-of-thumb actions until nobody is to act."""

    cdef void run(self, Game game, void* state, Chance* chance, int policy) noexcept nogil:
        cdef uint32_t seats = game.to_act(state)
        cdef uint64_t bits
        cdef int seat, action
        cdef int32_t actions[4096]
        while seats:
            seat = lowest(seats)
            if policy == POLICY_RULE:
                action = game.rule(state, seat, chance)
            elif game.has_bits:
                bits = game.legal_bits(state, seat)
                action = nth(bits, random_below(&chance.state, popcount(bits)))
            else:
                action = actions[random_below(&chance.state, game.legal(state, seat, actions))]
            game.apply(state, seat, action, chance, NULL)
            seats = game.to_act(state)
