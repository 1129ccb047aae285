from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from tavolata.ext.bouillabaisse.state cimport BOOKED, NONE, OVER, PLAY, State
from tavolata.ext.core.bits cimport highest, lowest, nth, popcount
from tavolata.ext.core.chance cimport (
    Chance,
    chance_expect_pick,
    chance_expect_shuffle,
    chance_pick,
    chance_shuffle,
    random_below,
)
from tavolata.ext.core.dealer cimport ITEMS_MAX, ExactDealer
from tavolata.ext.core.game cimport (
    POLICY_RULE,
    Dealer,
    Game,
    expected_utility,
    places_from_scores,
    utility_from_scores,
)
from tavolata.ext.core.log cimport EVERYBODY, SPECTATOR, EventLog, event_begin, event_secret, log_end, log_word

from tavolata.ext.core.replay cimport Replay

from tavolata.ext.bouillabaisse import deck as decks
from tavolata.ext.core.replay import events_of

cdef enum:
    SUIT = 0x1fff               # the cards of one suit, before shifting by 16 a suit
    ROUNDS = 6

cdef enum Purpose:
    DEALER = 0
    DEAL = 1
    DRAW_SUIT = 2
    DRAW_RANK = 3
    DRAW_CARD = 4

cdef enum EventKind:            # 0 is the core's match_ended
    ROUND_STARTED = 1
    DEALT = 2
    SUIT_DRAWN = 3
    RANK_DRAWN = 4
    CARD_DRAWN = 5
    PLAYED = 6
    TRICK_TAKEN = 7
    ROUND_SCORED = 8

cdef struct Weights:            # points for each item of a round
    int trick
    int suit
    int rank
    int card
    int sign
    bint draws_suit, draws_rank, draws_card

# The standard deviation of the difference of two seats' points in rounds 1 to 6, over 1,500 matches of four seats that
# play by the rule of thumb. What is still to come spreads scores by the root of the sum of their squares.
cdef double[6] ROUND_SPREAD = [19.8, 57.8, 84.8, 141.4, 231.5, 199.9]

# expected_utility's curve has the slope of the normal distribution at zero with this multiple of its deviation.
cdef double SLOPE_MATCH = 1.2533


cdef class Rules(Game):
    cdef uint8_t cards[ITEMS_MAX]        # the cards dealt each round, in the documented order
    cdef int card_count, hand_size
    cdef bint two_decks
    cdef uint64_t in_play, in_play_twin  # cards dealt at least once, twice
    cdef Weights weights[ROUNDS]
    cdef double horizon_scale[ROUNDS + 1]
    cdef bint dealer_leads               # first_lead = dealer
    cdef bint last_twin_takes            # twin_rule = last
    cdef bint all_or_nothing, reversed_last
    cdef int drawable[4]
    cdef int drawable_count

    def __init__(self, spec, int seat_count, dict options, face):
        cdef int i
        super().__init__(spec, seat_count, options, face)
        self.state_bytes = sizeof(State)
        self.action_count = 64
        self.legal_max = 52
        self.has_bits = True
        self.purposes = ("dealer", "deal", "suit", "rank", "card")
        deck = decks.deck_for(seat_count)
        self.two_decks = deck.decks == 2
        self.hand_size = deck.hand_size
        self.card_count = len(deck.cards)
        for i in range(self.card_count):
            self.cards[i] = deck.cards[i]
            if self.in_play >> deck.cards[i] & 1:
                self.in_play_twin |= <uint64_t> 1 << <int> deck.cards[i]
            self.in_play |= <uint64_t> 1 << <int> deck.cards[i]
        for i, row in enumerate(decks.rounds()):
            self.weights[i] = Weights(row.trick, row.suit, row.rank, row.card, row.sign,
                                      row.draw == "suit", row.draw == "rank", row.draw == "card")
        self.drawable_count = len(decks.DRAWABLE)
        for i in range(self.drawable_count):
            self.drawable[i] = decks.DRAWABLE[i]
        for i in range(ROUNDS):
            self.horizon_scale[i] = SLOPE_MATCH * sum([ROUND_SPREAD[r] ** 2 for r in range(i, ROUNDS)]) ** 0.5
        self.dealer_leads = options["first_lead"] == "dealer"
        self.last_twin_takes = options["twin_rule"] == "last"
        self.all_or_nothing = options["all_or_nothing"]
        self.reversed_last = options["all_or_nothing_last"] == "reverse"

    # -- the course of a match -------------------------------------------------------------------

    cdef void deal(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """BO-3: the first dealer is drawn."""
        cdef State* s = <State*> state
        memset(s, 0, sizeof(State))
        s.drawn_suit = s.drawn_rank = s.drawn_card = NONE
        self.expect_chance(chance)
        s.dealer = chance_pick(chance, DEALER, 0, 0, self.seat_count)
        self.start_round(s, 1, chance, log)

    cdef void expect_chance(self, Chance* chance) noexcept nogil:
        """Nothing that chance gives depends on what is played."""
        cdef int round
        for round in range(1, ROUNDS + 1):
            chance_expect_shuffle(chance, DEAL, round, 0, self.card_count)
        chance_expect_pick(chance, DEALER, 0, 0)
        for round in range(1, ROUNDS + 1):
            if self.weights[round - 1].draws_suit:
                chance_expect_pick(chance, DRAW_SUIT, round, 0)
            elif self.weights[round - 1].draws_rank:
                chance_expect_pick(chance, DRAW_RANK, round, 0)
            elif self.weights[round - 1].draws_card:
                chance_expect_pick(chance, DRAW_CARD, round, 0)

    cdef void advance(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """BO-3: the deal moves one seat to the left."""
        cdef State* s = <State*> state
        s.dealer = self.left_of(s.dealer)
        self.start_round(s, s.round + 1, chance, log)

    cdef void clear_round(self, State* s) noexcept nogil:
        """Nothing has been played; the hands are not touched."""
        s.phase = PLAY
        s.played = s.played_twin = s.trick_cards = s.trick_twins = s.led = s.best = 0
        s.trick_count = s.tricks_played = 0
        s.last_leader = s.last_winner = s.winner = NONE
        memset(s.points, 0, sizeof(s.points))
        memset(s.voids, 0, sizeof(s.voids))
        memset(s.trick, 0, sizeof(s.trick))
        memset(s.last_trick, 0, sizeof(s.last_trick))
        memset(s.tricks_taken, 0, sizeof(s.tricks_taken))
        s.seat = s.leader = s.dealer if self.dealer_leads else self.left_of(s.dealer)

    cdef void start_round(self, State* s, int round, Chance* chance, EventLog* log) noexcept nogil:
        s.round = round
        self.clear_round(s)
        if log != NULL:
            event_begin(log, ROUND_STARTED, <uint32_t> EVERYBODY)
            log_word(log, round)
            log_word(log, s.dealer)
            log_word(log, s.leader)
            log_end(log)
        self.deal_hands(s, chance, log)
        self.draw_targets(s, chance, log)

    cdef void deal_hands(self, State* s, Chance* chance, EventLog* log) noexcept nogil:
        """BO-2: everything that is not removed, the same number to each seat."""
        cdef uint8_t order[ITEMS_MAX]
        cdef int seat
        memcpy(order, self.cards, self.card_count)
        chance_shuffle(chance, DEAL, s.round, 0, order, self.card_count, self.hand_size)
        for seat in range(self.seat_count):
            self.give(s, seat, order + seat * self.hand_size, self.hand_size)
            if log != NULL:
                self.log_dealt(s, seat, log)

    cdef inline void give(self, State* s, int seat, const uint8_t* cards, int count) noexcept nogil:
        cdef uint64_t hand = 0, twin = 0, card
        cdef int i
        for i in range(count):
            card = <uint64_t> 1 << cards[i]
            twin |= hand & card
            hand |= card
        s.hand[seat] = hand
        s.twin[seat] = twin

    cdef void log_dealt(self, State* s, int seat, EventLog* log) noexcept nogil:
        """BO-19: a hand is for its seat; with two players the other can work it out, so it sees it."""
        cdef uint64_t left = s.hand[seat]
        cdef int card
        event_begin(log, DEALT, 3 if self.seat_count == 2 else <uint32_t> 1 << seat)
        log_word(log, seat)
        log_word(log, self.hand_size)
        event_secret(log)
        while left:
            card = lowest(left)
            log_word(log, card)
            if s.twin[seat] >> card & 1:
                log_word(log, card)
            left &= left - 1
        log_end(log)

    cdef void draw_targets(self, State* s, Chance* chance, EventLog* log) noexcept nogil:
        """BO-8: rounds 2, 3 and 4 draw a suit, a rank, a card; BO-13: they stay in force."""
        cdef Weights* w = &self.weights[s.round - 1]
        cdef int kind = 0, shown = 0, pick
        if w.draws_suit:
            s.drawn_suit = chance_pick(chance, DRAW_SUIT, s.round, 0, 4)
            kind, shown = SUIT_DRAWN, s.drawn_suit
        elif w.draws_rank:
            s.drawn_rank = self.drawable[chance_pick(chance, DRAW_RANK, s.round, 0, self.drawable_count)]
            kind, shown = RANK_DRAWN, s.drawn_rank
        elif w.draws_card:
            pick = chance_pick(chance, DRAW_CARD, s.round, 0, 4 * self.drawable_count)
            s.drawn_card = 16 * (pick & 3) + self.drawable[pick >> 2]
            kind, shown = CARD_DRAWN, s.drawn_card
        self.mark_targets(s)
        if kind and log != NULL:
            event_begin(log, kind, <uint32_t> EVERYBODY)
            log_word(log, shown)
            log_end(log)

    cdef void mark_targets(self, State* s) noexcept nogil:
        """The cards that count this round, from what is drawn."""
        cdef Weights* w = &self.weights[s.round - 1]
        s.suit_cards = s.rank_cards = s.drawn_cards = 0
        if w.suit:
            s.suit_cards = <uint64_t> SUIT << 16 * s.drawn_suit
        if w.rank:
            s.rank_cards = <uint64_t> 0x0001000100010001 << s.drawn_rank
        if w.card:
            s.drawn_cards = <uint64_t> 1 << s.drawn_card

    cdef inline int left_of(self, int seat) noexcept nogil:
        return 0 if seat + 1 == self.seat_count else seat + 1

    cdef uint32_t to_act(self, const void* state) noexcept nogil:
        cdef const State* s = <const State*> state
        return <uint32_t> 1 << s.seat if s.phase == PLAY else 0

    cdef bint horizon(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == BOOKED

    cdef bint over(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == OVER

    cdef uint64_t legal_bits(self, const void* state, int seat) noexcept nogil:
        """BO-4: the led suit if the seat holds it, else any card; the leader any card."""
        cdef const State* s = <const State*> state
        cdef uint64_t following = s.hand[seat] & s.led
        return following if following else s.hand[seat]

    cdef void apply(self, void* state, int seat, int action, Chance* chance, EventLog* log) noexcept nogil:
        cdef State* s = <State*> state
        self.lay(s, seat, action)
        if log != NULL:
            event_begin(log, PLAYED, <uint32_t> EVERYBODY)
            log_word(log, seat)
            log_word(log, action)
            log_end(log)
        if s.trick_count == self.seat_count:
            self.take_trick(s, log)
        else:
            s.seat = self.left_of(seat)

    cdef inline void lay(self, State* s, int seat, int action) noexcept nogil:
        """One card from a hand to the trick; BO-5: does it take the trick so far?"""
        cdef uint64_t card = <uint64_t> 1 << action
        if self.two_decks:
            if s.twin[seat] & card:
                s.twin[seat] ^= card
            else:
                s.hand[seat] ^= card
            s.played_twin |= s.played & card
            s.trick_twins |= s.trick_cards & card
        else:
            s.hand[seat] ^= card
        s.played |= card
        s.trick_cards |= card
        if s.trick_count == 0:
            s.led = <uint64_t> SUIT << (action & 0x30)
            s.best = card
            s.winner = seat
        elif card & s.led:
            # BO-6: of two identical highest cards the first, or by option the last, takes the trick.
            if card > s.best or (card == s.best and self.last_twin_takes):
                s.best = card
                s.winner = seat
        else:
            s.voids[seat] |= 1 << (s.trick[0] >> 4)
        s.trick[s.trick_count] = action
        s.trick_count += 1

    cdef inline int trick_points(self, State* s) noexcept nogil:
        """BO-9 to BO-14: what the trick is worth, before the sign of the round."""
        cdef Weights* w = &self.weights[s.round - 1]
        cdef int points = w.trick
        if s.trick_cards & (s.suit_cards | s.rank_cards | s.drawn_cards):
            points += (w.suit * popcount(s.trick_cards & s.suit_cards) + w.rank * popcount(s.trick_cards & s.rank_cards)
                       + w.card * popcount(s.trick_cards & s.drawn_cards))
            if s.trick_twins:
                points += (w.suit * popcount(s.trick_twins & s.suit_cards)
                           + w.rank * popcount(s.trick_twins & s.rank_cards)
                           + w.card * popcount(s.trick_twins & s.drawn_cards))
        return points

    cdef inline void take_trick(self, State* s, EventLog* log) noexcept nogil:
        """BO-5: the winner takes the trick and leads; BO-7: until all are played."""
        cdef int points = self.trick_points(s) * self.weights[s.round - 1].sign
        cdef int winner = s.winner
        s.points[winner] += points
        s.tricks_taken[winner] += 1
        s.tricks_played += 1
        s.last_leader = s.leader
        s.last_winner = winner
        memcpy(s.last_trick, s.trick, sizeof(s.trick))
        memset(s.trick, 0, sizeof(s.trick))
        s.trick_cards = s.trick_twins = s.led = s.best = 0
        s.trick_count = 0
        s.seat = s.leader = winner
        if log != NULL:
            event_begin(log, TRICK_TAKEN, <uint32_t> EVERYBODY)
            log_word(log, winner)
            log_word(log, points)
            log_end(log)
        if s.tricks_played == self.hand_size:
            self.book_round(s, log)

    cdef void book_round(self, State* s, EventLog* log) noexcept nogil:
        """BO-18: a round's points are booked when its last trick has been taken."""
        cdef int seat
        cdef int sweeper = self.sweeper(s)
        if sweeper >= 0:
            s.points[sweeper] = -s.points[sweeper]
        for seat in range(self.seat_count):
            s.totals[seat] += s.points[seat]
            s.round_points[s.round - 1][seat] = s.points[seat]
        if log != NULL:
            event_begin(log, ROUND_SCORED, <uint32_t> EVERYBODY)
            log_word(log, s.round)
            for seat in range(self.seat_count):
                log_word(log, s.points[seat])
            for seat in range(self.seat_count):
                log_word(log, s.totals[seat])
            log_end(log)
        memset(s.points, 0, sizeof(s.points))
        s.phase = OVER if s.round == ROUNDS else BOOKED

    cdef int sweeper(self, State* s) noexcept nogil:
        """BO-15 to BO-17: the seat whose points turn round, or -1.

        Every item bears points of one sign, so a seat has all of them when it has all the points.
        """
        cdef Weights* w = &self.weights[s.round - 1]
        cdef int seat, with_points = 0, sweeper = -1
        if not self.all_or_nothing or w.draws_card or (w.sign < 0 and not self.reversed_last):
            return -1
        for seat in range(self.seat_count):
            if s.points[seat]:
                with_points += 1
                sweeper = seat
        return sweeper if with_points == 1 else -1

    # -- scores ----------------------------------------------------------------------------------

    cdef void totals(self, const void* state, int32_t* out) noexcept nogil:
        memcpy(out, (<const State*> state).totals, self.seat_count * sizeof(int32_t))

    cdef void running_points(self, const void* state, int32_t* out) noexcept nogil:
        cdef int seat
        for seat in range(self.seat_count):
            out[seat] = (<const State*> state).points[seat]

    cdef void placement(self, const void* state, int32_t* places) noexcept nogil:
        """BO-18: the lowest total wins."""
        places_from_scores((<const State*> state).totals, self.seat_count, True, places)

    cdef void utility(self, const void* state, double* out) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == OVER:
            utility_from_scores(s.totals, self.seat_count, True, out)
        else:
            expected_utility(s.totals, self.seat_count, True, self.horizon_scale[s.round], out)

    # -- what a seat knows -----------------------------------------------------------------------

    cdef void blank(self, void* state, int viewer) noexcept nogil:
        """BO-19: a hand is secret; with two players each seat knows the other's."""
        cdef State* s = <State*> state
        cdef int seat
        if self.seat_count == 2 and viewer != SPECTATOR:
            return
        for seat in range(self.seat_count):
            if seat != viewer:
                s.hand[seat] = 0
                s.twin[seat] = 0

    cdef int cards_left(self, const State* s, int seat) noexcept nogil:
        """How many cards a seat holds, from public facts."""
        cdef int since_leader = seat - s.leader
        if since_leader < 0:
            since_leader += self.seat_count
        return self.hand_size - s.tricks_played - (1 if since_leader < s.trick_count else 0)

    cpdef Dealer dealer(self, bytes view, int viewer):
        return UnseenHands(self, view, viewer)

    def replay(self, bytes event_words):
        """The cards played in the round, with a way back to its first trick."""
        return RoundAgain([(seat, card) for seat, card in events_of(event_words, PLAYED)], self)

    # -- playing it out --------------------------------------------------------------------------

    cdef bint has_rule(self) noexcept nogil:
        return True

    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil:
        """Duck under the trick, dump what costs; in round 6 the other way round."""
        cdef const State* s = <const State*> state
        cdef bint last = s.trick_count == self.seat_count - 1
        return self.thumb(s, self.legal_bits(state, seat), s.led, s.best, last)

    cdef inline int thumb(self, const State* s, uint64_t legal, uint64_t led, uint64_t best, bint last) noexcept nogil:
        if self.weights[s.round - 1].sign < 0:
            return self.take_all(s, legal, led, best, last)
        return self.avoid(s, legal, led, best, last)

    cdef inline int avoid(self, const State* s, uint64_t legal, uint64_t led, uint64_t best, bint last) noexcept nogil:
        cdef uint64_t costly = s.suit_cards | s.rank_cards | s.drawn_cards
        cdef uint64_t under, harmless
        if led == 0:
            harmless = legal & ~costly
            return lowest_rank(harmless if harmless else legal)
        if not legal & led:
            return self.most_costly(s, legal)
        under = legal & (best - 1)
        if under:
            return highest(under & costly if under & costly else under)
        if last:
            harmless = legal & ~costly
            return highest(harmless if harmless else legal)
        return lowest(legal)

    cdef inline int most_costly(self, const State* s, uint64_t legal) noexcept nogil:
        if legal & s.drawn_cards:
            return lowest(legal & s.drawn_cards)
        if legal & s.rank_cards:
            return highest_rank(legal & s.rank_cards)
        if legal & s.suit_cards:
            return highest(legal & s.suit_cards)
        return highest_rank(legal)

    cdef inline int take_all(self, const State* s, uint64_t legal, uint64_t led, uint64_t best, bint last) noexcept nogil:
        cdef uint64_t prized = s.suit_cards | s.rank_cards | s.drawn_cards
        cdef uint64_t over, cheap
        if led == 0:
            return highest_rank(legal)
        over = legal & led & ~(best | (best - 1))
        if over:
            return lowest(over) if last else highest(over)
        cheap = legal & ~prized
        return lowest_rank(cheap if cheap else legal)

    cdef void playout(self, void* state, Chance* chance, int policy) noexcept nogil:
        """The generic loop with the rules inlined and the trick in locals.

        Scores come out the same; the record of single cards (trick, voids), which nobody looks at
        behind a horizon, is not kept.
        """
        cdef State* s = <State*> state
        if s.phase != PLAY:
            return
        while s.tricks_played < self.hand_size:
            self.play_trick(s, &chance.state, policy)
        s.led = s.best = 0
        s.trick_count = 0
        self.book_round(s, NULL)

    cdef inline void play_trick(self, State* s, uint64_t* random, int policy) noexcept nogil:
        """The rest of the trick in play."""
        cdef uint64_t led = s.led, best = s.best, legal, card
        cdef int seat = s.seat, winner = s.winner, count = s.trick_count
        cdef int action
        while count < self.seat_count:
            legal = s.hand[seat] & led
            if not legal:
                legal = s.hand[seat]
            if policy == POLICY_RULE:
                action = self.thumb(s, legal, led, best, count == self.seat_count - 1)
            else:
                action = nth(legal, random_below(random, popcount(legal)))
            card = <uint64_t> 1 << action
            if self.two_decks:
                if s.twin[seat] & card:
                    s.twin[seat] ^= card
                else:
                    s.hand[seat] ^= card
                s.played_twin |= s.played & card
                s.trick_twins |= s.trick_cards & card
            else:
                s.hand[seat] ^= card
            s.played |= card
            s.trick_cards |= card
            if led == 0:
                led = <uint64_t> SUIT << (action & 0x30)
                best = card
                winner = seat
            elif (card & led) > best or (card == best and self.last_twin_takes):
                best = card
                winner = seat
            count += 1
            seat = self.left_of(seat)
        s.points[winner] += self.trick_points(s) * self.weights[s.round - 1].sign
        s.tricks_taken[winner] += 1
        s.tricks_played += 1
        s.trick_cards = s.trick_twins = s.led = 0
        s.trick_count = 0
        s.seat = s.leader = winner

    # -- checks ----------------------------------------------------------------------------------

    cdef int broken_invariant(self, const void* state) noexcept nogil:
        """1: a card in two places or none; 2: hands of the wrong size; 3: a seat holds a suit it can't."""
        cdef const State* s = <const State*> state
        cdef int count[64]
        cdef int card, seat, held
        memset(count, 0, sizeof(count))
        for card in range(64):
            count[card] = (s.played >> card & 1) + (s.played_twin >> card & 1)
        for seat in range(self.seat_count):
            held = popcount(s.hand[seat]) + popcount(s.twin[seat])
            if s.phase == PLAY and held != self.cards_left(s, seat):
                return 2
            for card in range(64):
                count[card] += (s.hand[seat] >> card & 1) + (s.twin[seat] >> card & 1)
                if s.hand[seat] >> card & 1 and s.voids[seat] >> (card >> 4) & 1:
                    return 3
        for card in range(64):
            if count[card] != <int> (self.in_play >> card & 1) + (self.in_play_twin >> card & 1):
                return 1
        return 0

    def unpack(self, bytes state) -> dict:
        return (<const State*> <const uint8_t*> state)[0]

    def pack(self, dict fields) -> bytes:
        cdef State s
        memset(&s, 0, sizeof(State))
        s = fields
        return (<uint8_t*> &s)[:sizeof(State)]


cdef inline int lowest_rank(uint64_t cards) noexcept nogil:
    """The card of lowest rank, the lower suit first."""
    cdef uint64_t low = cards | cards >> 16 | cards >> 32 | cards >> 48
    return lowest(cards & (<uint64_t> 0x0001000100010001 << lowest(low & 0xffff)))


cdef inline int highest_rank(uint64_t cards) noexcept nogil:
    """The card of highest rank, the lower suit first."""
    cdef uint64_t low = cards | cards >> 16 | cards >> 32 | cards >> 48
    return lowest(cards & (<uint64_t> 0x0001000100010001 << highest(low & 0xffff)))


cdef class RoundAgain(Replay):
    """Cards go back to the hands that played them."""
    cdef Rules rules

    def __init__(self, list decisions, Rules rules):
        self.rules = rules

    cdef void restart(self, void* state) noexcept nogil:
        cdef State* s = <State*> state
        cdef uint64_t card
        cdef int i, seat
        for i in range(self.count):
            seat = self.seats[i]
            card = <uint64_t> 1 << self.actions[i]
            s.twin[seat] |= s.hand[seat] & card
            s.hand[seat] |= card
        self.rules.clear_round(s)


cdef class UnseenHands(Dealer):
    """The cards a seat has not seen, to the other hands; a seat void of a suit gets none of it."""
    cdef Rules rules
    cdef State view
    cdef ExactDealer exact
    cdef int seats[12]
    cdef int sizes[12]
    cdef int hand_count

    def __init__(self, Rules rules, bytes view, int viewer):
        cdef int card, seat
        self.rules = rules
        self.view = (<const State*> <const uint8_t*> view)[0]
        if self.view.phase != PLAY or (rules.seat_count == 2 and viewer != SPECTATOR):
            return
        unseen = [[] for _ in range(4)]
        for card in range(64):
            copies = (rules.in_play >> card & 1) + (rules.in_play_twin >> card & 1)
            copies -= (self.view.played >> card & 1) + (self.view.played_twin >> card & 1)
            if viewer != SPECTATOR:
                copies -= (self.view.hand[viewer] >> card & 1) + (self.view.twin[viewer] >> card & 1)
            unseen[card >> 4].extend([card] * copies)
        allowed = []
        for seat in range(rules.seat_count):
            if seat != viewer:
                self.seats[self.hand_count] = seat
                self.sizes[self.hand_count] = rules.cards_left(&self.view, seat)
                self.hand_count += 1
                allowed.append({suit for suit in range(4) if not self.view.voids[seat] >> suit & 1})
        self.exact = ExactDealer(unseen, [self.sizes[i] for i in range(self.hand_count)], allowed)

    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        cdef uint8_t cards[ITEMS_MAX]
        cdef State* s = <State*> state
        cdef int i, at = 0
        memcpy(s, &self.view, sizeof(State))
        if self.hand_count == 0:
            return
        self.exact.sample(cards, chance)
        for i in range(self.hand_count):
            self.rules.give(s, self.seats[i], cards + at, self.sizes[i])
            at += self.sizes[i]
