# A round: its deal (BI-3), the pile (BI-6), and what it brings its seats (BI-13, BI-19, BI-20).

cdef void start_round(Rules rules, State* s, int round, Chance* chance, EventLog* log) noexcept nogil:
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
    log_round_started(rules, s, log)
    deal_hands(rules, s, chance, log)
    turn_centre(rules, s, log)


cdef void expect_shuffles(Rules rules, Chance* chance) noexcept nogil:
    """Those of every round; the long ones together, as streams side by side are as long as the longest."""
    cdef int round
    for round in range(1, rules.round_count + 1):
        chance_expect_shuffle(chance, LEFT_OVER, round, 0, rules.coloured_count)
    for round in range(1, rules.round_count + 1):
        chance_expect_shuffle(chance, DEAL, round, 0, rules.seat_count * rules.hand_size)
    for round in range(1, rules.round_count + 1):
        chance_expect_shuffle(chance, BLACKS, round, 0, rules.dealable_count)
        chance_expect_shuffle(chance, PILE, round, 0, rules.pile_count)


cdef void deal_hands(Rules rules, State* s, Chance* chance, EventLog* log) noexcept nogil:
    """BI-3: the left-over, the blacks among the hands, the hands, the pile."""
    cdef uint8_t coloured[COLOURED_MAX]
    cdef uint8_t blacks[BLACKS_MAX]
    cdef uint8_t mixed[COLOURED_MAX + BLACKS_MAX]
    cdef uint64_t set_aside = 0
    cdef uint32_t in_hands = 0, left
    cdef int i, seat, count = 0
    memcpy(coloured, rules.coloured, rules.coloured_count)
    chance_shuffle(chance, LEFT_OVER, s.round, 0, coloured, rules.coloured_count)
    for i in range(rules.left_over_count):
        set_aside |= <uint64_t> 1 << coloured[i]
    s.left_over = set_aside
    memcpy(blacks, rules.dealable, rules.dealable_count)
    chance_shuffle(chance, BLACKS, s.round, 0, blacks, rules.dealable_count)
    for i in range(rules.blacks_dealt):
        in_hands |= black_bit(blacks[i])
    s.blacks_held = rules.blacks_dealt
    for i in range(rules.coloured_count):
        if not set_aside >> rules.coloured[i] & 1:
            mixed[count] = rules.coloured[i]
            count += 1
    left = in_hands | rules.ally_bit
    while left:
        mixed[count] = FIRST_BLACK + lowest(left)
        count += 1
        left &= left - 1
    chance_shuffle(chance, DEAL, s.round, 0, mixed, count, rules.hand_size)
    for seat in range(rules.seat_count):
        give(s, seat, mixed + seat * rules.hand_size, rules.hand_size)
        log_dealt(rules, s, seat, log)
    lay_pile(s, rules.all_black & ~in_hands, chance)


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


cdef void lay_pile(State* s, uint32_t left, Chance* chance) noexcept nogil:
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


cdef inline int draw(State* s) noexcept nogil:
    """The top card of the pile, now in the open."""
    cdef int card = s.pile[0]
    memmove(s.pile, s.pile + 1, PILE_MAX - 1)
    s.pile[PILE_MAX - 1] = 0
    s.pile_size -= 1
    if s.pile_known > s.pile_size:
        s.pile_known = s.pile_size
    s.played_black |= black_bit(card)
    return card


cdef inline void turn_centre(Rules rules, State* s, EventLog* log) noexcept nogil:
    """BI-6; BI-15: Lowest is set aside, and another card is turned up."""
    s.centre = draw(s)
    if s.centre == LOWEST:
        s.lowest = 1
        log_lowest(log)
        s.centre = draw(s)
    log_numbers(log, CENTRE_TURNED, s.centre)


cdef void book_round(Rules rules, State* s, EventLog* log) noexcept nogil:
    """BI-19, BI-20: allies share, who won no trick gets something; then the totals."""
    cdef int lucky[SEATS]
    cdef int seat, shared
    memset(lucky, 0, sizeof(lucky))
    if s.ally != NONE:
        shared = (s.points[s.ally] + s.points[s.ally_winner]) >> 1     # towards minus infinity
        s.points[s.ally] = s.points[s.ally_winner] = shared
    for seat in range(rules.seat_count):
        if s.tricks_won[seat] == 0:
            s.lucky[seat] += 1
            lucky[seat] = rules.lucky_factor * s.lucky[seat]
        s.points[seat] += lucky[seat]
        s.totals[seat] += s.points[seat]
        s.round_points[s.round - 1][seat] = s.points[seat]
    log_round(rules, s, lucky, log)
    memset(s.points, 0, sizeof(s.points))
    s.phase = BOOKED
    if s.round == rules.round_count:
        add_bonus(rules, s, log)
        s.phase = OVER


cdef void add_bonus(Rules rules, State* s, EventLog* log) noexcept nogil:
    """BI-13: who won -5 three times or more gets the bonus, once."""
    cdef int seat
    for seat in range(rules.seat_count):
        if s.minus_fives[seat] >= rules.bonus_count:
            s.totals[seat] += rules.bonus_points
            log_numbers(log, BONUS_SCORED, seat, rules.bonus_points)
