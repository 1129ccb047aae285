from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from tavolata.ext.bids.state cimport (
    ALLY,
    BID,
    BOOKED,
    CARDS,
    DOUBLE,
    FIRST_BLACK,
    LOWEST,
    MINUS_FIVE,
    NONE,
    OVER,
    PILE_MAX,
    ROUNDS,
    SEATS,
    SURPRISE,
    THEFT,
    THIEF,
    State,
)
from tavolata.ext.core.bits cimport lowest, popcount
from tavolata.ext.core.chance cimport (
    Chance,
    chance_expect_shuffle,
    chance_pick,
    chance_shuffle,
    random_below,
    random_shuffle,
)
from tavolata.ext.core.game cimport (
    Dealer,
    Game,
    expected_utility,
    places_from_scores,
    utility_from_scores,
)
from tavolata.ext.core.types cimport octet
from tavolata.ext.core.log cimport EVERYBODY, EventLog, event_begin, event_secret, log_end, log_word

from tavolata.ext.bids import deck

cdef enum:
    NO_NUMBER = -100            # of a card that carries none (BI-10)
    FIRST_STEAL = 76            # actions below are cards to bid
    STEALS = 16                 # action numbers for each seat to steal from
    MINUS_FIVE_STEAL = 14       # the place of -5 among them
    COLOURED_MAX = 56
    BLACKS_MAX = 20
    BLACK = 4                   # as a colour
    COLOURLESS = 5              # the Ally

cdef enum Purpose:
    LEADER = 0
    LEFT_OVER = 1
    BLACKS = 2
    DEAL = 3
    PILE = 4

# By seats from 3: the standard deviation of the difference of two seats' points in a round, and the chance of a seat to
# be a lucky loser in one, over 300 matches of five rounds (1,000 with four seats) that play by the rule of thumb.
cdef double[4] ROUND_SPREAD = [17.6, 13.9, 13.6, 14.6]
cdef double[4] LUCKY_CHANCE = [0.03, 0.09, 0.16, 0.21]

# expected_utility's curve has the slope of the normal distribution at zero with this multiple of its deviation.
cdef double SLOPE_MATCH = 1.2533


cdef class Rules(Game):
    cdef int hand_size, left_over_count, blacks_dealt, round_count
    cdef int lucky_factor, bonus_count, bonus_points
    cdef uint8_t coloured[COLOURED_MAX]   # the cards of the table, in number order
    cdef uint8_t dealable[BLACKS_MAX]     # blacks that may be in hands
    cdef uint8_t piled[BLACKS_MAX]        # blacks that never are
    cdef int coloured_count, dealable_count, piled_count, pile_count
    cdef uint64_t all_coloured            # the same as sets
    cdef uint32_t all_dealable, all_black, ally_bit, scoring
    cdef int number[CARDS]                # what a card bids and scores, or NO_NUMBER
    cdef int colour[CARDS]                # 0..3, BLACK or COLOURLESS
    cdef double mean_black                # the mean of the black numbers
    cdef double horizon_scale[ROUNDS]     # by rounds still to come
    cdef double lucky_to_come             # points that a lucky round so far will bring in each round to come
    cdef uint64_t above[15]               # the coloured cards above, and below, a number
    cdef uint64_t below[15]
    cdef bint by_colour                   # colours = true
    cdef bint next_worst_robbed           # thief_fallback = next_worst

    def __init__(self, spec, int seat_count, dict options, face):
        super().__init__(spec, seat_count, options, face)
        self.state_bytes = sizeof(State)
        self.action_count = FIRST_STEAL + STEALS * SEATS
        self.legal_max = 64
        # No outcomes: nodes of their own for each centre turned up cost 0.06 +- 0.05 of utility at 500 iterations
        # (four seats, 80 deals) and changed nothing at 2,000 (40 deals).
        self.purposes = ("leader", "left_over", "blacks", "deal", "pile")
        self.round_count = options["rounds"]
        self.by_colour = options["colours"]
        self.next_worst_robbed = options["thief_fallback"] == "next_worst"
        self.bonus_count, self.bonus_points = deck.BONUS_COUNT, deck.BONUS_POINTS
        table = deck.table_for(seat_count, options)
        self._load_cards(table)
        self._load_numbers(table.number_max)
        for left in range(1, ROUNDS):
            self.horizon_scale[left] = SLOPE_MATCH * ROUND_SPREAD[seat_count - 3] * left ** 0.5
        self.lucky_to_come = self.lucky_factor * LUCKY_CHANCE[seat_count - 3]

    def _load_cards(self, table):
        cdef int card
        self.hand_size, self.left_over_count = table.hand_size, table.left_over
        self.blacks_dealt, self.lucky_factor = table.blacks_dealt, table.lucky_factor
        for card in table.coloured:
            self.coloured[self.coloured_count] = card
            self.coloured_count += 1
            self.all_coloured |= <uint64_t> 1 << card
        for card in table.dealable:
            self.dealable[self.dealable_count] = card
            self.dealable_count += 1
            self.all_dealable |= black_bit(card)
        self.all_black = self.all_dealable
        for card in table.piled:
            self.piled[self.piled_count] = card
            self.piled_count += 1
            self.all_black |= black_bit(card)
        self.ally_bit = black_bit(ALLY) if table.ally else 0
        self.pile_count = self.dealable_count - self.blacks_dealt + self.piled_count

    def _load_numbers(self, int number_max):
        cdef int card
        for card in self.coloured[:self.coloured_count]:
            for number in range(1, 15):
                if card % 14 + 1 > number:
                    self.above[number] |= <uint64_t> 1 << card
                elif card % 14 + 1 < number:
                    self.below[number] |= <uint64_t> 1 << card
        self.mean_black = (number_max + 1) / 2.0
        for card in range(CARDS):
            number = deck.number_on(card)
            self.number[card] = NO_NUMBER if number is None else number
            self.colour[card] = COLOURLESS if card == ALLY else min(card // 14, BLACK)
            if card >= FIRST_BLACK and number is not None:
                self.scoring |= black_bit(card)

    # -- the course of a match -------------------------------------------------------------------

    cdef void deal(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """BI-5: a random seat leads round 1."""
        cdef State* s = <State*> state
        memset(s, 0, sizeof(State))
        expect_shuffles(self, chance)
        s.first_leader = chance_pick(chance, LEADER, 0, 0, self.seat_count)
        start_round(self, s, 1, chance, log)

    cdef void advance(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """BI-5: the lead of the first trick moves one seat to the left."""
        cdef State* s = <State*> state
        s.first_leader = left_of(self, s.first_leader)
        start_round(self, s, s.round + 1, chance, log)

    cdef uint32_t to_act(self, const void* state) noexcept nogil:
        cdef const State* s = <const State*> state
        return <uint32_t> 1 << s.seat if s.phase <= THEFT else 0

    cdef bint horizon(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == BOOKED

    cdef bint over(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == OVER

    cdef int legal(self, const void* state, int seat, int32_t* out) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == THEFT:
            return legal_thefts(s, out)
        return legal_bids(s, seat, out)

    cdef void apply(self, void* state, int seat, int action, Chance* chance, EventLog* log) noexcept nogil:
        cdef State* s = <State*> state
        if s.phase == THEFT:
            steal(self, s, seat, action - FIRST_STEAL, log)
        else:
            bid(self, s, seat, action, log)

    # -- scores ----------------------------------------------------------------------------------

    cdef void totals(self, const void* state, int32_t* out) noexcept nogil:
        memcpy(out, (<const State*> state).totals, self.seat_count * sizeof(int32_t))

    cdef void running_points(self, const void* state, int32_t* out) noexcept nogil:
        cdef int seat
        for seat in range(self.seat_count):
            out[seat] = (<const State*> state).points[seat]

    cdef void placement(self, const void* state, int32_t* places) noexcept nogil:
        """BI-22: the highest total wins."""
        places_from_scores((<const State*> state).totals, self.seat_count, False, places)

    cdef void utility(self, const void* state, double* out) noexcept nogil:
        """Between rounds, what totals, lucky rounds and -5s of the match so far promise."""
        cdef const State* s = <const State*> state
        cdef int32_t promised[SEATS]
        cdef int seat, left = self.round_count - s.round
        if s.phase == OVER:
            utility_from_scores(s.totals, self.seat_count, False, out)
            return
        for seat in range(self.seat_count):
            promised[seat] = s.totals[seat] + <int32_t> (left * self.lucky_to_come * s.lucky[seat])
            if s.minus_fives[seat] >= self.bonus_count:
                promised[seat] += self.bonus_points
        expected_utility(promised, self.seat_count, False, self.horizon_scale[left], out)

    # -- what a seat knows -----------------------------------------------------------------------

    cdef void blank(self, void* state, int viewer) noexcept nogil:
        hide_from(self, <State*> state, viewer)

    cpdef Dealer dealer(self, bytes view, int viewer):
        return UnseenCards(self, view, viewer)

    # -- playing it out --------------------------------------------------------------------------

    cdef bint has_rule(self) noexcept nogil:
        return True

    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == THEFT:
            return best_theft(self, s)
        return best_card(self, s, seat)

    # -- checks ----------------------------------------------------------------------------------

    cdef int broken_invariant(self, const void* state) noexcept nogil:
        """1: a coloured card in two places or none; 2: a black one; 3: hands of the wrong size; 4: the number
        of blacks in hands; 5: blacks won that nobody can have; 6: a known card of the pile nobody has seen."""
        cdef const State* s = <const State*> state
        cdef uint64_t coloured = s.left_over ^ s.played
        cdef uint32_t black = 0, won = 0
        cdef int coloured_cards = popcount(s.left_over) + popcount(s.played), black_cards = 0, held = 0, seat, i
        for seat in range(self.seat_count):
            coloured |= s.hand[seat]
            coloured_cards += popcount(s.hand[seat])
            black |= s.black[seat]
            held += popcount(s.black[seat] & ~self.ally_bit)
            black_cards += popcount(s.black[seat])
            if popcount(s.hand[seat]) + popcount(s.black[seat]) != cards_left(self, s, seat):
                return 3
            if won & s.won[seat] or s.won[seat] & ~(self.scoring & s.played_black):
                return 5
            won |= s.won[seat]
        if coloured != self.all_coloured or coloured_cards != self.coloured_count:
            return 1
        for i in range(s.pile_size):
            if i >= s.pile_size - s.pile_known:
                if not s.played_black & black_bit(s.pile[i]):
                    return 6
            else:
                black |= black_bit(s.pile[i])
                black_cards += 1
        black |= s.played_black
        black_cards += popcount(s.played_black)
        if black != (self.all_black | self.ally_bit) or black_cards != popcount(black):
            return 2
        return 4 if held != s.blacks_held else 0

    def unpack(self, bytes state) -> dict:
        return (<const State*> <const uint8_t*> state)[0]

    def pack(self, dict fields) -> bytes:
        cdef State s
        memset(&s, 0, sizeof(State))
        s = fields
        return (<uint8_t*> &s)[:sizeof(State)]


include "_events.pxi"
include "_round.pxi"
include "_trick.pxi"
include "_theft.pxi"
include "_unseen.pxi"
include "_thumb.pxi"
