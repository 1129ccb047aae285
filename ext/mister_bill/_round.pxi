# A round from team cards to hands (MB-4 to MB-7), and what a turn begins with: the draw and its pair (MB-8 to MB-11).

cdef void start_round(Rules rules, State* s, int round, Chance* chance, EventLog* log) noexcept nogil:
    s.round = round
    s.phase = TURN
    s.turns = s.stall = 0
    s.out_count = s.completed = s.givers = s.committed = s.shifts = s.has_left = 0
    s.seats_in = everybody(rules)
    s.target = s.waiter = NONE
    memset(s.facts, 0, sizeof(s.facts))
    memset(s.gone, 0, sizeof(s.gone))
    memset(s.gifts, NONE, sizeof(s.gifts))
    memset(s.out_order, NONE, sizeof(s.out_order))
    deal_teams(rules, s, chance)
    log_round_started(rules, s, log)
    deal_cards(rules, s, chance, log)
    if not settle(rules, s, 0, log):
        s.active = next_of(s.seats_in, s.active)
        begin_turn(rules, s, chance, log)


cdef void expect_deals(Rules rules, Chance* chance) noexcept nogil:
    cdef int round
    for round in range(1, ROUNDS + 1):
        chance_expect_shuffle(chance, DEAL, round, 0, rules.card_total)
        chance_expect_shuffle(chance, TEAMS, round, 0, rules.seat_count)


cdef void deal_teams(Rules rules, State* s, Chance* chance) noexcept nogil:
    """MB-4, MB-5: team cards at random; the holder of number 1 is to start."""
    cdef uint8_t numbers[SEATS]
    cdef int seat
    for seat in range(rules.seat_count):
        numbers[seat] = seat + 1
    chance_shuffle(chance, TEAMS, s.round, 0, numbers, rules.seat_count)
    for seat in range(rules.seat_count):
        s.numbers[seat] = numbers[seat]
        if numbers[seat] == 1:
            s.active = seat


cdef void deal_cards(Rules rules, State* s, Chance* chance, EventLog* log) noexcept nogil:
    """MB-6: one by one from the dealer's left; MB-7: pairs are laid down, of three one stays."""
    cdef uint8_t order[CARDS_MAX]
    cdef octet dealt[SEATS][ROW]
    cdef int i, seat = s.dealer
    memcpy(order, rules.deck, rules.card_total)
    chance_shuffle(chance, DEAL, s.round, 0, order, rules.card_total)
    memset(dealt, 0, sizeof(dealt))
    for i in range(rules.card_total):
        seat = left_of(rules, seat)
        dealt[seat][order[i]] += 1
    for seat in range(rules.seat_count):
        s.hands[seat] = 0
        log_dealt(seat, dealt[seat], log)
    seat = s.active
    for i in range(rules.seat_count):
        lay_pairs(rules, s, seat, dealt[seat], log)
        seat = left_of(rules, seat)
    s.shifts = 0        # MB-17: shift changes laid down in MB-7 have no effect


cdef void lay_pairs(Rules rules, State* s, int seat, const octet* gained, EventLog* log) noexcept nogil:
    """MB-7, MB-11: a seat takes up cards, so many of each kind, and lays down every pair."""
    cdef int kind, held, i
    for kind in range(KINDS):
        held = gained[kind] + (s.hands[seat] >> kind & 1)
        if held > 1:
            for i in range(held // 2):
                lay_pair(rules, s, seat, kind, log)
        if held & 1:
            s.hands[seat] |= 1 << kind
        else:
            s.hands[seat] &= ~(1 << kind)
    s.sizes[seat] = popcount(s.hands[seat])


cdef inline void lay_pair(Rules rules, State* s, int seat, int kind, EventLog* log) noexcept nogil:
    s.gone[kind] += 2
    count_leaving(s)
    if kind == rules.shift:
        s.shifts += 1
    log_numbers(log, PAIR_LAID, seat, kind)


# -- a turn --------------------------------------------------------------------------------------

cdef void begin_turn(Rules rules, State* s, Chance* chance, EventLog* log) noexcept nogil:
    """MB-8 to MB-10: draws and pairs until a seat is to decide about a waiter, or the round has ended."""
    while True:
        s.phase = TURN
        s.has_left = 0
        draw(rules, s, chance, log)
        if s.phase != TURN or s.seats_in >> s.active & 1:
            return
        if end_turn(rules, s, log):
            return


cdef inline int drawn_kind(const State* s, int other, Chance* chance) noexcept nogil:
    """A random one of a seat's cards. How many draws a round will have nobody knows."""
    cdef int i
    if s.turns % EXPECTED_DRAWS == 0:
        for i in range(EXPECTED_DRAWS):
            chance_expect_pick(chance, DRAW, s.round, s.turns + i)
    return nth(s.hands[other], chance_pick(chance, DRAW, s.round, s.turns, s.sizes[other]))


cdef void draw(Rules rules, State* s, Chance* chance, EventLog* log) noexcept nogil:
    """MB-8, MB-9: a card from the nearest seat still in on the right; a pair is laid down at once."""
    cdef int seat = s.active
    cdef int other = right_in(s, seat)
    cdef int kind = drawn_kind(s, other, chance)
    cdef uint32_t bit = <uint32_t> 1 << kind
    cdef bint is_pair = s.hands[seat] & bit
    cdef uint32_t both = <uint32_t> 1 << seat | <uint32_t> 1 << other
    cdef uint32_t seers = ALL_OBSERVERS if is_pair else both
    s.turns += 1
    log_between(log, DREW, seat, other, kind)
    card_leaves(rules, s, other, kind, seers)
    s.hands[other] ^= bit
    s.sizes[other] -= 1
    s.hands[seat] ^= bit
    if is_pair:
        s.sizes[seat] -= 1
        lay_pair(rules, s, seat, kind, log)
        set_fact(rules, s, seat, kind, ABSENT)
    else:
        s.sizes[seat] += 1
        card_arrives(rules, s, seat, kind, seers)
    settle(rules, s, both, log)


cdef void finish_turn(Rules rules, State* s, Chance* chance, EventLog* log) noexcept nogil:
    if not end_turn(rules, s, log):
        begin_turn(rules, s, chance, log)
