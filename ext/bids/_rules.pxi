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
from tavolata.ext.core.chance cimport Chance, chance_pick, chance_shuffle, random_below, random_shuffle
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
    ABSENT = -1000000           # no number of an event

cdef enum Purpose:
    LEADER = 0
    LEFT_OVER = 1
    BLACKS = 2
    DEAL = 3
    PILE = 4

cdef enum EventKind:            # 0 is the core's match_ended
    ROUND_STARTED = 1
    DEALT = 2
    CENTRE_TURNED = 3
    LOWEST_SET = 4
    BID_MADE = 5
    TRICK_WON = 6
    TRICK_BURNT = 7
    CARD_TAKEN = 8
    CENTRE_BURIED = 9
    POINTS_DOUBLED = 10
    BLACKS_WON = 11
    STOLEN = 12
    ALLIED = 13
    ROUND_SCORED = 14
    BONUS_SCORED = 15

# By seats from 3: the standard deviation of the difference of two seats' points in a round, and the chance of a seat to
# be a lucky loser in one, over 300 matches of five rounds (1,000 with four seats) that play by the rule of thumb.
cdef double[4] ROUND_SPREAD = [17.6, 13.9, 13.6, 14.6]
cdef double[4] LUCKY_CHANCE = [0.03, 0.09, 0.16, 0.21]

# expected_utility's curve has the slope of the normal distribution at zero with this multiple of its deviation.
cdef double SLOPE_MATCH = 1.2533

# What the rule of thumb weighs with. Found by climbing from guesses: a change stayed if a seat with it beat seats
# without it over duplicate matches of 3, 4 and 6 seats by more than the 95 % interval.
cdef double THRIFT = 1.2        # what the best card is worth if kept, in mean blacks
cdef int BEND = 5               # how much faster than its rank a card's worth grows
cdef double GRIP = 2.4          # how eagerly later seats overbid, for each of them
cdef double POT_GRIP = 1.6      # and how much more for each mean black in the pot
cdef double SPITE = 0.29        # a point that another seat doesn't get, in points
cdef double LUCK = 0.18         # chance to stay a lucky loser, less with each trick to come
cdef double LUCK_LEFT = 0.98
cdef double THEFT_WORTH = 6.4   # of the Thief, in points
cdef double DOUBLE_KEPT = 1.3   # what 2X is worth if kept, and the other cards that carry no number
cdef double OTHER_KEPT = 1.0
cdef double COLOUR_HOLDS = 0.7  # chance that the colours stay as they are, with others still to bid


cdef struct Outlook:            # what a seat reckons with for every card it may bid
    double pot                  # points for winning the trick as it lies
    double first_trick          # points that winning it costs
    double share                # of one unseen card
    uint64_t unseen             # coloured cards the seat has not seen
    int after                   # seats still to bid
    int overbids                # unseen cards that the bid has to stand against
    int best                    # the best value bid so far


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
        self._load_cards(deck.table_for(seat_count, options))
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
        for card in self.coloured[:self.coloured_count]:
            for number in range(1, 15):
                if card % 14 + 1 > number:
                    self.above[number] |= <uint64_t> 1 << card
                elif card % 14 + 1 < number:
                    self.below[number] |= <uint64_t> 1 << card
        self.mean_black = (table.number_max + 1) / 2.0
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
        s.first_leader = chance_pick(chance, LEADER, 0, 0, self.seat_count)
        self.start_round(s, 1, chance, log)

    cdef void advance(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """BI-5: the lead of the first trick moves one seat to the left."""
        cdef State* s = <State*> state
        s.first_leader = self.left_of(s.first_leader)
        self.start_round(s, s.round + 1, chance, log)

    cdef void start_round(self, State* s, int round, Chance* chance, EventLog* log) noexcept nogil:
        s.round = round
        s.phase = BID
        s.leader = s.seat = s.first_leader
        s.played = s.played_black = 0
        s.bid_count = s.victims = s.lowest = s.lowest_next = s.tricks_played = 0
        s.winning = s.ally = s.ally_winner = NONE
        s.last_leader = s.last_winner = s.last_centre = NONE
        memset(s.won, 0, sizeof(s.won))
        memset(s.bids, 0, sizeof(s.bids))
        memset(s.last_bids, 0, sizeof(s.last_bids))
        memset(s.tricks_won, 0, sizeof(s.tricks_won))
        if log != NULL:
            event_begin(log, ROUND_STARTED, <uint32_t> EVERYBODY)
            log_word(log, round)
            log_word(log, s.leader)
            log_word(log, self.left_over_count)
            log_word(log, self.pile_count)
            log_end(log)
        self.deal_hands(s, chance, log)
        self.turn_centre(s, log)

    cdef void deal_hands(self, State* s, Chance* chance, EventLog* log) noexcept nogil:
        """BI-3: the left-over, the blacks among the hands, the hands, the pile."""
        cdef uint8_t coloured[COLOURED_MAX]
        cdef uint8_t blacks[BLACKS_MAX]
        cdef uint8_t mixed[COLOURED_MAX + BLACKS_MAX]
        cdef uint64_t set_aside = 0
        cdef uint32_t in_hands = 0, left
        cdef int i, seat, count = 0
        memcpy(coloured, self.coloured, self.coloured_count)
        chance_shuffle(chance, LEFT_OVER, s.round, 0, coloured, self.coloured_count)
        for i in range(self.left_over_count):
            set_aside |= <uint64_t> 1 << coloured[i]
        s.left_over = set_aside
        memcpy(blacks, self.dealable, self.dealable_count)
        chance_shuffle(chance, BLACKS, s.round, 0, blacks, self.dealable_count)
        for i in range(self.blacks_dealt):
            in_hands |= black_bit(blacks[i])
        s.blacks_held = self.blacks_dealt
        for i in range(self.coloured_count):
            if not set_aside >> self.coloured[i] & 1:
                mixed[count] = self.coloured[i]
                count += 1
        left = in_hands | self.ally_bit
        while left:
            mixed[count] = FIRST_BLACK + lowest(left)
            count += 1
            left &= left - 1
        chance_shuffle(chance, DEAL, s.round, 0, mixed, count, self.hand_size)
        for seat in range(self.seat_count):
            give(s, seat, mixed + seat * self.hand_size, self.hand_size)
            if log != NULL:
                self.log_dealt(s, seat, log)
        self.lay_pile(s, self.all_black & ~in_hands, chance)

    cdef void lay_pile(self, State* s, uint32_t left, Chance* chance) noexcept nogil:
        cdef uint8_t pile[BLACKS_MAX]
        cdef int count = 0
        memset(pile, 0, sizeof(pile))
        while left:
            pile[count] = FIRST_BLACK + lowest(left)
            count += 1
            left &= left - 1
        chance_shuffle(chance, PILE, s.round, 0, pile, count)
        memcpy(s.pile, pile, PILE_MAX)
        s.pile_size = count
        s.pile_known = 0

    cdef void log_dealt(self, State* s, int seat, EventLog* log) noexcept nogil:
        """BI-23: a hand is for its seat."""
        cdef uint64_t coloured = s.hand[seat]
        cdef uint32_t black = s.black[seat]
        event_begin(log, DEALT, <uint32_t> 1 << seat)
        log_word(log, seat)
        log_word(log, self.hand_size)
        event_secret(log)
        while coloured:
            log_word(log, lowest(coloured))
            coloured &= coloured - 1
        while black:
            log_word(log, FIRST_BLACK + lowest(black))
            black &= black - 1
        log_end(log)

    cdef inline int draw(self, State* s) noexcept nogil:
        """The top card of the pile, now in the open."""
        cdef int card = s.pile[0]
        memmove(s.pile, s.pile + 1, PILE_MAX - 1)
        s.pile[PILE_MAX - 1] = 0
        s.pile_size -= 1
        if s.pile_known > s.pile_size:
            s.pile_known = s.pile_size
        s.played_black |= black_bit(card)
        return card

    cdef inline void turn_centre(self, State* s, EventLog* log) noexcept nogil:
        """BI-6; BI-15: Lowest is set aside, and another card is turned up."""
        s.centre = self.draw(s)
        if s.centre == LOWEST:
            s.lowest = 1
            if log != NULL:
                event_begin(log, LOWEST_SET, <uint32_t> EVERYBODY)
                log_end(log)
            s.centre = self.draw(s)
        if log != NULL:
            log_numbers(log, CENTRE_TURNED, s.centre)

    cdef inline int left_of(self, int seat) noexcept nogil:
        return 0 if seat + 1 == self.seat_count else seat + 1

    cdef inline int seat_at(self, const State* s, int place) noexcept nogil:
        cdef int seat = s.leader + place
        return seat - self.seat_count if seat >= self.seat_count else seat

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
            self.steal(s, seat, action - FIRST_STEAL, log)
        else:
            self.bid(s, seat, action, log)

    # -- a trick ---------------------------------------------------------------------------------

    cdef inline void bid(self, State* s, int seat, int card, EventLog* log) noexcept nogil:
        """BI-6: a card from a hand, openly."""
        cdef int place, tied = 0
        if card < FIRST_BLACK:
            s.hand[seat] ^= <uint64_t> 1 << card
            s.played |= <uint64_t> 1 << card
        else:
            s.black[seat] ^= black_bit(card)
            s.played_black |= black_bit(card)
            if card != ALLY:
                s.blacks_held -= 1
        s.bids[s.bid_count] = card
        s.bid_count += 1
        place = self.contest(s, s.bids, s.bid_count, &tied)
        s.winning = NONE if place < 0 else self.seat_at(s, place)
        if log != NULL:
            log_numbers(log, BID_MADE, seat, card)
        if s.bid_count < self.seat_count:
            s.seat = self.left_of(seat)
        elif place < 0:
            self.burn(s, self.seat_at(s, tied), log)
        else:
            self.take_trick(s, s.winning, log)

    cdef inline int contest(self, const State* s, const octet* bids, int count, int* tied) noexcept nogil:
        """The place of the bid that wins so far; -1 if none does, with the place of the last one tied.

        BI-7, BI-8: the highest number, if no other bid has it; BI-15: or the lowest. BI-9: with
        colours only the most frequent ones count.
        """
        cdef uint32_t colours = self.contending(bids, count) if self.by_colour else <uint32_t> 0xFF
        cdef int best = NO_NUMBER, winner = -1
        cdef int place, value
        for place in range(count):
            value = self.number[bids[place]]
            if value == NO_NUMBER or not colours >> self.colour[bids[place]] & 1:
                continue
            if s.lowest:
                value = -value
            if value > best:
                best = value
                winner = place
            elif value == best:
                winner = -1
                tied[0] = place
        return winner

    cdef uint32_t contending(self, const octet* bids, int count) noexcept nogil:
        """BI-9: the most frequent of the colours in which a number was bid; the centre counts as black."""
        cdef int times[6]
        cdef uint32_t candidates = 0, found = 0
        cdef int place, colour, most = 0
        memset(times, 0, sizeof(times))
        times[BLACK] = 1
        for place in range(count):
            colour = self.colour[bids[place]]
            times[colour] += 1
            if self.number[bids[place]] != NO_NUMBER:
                candidates |= <uint32_t> 1 << colour
        for colour in range(BLACK + 1):
            if candidates >> colour & 1 and times[colour] >= most:
                found = (found if times[colour] == most else 0) | <uint32_t> 1 << colour
                most = times[colour]
        return found

    cdef inline void burn(self, State* s, int leader, EventLog* log) noexcept nogil:
        """BI-8: nobody wins; the last of those that tied leads."""
        if log != NULL:
            log_numbers(log, TRICK_BURNT, leader)
        self.end_trick(s, NONE, leader, log)

    cdef inline void take_trick(self, State* s, int winner, EventLog* log) noexcept nogil:
        """BI-10 to BI-14: the winner takes the centre and the blacks bid."""
        cdef uint32_t bid = self.blacks_bid(s), taken
        cdef int card = s.centre
        s.tricks_won[winner] += 1
        s.seat = winner
        if log != NULL:
            log_numbers(log, TRICK_WON, winner)
        if (bid | black_bit(card)) & black_bit(SURPRISE):
            card = self.take_unseen(s, winner, bid, log)
            bid |= black_bit(SURPRISE)      # won and spent, as a centre too
        taken = (bid | black_bit(card)) & self.all_black
        if taken & black_bit(DOUBLE):
            s.points[winner] = 2 * s.points[winner]
            if log != NULL:
                log_numbers(log, POINTS_DOUBLED, winner, s.points[winner])
        self.win_blacks(s, winner, taken, log)
        if card == THIEF:
            s.victims = self.to_rob(s)
        if s.victims:
            s.phase = THEFT
        else:
            self.ally_and_end(s, log)

    cdef inline uint32_t blacks_bid(self, const State* s) noexcept nogil:
        """The black cards and the Ally among the bids."""
        cdef uint32_t found = 0
        cdef int place
        for place in range(self.seat_count):
            if s.bids[place] >= FIRST_BLACK:
                found |= black_bit(s.bids[place])
        return found

    cdef int take_unseen(self, State* s, int winner, uint32_t bid, EventLog* log) noexcept nogil:
        """BI-14: Surprise in the trick: the next card of the pile acts as the centre.

        As a bid it sends the centre under the pile.
        """
        cdef int card = self.draw(s)
        if card == LOWEST:
            s.lowest_next = 1
            if log != NULL:
                event_begin(log, LOWEST_SET, <uint32_t> EVERYBODY)
                log_end(log)
            card = self.draw(s)
        if log != NULL:
            log_numbers(log, CARD_TAKEN, winner, card)
        if bid & black_bit(SURPRISE):
            s.pile[s.pile_size] = s.centre
            s.pile_size += 1
            s.pile_known += 1
            if log != NULL:
                log_numbers(log, CENTRE_BURIED, s.centre)
        return card

    cdef inline void win_blacks(self, State* s, int winner, uint32_t cards, EventLog* log) noexcept nogil:
        """BI-12: numbers count; BI-13: so do the -5s; BI-14, BI-18: the others are spent."""
        cdef uint32_t left = cards & self.scoring
        cdef int points = 0
        s.won[winner] |= left
        while left:
            points += self.number[FIRST_BLACK + lowest(left)]
            left &= left - 1
        s.points[winner] += points
        if cards & black_bit(MINUS_FIVE):
            s.minus_fives[winner] += 1
        if log != NULL:
            event_begin(log, BLACKS_WON, <uint32_t> EVERYBODY)
            log_word(log, winner)
            left = cards
            while left:
                log_word(log, FIRST_BLACK + lowest(left))
                left &= left - 1
            log_word(log, points)
            log_end(log)

    # -- the theft -------------------------------------------------------------------------------

    cdef uint32_t to_rob(self, const State* s) noexcept nogil:
        """BI-16: the seats with the worst bid that have a card; BI-17: else whom the option names."""
        cdef int value = self.next_value(s, NO_NUMBER, True)
        cdef uint32_t seats = self.with_spoils(s, value)
        cdef bint upwards = self.next_worst_robbed
        if seats:
            return seats
        if not upwards:
            value = self.next_value(s, -NO_NUMBER, False)
            seats = self.with_spoils(s, value)
        while not seats and value != NO_NUMBER:
            value = self.next_value(s, value, upwards)
            seats = self.with_spoils(s, value)
        return seats

    cdef int next_value(self, const State* s, int value, bint upwards) noexcept nogil:
        """The nearest bid that is better (or worse) than ``value``, NO_NUMBER if there is none."""
        cdef int place, bid, found = NO_NUMBER
        for place in range(self.seat_count):
            bid = self.bid_value(s, place)
            if bid == NO_NUMBER or (bid <= value if upwards else bid >= value):
                continue
            if found == NO_NUMBER or (bid < found if upwards else bid > found):
                found = bid
        return found

    cdef inline int bid_value(self, const State* s, int place) noexcept nogil:
        """How good a bid is; a better one is higher, under Lowest too."""
        cdef int number = self.number[s.bids[place]]
        return -number if s.lowest and number != NO_NUMBER else number

    cdef uint32_t with_spoils(self, const State* s, int value) noexcept nogil:
        """The seats other than the thief that bid this value and have a card that can be stolen."""
        cdef uint32_t found = 0
        cdef int place, seat
        for place in range(self.seat_count):
            seat = self.seat_at(s, place)
            if value != NO_NUMBER and self.bid_value(s, place) == value and seat != s.seat and s.won[seat]:
                found |= <uint32_t> 1 << seat
        return found

    cdef void steal(self, State* s, int thief, int choice, EventLog* log) noexcept nogil:
        """BI-16, BI-18: exactly the card's number moves; a -5 then counts as the thief's."""
        cdef int victim = choice // STEALS
        cdef int card = stolen_card(choice)
        s.won[victim] ^= black_bit(card)
        s.won[thief] |= black_bit(card)
        s.points[victim] -= self.number[card]
        s.points[thief] += self.number[card]
        if card == MINUS_FIVE:
            s.minus_fives[victim] -= 1
            s.minus_fives[thief] += 1
        if log != NULL:
            log_numbers(log, STOLEN, thief, victim, card)
        s.victims = 0
        s.phase = BID
        self.ally_and_end(s, log)

    # -- the end of a trick and of a round ----------------------------------------------------------

    cdef inline void ally_and_end(self, State* s, EventLog* log) noexcept nogil:
        """BI-19: who played the Ally shares the round with the winner; BI-7: who leads next."""
        cdef int place
        for place in range(self.seat_count):
            if s.bids[place] == ALLY:
                s.ally = self.seat_at(s, place)
                s.ally_winner = s.seat
                if log != NULL:
                    log_numbers(log, ALLIED, s.ally, s.ally_winner)
        self.end_trick(s, s.seat, s.seat, log)

    cdef inline void end_trick(self, State* s, int winner, int leader, EventLog* log) noexcept nogil:
        s.last_leader = s.leader
        s.last_winner = winner
        s.last_centre = s.centre
        memcpy(s.last_bids, s.bids, sizeof(s.bids))
        memset(s.bids, 0, sizeof(s.bids))
        s.bid_count = 0
        s.winning = s.centre = NONE
        s.leader = s.seat = leader
        s.tricks_played += 1
        s.lowest |= s.lowest_next
        s.lowest_next = 0
        if s.tricks_played == self.hand_size:
            self.book_round(s, log)
        else:
            self.turn_centre(s, log)

    cdef void book_round(self, State* s, EventLog* log) noexcept nogil:
        """BI-19, BI-20: allies share, who won no trick gets something; then the totals."""
        cdef int lucky[SEATS]
        cdef int seat, shared
        memset(lucky, 0, sizeof(lucky))
        if s.ally != NONE:
            shared = (s.points[s.ally] + s.points[s.ally_winner]) >> 1     # towards minus infinity
            s.points[s.ally] = s.points[s.ally_winner] = shared
        for seat in range(self.seat_count):
            if s.tricks_won[seat] == 0:
                s.lucky[seat] += 1
                lucky[seat] = self.lucky_factor * s.lucky[seat]
            s.points[seat] += lucky[seat]
            s.totals[seat] += s.points[seat]
            s.round_points[s.round - 1][seat] = s.points[seat]
        if log != NULL:
            self.log_round(s, lucky, log)
        memset(s.points, 0, sizeof(s.points))
        s.phase = BOOKED
        if s.round == self.round_count:
            self.add_bonus(s, log)
            s.phase = OVER

    cdef void log_round(self, State* s, const int* lucky, EventLog* log) noexcept nogil:
        cdef int seat
        event_begin(log, ROUND_SCORED, <uint32_t> EVERYBODY)
        log_word(log, s.round)
        for seat in range(self.seat_count):
            log_word(log, s.points[seat])
        for seat in range(self.seat_count):
            log_word(log, lucky[seat])
        for seat in range(self.seat_count):
            log_word(log, s.totals[seat])
        log_end(log)

    cdef void add_bonus(self, State* s, EventLog* log) noexcept nogil:
        """BI-13: who won -5 three times or more gets the bonus, once."""
        cdef int seat
        for seat in range(self.seat_count):
            if s.minus_fives[seat] >= self.bonus_count:
                s.totals[seat] += self.bonus_points
                if log != NULL:
                    log_numbers(log, BONUS_SCORED, seat, self.bonus_points)

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
        """BI-23: hands, the pile but for its known bottom, and what is left over."""
        cdef State* s = <State*> state
        cdef int seat
        for seat in range(min(self.seat_count, SEATS)):     # the compiler warns without the bound
            if seat != viewer:
                s.hand[seat] = 0
                s.black[seat] = 0
        s.left_over = 0
        memset(s.pile, NONE, s.pile_size - s.pile_known)

    cdef inline int cards_left(self, const State* s, int seat) noexcept nogil:
        """How many cards a seat holds, from public facts."""
        cdef int since_leader = seat - s.leader
        if since_leader < 0:
            since_leader += self.seat_count
        return self.hand_size - s.tricks_played - (1 if since_leader < s.bid_count else 0)

    cpdef Dealer dealer(self, bytes view, int viewer):
        return UnseenCards(self, view, viewer)

    # -- playing it out --------------------------------------------------------------------------

    cdef bint has_rule(self) noexcept nogil:
        return True

    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil:
        """The card with the most to expect for what it costs to spend; of a theft the highest."""
        cdef const State* s = <const State*> state
        if s.phase == THEFT:
            return self.best_theft(s)
        return self.best_card(s, seat)

    cdef int best_theft(self, const State* s) noexcept nogil:
        """The highest number, of equals from the seat that is ahead."""
        cdef int32_t choices[64]
        cdef int i, value, best = 0, most = -1000000
        for i in range(legal_thefts(s, choices)):
            value = 100000 * self.number[stolen_card(choices[i] - FIRST_STEAL)]
            value += s.totals[(choices[i] - FIRST_STEAL) // STEALS]
            if value > most:
                most = value
                best = choices[i]
        return best

    cdef int best_card(self, const State* s, int seat) noexcept nogil:
        cdef uint64_t coloured = s.hand[seat]
        cdef uint32_t black = s.black[seat]
        cdef double worth, most = -1e9
        cdef int card, best = 0
        cdef Outlook outlook
        self.look_out(s, seat, &outlook)
        while coloured or black:
            if coloured:
                card = lowest(coloured)
                coloured &= coloured - 1
            else:
                card = FIRST_BLACK + lowest(black)
                black &= black - 1
            worth = self.card_worth(s, &outlook, card)
            if worth > most:
                most = worth
                best = card
        return best

    cdef inline void look_out(self, const State* s, int seat, Outlook* outlook) noexcept nogil:
        """What is the same for every card that a seat may bid."""
        cdef double grip
        cdef int place
        outlook.after = self.seat_count - 1 - s.bid_count
        outlook.pot = self.pot_worth(s, seat)
        outlook.first_trick = self.first_trick_cost(s, seat)
        outlook.unseen = self.all_coloured & ~(s.played | s.hand[seat])
        outlook.share = 1.0 / (popcount(outlook.unseen) + 1.0)
        grip = outlook.after * (GRIP + POT_GRIP * outlook.pot / self.mean_black)
        outlook.overbids = <int> (grip + 0.5) if grip > 0.0 else 0
        outlook.best = NO_NUMBER
        for place in range(s.bid_count):
            outlook.best = max(outlook.best, self.bid_value(s, place))

    cdef double pot_worth(self, const State* s, int seat) noexcept nogil:
        """What winning the trick as it lies is worth to a seat, in points."""
        cdef double worth = self.black_worth(s, seat, s.centre)
        cdef int place
        for place in range(s.bid_count):
            if s.bids[place] == SURPRISE:
                worth += self.black_worth(s, seat, SURPRISE) - self.black_worth(s, seat, s.centre)
            elif s.bids[place] >= FIRST_BLACK:
                worth += self.black_worth(s, seat, s.bids[place])
        return worth

    cdef inline double black_worth(self, const State* s, int seat, int card) noexcept nogil:
        if card == DOUBLE:
            return s.points[seat]
        if card == SURPRISE:
            return self.mean_black
        if card == THIEF:
            return THEFT_WORTH
        if card == MINUS_FIVE and s.minus_fives[seat] == self.bonus_count - 1:
            return self.bonus_points - 5
        return 0 if card == ALLY else self.number[card]

    cdef double first_trick_cost(self, const State* s, int seat) noexcept nogil:
        """What a seat gives up by winning its first trick: the hope to be a lucky loser (BI-20)."""
        if s.tricks_won[seat]:
            return 0.0
        return (self.lucky_factor * (s.lucky[seat] + 1) * LUCK
                * power(LUCK_LEFT, self.hand_size - 1 - s.tricks_played))

    cdef inline double card_worth(self, const State* s, const Outlook* outlook, int card) noexcept nogil:
        """Points to expect from a bid, less what the card is worth if kept."""
        cdef int number = self.number[card]
        cdef double own, strength, stands, worth
        if number == NO_NUMBER:
            return -DOUBLE_KEPT if card == DOUBLE else -OTHER_KEPT
        own = number if card >= FIRST_BLACK else 0.0
        strength = 1.0 - outlook.share * popcount(outlook.unseen & self.better_than(s, number))
        worth = -SPITE * own - THRIFT * self.mean_black * power(strength, BEND)
        stands = power(strength, outlook.overbids)      # the chance not to be overbid
        if self.by_colour:
            return worth + stands * self.share_by_colour(s, outlook, card, own)
        if s.lowest:
            number = -number
        if number > outlook.best:
            worth += stands * ((1.0 + SPITE) * (outlook.pot + own) - outlook.first_trick)
        elif number == outlook.best:
            worth += stands * SPITE * outlook.pot
        return worth

    cdef double share_by_colour(self, const State* s, const Outlook* outlook, int card, double own) noexcept nogil:
        """What a bid that is not overbid brings where colours decide first (BI-9)."""
        cdef octet bids[SEATS]
        cdef int tied = NONE, place
        cdef double holds = COLOUR_HOLDS if outlook.after else 1.0
        memcpy(bids, s.bids, sizeof(bids))
        bids[s.bid_count] = card
        place = self.contest(s, bids, s.bid_count + 1, &tied)
        if place == s.bid_count:
            return holds * ((1.0 + SPITE) * (outlook.pot + own) - outlook.first_trick)
        return holds * SPITE * outlook.pot if place < 0 and tied == s.bid_count else 0.0

    cdef inline uint64_t better_than(self, const State* s, int number) noexcept nogil:
        """The coloured cards that beat a number."""
        if number == self.number[MINUS_FIVE]:
            return 0 if s.lowest else self.all_coloured
        return self.below[number] if s.lowest else self.above[number]

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
            if popcount(s.hand[seat]) + popcount(s.black[seat]) != self.cards_left(s, seat):
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


cdef inline uint32_t black_bit(int card) noexcept nogil:
    """A card from the first black on, as a set."""
    return <uint32_t> 1 << (card - FIRST_BLACK)


cdef inline double power(double base, int exponent) noexcept nogil:
    cdef double result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


cdef inline int stolen_card(int choice) noexcept nogil:
    """The card of a theft: a black number, or -5."""
    choice %= STEALS
    return MINUS_FIVE if choice == MINUS_FIVE_STEAL else FIRST_BLACK + choice


cdef inline void give(State* s, int seat, const uint8_t* cards, int count) noexcept nogil:
    cdef uint64_t coloured = 0
    cdef uint32_t black = 0
    cdef int i
    for i in range(count):
        if cards[i] < FIRST_BLACK:
            coloured |= <uint64_t> 1 << cards[i]
        else:
            black |= black_bit(cards[i])
    s.hand[seat] = coloured
    s.black[seat] = black


cdef inline int legal_bids(const State* s, int seat, int32_t* out) noexcept nogil:
    """BI-6: any card of the hand."""
    cdef uint64_t coloured = s.hand[seat]
    cdef uint32_t black = s.black[seat]
    cdef int count = 0
    while coloured:
        out[count] = lowest(coloured)
        count += 1
        coloured &= coloured - 1
    while black:
        out[count] = FIRST_BLACK + lowest(black)
        count += 1
        black &= black - 1
    return count


cdef int legal_thefts(const State* s, int32_t* out) noexcept nogil:
    """BI-16 to BI-18: any black that a seat to be robbed has."""
    cdef uint32_t seats = s.victims, cards
    cdef int seat, card, count = 0
    while seats:
        seat = lowest(seats)
        cards = s.won[seat]
        while cards:
            card = FIRST_BLACK + lowest(cards)
            out[count] = FIRST_STEAL + STEALS * seat + (
                MINUS_FIVE_STEAL if card == MINUS_FIVE else card - FIRST_BLACK)
            count += 1
            cards &= cards - 1
        seats &= seats - 1
    return count


cdef void log_numbers(EventLog* log, int kind, int first, int second=ABSENT, int third=ABSENT) noexcept nogil:
    """An event of one to three public numbers."""
    event_begin(log, kind, <uint32_t> EVERYBODY)
    log_word(log, first)
    if second != ABSENT:
        log_word(log, second)
    if third != ABSENT:
        log_word(log, third)
    log_end(log)


cdef class UnseenCards(Dealer):
    """The cards a seat has not seen: to the left-over, the other hands and the pile.

    Every deal of a round is equally likely, and nothing but the cards in the open tells deals
    apart, so what is left is uniform: which unseen blacks are in hands, what is left over, who
    holds what, the order of the pile.
    """
    cdef Rules rules
    cdef State view
    cdef uint8_t coloured[COLOURED_MAX]     # unseen, and so below
    cdef uint8_t dealable[BLACKS_MAX]
    cdef uint8_t piled[BLACKS_MAX]
    cdef int coloured_count, dealable_count, piled_count
    cdef int blacks_count                   # blacks in the hands of others
    cdef bint ally                          # the Ally is in one of these hands
    cdef int seats[SEATS]
    cdef int sizes[SEATS]
    cdef int hand_count, hidden_in_pile

    def __init__(self, Rules rules, bytes view, int viewer):
        cdef const State* s
        cdef uint64_t coloured
        cdef uint32_t seen
        cdef int seat, i
        self.rules = rules
        self.view = (<const State*> <const uint8_t*> view)[0]
        s = &self.view
        coloured = rules.all_coloured & ~s.played
        seen = s.played_black
        self.blacks_count = s.blacks_held
        for seat in range(rules.seat_count):
            if seat == viewer:
                coloured &= ~s.hand[seat]
                seen |= s.black[seat]
                self.blacks_count -= popcount(s.black[seat] & ~rules.ally_bit)
            else:
                self.seats[self.hand_count] = seat
                self.sizes[self.hand_count] = rules.cards_left(s, seat)
                self.hand_count += 1
        self.ally = (rules.ally_bit & ~seen) != 0
        self.hidden_in_pile = s.pile_size - s.pile_known
        for i in range(rules.coloured_count):
            if coloured >> rules.coloured[i] & 1:
                self.coloured[self.coloured_count] = rules.coloured[i]
                self.coloured_count += 1
        for i in range(rules.dealable_count):
            if not seen & black_bit(rules.dealable[i]):
                self.dealable[self.dealable_count] = rules.dealable[i]
                self.dealable_count += 1
        for i in range(rules.piled_count):
            if not seen & black_bit(rules.piled[i]):
                self.piled[self.piled_count] = rules.piled[i]
                self.piled_count += 1
        self._check()

    def _check(self):
        hands = sum([self.sizes[i] for i in range(self.hand_count)])
        coloured = self.coloured_count - self.rules.left_over_count
        if hands != coloured + self.blacks_count + self.ally:
            raise ValueError(f"{hands} cards in hands can't be {coloured} coloured and {self.blacks_count} black")
        if self.hidden_in_pile != self.dealable_count - self.blacks_count + self.piled_count:
            raise ValueError(f"the unseen black cards don't fill {self.hidden_in_pile} places of the pile")

    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        cdef uint8_t mixed[COLOURED_MAX + BLACKS_MAX]
        cdef uint8_t blacks[BLACKS_MAX]
        cdef State* s = <State*> state
        cdef uint64_t random = chance.state
        cdef int i, at, count
        memcpy(s, &self.view, sizeof(State))
        memcpy(blacks, self.dealable, self.dealable_count)
        pick_first(&random, blacks, self.dealable_count, self.blacks_count)
        memcpy(mixed, self.coloured, self.coloured_count)
        pick_first(&random, mixed, self.coloured_count, self.rules.left_over_count)
        for i in range(self.rules.left_over_count):
            s.left_over |= <uint64_t> 1 << mixed[i]
        count = self.coloured_count
        memcpy(mixed + count, blacks, self.blacks_count)
        count += self.blacks_count
        if self.ally:
            mixed[count] = ALLY
            count += 1
        if self.hand_count:
            at = self.rules.left_over_count
            random_shuffle(&random, mixed + at, count - at, self.sizes[0])
            for i in range(self.hand_count):
                give(s, self.seats[i], mixed + at, self.sizes[i])
                at += self.sizes[i]
        self.lay_pile(s, &random, blacks)
        chance.state = random

    cdef void lay_pile(self, State* s, uint64_t* random, const uint8_t* blacks) noexcept nogil:
        cdef int i, count = self.dealable_count - self.blacks_count
        for i in range(count):
            s.pile[i] = blacks[self.blacks_count + i]
        for i in range(self.piled_count):
            s.pile[count + i] = self.piled[i]
        random_shuffle(random, <uint8_t*> s.pile, self.hidden_in_pile)


cdef inline void pick_first(uint64_t* random, uint8_t* items, int count, int wanted) noexcept nogil:
    """Move ``wanted`` of the items, drawn at random, to the front."""
    cdef int i, j
    cdef uint8_t item
    for i in range(wanted):
        j = i + <int> random_below(random, <uint32_t> (count - i))
        item = items[i]
        items[i] = items[j]
        items[j] = item
