# Events of a round. Search plays without a log: then nothing is written.

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


cdef void log_kinds(uint32_t hand, EventLog* log) noexcept nogil:
    while hand:
        log_word(log, lowest(hand))
        hand &= hand - 1


cdef void log_round_started(Rules rules, const State* s, EventLog* log) noexcept nogil:
    cdef int seat
    if log == NULL:
        return
    event_begin(log, ROUND_STARTED, <uint32_t> EVERYBODY)
    log_word(log, s.round)
    log_word(log, s.dealer)
    for seat in range(rules.seat_count):
        log_word(log, s.numbers[seat])
    log_end(log)


cdef void log_dealt(int seat, const octet* dealt, EventLog* log) noexcept nogil:
    """MB-25: a hand is for its seat alone."""
    cdef int kind, i, count = 0
    if log == NULL:
        return
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


cdef inline void log_declined(int seat, EventLog* log) noexcept nogil:
    if log == NULL:
        return
    event_begin(log, DECLINED, <uint32_t> EVERYBODY)
    log_word(log, seat)
    log_end(log)


cdef inline void log_numbers(EventLog* log, int event, int first, int second) noexcept nogil:
    """An event of two numbers for everybody."""
    if log == NULL:
        return
    event_begin(log, event, <uint32_t> EVERYBODY)
    log_word(log, first)
    log_word(log, second)
    log_end(log)


cdef inline void log_between(EventLog* log, int event, int one, int other, int kind) noexcept nogil:
    """An event of two seats with a card that both know."""
    if log == NULL:
        return
    event_begin(log, event, <uint32_t> 1 << one | <uint32_t> 1 << other)
    log_word(log, one)
    log_word(log, other)
    event_secret(log)
    log_word(log, kind)
    log_end(log)


cdef inline void log_waiter(int seat, int kind, int target, EventLog* log) noexcept nogil:
    if log == NULL:
        return
    event_begin(log, WAITER_PLAYED, <uint32_t> EVERYBODY)
    log_word(log, seat)
    log_word(log, kind)
    log_word(log, -1 if target == NONE else target)
    log_end(log)


cdef inline void log_commitment(int seat, int kind, EventLog* log) noexcept nogil:
    if log == NULL:
        return
    event_begin(log, GIFT_COMMITTED, <uint32_t> 1 << seat)
    log_word(log, seat)
    event_secret(log)
    log_word(log, kind)
    log_end(log)


cdef void log_swapped(const State* s, int target, EventLog* log) noexcept nogil:
    """After the swap, to both seats: what the active one holds now, and the other one."""
    if log == NULL:
        return
    event_begin(log, HANDS_SWAPPED, <uint32_t> 1 << s.active | <uint32_t> 1 << target)
    log_word(log, s.active)
    log_word(log, target)
    event_secret(log)
    log_word(log, s.sizes[s.active])
    log_kinds(s.hands[s.active], log)
    log_kinds(s.hands[target], log)
    log_end(log)


cdef void log_passing(const State* s, const octet* holder, EventLog* log) noexcept nogil:
    """Before hands are passed on, an event for each, to the two seats that see it."""
    cdef uint32_t left = s.seats_in
    cdef int seat, to
    if log == NULL:
        return
    while left:
        seat = next_of(left, s.active)
        left ^= <uint32_t> 1 << seat
        to = holder[seat]
        event_begin(log, HAND_PASSED, <uint32_t> 1 << seat | <uint32_t> 1 << to)
        log_word(log, seat)
        log_word(log, to)
        log_word(log, s.sizes[seat])
        event_secret(log)
        log_kinds(s.hands[seat], log)
        log_end(log)


cdef void log_bills(Rules rules, const State* s, EventLog* log) noexcept nogil:
    cdef int seat
    if log == NULL:
        return
    event_begin(log, BILLS_SHOWN, <uint32_t> EVERYBODY)
    for seat in range(rules.seat_count):
        log_word(log, s.hands[seat] >> rules.bill & 1)
    log_end(log)


cdef void log_team(uint32_t mates, int value, EventLog* log) noexcept nogil:
    if log == NULL:
        return
    event_begin(log, TEAM_COMPLETED, <uint32_t> EVERYBODY)
    log_word(log, value)
    log_kinds(mates, log)
    log_end(log)


cdef void log_scores(Rules rules, const State* s, bint stalled, EventLog* log) noexcept nogil:
    cdef int seat
    if log == NULL:
        return
    event_begin(log, ROUND_SCORED, <uint32_t> EVERYBODY)
    log_word(log, s.round)
    log_word(log, stalled)
    for seat in range(rules.seat_count):
        log_word(log, s.points[s.round - 1][seat])
    for seat in range(rules.seat_count):
        log_word(log, s.totals[seat])
    log_end(log)
