# What views leave out (BI-23), and worlds that fit one.

cdef inline int cards_left(Rules rules, const State* s, int seat) noexcept nogil:
    """How many cards a seat holds, from public facts."""
    cdef int since_leader = seat - s.leader
    if since_leader < 0:
        since_leader += rules.seat_count
    return rules.hand_size - s.tricks_played - (1 if since_leader < s.bid_count else 0)


cdef void hide_from(Rules rules, State* s, int viewer) noexcept nogil:
    """BI-23: hands, the pile but for its known bottom, and what is left over."""
    cdef int seat
    for seat in range(min(rules.seat_count, SEATS)):     # the compiler warns without the bound
        if seat != viewer:
            s.hand[seat] = 0
            s.black[seat] = 0
    s.left_over = 0
    memset(s.pile, NONE, s.pile_size - s.pile_known)


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
                self.sizes[self.hand_count] = cards_left(rules, s, seat)
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
