"""Worlds weighted by how well they explain what the other seats have done in the round.

Others are taken to follow the rule of thumb in some of their decisions, and to do anything in the rest.
"""
from libc.math cimport exp, log
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc

from tavolata.ext.core.chance cimport Chance
from tavolata.ext.core.game cimport Dealer, Game
from tavolata.ext.core.replay cimport Replay

from tavolata.ai.listed_worlds import ListedWorlds

POOL = 1_000    # worlds that are weighted for a decision


def believed(Game game, Dealer dealer, Replay replay, int seat, double belief, double slips, seed):
    """A dealer of worlds of ``dealer``, weighted: the share ``belief`` of what it deals by the chances of
    what the others did, the rest evenly, so that no world is ruled out by what others would hardly do."""
    states, logarithms = explained(game, dealer, replay, seat, POOL, slips, seed)
    greatest = max(logarithms)
    weights = [exp(each - greatest) for each in logarithms]
    total = sum(weights)
    return ListedWorlds(game, states, [belief * each / total + (1 - belief) / POOL for each in weights])


def explained(Game game, Dealer dealer, Replay replay, int seat, int count, double slips, seed) -> tuple:
    """Worlds from a dealer, and how likely the other seats' decisions of the round were in each.

    seat: whose dealer it is; count: worlds; slips: the share of decisions, above 0 to 1, that don't
    follow the rule of thumb. Returns the states and natural logarithms of the chances.
    """
    cdef uint8_t* state = <uint8_t*> malloc(game.state_bytes)
    cdef int32_t* legal = <int32_t*> malloc(game.legal_max * sizeof(int32_t))
    cdef Chance chance
    cdef double chances
    if not (state and legal):
        free(state)
        free(legal)
        raise MemoryError
    chance.state = seed & 0xFFFFFFFFFFFFFFFF
    chance.keyed = NULL
    states, logarithms = [], []
    for _ in range(count):
        with nogil:
            dealer.deal(state, &chance)
        states.append(state[:game.state_bytes])
        with nogil:
            chances = log_chance(game, replay, state, seat, slips, legal, &chance)
        logarithms.append(chances)
    free(state)
    free(legal)
    return states, logarithms


cdef double log_chance(Game game, Replay replay, uint8_t* state, int seat, double slips,
                       int32_t* legal, Chance* chance) noexcept nogil:
    """Plays the round again in this world, up to where it began from."""
    cdef double total = 0.0
    cdef int i, count
    replay.restart(state)
    for i in range(replay.count):
        if replay.seats[i] != seat:
            count = game.legal(state, replay.seats[i], legal)
            if count > 1:
                total += log(slips / count + (
                    1.0 - slips if game.rule(state, replay.seats[i], chance) == replay.actions[i] else 0.0
                ))
        game.apply(state, replay.seats[i], replay.actions[i], chance, NULL)
    return total


def replayed(Game game, Replay replay, bytes state) -> tuple:
    """A world at the first decision of the round, and after all decisions again, each of which must
    be legal there. For tests."""
    cdef bytearray copy = bytearray(state)
    cdef uint8_t* raw = copy
    cdef int32_t* legal = <int32_t*> malloc(game.legal_max * sizeof(int32_t))
    cdef Chance chance
    cdef int i, k, count
    if legal == NULL:
        raise MemoryError
    chance.state = 0
    chance.keyed = NULL
    replay.restart(raw)
    first = bytes(copy)
    for i in range(replay.count):
        count = game.legal(raw, replay.seats[i], legal)
        possible = [legal[k] for k in range(count)]
        if not game.to_act(raw) >> replay.seats[i] & 1 or replay.actions[i] not in possible:
            free(legal)
            raise ValueError(f"decision {i} of the round is not possible in this world")
        game.apply(raw, replay.seats[i], replay.actions[i], &chance, NULL)
    free(legal)
    return first, bytes(copy)
