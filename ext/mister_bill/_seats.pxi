# Seats still in and their teams; who is out, who takes points, and when the round is over (MB-17, MB-19 to MB-23).

cdef enum:
    STALL_ROUNDS = 10           # MB-23: turns for each seat of the match


cdef bint settle(Rules rules, State* s, uint32_t moved, EventLog* log) noexcept nogil:
    """MB-17, after pairs are laid down: who is out, whether the round is over, then pending shift changes.

    moved: the seats whose hands have changed. Returns whether the round has ended.
    """
    cdef int seat, i
    while True:
        seat = s.active
        for i in range(rules.seat_count):
            if s.seats_in >> seat & 1 and s.sizes[seat] == 0:
                go_out(rules, s, seat, log)
            seat = left_of(rules, seat)
        if teams_left(rules, s) <= 1:
            conclude(rules, s, moved)
            complete_last(rules, s, log)
            end_round(rules, s, False, log)
            return True
        if not s.shifts:
            break
        s.shifts -= 1
        shift_hands(rules, s, log)
        moved |= s.seats_in
    conclude(rules, s, moved)
    return False


cdef void go_out(Rules rules, State* s, int seat, EventLog* log) noexcept nogil:
    """MB-19; MB-20: the team is complete when all its members are out."""
    cdef uint32_t mates = team_mates(rules, s, seat)
    cdef int value = rules.value[s.round - 1][s.completed]
    cdef int other
    s.seats_in &= ~(1 << seat)
    s.out_order[s.out_count] = seat
    s.out_count += 1
    forget_hand(rules, s, seat)
    log_numbers(log, WENT_OUT, seat, s.out_count)
    if mates & s.seats_in:
        return
    s.completed += 1
    for other in range(rules.seat_count):
        if mates >> other & 1:
            s.points[s.round - 1][other] = value
    log_team(mates, value, log)


cdef void complete_last(Rules rules, State* s, EventLog* log) noexcept nogil:
    """MB-22: the team that is left takes nothing."""
    if s.seats_in:
        log_team(team_mates(rules, s, lowest(s.seats_in)), 0, log)


cdef void end_round(Rules rules, State* s, bint stalled, EventLog* log) noexcept nogil:
    """MB-22, MB-23: points join the totals; pending shift changes lapse, and no hand is shown."""
    cdef int seat
    s.shifts = 0
    s.phase = OVER if s.round == ROUNDS else BOOKED
    for seat in range(rules.seat_count):
        s.totals[seat] += s.points[s.round - 1][seat]
    log_scores(rules, s, stalled, log)


cdef inline void count_leaving(State* s) noexcept nogil:
    """MB-23: cards have left play in this turn."""
    s.has_left = 1
    s.stall = 0


cdef bint end_turn(Rules rules, State* s, EventLog* log) noexcept nogil:
    """MB-19: the nearest seat still in on the left is next; MB-23: unless the seats stall.

    Returns whether the round has ended.
    """
    if not s.has_left:
        s.stall = s.stall + 1
    if s.stall == STALL_ROUNDS * rules.seat_count:
        end_round(rules, s, True, log)
        return True
    s.active = left_in(s, s.active)
    return False


# -- who sits where ------------------------------------------------------------------------------

cdef inline uint32_t everybody(Rules rules) noexcept nogil:
    return (<uint32_t> 1 << rules.seat_count) - 1


cdef inline int left_of(Rules rules, int seat) noexcept nogil:
    """The seat on the left, still in or not."""
    return 0 if seat + 1 == rules.seat_count else seat + 1


cdef inline int left_in(const State* s, int seat) noexcept nogil:
    """The nearest seat still in on the left; the seat itself if it is the only one."""
    cdef uint32_t after = s.seats_in >> (seat + 1)
    return seat + 1 + lowest(after) if after else lowest(s.seats_in)


cdef inline int right_in(const State* s, int seat) noexcept nogil:
    cdef uint32_t before = s.seats_in & ((<uint32_t> 1 << seat) - 1)
    return highest(before) if before else highest(s.seats_in)


cdef inline int next_of(uint32_t seats, int first) noexcept nogil:
    """The first of some seats in turn order from ``first``, itself included."""
    cdef uint32_t after = seats >> first
    return first + lowest(after) if after else lowest(seats)


cdef inline int team_at(Rules rules, const State* s, int seat) noexcept nogil:
    return rules.team[s.round - 1][s.numbers[seat]]


cdef uint32_t team_mates(Rules rules, const State* s, int seat) noexcept nogil:
    """The seats of a seat's team, itself included."""
    cdef uint32_t mates = 0
    cdef int other
    for other in range(rules.seat_count):
        if team_at(rules, s, other) == team_at(rules, s, seat):
            mates |= <uint32_t> 1 << other
    return mates


cdef int teams_left(Rules rules, const State* s) noexcept nogil:
    """MB-22: teams, or seats that play alone, that are not complete."""
    cdef uint32_t teams = 0, seats = s.seats_in
    while seats:
        teams |= <uint32_t> 1 << team_at(rules, s, lowest(seats))
        seats &= seats - 1
    return popcount(teams)
