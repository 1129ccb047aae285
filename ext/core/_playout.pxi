from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from tavolata.ext.core.bits cimport lowest, nth, popcount
from tavolata.ext.core.chance cimport Chance, random_below
from tavolata.ext.core.game cimport POLICY_RULE, SEATS_MAX, Game, PlayoutLoop


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

    def first_rounds(self, Game game, long count, seed: int, int policy, bint generic) -> int:
        """Deal and play out ``count`` first rounds, by this loop or by the game's own playout.

        Returns the sum of all seats' totals over all rounds; for benchmarks and tests.
        """
        cdef void* state = calloc(1, game.state_bytes)
        cdef Chance chance
        cdef int32_t totals[SEATS_MAX]
        cdef long long checksum = 0
        cdef long played
        cdef int seat
        if state == NULL:
            raise MemoryError
        chance.state = seed & 0xFFFFFFFFFFFFFFFF
        chance.keyed = NULL
        with nogil:
            for played in range(count):
                game.deal(state, &chance, NULL)
                if generic:
                    self.run(game, state, &chance, policy)
                else:
                    game.playout(state, &chance, policy)
                game.totals(state, totals)
                for seat in range(game.seat_count):
                    checksum += totals[seat]
        free(state)
        return checksum
