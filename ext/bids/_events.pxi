# Events of a match. Search plays without a log: then nothing is written.

cdef enum EventKind:            # 0 is the core's match_ended
    ROUND_STARTED = 1
    DEALT = 2
    CENTRE_TURNED = 3
    LOWEST_SET = 4
    BID_MADE = 5
    TRICK_WON = 6
    TRICK_BURNT = 7
    CARD_TAKEN = 8
    CENTRE_BURIED = 9
    POINTS_DOUBLED = 10
    BLACKS_WON = 11
    STOLEN = 12
    ALLIED = 13
    ROUND_SCORED = 14
    BONUS_SCORED = 15

cdef enum:
    ABSENT = -1000000           # no number of an event


cdef inline void log_numbers(EventLog* log, int kind, int first, int second=ABSENT, int third=ABSENT) noexcept nogil:
    """An event of one to three public numbers."""
    if log == NULL:
        return
    event_begin(log, kind, <uint32_t> EVERYBODY)
    log_word(log, first)
    if second != ABSENT:
        log_word(log, second)
    if third != ABSENT:
        log_word(log, third)
    log_end(log)


cdef void log_round_started(Rules rules, const State* s, EventLog* log) noexcept nogil:
    if log == NULL:
        return
    event_begin(log, ROUND_STARTED, <uint32_t> EVERYBODY)
    log_word(log, s.round)
    log_word(log, s.leader)
    log_word(log, rules.left_over_count)
    log_word(log, rules.pile_count)
    log_end(log)


cdef void log_dealt(Rules rules, const State* s, int seat, EventLog* log) noexcept nogil:
    """BI-23: a hand is for its seat."""
    cdef uint64_t coloured = s.hand[seat]
    cdef uint32_t black = s.black[seat]
    if log == NULL:
        return
    event_begin(log, DEALT, <uint32_t> 1 << seat)
    log_word(log, seat)
    log_word(log, rules.hand_size)
    event_secret(log)
    while coloured:
        log_word(log, lowest(coloured))
        coloured &= coloured - 1
    while black:
        log_word(log, FIRST_BLACK + lowest(black))
        black &= black - 1
    log_end(log)


cdef inline void log_lowest(EventLog* log) noexcept nogil:
    if log == NULL:
        return
    event_begin(log, LOWEST_SET, <uint32_t> EVERYBODY)
    log_end(log)


cdef void log_blacks(int winner, uint32_t cards, int points, EventLog* log) noexcept nogil:
    if log == NULL:
        return
    event_begin(log, BLACKS_WON, <uint32_t> EVERYBODY)
    log_word(log, winner)
    while cards:
        log_word(log, FIRST_BLACK + lowest(cards))
        cards &= cards - 1
    log_word(log, points)
    log_end(log)


cdef void log_round(Rules rules, const State* s, const int* lucky, EventLog* log) noexcept nogil:
    cdef int seat
    if log == NULL:
        return
    event_begin(log, ROUND_SCORED, <uint32_t> EVERYBODY)
    log_word(log, s.round)
    for seat in range(rules.seat_count):
        log_word(log, s.points[seat])
    for seat in range(rules.seat_count):
        log_word(log, lucky[seat])
    for seat in range(rules.seat_count):
        log_word(log, s.totals[seat])
    log_end(log)
