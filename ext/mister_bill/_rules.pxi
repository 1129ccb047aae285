from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from tavolata.ext.core.bits cimport highest, lowest, nth, popcount
from tavolata.ext.core.chance cimport (
    Chance,
    chance_expect_pick,
    chance_expect_shuffle,
    chance_pick,
    chance_shuffle,
)
from tavolata.ext.core.game cimport Dealer, Game, expected_utility, places_from_scores, utility_from_scores
from tavolata.ext.core.log cimport EVERYBODY, EventLog, event_begin, event_secret, log_end, log_word
from tavolata.ext.core.types cimport octet
from tavolata.ext.mister_bill.facts cimport (
    ABSENT,
    HELD,
    fits,
    gain_unseen,
    kinds_at,
    know_whole,
    UNKNOWN,
    lose_unseen,
)
from tavolata.ext.mister_bill.state cimport (
    BOOKED,
    GIFT,
    KINDS,
    NONE,
    OVER,
    ROUNDS,
    ROW,
    SEATS,
    TURN,
    State,
)
from tavolata.ext.mister_bill.worlds cimport Worlds

from tavolata.ext.mister_bill import cards as seed_cards

cdef enum:
    DECLINE = 0
    PLAY_A = 1                  # + target
    PLAY_B = 9
    PLAY_C = 17
    PLAY_A_ALONE = 25           # MB-18: as the last card, without a target
    PLAY_B_ALONE = 26
    PLAY_D = 27
    PLAY_E = 28
    GIVE = 32                   # + kind
    CARDS_MAX = 51
    EXPECTED_DRAWS = 8

cdef enum Purpose:
    DEALER = 0
    TEAMS = 1
    DEAL = 2
    DRAW = 3
    BLIND = 4

# The standard deviation of the difference of two seats' points in rounds 1 to 3, over 3,000 matches of four seats
# that play by the rule of thumb.
cdef double[ROUNDS] ROUND_SPREAD = [3.3, 3.3, 4.9]

# expected_utility's curve has the slope of the normal distribution at zero with this multiple of its deviation.
cdef double SLOPE_MATCH = 1.2533


cdef class Rules(Game):
    cdef int count[KINDS]                    # cards of each kind
    cdef int card_total
    cdef int observer_count                  # seats and, the last one, spectators
    cdef uint8_t deck[CARDS_MAX]             # every card by its kind, in the documented order
    cdef int waiter_a, waiter_b, waiter_c, waiter_d, waiter_e, bill, shift
    cdef uint32_t waiters                    # the five of them as a set of kinds
    cdef octet team[ROUNDS][SEATS + 1]       # by team card
    cdef octet value[ROUNDS][SEATS + 1]      # of the next team to complete, by the teams that have
    cdef bint is_blind                       # swap_one = blind
    cdef bint last_b_swaps                   # last_card_b = swap
    cdef double horizon_scale[ROUNDS]

    def __init__(self, spec, int seat_count, dict options, face):
        super().__init__(spec, seat_count, options, face)
        self.state_bytes = sizeof(State)
        self.action_count = GIVE + KINDS
        self.legal_max = 1 + 3 * (SEATS - 1) + 2
        self.has_bits = True
        self.has_outcomes = False
        self.purposes = ("dealer", "teams", "deal", "draw", "blind")
        self.observer_count = seat_count + 1
        self.is_blind = options["swap_one"] == "blind"
        self.last_b_swaps = options["last_card_b"] == "swap"
        self._load_cards()
        self._load_rounds()

    def _load_cards(self):
        cdef int kind, i
        counts = seed_cards.counts_of(self.options)
        for kind in range(KINDS):
            self.count[kind] = counts[kind]
            for i in range(self.count[kind]):
                self.deck[self.card_total] = kind
                self.card_total += 1
        self.waiter_a, self.waiter_b, self.waiter_c, self.waiter_d, self.waiter_e = seed_cards.WAITERS
        for kind in seed_cards.WAITERS:
            self.waiters |= <uint32_t> 1 << kind
        self.bill, self.shift = seed_cards.MISTER_BILL, seed_cards.SHIFT_CHANGE

    def _load_rounds(self):
        cdef int i, k
        for i in range(ROUNDS):
            alone = seed_cards.plays_alone(i + 1, self.options)
            for k in range(1, SEATS + 1):
                self.team[i][k] = seed_cards.team_of(k, alone)
            for k in range(SEATS + 1):
                self.value[i][k] = seed_cards.value_of(k, i + 1, self.options)
            # What is still to come spreads scores by the root of the sum of the squares.
            self.horizon_scale[i] = SLOPE_MATCH * sum([ROUND_SPREAD[r] ** 2 for r in range(i + 1, ROUNDS)]) ** 0.5

    # -- the course of a match -------------------------------------------------------------------

    cdef void deal(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """MB-6: the dealer of round 1 is drawn."""
        cdef State* s = <State*> state
        memset(s, 0, sizeof(State))
        expect_deals(self, chance)
        s.dealer = chance_pick(chance, DEALER, 0, 0, self.seat_count)
        start_round(self, s, 1, chance, log)

    cdef void advance(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """MB-6: then the deal goes to the left."""
        cdef State* s = <State*> state
        s.dealer = left_of(self, s.dealer)
        start_round(self, s, s.round + 1, chance, log)

    cdef uint32_t to_act(self, const void* state) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == GIFT:
            return s.givers & ~<uint32_t> s.committed
        return <uint32_t> 1 << s.active if s.phase == TURN else 0

    cdef bint horizon(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == BOOKED

    cdef bint over(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == OVER

    cdef uint64_t legal_bits(self, const void* state, int seat) noexcept nogil:
        """MB-10: any waiter in the hand, or none; MB-18: its targets. MB-12, MB-14, MB-16: any card to give."""
        cdef const State* s = <const State*> state
        cdef uint32_t hand = s.hands[seat]
        cdef uint64_t targets = s.seats_in & ~(<uint32_t> 1 << seat)
        cdef uint64_t legal = 1
        if s.phase == GIFT:
            return <uint64_t> hand << GIVE
        if not hand & self.waiters:
            return legal
        if hand >> self.waiter_a & 1:
            legal |= targets << PLAY_A if s.sizes[seat] > 1 else <uint64_t> 1 << PLAY_A_ALONE
        if hand >> self.waiter_b & 1:
            legal |= targets << PLAY_B if s.sizes[seat] > 1 or self.last_b_swaps else <uint64_t> 1 << PLAY_B_ALONE
        if hand >> self.waiter_c & 1:
            legal |= targets << PLAY_C
        if hand >> self.waiter_d & 1:
            legal |= <uint64_t> 1 << PLAY_D
        if hand >> self.waiter_e & 1:
            legal |= <uint64_t> 1 << PLAY_E
        return legal

    cdef void apply(self, void* state, int seat, int action, Chance* chance, EventLog* log) noexcept nogil:
        cdef State* s = <State*> state
        if s.phase == GIFT:
            commit(self, s, seat, action - GIVE, chance, log)
        elif action == DECLINE:
            log_declined(seat, log)
            finish_turn(self, s, chance, log)
        else:
            play_waiter(self, s, action, chance, log)

    # -- scores ----------------------------------------------------------------------------------

    cdef void totals(self, const void* state, int32_t* out) noexcept nogil:
        memcpy(out, (<const State*> state).totals, self.seat_count * sizeof(int32_t))

    cdef void running_points(self, const void* state, int32_t* out) noexcept nogil:
        """What complete teams have taken in a round in progress."""
        cdef const State* s = <const State*> state
        cdef int seat
        for seat in range(self.seat_count):
            out[seat] = s.points[s.round - 1][seat] if s.phase < BOOKED else 0

    cdef void placement(self, const void* state, int32_t* places) noexcept nogil:
        """MB-24: the highest total wins."""
        places_from_scores((<const State*> state).totals, self.seat_count, False, places)

    cdef void utility(self, const void* state, double* out) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == OVER:
            utility_from_scores(s.totals, self.seat_count, False, out)
        else:
            expected_utility(s.totals, self.seat_count, False, self.horizon_scale[s.round - 1], out)

    # -- what a seat knows -----------------------------------------------------------------------

    cdef void blank(self, void* state, int viewer) noexcept nogil:
        hide_from(self, <State*> state, viewer)

    cpdef Dealer dealer(self, bytes view, int viewer):
        return UnseenHands(self, view, viewer)

    # -- playing it out --------------------------------------------------------------------------

    cdef bint has_rule(self) noexcept nogil:
        return True

    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == GIFT:
            return GIVE + best_gift(self, s, seat)
        return best_waiter(self, s, seat)

    # -- checks ----------------------------------------------------------------------------------

    cdef int broken_invariant(self, const void* state) noexcept nogil:
        """1: cards of a kind don't add up; 2: a hand's size is wrong, or a seat is in without or out with
        cards; 3: a hand does not satisfy what somebody knows of it; 4: facts about one's own hand or that
        of a seat that is out; 5: a shift change is pending; 6: no odd number of Mister Bills is in play."""
        cdef const State* s = <const State*> state
        cdef int kind, seat, observer, cards
        if s.shifts:
            return 5
        for kind in range(KINDS):
            cards = s.gone[kind]
            for seat in range(self.seat_count):
                cards += s.hands[seat] >> kind & 1
            if cards != self.count[kind]:
                return 1
        if not (self.count[self.bill] - s.gone[self.bill]) & 1:
            return 6
        for seat in range(self.seat_count):
            if s.sizes[seat] != popcount(s.hands[seat]) or (s.sizes[seat] > 0) != (s.seats_in >> seat & 1):
                return 2
            for observer in range(min(self.observer_count, SEATS + 1)):
                if observer == seat or not s.seats_in >> seat & 1:
                    for kind in range(ROW):
                        if s.facts[observer][seat][kind]:
                            return 4
                elif not fits(<const uint8_t*> s.facts[observer][seat], s.hands[seat]):
                    return 3
        return 0

    def unpack(self, bytes state) -> dict:
        return (<const State*> <const uint8_t*> state)[0]

    def pack(self, dict fields) -> bytes:
        cdef State s
        memset(&s, 0, sizeof(State))
        s = fields
        return (<uint8_t*> &s)[:sizeof(State)]


include "_events.pxi"
include "_seats.pxi"
include "_knowledge.pxi"
include "_round.pxi"
include "_waiters.pxi"
include "_thumb.pxi"
