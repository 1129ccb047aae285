# The rule of thumb: get rid of cards, and of Mister Bill first; a partner is spared what others get.

cdef int best_waiter(Rules rules, const State* s, int seat) noexcept nogil:
    cdef uint64_t legal = rules.legal_bits(s, seat)
    cdef int action, best = DECLINE
    cdef double worth, most = 0.0
    if legal == 1:
        return DECLINE
    legal &= legal - 1
    while legal:
        action = lowest(legal)
        legal &= legal - 1
        worth = worth_of(rules, s, seat, action)
        if worth > most:
            most = worth
            best = action
    return best


cdef double worth_of(Rules rules, const State* s, int seat, int action) noexcept nogil:
    """Cards of its own that a waiter spares a seat, more or less; Mister Bill counts as three."""
    cdef int target, kind = waiter_of(rules, action)
    cdef bint has_bill = s.hands[seat] >> rules.bill & 1
    cdef uint32_t mates = team_mates(rules, s, seat)
    cdef double worth = 1.0, side, risk
    if action >= PLAY_A_ALONE:
        if kind == rules.waiter_e and s.sizes[seat] > 1:
            worth += (3.0 if has_bill else 0.0) - 3.0 * bill_chance(rules, s, seat, right_in(s, seat))
        return worth
    target = (action - PLAY_A) & 7
    side = -1.0 if mates >> target & 1 else 1.0
    if kind == rules.waiter_c:
        return worth + (1.0 if s.sizes[seat] > 1 else 0.0) + side * (1.0 + (2.0 if has_bill else 0.0)) \
            - 0.05 * side * s.sizes[target]
    risk = bill_chance(rules, s, seat, target)
    if kind == rules.waiter_a:
        return worth + ((3.0 if side > 0 else 1.0) if has_bill else 0.0) - 3.0 * risk
    if s.sizes[seat] == 1:
        worth = 0.0         # with its last card a seat is out if it plays anything else, or declines B
    return worth + (1.0 if side > 0 else 0.2) * (s.sizes[seat] - 1 - s.sizes[target]) \
        + (3.0 if has_bill and side > 0 else 0.0) - 3.0 * risk


cdef double bill_chance(Rules rules, const State* s, int seat, int other) noexcept nogil:
    """How likely a seat thinks another one to hold Mister Bill."""
    cdef int fact = s.facts[seat][other][rules.bill]
    cdef double unseen, cards = 0.0, share
    cdef int i
    if fact >= HELD and fact < ABSENT:
        return 1.0 / fact
    for i in range(rules.seat_count):
        if i != seat:
            cards += s.sizes[i]
    unseen = rules.count[rules.bill] - s.gone[rules.bill] - (s.hands[seat] >> rules.bill & 1)
    share = min(1.0, unseen * s.sizes[other] / cards)
    if fact < ABSENT:
        return share
    return share * min(1.0, (fact - ABSENT) * 1.0 / s.sizes[other])


cdef int best_gift(Rules rules, const State* s, int seat) noexcept nogil:
    """To a partner what makes a pair there, to others what makes none: Mister Bill, then rare kinds."""
    cdef int to = receiver_of(rules, s, seat)
    cdef bint is_mate = team_mates(rules, s, seat) >> to & 1
    cdef uint32_t left = s.hands[seat]
    cdef int kind, fact, best = 0
    cdef double worth, most = -1e9
    while left:
        kind = lowest(left)
        left &= left - 1
        fact = s.facts[seat][to][kind]
        worth = -1.0 * (rules.count[kind] - s.gone[kind])
        if kind == rules.bill:
            worth += -20.0 if is_mate else 20.0
        elif rules.waiters >> kind & 1:
            worth -= 1.5
        if HELD <= fact and fact < ABSENT:
            worth += (30.0 if is_mate else -30.0) / fact
        if worth > most:
            most = worth
            best = kind
    return best
