"""The interface every game fills in, and what all games share of it.

A game subclasses ``Game`` in Cython. The nogil methods are the rules. Names, notation, typed views
and events are its *face*, plain Python over the unpacked state (face.py), outside hot loops.
A method that a game forgot, or whose signature misses by a word, must not run silently: the base
versions abort the process with the name of what is missing.
"""
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdio cimport fprintf, stderr
from libc.stdlib cimport abort

from tavolata.ext.core.bits cimport lowest


cdef void missing(const char* method) noexcept nogil:
    fprintf(stderr, "tavolata: a game does not implement %s\n", method)
    abort()


cdef class Dealer:
    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        missing("Dealer.deal")


cdef class PlayoutLoop:
    cdef void run(self, Game game, void* state, Chance* chance, int policy) noexcept nogil:
        missing("PlayoutLoop.run")


cdef class Game:
    def __init__(self, spec, int seat_count, dict options, face):
        """Make the rules for a table; seat count and options must have been checked by ``spec``.

        face: names, notation, typed views and events (face.py).
        """
        from tavolata.ext.core.cpu import best_build

        self.spec = spec
        self.seat_count = seat_count
        self.options = options
        self.face = face
        self.loop = best_build("tavolata.ext.core", "_playout").Loop()

    cdef void deal(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """Write the first position of a match into ``state``."""
        missing("deal")

    cdef uint32_t to_act(self, const void* state) noexcept nogil:
        """The set of seats that must choose; 0 at a horizon and when the match is over."""
        missing("to_act")
        return 0

    cdef int legal(self, const void* state, int seat, int32_t* out) noexcept nogil:
        """Write the legal actions of a seat in ``to_act``, ascending, and return their number.

        Without an implementation of its own a game with ``has_bits`` gets the list of its bits.
        """
        cdef uint64_t left
        cdef int count = 0
        if not self.has_bits:
            missing("legal")
        left = self.legal_bits(state, seat)
        while left:
            out[count] = lowest(left)
            count += 1
            left &= left - 1
        return count

    cdef uint64_t legal_bits(self, const void* state, int seat) noexcept nogil:
        """The legal actions of a seat in ``to_act`` as a bit set (only with ``has_bits``)."""
        missing("legal_bits")
        return 0

    cdef void apply(self, void* state, int seat, int action, Chance* chance, EventLog* log) noexcept nogil:
        """Carry out a legal action and the forced steps after it. ``log`` may be NULL."""
        missing("apply")

    cdef int outcome(self, const void* state) noexcept nogil:
        """What everybody saw chance do in the last action, 0..32767 (only with ``has_outcomes``).

        A search keeps what follows different outcomes apart. It need not tell everything: what
        it leaves out, the search averages over.
        """
        missing("outcome")
        return 0

    cdef bint horizon(self, const void* state) noexcept nogil:
        """Whether a round has been booked and the next one is not dealt yet."""
        missing("horizon")
        return False

    cdef bint over(self, const void* state) noexcept nogil:
        """Whether the match has ended."""
        missing("over")
        return False

    cdef void advance(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """From a horizon to the first decision of the next round."""
        missing("advance")

    cdef void totals(self, const void* state, int32_t* out) noexcept nogil:
        """Points of finished rounds, a number a seat."""
        missing("totals")

    cdef void running_points(self, const void* state, int32_t* out) noexcept nogil:
        """Points taken in the round in progress, before end-of-round effects."""
        missing("running_points")

    cdef void placement(self, const void* state, int32_t* places) noexcept nogil:
        """Places by the totals as they stand, 1 the best, ties shared (1, 2, 2, 4)."""
        missing("placement")

    cdef void utility(self, const void* state, double* out) noexcept nogil:
        """What the position is worth to each seat, in [0, 1]; at a horizon or the end only."""
        missing("utility")

    cdef void blank(self, void* state, int viewer) noexcept nogil:
        """Remove from ``state`` all that ``viewer`` (a seat or SPECTATOR) can't know."""
        missing("blank")

    cpdef Dealer dealer(self, bytes view, int viewer):
        """A dealer of worlds that fit a seat's view, each physical deal equally likely."""
        raise NotImplementedError("dealer")

    cdef bint has_rule(self) noexcept nogil:
        """Whether the game has a rule of thumb."""
        return False

    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil:
        """The rule of thumb's action; reads nothing but what the seat may know."""
        missing("rule")
        return 0

    cdef void playout(self, void* state, Chance* chance, int policy) noexcept nogil:
        """Play to the horizon or the end. The generic loop unless the game has a faster one."""
        self.loop.run(self, state, chance, policy)

    cdef int broken_invariant(self, const void* state) noexcept nogil:
        """0, or the number of an invariant of the state that does not hold."""
        return 0

    def replay(self, bytes event_words):
        """The round so far as it can be played again in other worlds (replay.Replay).

        event_words: a seat's events of the round, as Match.event_words gives them. None where the
        game can't do that.
        """
        return None

    # -- the Python face --------------------------------------------------------------------------

    def unpack(self, bytes state) -> dict:
        """The state struct as a dict of its fields."""
        raise NotImplementedError("unpack")

    def pack(self, dict fields) -> bytes:
        """The state struct from all its fields."""
        raise NotImplementedError("pack")

    def action_name(self, int action) -> str:
        """The action as text, like ``play QC``."""
        return self.face.action_name(action)

    def action_number(self, str name) -> int:
        """The number of an action given as text; ValueError if it is none of this game's."""
        return self.face.action_number(name)

    def why_illegal(self, bytes state, int seat, int action):
        """The Refusal (rule id and text) that forbids an action that is not legal."""
        return self.face.why_illegal(self.unpack(state), seat, action)

    def view(self, bytes view, int viewer):
        """A blanked state as the game's frozen ``View`` dataclass."""
        return self.face.view(self.unpack(view), viewer)

    def event(self, int kind, tuple public, secret):
        """An event as the game's frozen dataclass; ``secret`` is None for those who may not see it."""
        return self.face.event(kind, public, secret)

    def format_state(self, bytes state) -> str:
        """The position as one line of text."""
        return self.face.format_state(self.unpack(state))

    def parse_state(self, str text) -> bytes:
        """The position from its line of text; ValueError says what is wrong with it."""
        return self.pack(self.face.parse_state(text))

    def chance_item(self, int purpose, int item) -> str:
        """The name of an item in a shuffle of this purpose."""
        return self.face.chance_item(purpose, item)


cdef void places_from_scores(const int32_t* scores, int count, bint low_wins, int32_t* places) noexcept nogil:
    """Standard competition ranking (1, 2, 2, 4)."""
    cdef int seat, other
    for seat in range(count):
        places[seat] = 1
        for other in range(count):
            if (scores[other] < scores[seat]) if low_wins else (scores[other] > scores[seat]):
                places[seat] += 1


cdef void utility_from_scores(const int32_t* scores, int count, bint low_wins, double* out) noexcept nogil:
    """(n - p)/(n - 1) with p the mean place of the tied group, the score difference folded in.

    Seats of unlike placement are at least 1/(2(n-1)) apart, the fold spans less than 1/(4n): among
    equal placements the greater difference to the mean of the others decides, never otherwise.
    """
    cdef int seat, other
    cdef double won, difference, span = 1.0 / (4 * count)
    for seat in range(count):
        won = 0.0
        difference = 0.0
        for other in range(count):
            if other == seat:
                continue
            if scores[seat] == scores[other]:
                won += 0.5
            elif (scores[seat] < scores[other]) == low_wins:
                won += 1.0
            difference += scores[seat] - scores[other]
        difference /= count - 1
        if low_wins:
            difference = -difference
        out[seat] = (1.0 - span) * won / (count - 1) + span * squashed(difference / 100.0)


cdef void expected_utility(const int32_t* scores, int count, bint low_wins, double scale, double* out) noexcept nogil:
    """The placement utility to expect when the rest of the match spreads score differences by ``scale``.

    For each other seat the chance to end in front of it is a logistic-like curve of the difference;
    their mean is the expectation of (n - p)/(n - 1).
    """
    cdef int seat, other
    cdef double share
    for seat in range(count):
        out[seat] = 0.0
    for seat in range(count):
        for other in range(seat):
            share = squashed((scores[seat] - scores[other]) / scale)
            if low_wins:
                share = 1.0 - share
            out[seat] += share
            out[other] += 1.0 - share
    for seat in range(count):
        out[seat] /= count - 1


cdef inline double squashed(double x) noexcept nogil:
    """Monotone from (-inf, inf) onto (0, 1), 1/2 at 0: a rational curve, a tenth of a logistic's cost."""
    return 0.5 + 0.5 * x / (1.0 + (x if x >= 0 else -x))
