# The theft (BI-16 to BI-18).

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


cdef inline int stolen_card(int choice) noexcept nogil:
    """The card of a theft: a black number, or -5."""
    choice %= STEALS
    return MINUS_FIVE if choice == MINUS_FIVE_STEAL else FIRST_BLACK + choice


cdef uint32_t to_rob(Rules rules, const State* s) noexcept nogil:
    """BI-16: the seats with the worst bid that have a card; BI-17: else whom the option names."""
    cdef int value = next_value(rules, s, NO_NUMBER, True)
    cdef uint32_t seats = with_spoils(rules, s, value)
    cdef bint upwards = rules.next_worst_robbed
    if seats:
        return seats
    if not upwards:
        value = next_value(rules, s, -NO_NUMBER, False)
        seats = with_spoils(rules, s, value)
    while not seats and value != NO_NUMBER:
        value = next_value(rules, s, value, upwards)
        seats = with_spoils(rules, s, value)
    return seats


cdef int next_value(Rules rules, const State* s, int value, bint upwards) noexcept nogil:
    """The nearest bid that is better (or worse) than ``value``, NO_NUMBER if there is none."""
    cdef int place, bid, found = NO_NUMBER
    for place in range(rules.seat_count):
        bid = bid_value(rules, s, place)
        if bid == NO_NUMBER or (bid <= value if upwards else bid >= value):
            continue
        if found == NO_NUMBER or (bid < found if upwards else bid > found):
            found = bid
    return found


cdef inline int bid_value(Rules rules, const State* s, int place) noexcept nogil:
    """How good a bid is; a better one is higher, under Lowest too."""
    cdef int number = rules.number[s.bids[place]]
    return -number if s.lowest and number != NO_NUMBER else number


cdef uint32_t with_spoils(Rules rules, const State* s, int value) noexcept nogil:
    """The seats other than the thief that bid this value and have a card that can be stolen."""
    cdef uint32_t found = 0
    cdef int place, seat
    for place in range(rules.seat_count):
        seat = seat_at(rules, s, place)
        if value != NO_NUMBER and bid_value(rules, s, place) == value and seat != s.seat and s.won[seat]:
            found |= <uint32_t> 1 << seat
    return found


cdef void steal(Rules rules, State* s, int thief, int choice, EventLog* log) noexcept nogil:
    """BI-16, BI-18: exactly the card's number moves; a -5 then counts as the thief's."""
    cdef int victim = choice // STEALS
    cdef int card = stolen_card(choice)
    s.won[victim] ^= black_bit(card)
    s.won[thief] |= black_bit(card)
    s.points[victim] -= rules.number[card]
    s.points[thief] += rules.number[card]
    if card == MINUS_FIVE:
        s.minus_fives[victim] -= 1
        s.minus_fives[thief] += 1
    log_numbers(log, STOLEN, thief, victim, card)
    s.victims = 0
    s.phase = BID
    ally_and_end(rules, s, log)
