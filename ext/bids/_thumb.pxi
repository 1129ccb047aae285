# The rule of thumb: the card with the most to expect for what it costs to spend; of a theft the highest.

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


cdef int best_theft(Rules rules, const State* s) noexcept nogil:
    """The highest number, of equals from the seat that is ahead."""
    cdef int32_t choices[64]
    cdef int i, value, best = 0, most = -1000000
    for i in range(legal_thefts(s, choices)):
        value = 100000 * rules.number[stolen_card(choices[i] - FIRST_STEAL)]
        value += s.totals[(choices[i] - FIRST_STEAL) // STEALS]
        if value > most:
            most = value
            best = choices[i]
    return best


cdef int best_card(Rules rules, const State* s, int seat) noexcept nogil:
    cdef uint64_t coloured = s.hand[seat]
    cdef uint32_t black = s.black[seat]
    cdef double worth, most = -1e9
    cdef int card, best = 0
    cdef Outlook outlook
    look_out(rules, s, seat, &outlook)
    while coloured or black:
        if coloured:
            card = lowest(coloured)
            coloured &= coloured - 1
        else:
            card = FIRST_BLACK + lowest(black)
            black &= black - 1
        worth = card_worth(rules, s, &outlook, card)
        if worth > most:
            most = worth
            best = card
    return best


cdef inline void look_out(Rules rules, const State* s, int seat, Outlook* outlook) noexcept nogil:
    """What is the same for every card that a seat may bid."""
    cdef double grip
    cdef int place
    outlook.after = rules.seat_count - 1 - s.bid_count
    outlook.pot = pot_worth(rules, s, seat)
    outlook.first_trick = first_trick_cost(rules, s, seat)
    outlook.unseen = rules.all_coloured & ~(s.played | s.hand[seat])
    outlook.share = 1.0 / (popcount(outlook.unseen) + 1.0)
    grip = outlook.after * (GRIP + POT_GRIP * outlook.pot / rules.mean_black)
    outlook.overbids = <int> (grip + 0.5) if grip > 0.0 else 0
    outlook.best = NO_NUMBER
    for place in range(s.bid_count):
        outlook.best = max(outlook.best, bid_value(rules, s, place))


cdef inline double card_worth(Rules rules, const State* s, const Outlook* outlook, int card) noexcept nogil:
    """Points to expect from a bid, less what the card is worth if kept."""
    cdef int number = rules.number[card]
    cdef double own, strength, stands, worth
    if number == NO_NUMBER:
        return -DOUBLE_KEPT if card == DOUBLE else -OTHER_KEPT
    own = number if card >= FIRST_BLACK else 0.0
    strength = 1.0 - outlook.share * popcount(outlook.unseen & better_than(rules, s, number))
    worth = -SPITE * own - THRIFT * rules.mean_black * power(strength, BEND)
    stands = power(strength, outlook.overbids)      # the chance not to be overbid
    if rules.by_colour:
        return worth + stands * share_by_colour(rules, s, outlook, card, own)
    if s.lowest:
        number = -number
    if number > outlook.best:
        worth += stands * ((1.0 + SPITE) * (outlook.pot + own) - outlook.first_trick)
    elif number == outlook.best:
        worth += stands * SPITE * outlook.pot
    return worth


cdef double share_by_colour(Rules rules, const State* s, const Outlook* outlook, int card, double own) noexcept nogil:
    """What a bid that is not overbid brings where colours decide first (BI-9)."""
    cdef octet bids[SEATS]
    cdef int tied = NONE, place
    cdef double holds = COLOUR_HOLDS if outlook.after else 1.0
    memcpy(bids, s.bids, sizeof(bids))
    bids[s.bid_count] = card
    place = contest(rules, s, bids, s.bid_count + 1, &tied)
    if place == s.bid_count:
        return holds * ((1.0 + SPITE) * (outlook.pot + own) - outlook.first_trick)
    return holds * SPITE * outlook.pot if place < 0 and tied == s.bid_count else 0.0


cdef double pot_worth(Rules rules, const State* s, int seat) noexcept nogil:
    """What winning the trick as it lies is worth to a seat, in points."""
    cdef double worth = black_worth(rules, s, seat, s.centre)
    cdef int place
    for place in range(s.bid_count):
        if s.bids[place] == SURPRISE:
            worth += black_worth(rules, s, seat, SURPRISE) - black_worth(rules, s, seat, s.centre)
        elif s.bids[place] >= FIRST_BLACK:
            worth += black_worth(rules, s, seat, s.bids[place])
    return worth


cdef inline double black_worth(Rules rules, const State* s, int seat, int card) noexcept nogil:
    if card == DOUBLE:
        return s.points[seat]
    if card == SURPRISE:
        return rules.mean_black
    if card == THIEF:
        return THEFT_WORTH
    if card == MINUS_FIVE and s.minus_fives[seat] == rules.bonus_count - 1:
        return rules.bonus_points - 5
    return 0 if card == ALLY else rules.number[card]


cdef double first_trick_cost(Rules rules, const State* s, int seat) noexcept nogil:
    """What a seat gives up by winning its first trick: the hope to be a lucky loser (BI-20)."""
    if s.tricks_won[seat]:
        return 0.0
    return (rules.lucky_factor * (s.lucky[seat] + 1) * LUCK
            * power(LUCK_LEFT, rules.hand_size - 1 - s.tricks_played))


cdef inline uint64_t better_than(Rules rules, const State* s, int number) noexcept nogil:
    """The coloured cards that beat a number."""
    if number == rules.number[MINUS_FIVE]:
        return 0 if s.lowest else rules.all_coloured
    return rules.below[number] if s.lowest else rules.above[number]


cdef inline double power(double base, int exponent) noexcept nogil:
    cdef double result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result
