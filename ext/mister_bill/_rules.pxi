from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from tavolata.ext.core.bits cimport highest, lowest, nth, popcount
from tavolata.ext.core.chance cimport Chance, chance_pick, chance_shuffle
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
    STALL_ROUNDS = 10           # MB-23: turns for each seat of the match
    ALL_OBSERVERS = 0x1FF       # seats and spectators, a bit each

cdef enum Purpose:
    DEALER = 0
    TEAMS = 1
    DEAL = 2
    DRAW = 3
    BLIND = 4

cdef enum EventKind:            # 0 is the core's match_ended
    ROUND_STARTED = 1
    DEALT = 2
    PAIR_LAID = 3
    DREW = 4
    WAITER_PLAYED = 5
    DECLINED = 6
    GIFT_COMMITTED = 7
    GAVE = 8
    HANDS_SWAPPED = 9
    HAND_PASSED = 10
    BILLS_SHOWN = 11
    WENT_OUT = 12
    TEAM_COMPLETED = 13
    ROUND_SCORED = 14

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

    # -- seats and teams -------------------------------------------------------------------------

    cdef inline int left_in(self, const State* s, int seat) noexcept nogil:
        """The nearest seat still in on the left; the seat itself if it is the only one."""
        cdef uint32_t after = s.seats_in >> (seat + 1)
        return seat + 1 + lowest(after) if after else lowest(s.seats_in)

    cdef inline int right_in(self, const State* s, int seat) noexcept nogil:
        cdef uint32_t before = s.seats_in & ((<uint32_t> 1 << seat) - 1)
        return highest(before) if before else highest(s.seats_in)

    cdef inline int next_of(self, uint32_t seats, int first) noexcept nogil:
        """The first of some seats in turn order from ``first``, itself included."""
        cdef uint32_t after = seats >> first
        return first + lowest(after) if after else lowest(seats)

    cdef inline int team_at(self, const State* s, int seat) noexcept nogil:
        return self.team[s.round - 1][s.numbers[seat]]

    cdef uint32_t team_mates(self, const State* s, int seat) noexcept nogil:
        """The seats of a seat's team, itself included."""
        cdef uint32_t mates = 0
        cdef int other
        for other in range(self.seat_count):
            if self.team_at(s, other) == self.team_at(s, seat):
                mates |= <uint32_t> 1 << other
        return mates

    cdef inline uint32_t everybody(self) noexcept nogil:
        return (<uint32_t> 1 << self.seat_count) - 1

    # -- setting up a round ----------------------------------------------------------------------

    cdef void deal(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """MB-6: the dealer of round 1 is drawn."""
        cdef State* s = <State*> state
        memset(s, 0, sizeof(State))
        s.dealer = chance_pick(chance, DEALER, 0, 0, self.seat_count)
        self.start_round(s, 1, chance, log)

    cdef void advance(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """MB-6: then the deal goes to the left."""
        cdef State* s = <State*> state
        s.dealer = 0 if s.dealer + 1 == self.seat_count else s.dealer + 1
        self.start_round(s, s.round + 1, chance, log)

    cdef void start_round(self, State* s, int round, Chance* chance, EventLog* log) noexcept nogil:
        cdef int seat
        s.round = round
        s.phase = TURN
        s.turns = s.stall = 0
        s.out_count = s.completed = s.givers = s.committed = s.shifts = s.has_left = 0
        s.seats_in = self.everybody()
        s.target = s.waiter = NONE
        memset(s.facts, 0, sizeof(s.facts))
        memset(s.gone, 0, sizeof(s.gone))
        memset(s.gifts, NONE, sizeof(s.gifts))
        memset(s.out_order, NONE, sizeof(s.out_order))
        self.deal_teams(s, chance)
        if log != NULL:
            event_begin(log, ROUND_STARTED, <uint32_t> EVERYBODY)
            log_word(log, round)
            log_word(log, s.dealer)
            for seat in range(self.seat_count):
                log_word(log, s.numbers[seat])
            log_end(log)
        self.deal_cards(s, chance, log)
        if not self.settle(s, 0, log):
            s.active = self.next_of(s.seats_in, s.active)
            self.begin_turn(s, chance, log)

    cdef void deal_teams(self, State* s, Chance* chance) noexcept nogil:
        """MB-4, MB-5: team cards at random; the holder of number 1 is to start."""
        cdef uint8_t numbers[SEATS]
        cdef int seat
        for seat in range(self.seat_count):
            numbers[seat] = seat + 1
        chance_shuffle(chance, TEAMS, s.round, 0, numbers, self.seat_count)
        for seat in range(self.seat_count):
            s.numbers[seat] = numbers[seat]
            if numbers[seat] == 1:
                s.active = seat

    cdef void deal_cards(self, State* s, Chance* chance, EventLog* log) noexcept nogil:
        """MB-6: one by one from the dealer's left; MB-7: pairs are laid down, of three one stays."""
        cdef uint8_t order[CARDS_MAX]
        cdef octet dealt[SEATS][ROW]
        cdef int i, seat = s.dealer
        memcpy(order, self.deck, self.card_total)
        chance_shuffle(chance, DEAL, s.round, 0, order, self.card_total)
        memset(dealt, 0, sizeof(dealt))
        for i in range(self.card_total):
            seat = 0 if seat + 1 == self.seat_count else seat + 1
            dealt[seat][order[i]] += 1
        for seat in range(self.seat_count):
            s.hands[seat] = 0
            if log != NULL:
                self.log_dealt(seat, dealt[seat], log)
        seat = s.active
        for i in range(self.seat_count):
            self.lay_pairs(s, seat, dealt[seat], log)
            seat = 0 if seat + 1 == self.seat_count else seat + 1
        s.shifts = 0        # MB-17: shift changes laid down in MB-7 have no effect

    cdef void log_dealt(self, int seat, const octet* dealt, EventLog* log) noexcept nogil:
        cdef int kind, i, count = 0
        for kind in range(KINDS):
            count += dealt[kind]
        event_begin(log, DEALT, <uint32_t> 1 << seat)
        log_word(log, seat)
        log_word(log, count)
        event_secret(log)
        for kind in range(KINDS):
            for i in range(dealt[kind]):
                log_word(log, kind)
        log_end(log)

    cdef void lay_pairs(self, State* s, int seat, const octet* gained, EventLog* log) noexcept nogil:
        """MB-7, MB-11: a seat takes up cards, so many of each kind, and lays down every pair."""
        cdef int kind, held, i
        for kind in range(KINDS):
            held = gained[kind] + (s.hands[seat] >> kind & 1)
            if held > 1:
                for i in range(held // 2):
                    self.lay_pair(s, seat, kind, log)
            if held & 1:
                s.hands[seat] |= 1 << kind
            else:
                s.hands[seat] &= ~(1 << kind)
        s.sizes[seat] = popcount(s.hands[seat])

    cdef inline void lay_pair(self, State* s, int seat, int kind, EventLog* log) noexcept nogil:
        s.gone[kind] += 2
        self.count_leaving(s)
        if kind == self.shift:
            s.shifts += 1
        if log != NULL:
            event_begin(log, PAIR_LAID, <uint32_t> EVERYBODY)
            log_word(log, seat)
            log_word(log, kind)
            log_end(log)

    cdef inline void count_leaving(self, State* s) noexcept nogil:
        """MB-23: cards have left play in this turn."""
        s.has_left = 1
        s.stall = 0

    # -- settlement ------------------------------------------------------------------------------

    cdef bint settle(self, State* s, uint32_t moved, EventLog* log) noexcept nogil:
        """MB-17, after pairs are laid down: who is out, whether the round is over, then pending shift changes.

        moved: the seats whose hands have changed. Returns whether the round has ended.
        """
        cdef int seat, i
        while True:
            seat = s.active
            for i in range(self.seat_count):
                if s.seats_in >> seat & 1 and s.sizes[seat] == 0:
                    self.go_out(s, seat, log)
                seat = 0 if seat + 1 == self.seat_count else seat + 1
            if self.teams_left(s) <= 1:
                self.conclude(s, moved)
                self.complete_last(s, log)
                self.end_round(s, False, log)
                return True
            if not s.shifts:
                break
            s.shifts -= 1
            self.shift_hands(s, log)
            moved |= s.seats_in
        self.conclude(s, moved)
        return False

    cdef void go_out(self, State* s, int seat, EventLog* log) noexcept nogil:
        """MB-19; MB-20: the team is complete when all its members are out."""
        cdef uint32_t mates = self.team_mates(s, seat)
        cdef int value = self.value[s.round - 1][s.completed]
        cdef int observer, other
        s.seats_in &= ~(1 << seat)
        s.out_order[s.out_count] = seat
        s.out_count += 1
        for observer in range(min(self.observer_count, SEATS + 1)):
            memset(s.facts[observer][seat], 0, ROW)
        if log != NULL:
            event_begin(log, WENT_OUT, <uint32_t> EVERYBODY)
            log_word(log, seat)
            log_word(log, s.out_count)
            log_end(log)
        if mates & s.seats_in:
            return
        s.completed += 1
        for other in range(self.seat_count):
            if mates >> other & 1:
                s.points[s.round - 1][other] = value
        if log != NULL:
            self.log_team(mates, value, log)

    cdef int teams_left(self, const State* s) noexcept nogil:
        """MB-22: teams, or seats that play alone, that are not complete."""
        cdef uint32_t teams = 0, seats = s.seats_in
        while seats:
            teams |= <uint32_t> 1 << self.team_at(s, lowest(seats))
            seats &= seats - 1
        return popcount(teams)

    cdef void complete_last(self, State* s, EventLog* log) noexcept nogil:
        """MB-22: the team that is left takes nothing."""
        if log != NULL and s.seats_in:
            self.log_team(self.team_mates(s, lowest(s.seats_in)), 0, log)

    cdef void log_team(self, uint32_t mates, int value, EventLog* log) noexcept nogil:
        event_begin(log, TEAM_COMPLETED, <uint32_t> EVERYBODY)
        log_word(log, value)
        while mates:
            log_word(log, lowest(mates))
            mates &= mates - 1
        log_end(log)

    cdef void end_round(self, State* s, bint stalled, EventLog* log) noexcept nogil:
        """MB-22, MB-23: points join the totals; pending shift changes lapse, and no hand is shown."""
        cdef int seat
        s.shifts = 0
        s.phase = OVER if s.round == ROUNDS else BOOKED
        for seat in range(self.seat_count):
            s.totals[seat] += s.points[s.round - 1][seat]
        if log != NULL:
            event_begin(log, ROUND_SCORED, <uint32_t> EVERYBODY)
            log_word(log, s.round)
            log_word(log, stalled)
            for seat in range(self.seat_count):
                log_word(log, s.points[s.round - 1][seat])
            for seat in range(self.seat_count):
                log_word(log, s.totals[seat])
            log_end(log)

    # -- a turn ----------------------------------------------------------------------------------

    cdef void begin_turn(self, State* s, Chance* chance, EventLog* log) noexcept nogil:
        """MB-8 to MB-10: draws and pairs until a seat is to decide about a waiter, or the round has ended."""
        while True:
            s.phase = TURN
            s.has_left = 0
            self.draw(s, chance, log)
            if s.phase != TURN or s.seats_in >> s.active & 1:
                return
            if self.end_turn(s, log):
                return

    cdef void draw(self, State* s, Chance* chance, EventLog* log) noexcept nogil:
        """MB-8, MB-9: a card from the nearest seat still in on the right; a pair is laid down at once."""
        cdef int seat = s.active
        cdef int other = self.right_in(s, seat)
        cdef int kind = nth(s.hands[other], chance_pick(chance, DRAW, s.round, s.turns, s.sizes[other]))
        cdef uint32_t bit = <uint32_t> 1 << kind
        cdef bint is_pair = s.hands[seat] & bit
        cdef uint32_t both = <uint32_t> 1 << seat | <uint32_t> 1 << other
        cdef uint32_t seers = ALL_OBSERVERS if is_pair else both
        s.turns += 1
        if log != NULL:
            self.log_between(DREW, seat, other, kind, log)
        self.card_leaves(s, other, kind, seers)
        s.hands[other] ^= bit
        s.sizes[other] -= 1
        s.hands[seat] ^= bit
        if is_pair:
            s.sizes[seat] -= 1
            self.lay_pair(s, seat, kind, log)
            self.set_fact(s, seat, kind, ABSENT)
        else:
            s.sizes[seat] += 1
            self.card_arrives(s, seat, kind, seers)
        self.settle(s, both, log)

    cdef void log_between(self, int event, int one, int other, int kind, EventLog* log) noexcept nogil:
        """An event of two seats with a card that both know."""
        event_begin(log, event, <uint32_t> 1 << one | <uint32_t> 1 << other)
        log_word(log, one)
        log_word(log, other)
        event_secret(log)
        log_word(log, kind)
        log_end(log)

    cdef bint end_turn(self, State* s, EventLog* log) noexcept nogil:
        """MB-19: the nearest seat still in on the left is next; MB-23: unless the seats stall.

        Returns whether the round has ended.
        """
        if not s.has_left:
            s.stall = s.stall + 1
        if s.stall == STALL_ROUNDS * self.seat_count:
            self.end_round(s, True, log)
            return True
        s.active = self.left_in(s, s.active)
        return False

    cdef void finish_turn(self, State* s, Chance* chance, EventLog* log) noexcept nogil:
        if not self.end_turn(s, log):
            self.begin_turn(s, chance, log)

    # -- waiters ---------------------------------------------------------------------------------

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
            self.commit(s, seat, action - GIVE, chance, log)
        elif action == DECLINE:
            if log != NULL:
                event_begin(log, DECLINED, <uint32_t> EVERYBODY)
                log_word(log, seat)
                log_end(log)
            self.finish_turn(s, chance, log)
        else:
            self.play_waiter(s, action, chance, log)

    cdef int kind_of(self, int action) noexcept nogil:
        """The kind of the waiter that an action plays."""
        if action == PLAY_D:
            return self.waiter_d
        if action == PLAY_E:
            return self.waiter_e
        if action < PLAY_B or action == PLAY_A_ALONE:
            return self.waiter_a
        return self.waiter_b if action < PLAY_C or action == PLAY_B_ALONE else self.waiter_c

    cdef void play_waiter(self, State* s, int action, Chance* chance, EventLog* log) noexcept nogil:
        """MB-10; MB-18: the seat may be out, and the round over, before the effect."""
        cdef int seat = s.active
        cdef int kind = self.kind_of(action)
        cdef int target = (action - PLAY_A) & 7 if action < PLAY_A_ALONE else NONE
        s.hands[seat] ^= 1 << kind
        s.sizes[seat] -= 1
        s.gone[kind] += 1
        self.count_leaving(s)
        if log != NULL:
            event_begin(log, WAITER_PLAYED, <uint32_t> EVERYBODY)
            log_word(log, seat)
            log_word(log, kind)
            log_word(log, -1 if target == NONE else target)
            log_end(log)
        self.set_fact(s, seat, kind, ABSENT)
        if s.sizes[seat] or kind != self.waiter_b or target == NONE:
            if self.settle(s, <uint32_t> 1 << seat, log):
                return
        if kind == self.waiter_d:
            self.show_bills(s, log)
        elif kind == self.waiter_b:
            if target != NONE:
                self.swap_hands(s, target, log)
        elif kind != self.waiter_a or target != NONE:
            self.ask_for_gifts(s, kind, target)
            if s.phase == GIFT:
                return
            self.draw_gifts(s, chance)
            self.exchange(s, log)
        if s.phase == TURN:
            self.finish_turn(s, chance, log)

    cdef void ask_for_gifts(self, State* s, int kind, int target) noexcept nogil:
        """MB-12, MB-14, MB-16: who gives a card; nobody is asked where A swaps blindly."""
        s.waiter = kind
        s.target = target
        s.givers = s.seats_in
        if kind == self.waiter_a:
            s.givers = 1 << s.active | 1 << target
        elif kind == self.waiter_c:
            s.givers &= ~(1 << target)
        if kind != self.waiter_a or not self.is_blind:
            s.phase = GIFT

    cdef void draw_gifts(self, State* s, Chance* chance) noexcept nogil:
        """MB-12, blind: each takes a random card of the other."""
        cdef int index = 2 * (s.turns - 1)
        cdef int seat = s.active, target = s.target
        s.gifts[target] = nth(s.hands[target], chance_pick(chance, BLIND, s.round, index, s.sizes[target]))
        s.gifts[seat] = nth(s.hands[seat], chance_pick(chance, BLIND, s.round, index + 1, s.sizes[seat]))

    cdef void commit(self, State* s, int seat, int kind, Chance* chance, EventLog* log) noexcept nogil:
        """A gift is secret, and nothing moves, until the last one is in."""
        s.gifts[seat] = kind
        s.committed |= 1 << seat
        if log != NULL:
            event_begin(log, GIFT_COMMITTED, <uint32_t> 1 << seat)
            log_word(log, seat)
            event_secret(log)
            log_word(log, kind)
            log_end(log)
        if s.committed == s.givers:
            s.phase = TURN
            self.exchange(s, log)
            if s.phase == TURN:
                self.finish_turn(s, chance, log)

    cdef inline int receiver_of(self, const State* s, int giver) noexcept nogil:
        if s.waiter == self.waiter_e:
            return self.left_in(s, giver)
        return s.active if giver == s.target else s.target

    cdef void exchange(self, State* s, EventLog* log) noexcept nogil:
        """All gifts move at once, then pairs are laid down (MB-11) and all is settled.

        Knowledge: giver and receiver see the card, everybody does where the receiver of that one
        card lays it down as a pair (MB-26). A hand loses before it gains: the gift came from what it held.
        A pair laid down by a seat that got several cards tells nothing: it may have had three of the kind.
        """
        cdef octet gained[SEATS][ROW]
        cdef octet received[SEATS]
        cdef uint32_t seers[SEATS]
        cdef uint32_t left, moved = s.givers
        cdef int giver, to, kind
        memset(gained, 0, sizeof(gained))
        memset(received, 0, sizeof(received))
        left = s.givers
        while left:
            giver = self.next_of(left, s.active)
            left ^= <uint32_t> 1 << giver
            to = self.receiver_of(s, giver)
            kind = s.gifts[giver]
            s.hands[giver] ^= 1 << kind
            s.sizes[giver] -= 1
            gained[to][kind] += 1
            received[to] += 1
            moved |= <uint32_t> 1 << to
            if log != NULL:
                self.log_between(GAVE, giver, to, kind, log)
        left = s.givers
        while left:
            giver = lowest(left)
            left &= left - 1
            to = self.receiver_of(s, giver)
            seers[giver] = <uint32_t> 1 << giver | <uint32_t> 1 << to
            if received[to] == 1 and s.hands[to] >> s.gifts[giver] & 1:
                seers[giver] = ALL_OBSERVERS
            self.card_leaves(s, giver, s.gifts[giver], seers[giver])
        left = s.givers
        while left:
            giver = lowest(left)
            left &= left - 1
            self.card_arrives(s, self.receiver_of(s, giver), s.gifts[giver], seers[giver])
        left = moved
        while left:
            to = self.next_of(left, s.active)
            left ^= <uint32_t> 1 << to
            for kind in range(KINDS):
                if gained[to][kind] + (s.hands[to] >> kind & 1) > 1:
                    self.set_fact(s, to, kind, ABSENT if received[to] == 1 else UNKNOWN)
            self.lay_pairs(s, to, gained[to], log)
        memset(s.gifts, NONE, sizeof(s.gifts))
        s.givers = s.committed = 0
        s.waiter = s.target = NONE
        self.settle(s, moved, log)

    cdef void swap_hands(self, State* s, int target, EventLog* log) noexcept nogil:
        """MB-13; with ``last_card_b`` = swap the active hand may be empty."""
        cdef octet holder[SEATS]
        cdef uint32_t both = <uint32_t> 1 << s.active | <uint32_t> 1 << target
        cdef int seat
        for seat in range(SEATS):
            holder[seat] = seat
        holder[s.active] = target
        holder[target] = s.active
        self.move_hands(s, holder)
        if log != NULL:
            event_begin(log, HANDS_SWAPPED, both)
            log_word(log, s.active)
            log_word(log, target)
            event_secret(log)
            log_word(log, s.sizes[s.active])
            self.log_kinds(s.hands[s.active], log)
            self.log_kinds(s.hands[target], log)
            log_end(log)
        self.settle(s, both, log)

    cdef void log_kinds(self, uint32_t hand, EventLog* log) noexcept nogil:
        while hand:
            log_word(log, lowest(hand))
            hand &= hand - 1

    cdef void shift_hands(self, State* s, EventLog* log) noexcept nogil:
        """MB-17: all seats still in pass their whole hands to the next one in on the left."""
        cdef octet holder[SEATS]
        cdef uint32_t left = s.seats_in
        cdef int seat, to
        for seat in range(SEATS):
            holder[seat] = self.left_in(s, seat) if s.seats_in >> seat & 1 else seat
        if log != NULL:
            while left:
                seat = self.next_of(left, s.active)
                left ^= <uint32_t> 1 << seat
                to = holder[seat]
                event_begin(log, HAND_PASSED, <uint32_t> 1 << seat | <uint32_t> 1 << to)
                log_word(log, seat)
                log_word(log, to)
                log_word(log, s.sizes[seat])
                event_secret(log)
                self.log_kinds(s.hands[seat], log)
                log_end(log)
        self.move_hands(s, holder)

    cdef void move_hands(self, State* s, const octet* holder) noexcept nogil:
        """Whole hands change places: the hand of seat i goes to ``holder[i]``, and knowledge with it (MB-26)."""
        cdef State old
        cdef int seat, observer
        memcpy(&old, s, sizeof(State))
        for seat in range(min(self.seat_count, SEATS)):
            s.hands[holder[seat]] = old.hands[seat]
            s.sizes[holder[seat]] = old.sizes[seat]
            for observer in range(min(self.observer_count, SEATS + 1)):
                if observer == holder[seat]:
                    memset(s.facts[observer][observer], 0, ROW)
                elif observer == seat:
                    know_whole(<uint8_t*> s.facts[observer][holder[seat]], old.hands[seat])
                else:
                    memcpy(s.facts[observer][holder[seat]], old.facts[observer][seat], ROW)

    cdef void show_bills(self, State* s, EventLog* log) noexcept nogil:
        """MB-15: who holds Mister Bill is public at this moment."""
        cdef int seat
        for seat in range(self.seat_count):
            if s.seats_in >> seat & 1:
                self.set_fact(s, seat, self.bill, HELD if s.hands[seat] >> self.bill & 1 else ABSENT)
        if log != NULL:
            event_begin(log, BILLS_SHOWN, <uint32_t> EVERYBODY)
            for seat in range(self.seat_count):
                log_word(log, s.hands[seat] >> self.bill & 1)
            log_end(log)
        self.conclude(s, s.seats_in)

    # -- knowledge (MB-26, MB-27) ----------------------------------------------------------------

    cdef inline void card_leaves(self, State* s, int seat, int kind, uint32_t seers) noexcept nogil:
        """A card leaves a hand; ``seers`` know which one, and so that no second one is there (MB-11)."""
        cdef int observer
        for observer in range(min(self.observer_count, SEATS + 1)):
            if observer == seat:
                continue
            if seers >> observer & 1:
                s.facts[observer][seat][kind] = ABSENT
            else:
                lose_unseen(<uint8_t*> s.facts[observer][seat])

    cdef inline void card_arrives(self, State* s, int seat, int kind, uint32_t seers) noexcept nogil:
        cdef int observer
        for observer in range(min(self.observer_count, SEATS + 1)):
            if observer == seat:
                continue
            if seers >> observer & 1:
                s.facts[observer][seat][kind] = HELD
            else:
                gain_unseen(<uint8_t*> s.facts[observer][seat])

    cdef inline void set_fact(self, State* s, int seat, int kind, int fact) noexcept nogil:
        """What everybody sees of a kind in a seat's hand."""
        cdef int observer
        for observer in range(min(self.observer_count, SEATS + 1)):
            if observer != seat:
                s.facts[observer][seat][kind] = fact

    cdef void conclude(self, State* s, uint32_t moved) noexcept nogil:
        """Who knows as many kinds of a hand for certain as it has cards knows it whole."""
        cdef int observer, seat
        cdef uint32_t certain, left = moved & s.seats_in
        while left:
            seat = lowest(left)
            left &= left - 1
            for observer in range(min(self.observer_count, SEATS + 1)):
                certain = kinds_at(<uint8_t*> s.facts[observer][seat], HELD)
                if certain and popcount(certain) == s.sizes[seat]:
                    know_whole(<uint8_t*> s.facts[observer][seat], certain)

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
        """MB-25, MB-26: hands, gifts and what has been seen of hands are for their seat alone.

        What spectators know stays: it follows from what everybody saw.
        """
        cdef State* s = <State*> state
        cdef int seat
        for seat in range(min(self.seat_count, SEATS)):     # the compiler warns without the bound
            if seat != viewer:
                s.hands[seat] = 0
                s.gifts[seat] = NONE
                memset(s.facts[seat], 0, sizeof(s.facts[seat]))

    cpdef Dealer dealer(self, bytes view, int viewer):
        return UnseenHands(self, view, viewer)

    # -- playing it out --------------------------------------------------------------------------

    cdef bint has_rule(self) noexcept nogil:
        return True

    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil:
        """Get rid of cards, and of Mister Bill first; a partner is spared what others get."""
        cdef const State* s = <const State*> state
        if s.phase == GIFT:
            return GIVE + self.best_gift(s, seat)
        return self.best_waiter(s, seat)

    cdef double bill_chance(self, const State* s, int seat, int other) noexcept nogil:
        """How likely a seat thinks another one to hold Mister Bill."""
        cdef int fact = s.facts[seat][other][self.bill]
        cdef double unseen, cards = 0.0, share
        cdef int i
        if fact >= HELD and fact < ABSENT:
            return 1.0 / fact
        for i in range(self.seat_count):
            if i != seat:
                cards += s.sizes[i]
        unseen = self.count[self.bill] - s.gone[self.bill] - (s.hands[seat] >> self.bill & 1)
        share = min(1.0, unseen * s.sizes[other] / cards)
        if fact < ABSENT:
            return share
        return share * min(1.0, (fact - ABSENT) * 1.0 / s.sizes[other])

    cdef int best_waiter(self, const State* s, int seat) noexcept nogil:
        cdef uint64_t legal = self.legal_bits(s, seat)
        cdef int action, best = DECLINE
        cdef double worth, most = 0.0
        if legal == 1:
            return DECLINE
        legal &= legal - 1
        while legal:
            action = lowest(legal)
            legal &= legal - 1
            worth = self.worth_of(s, seat, action)
            if worth > most:
                most = worth
                best = action
        return best

    cdef double worth_of(self, const State* s, int seat, int action) noexcept nogil:
        """Cards of its own that a waiter spares a seat, more or less; Mister Bill counts as three."""
        cdef int target, kind = self.kind_of(action)
        cdef bint has_bill = s.hands[seat] >> self.bill & 1
        cdef uint32_t mates = self.team_mates(s, seat)
        cdef double worth = 1.0, side, risk
        if action >= PLAY_A_ALONE:
            if kind == self.waiter_e and s.sizes[seat] > 1:
                worth += (3.0 if has_bill else 0.0) - 3.0 * self.bill_chance(s, seat, self.right_in(s, seat))
            return worth
        target = (action - PLAY_A) & 7
        side = -1.0 if mates >> target & 1 else 1.0
        if kind == self.waiter_c:
            return worth + (1.0 if s.sizes[seat] > 1 else 0.0) + side * (1.0 + (2.0 if has_bill else 0.0)) \
                - 0.05 * side * s.sizes[target]
        risk = self.bill_chance(s, seat, target)
        if kind == self.waiter_a:
            return worth + ((3.0 if side > 0 else 1.0) if has_bill else 0.0) - 3.0 * risk
        if s.sizes[seat] == 1:
            worth = 0.0         # with its last card a seat is out if it plays anything else, or declines B
        return worth + (1.0 if side > 0 else 0.2) * (s.sizes[seat] - 1 - s.sizes[target]) \
            + (3.0 if has_bill and side > 0 else 0.0) - 3.0 * risk

    cdef int best_gift(self, const State* s, int seat) noexcept nogil:
        """To a partner what makes a pair there, to others what makes none: Mister Bill, then rare kinds."""
        cdef int to = self.receiver_of(s, seat)
        cdef bint is_mate = self.team_mates(s, seat) >> to & 1
        cdef uint32_t left = s.hands[seat]
        cdef int kind, fact, best = 0
        cdef double worth, most = -1e9
        while left:
            kind = lowest(left)
            left &= left - 1
            fact = s.facts[seat][to][kind]
            worth = -1.0 * (self.count[kind] - s.gone[kind])
            if kind == self.bill:
                worth += -20.0 if is_mate else 20.0
            elif self.waiters >> kind & 1:
                worth -= 1.5
            if HELD <= fact and fact < ABSENT:
                worth += (30.0 if is_mate else -30.0) / fact
            if worth > most:
                most = worth
                best = kind
        return best

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


cdef class UnseenHands(Dealer):
    """The unseen cards to the other hands, in proportion to the deals and unseen draws that the viewer's facts leave.

    worlds.pyx says what that is and how it is drawn exactly. Nothing but the facts on record counts (MB-27):
    not how a hand came by its cards, nor what its seat chose to give or play. Other seats know in these worlds what
    everybody knows, and choose their gifts anew.
    """
    cdef State view
    cdef Worlds worlds
    cdef int seats[SEATS]
    cdef int hand_count

    def __init__(self, Rules rules, bytes view, int viewer):
        cdef int seat, kind, observer = viewer if viewer >= 0 else rules.seat_count
        cdef State* s = &self.view
        self.view = (<const State*> <const uint8_t*> view)[0]
        unseen = []
        for kind in range(KINDS):
            unseen.append(rules.count[kind] - s.gone[kind])
            if viewer >= 0:
                unseen[kind] -= s.hands[viewer] >> kind & 1
        rows = []
        for seat in range(rules.seat_count):
            if seat == viewer:
                continue
            s.committed &= ~(1 << seat)
            memcpy(s.facts[seat], s.facts[rules.seat_count], sizeof(s.facts[seat]))
            memset(s.facts[seat][seat], 0, ROW)
            if s.sizes[seat]:
                self.seats[self.hand_count] = seat
                self.hand_count += 1
                rows.append(<bytes> (<const char*> s.facts[observer][seat])[:ROW])
        self.worlds = Worlds(unseen, [s.sizes[self.seats[i]] for i in range(self.hand_count)], rows)

    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        cdef State* s = <State*> state
        cdef uint16_t hands[SEATS]
        cdef int i
        memcpy(s, &self.view, sizeof(State))
        self.worlds.sample(hands, chance)
        for i in range(self.hand_count):
            s.hands[self.seats[i]] = hands[i]
