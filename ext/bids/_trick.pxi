# A trick: who wins it (BI-6 to BI-9), what the winner takes (BI-10 to BI-14), and what comes after it.

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


cdef inline void bid(Rules rules, State* s, int seat, int card, EventLog* log) noexcept nogil:
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
    place = contest(rules, s, s.bids, s.bid_count, &tied)
    s.winning = NONE if place < 0 else seat_at(rules, s, place)
    log_numbers(log, BID_MADE, seat, card)
    if s.bid_count < rules.seat_count:
        s.seat = left_of(rules, seat)
    elif place < 0:
        burn(rules, s, seat_at(rules, s, tied), log)
    else:
        take_trick(rules, s, s.winning, log)


cdef inline int contest(Rules rules, const State* s, const octet* bids, int count, int* tied) noexcept nogil:
    """The place of the bid that wins so far; -1 if none does, with the place of the last one tied.

    BI-7, BI-8: the highest number, if no other bid has it; BI-15: or the lowest. BI-9: with
    colours only the most frequent ones count.
    """
    cdef uint32_t colours = contending(rules, bids, count) if rules.by_colour else <uint32_t> 0xFF
    cdef int best = NO_NUMBER, winner = -1
    cdef int place, value
    for place in range(count):
        value = rules.number[bids[place]]
        if value == NO_NUMBER or not colours >> rules.colour[bids[place]] & 1:
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


cdef uint32_t contending(Rules rules, const octet* bids, int count) noexcept nogil:
    """BI-9: the most frequent of the colours in which a number was bid; the centre counts as black."""
    cdef int times[6]
    cdef uint32_t candidates = 0, found = 0
    cdef int place, colour, most = 0
    memset(times, 0, sizeof(times))
    times[BLACK] = 1
    for place in range(count):
        colour = rules.colour[bids[place]]
        times[colour] += 1
        if rules.number[bids[place]] != NO_NUMBER:
            candidates |= <uint32_t> 1 << colour
    for colour in range(BLACK + 1):
        if candidates >> colour & 1 and times[colour] >= most:
            found = (found if times[colour] == most else 0) | <uint32_t> 1 << colour
            most = times[colour]
    return found


cdef inline void burn(Rules rules, State* s, int leader, EventLog* log) noexcept nogil:
    """BI-8: nobody wins; the last of those that tied leads."""
    log_numbers(log, TRICK_BURNT, leader)
    end_trick(rules, s, NONE, leader, log)


cdef inline void take_trick(Rules rules, State* s, int winner, EventLog* log) noexcept nogil:
    """BI-10 to BI-14: the winner takes the centre and the blacks bid."""
    cdef uint32_t bid = blacks_bid(rules, s), taken
    cdef int card = s.centre
    s.tricks_won[winner] += 1
    s.seat = winner
    log_numbers(log, TRICK_WON, winner)
    if (bid | black_bit(card)) & black_bit(SURPRISE):
        card = take_unseen(rules, s, winner, bid, log)
        bid |= black_bit(SURPRISE)      # won and spent, as a centre too
    taken = (bid | black_bit(card)) & rules.all_black
    if taken & black_bit(DOUBLE):
        s.points[winner] = 2 * s.points[winner]
        log_numbers(log, POINTS_DOUBLED, winner, s.points[winner])
    win_blacks(rules, s, winner, taken, log)
    if card == THIEF:
        s.victims = to_rob(rules, s)
    if s.victims:
        s.phase = THEFT
    else:
        ally_and_end(rules, s, log)


cdef inline uint32_t blacks_bid(Rules rules, const State* s) noexcept nogil:
    """The black cards and the Ally among the bids."""
    cdef uint32_t found = 0
    cdef int place
    for place in range(rules.seat_count):
        if s.bids[place] >= FIRST_BLACK:
            found |= black_bit(s.bids[place])
    return found


cdef int take_unseen(Rules rules, State* s, int winner, uint32_t bid, EventLog* log) noexcept nogil:
    """BI-14: Surprise in the trick: the next card of the pile acts as the centre.

    As a bid it sends the centre under the pile.
    """
    cdef int card = draw(s)
    if card == LOWEST:
        s.lowest_next = 1
        log_lowest(log)
        card = draw(s)
    log_numbers(log, CARD_TAKEN, winner, card)
    if bid & black_bit(SURPRISE):
        s.pile[s.pile_size] = s.centre
        s.pile_size += 1
        s.pile_known += 1
        log_numbers(log, CENTRE_BURIED, s.centre)
    return card


cdef inline void win_blacks(Rules rules, State* s, int winner, uint32_t cards, EventLog* log) noexcept nogil:
    """BI-12: numbers count; BI-13: so do the -5s; BI-14, BI-18: the others are spent."""
    cdef uint32_t left = cards & rules.scoring
    cdef int points = 0
    s.won[winner] |= left
    while left:
        points += rules.number[FIRST_BLACK + lowest(left)]
        left &= left - 1
    s.points[winner] += points
    if cards & black_bit(MINUS_FIVE):
        s.minus_fives[winner] += 1
    log_blacks(winner, cards, points, log)


cdef inline void ally_and_end(Rules rules, State* s, EventLog* log) noexcept nogil:
    """BI-19: who played the Ally shares the round with the winner; BI-7: who leads next."""
    cdef int place
    for place in range(rules.seat_count):
        if s.bids[place] == ALLY:
            s.ally = seat_at(rules, s, place)
            s.ally_winner = s.seat
            log_numbers(log, ALLIED, s.ally, s.ally_winner)
    end_trick(rules, s, s.seat, s.seat, log)


cdef inline void end_trick(Rules rules, State* s, int winner, int leader, EventLog* log) noexcept nogil:
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
    if s.tricks_played == rules.hand_size:
        book_round(rules, s, log)
    else:
        turn_centre(rules, s, log)


cdef inline int left_of(Rules rules, int seat) noexcept nogil:
    return 0 if seat + 1 == rules.seat_count else seat + 1


cdef inline int seat_at(Rules rules, const State* s, int place) noexcept nogil:
    cdef int seat = s.leader + place
    return seat - rules.seat_count if seat >= rules.seat_count else seat


cdef inline uint32_t black_bit(int card) noexcept nogil:
    """A card from the first black on, as a set."""
    return <uint32_t> 1 << (card - FIRST_BLACK)
