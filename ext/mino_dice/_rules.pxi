from libc.math cimport fabs
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from tavolata.ext.core.bits cimport lowest, nth, popcount
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
from tavolata.ext.core.log cimport EVERYBODY, EventLog, event_begin, event_secret, log_end, log_word
from tavolata.ext.mino_dice.state cimport BID, BOOKED, HANDS, KINDS, NO_FACE, NONE, OVER, ROLL, SEATS, State

from tavolata.ext.mino_dice import dice as seed_dice
from tavolata.ext.mino_dice import odds

cdef enum:
    FIRST_ROLL = 16             # actions below are bids, from here on kinds of dice
    SIDES = 6
    PER_BID = 20                # points for each trick of a bid that was met (MD-13)
    PER_MISS = 10               # for each trick over or under
    PER_DIE = 10                # for each die of the hand, for or against a bid of 0 (MD-14)
    MERMAID_BONUS = 50          # MD-15
    GRIFFIN_BONUS = 30

cdef enum Purpose:
    FIRST = 0
    DRAW = 1
    ROLL_DIE = 2

cdef enum EventKind:            # 0 is the core's match_ended
    HAND_STARTED = 1
    DRAWN = 2
    BID_COMMITTED = 3
    BIDS_SHOWN = 4
    ROLLED = 5
    TRICK_TAKEN = 6
    HAND_SCORED = 7

cdef enum FlagScope:            # which bonuses a flag cancels (MD-16)
    IN_TRICK = 0
    IN_HAND = 1
    NOWHERE = 2

# The standard deviation of the difference of two seats' points in hands 1 to 8, over 5,000 matches of four seats that
# play by the rule of thumb. What is still to come spreads scores by the root of the sum of their squares.
cdef double[8] HAND_SPREAD = [15.1, 23.0, 29.0, 33.4, 35.9, 37.4, 39.7, 43.1]

# expected_utility's curve has the slope of the normal distribution at zero with this multiple of its deviation.
cdef double SLOPE_MATCH = 1.2533


cdef class Rules(Game):
    cdef int hand_count
    cdef int count[KINDS]                # dice of each kind
    cdef int die_total
    cdef uint8_t all_dice[ITEMS_MAX]     # every die by its kind, in the documented order
    cdef uint8_t sides[KINDS][SIDES]     # the faces of a die of each kind
    cdef uint32_t beaten[NO_FACE]        # the faces, and NO_FACE, that a face takes over from (MD-10)
    cdef uint32_t specials               # the kinds that are special, a bit each
    cdef int minotaur, griffin, mermaid  # faces
    cdef uint32_t flag_bit, three_bits   # the flag, the three special faces, as sets of faces
    cdef bint first_number_leads         # follow_after_special = first_number
    cdef bint last_flag_takes            # all_flags = last
    cdef bint mermaid_takes              # three_way = mermaid
    cdef bint each_griffin               # griffin_bonus = each
    cdef bint simple                     # scoring = simple
    cdef int flag_scope
    cdef double horizon_scale[HANDS + 1]
    cdef double takes_now[KINDS][NO_FACE + 1][SEATS]  # see odds.py
    cdef double takes_in_place[KINDS][SEATS]  # the same before the trick begins, by the place in it
    cdef double takes_later[KINDS]       # from a place yet unknown

    def __init__(self, spec, int seat_count, dict options, face):
        cdef int i
        super().__init__(spec, seat_count, options, face)
        self.state_bytes = sizeof(State)
        self.action_count = FIRST_ROLL + KINDS
        self.legal_max = HANDS + 1
        self.has_bits = True
        self.has_outcomes = True
        self.purposes = ("first", "draw", "roll")
        self.hand_count = seed_dice.hands_of(seat_count)
        self._load_dice()
        self._load_odds()
        for i in range(HANDS):
            self.horizon_scale[i] = SLOPE_MATCH * sum([HAND_SPREAD[h] ** 2 for h in range(i, self.hand_count)]) ** 0.5
        self.first_number_leads = options["follow_after_special"] == "first_number"
        self.last_flag_takes = options["all_flags"] == "last"
        self.mermaid_takes = options["three_way"] == "mermaid"
        self.each_griffin = options["griffin_bonus"] == "each"
        self.simple = options["scoring"] == "simple"
        self.flag_scope = {"trick": IN_TRICK, "hand": IN_HAND, "none": NOWHERE}[options["flag_scope"]]

    def _load_dice(self):
        cdef int kind, i, face
        for kind in range(KINDS):
            self.count[kind] = seed_dice.COUNTS[kind]
            for i in range(self.count[kind]):
                self.all_dice[self.die_total] = kind
                self.die_total += 1
            for i in range(SIDES):
                self.sides[kind][i] = seed_dice.DIE_FACES[kind][i]
        for kind in seed_dice.SPECIALS:
            self.specials |= <uint32_t> 1 << kind
        self.minotaur, self.griffin, self.mermaid = seed_dice.MINOTAUR, seed_dice.GRIFFIN, seed_dice.MERMAID
        self.flag_bit = <uint32_t> 1 << <int> seed_dice.FLAG
        self.three_bits = (
            <uint32_t> 1 << self.minotaur | <uint32_t> 1 << self.griffin | <uint32_t> 1 << self.mermaid
        )
        for face in range(NO_FACE):
            self.beaten[face] = <uint32_t> 1 << NO_FACE
            for i in range(NO_FACE):
                if seed_dice.takes_over(face, i):
                    self.beaten[face] |= <uint32_t> 1 << i

    def _load_odds(self):
        cdef int kind, best, after, i
        now = odds.takes_now(self.seat_count)
        by_place = odds.takes_in_place(self.seat_count)
        for kind in range(KINDS):
            self.takes_later[kind] = sum(by_place[kind]) / self.seat_count
            for i in range(self.seat_count):
                self.takes_in_place[kind][i] = by_place[kind][i]
            for best in range(NO_FACE + 1):
                for after in range(self.seat_count):
                    self.takes_now[kind][best][after] = now[kind][best][after]

    # -- the course of a match -------------------------------------------------------------------

    cdef void deal(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """MD-5: the first player of hand 1 is drawn."""
        cdef State* s = <State*> state
        cdef int hand
        memset(s, 0, sizeof(State))
        for hand in range(1, self.hand_count + 1):
            chance_expect_shuffle(chance, DRAW, hand, 0, self.die_total)
        s.first_player = chance_pick(chance, FIRST, 0, 0, self.seat_count)
        self.start_hand(s, 1, chance, log)

    cdef void advance(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """MD-5: the first player moves one seat to the left."""
        cdef State* s = <State*> state
        s.first_player = self.left_of(s.first_player)
        self.start_hand(s, s.hand + 1, chance, log)

    cdef void start_hand(self, State* s, int hand, Chance* chance, EventLog* log) noexcept nogil:
        s.hand = hand
        s.phase = BID
        s.leader = s.seat = s.first_player
        s.committed = s.flagged = s.tricks_played = 0
        s.last_leader = s.last_winner = NONE
        memset(s.bonus, 0, sizeof(s.bonus))
        memset(s.rolled, 0, sizeof(s.rolled))
        memset(s.voids, 0, sizeof(s.voids))
        memset(s.bids, NONE, self.seat_count)
        memset(s.last_kinds, 0, sizeof(s.last_kinds))
        memset(s.last_faces, 0, sizeof(s.last_faces))
        memset(s.tricks_taken, 0, sizeof(s.tricks_taken))
        self.clear_trick(s)
        if log != NULL:
            event_begin(log, HAND_STARTED, <uint32_t> EVERYBODY)
            log_word(log, hand)
            log_word(log, s.first_player)
            log_end(log)
        self.draw_dice(s, chance, log)

    cdef inline void clear_trick(self, State* s) noexcept nogil:
        memset(s.trick_kinds, 0, sizeof(s.trick_kinds))
        memset(s.trick_faces, 0, sizeof(s.trick_faces))
        s.faces = s.led = s.trick_count = 0
        s.best = NO_FACE
        s.winner = NONE

    cdef void draw_dice(self, State* s, Chance* chance, EventLog* log) noexcept nogil:
        """MD-3: every seat draws as many dice as the hand's number from all of them."""
        cdef uint8_t order[ITEMS_MAX]
        cdef int seat
        memcpy(order, self.all_dice, self.die_total)
        chance_shuffle(chance, DRAW, s.hand, 0, order, self.die_total)
        for seat in range(self.seat_count):
            self.give(s, seat, order + seat * s.hand, s.hand)
            self.expect_rolls(s, seat, chance)
            if log != NULL:
                self.log_drawn(s, seat, log)

    cdef inline void give(self, State* s, int seat, const uint8_t* dice, int count) noexcept nogil:
        cdef int i
        memset(s.dice[seat], 0, sizeof(s.dice[seat]))
        s.kinds[seat] = 0
        for i in range(count):
            s.dice[seat][dice[i]] += 1
            s.kinds[seat] |= 1 << dice[i]

    cdef void expect_rolls(self, const State* s, int seat, Chance* chance) noexcept nogil:
        """Every die of a hand is rolled in it."""
        cdef int kind, i
        for kind in range(KINDS):
            for i in range(s.dice[seat][kind]):
                chance_expect_pick(chance, ROLL_DIE, s.hand, roll_index(seat, kind, i))

    cdef void log_drawn(self, State* s, int seat, EventLog* log) noexcept nogil:
        cdef int kind, i
        event_begin(log, DRAWN, <uint32_t> 1 << seat)
        log_word(log, seat)
        log_word(log, s.hand)
        event_secret(log)
        for kind in range(KINDS):
            for i in range(s.dice[seat][kind]):
                log_word(log, kind)
        log_end(log)

    cdef inline int left_of(self, int seat) noexcept nogil:
        return 0 if seat + 1 == self.seat_count else seat + 1

    cdef inline uint32_t everybody(self) noexcept nogil:
        return (<uint32_t> 1 << self.seat_count) - 1

    cdef uint32_t to_act(self, const void* state) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == BID:
            return self.everybody() & ~<uint32_t> s.committed
        return <uint32_t> 1 << s.seat if s.phase == ROLL else 0

    cdef int outcome(self, const void* state) noexcept nogil:
        """The face of the die just rolled. Bids are no chance, and too many to tell apart."""
        cdef const State* s = <const State*> state
        if s.phase == BID or s.tricks_played == 0 and s.trick_count == 0:
            return NO_FACE
        return s.trick_faces[s.trick_count - 1] if s.trick_count else s.last_faces[self.seat_count - 1]

    cdef bint horizon(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == BOOKED

    cdef bint over(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == OVER

    cdef uint64_t legal_bits(self, const void* state, int seat) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == BID:
            return legal_bids(s)
        return <uint64_t> self.legal_kinds(s, seat) << FIRST_ROLL

    cdef inline uint32_t legal_kinds(self, const State* s, int seat) noexcept nogil:
        """MD-7: with a led colour that the seat holds, that colour or a special die; else any die."""
        cdef uint32_t held = s.kinds[seat]
        return held & (s.led | self.specials) if held & s.led else held

    cdef void apply(self, void* state, int seat, int action, Chance* chance, EventLog* log) noexcept nogil:
        cdef State* s = <State*> state
        if s.phase == BID:
            self.bid(s, seat, action, log)
        else:
            self.roll(s, seat, action - FIRST_ROLL, chance, log)

    cdef void bid(self, State* s, int seat, int bid, EventLog* log) noexcept nogil:
        """MD-4: a bid is secret until the last one is in."""
        s.bids[seat] = bid
        s.committed |= 1 << seat
        if log != NULL:
            event_begin(log, BID_COMMITTED, <uint32_t> 1 << seat)
            log_word(log, seat)
            event_secret(log)
            log_word(log, bid)
            log_end(log)
        if s.committed == self.everybody():
            s.phase = ROLL
            if log != NULL:
                event_begin(log, BIDS_SHOWN, <uint32_t> EVERYBODY)
                for seat in range(self.seat_count):
                    log_word(log, s.bids[seat])
                log_end(log)

    cdef void roll(self, State* s, int seat, int kind, Chance* chance, EventLog* log) noexcept nogil:
        cdef int index = roll_index(seat, kind, s.rolled[seat][kind])
        cdef int face = self.sides[kind][chance_pick(chance, ROLL_DIE, s.hand, index, SIDES)]
        self.lay(s, seat, kind, face)
        if log != NULL:
            event_begin(log, ROLLED, <uint32_t> EVERYBODY)
            log_word(log, seat)
            log_word(log, kind)
            log_word(log, face)
            log_end(log)
        if s.trick_count == self.seat_count:
            self.take_trick(s, log)
        else:
            s.seat = self.left_of(seat)

    cdef inline void lay(self, State* s, int seat, int kind, int face) noexcept nogil:
        """One die from a seat to the trick; MD-10: does its face take over from the best so far?"""
        cdef uint32_t colour = <uint32_t> 1 << kind & ~self.specials
        s.dice[seat][kind] -= 1
        s.rolled[seat][kind] += 1
        if not s.dice[seat][kind]:
            s.kinds[seat] ^= 1 << kind
        if s.led:
            # MD-20: a number die of another colour shows that the seat holds none of the led one.
            if colour and colour != s.led:
                s.voids[seat] |= s.led
        elif s.trick_count == 0 or self.first_number_leads:
            s.led = colour      # MD-8: the die's colour, whatever its face; MD-9: after a special die
        if self.beaten[face] >> s.best & 1:
            s.best = face
            s.winner = seat
        s.faces |= 1 << face
        s.trick_kinds[s.trick_count] = kind
        s.trick_faces[s.trick_count] = face
        s.trick_count += 1

    cdef inline void take_trick(self, State* s, EventLog* log) noexcept nogil:
        """MD-6: the winner of the trick leads the next; MD-16: a flag may cost the trick its bonus."""
        cdef int winner = self.trick_winner(s)
        if s.faces & self.flag_bit:
            s.flagged |= 1 << winner
        if s.faces & self.three_bits and not (self.flag_scope == IN_TRICK and s.faces & self.flag_bit):
            s.bonus[winner] += self.trick_bonus(s)
        s.tricks_taken[winner] += 1
        s.tricks_played += 1
        s.last_leader = s.leader
        s.last_winner = winner
        memcpy(s.last_kinds, s.trick_kinds, sizeof(s.trick_kinds))
        memcpy(s.last_faces, s.trick_faces, sizeof(s.trick_faces))
        self.clear_trick(s)
        s.seat = s.leader = winner
        if log != NULL:
            event_begin(log, TRICK_TAKEN, <uint32_t> EVERYBODY)
            log_word(log, winner)
            log_end(log)
        if s.tricks_played == s.hand:
            self.book_hand(s, log)

    cdef inline int trick_winner(self, State* s) noexcept nogil:
        """The seat that takes a full trick, with its face left in ``best`` (MD-10 to MD-12)."""
        cdef int place
        if self.last_flag_takes and s.faces == self.flag_bit:
            return self.seat_at(s, self.seat_count - 1)
        if self.mermaid_takes and s.faces & self.three_bits == self.three_bits:
            s.best = self.mermaid
            for place in range(self.seat_count - 1, 0, -1):
                if s.trick_faces[place] == self.mermaid:
                    return self.seat_at(s, place)
            return s.leader
        return s.winner

    cdef inline int seat_at(self, const State* s, int place) noexcept nogil:
        cdef int seat = s.leader + place
        return seat - self.seat_count if seat >= self.seat_count else seat

    cdef inline int trick_bonus(self, const State* s) noexcept nogil:
        """MD-15: what the trick earns a seat that meets its bid."""
        cdef int place, griffins = 0
        if s.best == self.mermaid:
            return MERMAID_BONUS if s.faces >> self.minotaur & 1 else 0
        if s.best != self.minotaur or not s.faces >> self.griffin & 1:
            return 0
        if not self.each_griffin:
            return GRIFFIN_BONUS
        for place in range(self.seat_count):
            griffins += s.trick_faces[place] == self.griffin
        return GRIFFIN_BONUS * griffins

    cdef void book_hand(self, State* s, EventLog* log) noexcept nogil:
        """MD-18: a hand's points join the totals when its last trick has been taken."""
        cdef int bonus[SEATS]
        cdef int seat
        for seat in range(self.seat_count):
            bonus[seat] = self.earned_bonus(s, seat)
            s.hand_points[s.hand - 1][seat] = self.points(s.bids[seat], s.tricks_taken[seat], s.hand) + bonus[seat]
            s.totals[seat] += s.hand_points[s.hand - 1][seat]
        if log != NULL:
            event_begin(log, HAND_SCORED, <uint32_t> EVERYBODY)
            log_word(log, s.hand)
            for seat in range(self.seat_count):
                log_word(log, s.hand_points[s.hand - 1][seat])
            for seat in range(self.seat_count):
                log_word(log, bonus[seat])
            for seat in range(self.seat_count):
                log_word(log, s.totals[seat])
            log_end(log)
        s.phase = OVER if s.hand == self.hand_count else BOOKED

    cdef inline int points(self, int bid, int taken, int hand) noexcept nogil:
        """MD-13, MD-14, MD-17: the points of a bid, without bonuses."""
        if bid == 0:
            return PER_DIE * hand if taken == 0 else -PER_DIE * hand
        if bid == taken:
            return PER_BID * bid
        if self.simple:
            return 0
        return -PER_MISS * (taken - bid if taken > bid else bid - taken)

    cdef inline int earned_bonus(self, const State* s, int seat) noexcept nogil:
        """MD-15 to MD-17: only for a bid above 0 that was met."""
        if self.simple or s.bids[seat] == 0 or s.bids[seat] != s.tricks_taken[seat]:
            return 0
        if self.flag_scope == IN_HAND and s.flagged >> seat & 1:
            return 0
        return s.bonus[seat]

    # -- scores ----------------------------------------------------------------------------------

    cdef void totals(self, const void* state, int32_t* out) noexcept nogil:
        memcpy(out, (<const State*> state).totals, self.seat_count * sizeof(int32_t))

    cdef void running_points(self, const void* state, int32_t* out) noexcept nogil:
        """Zeros: bids are met or missed at the end of a hand."""
        memset(out, 0, self.seat_count * sizeof(int32_t))

    cdef void placement(self, const void* state, int32_t* places) noexcept nogil:
        """MD-18: the highest total wins."""
        places_from_scores((<const State*> state).totals, self.seat_count, False, places)

    cdef void utility(self, const void* state, double* out) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == OVER:
            utility_from_scores(s.totals, self.seat_count, False, out)
        else:
            expected_utility(s.totals, self.seat_count, False, self.horizon_scale[s.hand], out)

    # -- what a seat knows -----------------------------------------------------------------------

    cdef void blank(self, void* state, int viewer) noexcept nogil:
        """MD-19: dice are for their seat, and so are bids until the last one is in."""
        cdef State* s = <State*> state
        cdef int seat
        for seat in range(min(self.seat_count, SEATS)):     # the compiler warns without the bound
            if seat != viewer:
                memset(s.dice[seat], 0, sizeof(s.dice[seat]))
                s.kinds[seat] = 0
                if s.phase == BID:
                    s.bids[seat] = NONE

    cdef int dice_left(self, const State* s, int seat) noexcept nogil:
        """How many dice a seat holds, from public facts."""
        cdef int kind, left = s.hand
        for kind in range(KINDS):
            left -= s.rolled[seat][kind]
        return left

    cpdef Dealer dealer(self, bytes view, int viewer):
        return UnseenDice(self, view, viewer)

    # -- playing it out --------------------------------------------------------------------------

    cdef bint has_rule(self) noexcept nogil:
        return True

    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil:
        """Bid what the dice promise, then roll what brings the tricks nearest to the bid."""
        cdef const State* s = <const State*> state
        if s.phase == BID:
            return self.promising_bid(s, seat)
        return FIRST_ROLL + self.nearest_die(s, seat, self.legal_kinds(s, seat))

    cdef int promising_bid(self, const State* s, int seat) noexcept nogil:
        """The bid with the most points to expect if every die takes a trick by its own chance.

        Any of the dice may be the one for the first trick, in which the seat's place is known.
        """
        cdef double chance[HANDS + 1]
        cdef double takes, expected, most = -1e9
        cdef int kind, i, t, dice = 0, bid, best = 0
        cdef int place = seat - s.first_player
        if place < 0:
            place += self.seat_count
        chance[0] = 1.0
        for kind in range(KINDS):
            takes = (self.takes_in_place[kind][place] + (s.hand - 1) * self.takes_later[kind]) / s.hand
            for i in range(s.dice[seat][kind]):
                dice += 1
                chance[dice] = 0.0
                for t in range(dice, 0, -1):
                    chance[t] = chance[t] * (1.0 - takes) + chance[t - 1] * takes
                chance[0] *= 1.0 - takes
        for bid in range(dice + 1):
            expected = 0.0
            for t in range(dice + 1):
                expected += chance[t] * self.points(bid, t, s.hand)
            if expected > most:
                most = expected
                best = bid
        return best

    cdef inline int nearest_die(self, const State* s, int seat, uint32_t legal) noexcept nogil:
        """The die after which the tricks to expect, this one and those of the dice kept, are nearest the bid.

        Where the bid calls for more this is a weak die that takes the trick all the same, where it
        calls for fewer a strong one that does not.
        """
        cdef int after = self.seat_count - 1 - s.trick_count
        cdef double want = s.bids[seat] - s.tricks_taken[seat]
        cdef double distance, least = 1e9
        cdef int kind, best = 0
        for kind in range(KINDS):
            want -= s.dice[seat][kind] * self.takes_later[kind]
        while legal:
            kind = lowest(legal)
            distance = fabs(want - self.takes_now[kind][s.best][after] + self.takes_later[kind])
            if distance < least:
                least = distance
                best = kind
            legal &= legal - 1
        return best

    cdef void playout(self, void* state, Chance* chance, int policy) noexcept nogil:
        """The generic loop with the rules inlined: no virtual call and no chance state in memory a move."""
        cdef State* s = <State*> state
        cdef uint64_t random = chance.state
        cdef uint32_t legal
        cdef int seat, kind
        if s.phase == BID:
            for seat in range(self.seat_count):
                if not s.committed >> seat & 1:
                    if policy == POLICY_RULE:
                        s.bids[seat] = self.promising_bid(s, seat)
                    else:
                        s.bids[seat] = nth(legal_bids(s), random_below(&random, s.hand + 1))
            s.committed = self.everybody()
            s.phase = ROLL
        while s.phase == ROLL:
            seat = s.seat
            legal = self.legal_kinds(s, seat)
            if policy == POLICY_RULE:
                kind = self.nearest_die(s, seat, legal)
            else:
                kind = nth(legal, random_below(&random, popcount(legal)))
            self.lay(s, seat, kind, self.sides[kind][random_below(&random, SIDES)])
            if s.trick_count == self.seat_count:
                self.take_trick(s, NULL)
            else:
                s.seat = self.left_of(seat)
        chance.state = random

    # -- checks ----------------------------------------------------------------------------------

    cdef int broken_invariant(self, const void* state) noexcept nogil:
        """1: more dice of a kind than there are; 2: hands of the wrong size; 3: a seat holds a colour it
        can't; 4: the kinds a seat holds are not those of its dice."""
        cdef const State* s = <const State*> state
        cdef int kind, seat, held, used
        for kind in range(KINDS):
            used = 0
            for seat in range(self.seat_count):
                used += s.dice[seat][kind] + s.rolled[seat][kind]
            if used > self.count[kind]:
                return 1
        for seat in range(self.seat_count):
            held = 0
            for kind in range(KINDS):
                held += s.dice[seat][kind]
                if (s.dice[seat][kind] > 0) != (s.kinds[seat] >> kind & 1):
                    return 4
            if held != self.dice_left(s, seat) or held != self.dice_due(s, seat):
                return 2
            if s.kinds[seat] & s.voids[seat]:
                return 3
        return 0

    cdef int dice_due(self, const State* s, int seat) noexcept nogil:
        """How many dice a seat should hold by the tricks played."""
        cdef int since_leader = seat - s.leader
        if since_leader < 0:
            since_leader += self.seat_count
        return s.hand - s.tricks_played - (1 if since_leader < s.trick_count else 0)

    def unpack(self, bytes state) -> dict:
        return (<const State*> <const uint8_t*> state)[0]

    def pack(self, dict fields) -> bytes:
        cdef State s
        memset(&s, 0, sizeof(State))
        s = fields
        return (<uint8_t*> &s)[:sizeof(State)]


cdef inline int roll_index(int seat, int kind, int before) noexcept nogil:
    """The index of a roll's chance; before: how many dice of this kind the seat has rolled this hand."""
    return 64 * seat + 8 * kind + before


cdef inline uint64_t legal_bids(const State* s) noexcept nogil:
    """MD-4: 0 to the number of dice."""
    return (<uint64_t> 2 << s.hand) - 1


cdef class UnseenDice(Dealer):
    """The dice a seat has not seen, to the other hands and the bag; open bids of others are withdrawn."""
    cdef Rules rules
    cdef State view
    cdef ExactDealer exact
    cdef int seats[SEATS]
    cdef int sizes[SEATS]
    cdef int hand_count

    def __init__(self, Rules rules, bytes view, int viewer):
        cdef int kind, seat, left
        self.rules = rules
        self.view = (<const State*> <const uint8_t*> view)[0]
        if self.view.phase == BID:
            self._withdraw_bids(viewer)
        if self.view.phase != BID and self.view.phase != ROLL:
            return
        # A class for the special dice, which every seat may hold, and one for each colour.
        unseen = [[] for _ in range(KINDS + 1)]
        for kind in range(KINDS):
            left = rules.count[kind]
            for seat in range(rules.seat_count):
                left -= self.view.rolled[seat][kind]
                if seat == viewer:
                    left -= self.view.dice[seat][kind]
            unseen[KINDS if rules.specials >> kind & 1 else kind].extend([kind] * left)
        allowed = []
        for seat in range(rules.seat_count):
            if seat != viewer:
                self.seats[self.hand_count] = seat
                self.sizes[self.hand_count] = rules.dice_left(&self.view, seat)
                self.hand_count += 1
                allowed.append({kind for kind in range(KINDS + 1) if not self.view.voids[seat] >> kind & 1})
        bag = rules.die_total - rules.seat_count * self.view.hand
        sizes = [self.sizes[i] for i in range(self.hand_count)]
        self.exact = ExactDealer(unseen, [*sizes, bag], [*allowed, set(range(KINDS + 1))])

    cdef _withdraw_bids(self, int viewer):
        """Others choose again, so that who has committed changes nothing for a search."""
        cdef int seat
        for seat in range(min(self.rules.seat_count, SEATS)):
            if seat != viewer:
                self.view.bids[seat] = NONE
                self.view.committed &= ~(1 << seat)

    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        cdef uint8_t dice[ITEMS_MAX]
        cdef State* s = <State*> state
        cdef int i, at = 0
        memcpy(s, &self.view, sizeof(State))
        if self.hand_count == 0:
            return
        self.exact.sample(dice, chance)
        for i in range(self.hand_count):
            self.rules.give(s, self.seats[i], dice + at, self.sizes[i])
            at += self.sizes[i]
