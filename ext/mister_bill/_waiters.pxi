# The waiters (MB-10, MB-12 to MB-18), the gifts that some of them ask for, and whole hands that change places.

cdef struct Gains:              # what the seats take up in an exchange
    octet kinds[SEATS][ROW]
    octet count[SEATS]


cdef int waiter_of(Rules rules, int action) noexcept nogil:
    """The kind of the waiter that an action plays."""
    if action == PLAY_D:
        return rules.waiter_d
    if action == PLAY_E:
        return rules.waiter_e
    if action < PLAY_B or action == PLAY_A_ALONE:
        return rules.waiter_a
    return rules.waiter_b if action < PLAY_C or action == PLAY_B_ALONE else rules.waiter_c


cdef void play_waiter(Rules rules, State* s, int action, Chance* chance, EventLog* log) noexcept nogil:
    """MB-10; MB-18: the seat may be out, and the round over, before the effect."""
    cdef int seat = s.active
    cdef int kind = waiter_of(rules, action)
    cdef int target = (action - PLAY_A) & 7 if action < PLAY_A_ALONE else NONE
    s.hands[seat] ^= 1 << kind
    s.sizes[seat] -= 1
    s.gone[kind] += 1
    count_leaving(s)
    log_waiter(seat, kind, target, log)
    set_fact(rules, s, seat, kind, ABSENT)
    if s.sizes[seat] or kind != rules.waiter_b or target == NONE:
        if settle(rules, s, <uint32_t> 1 << seat, log):
            return
    if kind == rules.waiter_d:
        show_bills(rules, s, log)
    elif kind == rules.waiter_b:
        if target != NONE:
            swap_hands(rules, s, target, log)
    elif kind != rules.waiter_a or target != NONE:
        ask_for_gifts(rules, s, kind, target)
        if s.phase == GIFT:
            return
        draw_gifts(s, chance)
        exchange(rules, s, log)
    if s.phase == TURN:
        finish_turn(rules, s, chance, log)


cdef void show_bills(Rules rules, State* s, EventLog* log) noexcept nogil:
    """MB-15: who holds Mister Bill is public at this moment."""
    cdef int seat
    for seat in range(rules.seat_count):
        if s.seats_in >> seat & 1:
            set_fact(rules, s, seat, rules.bill, HELD if s.hands[seat] >> rules.bill & 1 else ABSENT)
    log_bills(rules, s, log)
    conclude(rules, s, s.seats_in)


# -- gifts ---------------------------------------------------------------------------------------

cdef void ask_for_gifts(Rules rules, State* s, int kind, int target) noexcept nogil:
    """MB-12, MB-14, MB-16: who gives a card; nobody is asked where A swaps blindly."""
    s.waiter = kind
    s.target = target
    s.givers = s.seats_in
    if kind == rules.waiter_a:
        s.givers = 1 << s.active | 1 << target
    elif kind == rules.waiter_c:
        s.givers &= ~(1 << target)
    if kind != rules.waiter_a or not rules.is_blind:
        s.phase = GIFT


cdef void draw_gifts(State* s, Chance* chance) noexcept nogil:
    """MB-12, blind: each takes a random card of the other."""
    cdef int index = 2 * (s.turns - 1)
    cdef int seat = s.active, target = s.target
    s.gifts[target] = nth(s.hands[target], chance_pick(chance, BLIND, s.round, index, s.sizes[target]))
    s.gifts[seat] = nth(s.hands[seat], chance_pick(chance, BLIND, s.round, index + 1, s.sizes[seat]))


cdef void commit(Rules rules, State* s, int seat, int kind, Chance* chance, EventLog* log) noexcept nogil:
    """A gift is secret, and nothing moves, until the last one is in."""
    s.gifts[seat] = kind
    s.committed |= 1 << seat
    log_commitment(seat, kind, log)
    if s.committed == s.givers:
        s.phase = TURN
        exchange(rules, s, log)
        if s.phase == TURN:
            finish_turn(rules, s, chance, log)


cdef inline int receiver_of(Rules rules, const State* s, int giver) noexcept nogil:
    if s.waiter == rules.waiter_e:
        return left_in(s, giver)
    return s.active if giver == s.target else s.target


cdef void exchange(Rules rules, State* s, EventLog* log) noexcept nogil:
    """All gifts move at once, then pairs are laid down (MB-11) and all is settled."""
    cdef Gains gains
    cdef uint32_t left, moved
    cdef int to
    memset(&gains, 0, sizeof(gains))
    left = moved = hand_over(rules, s, &gains, log)
    learn_gifts(rules, s, &gains)
    while left:
        to = next_of(left, s.active)
        left ^= <uint32_t> 1 << to
        learn_pairs(rules, s, to, &gains)
        lay_pairs(rules, s, to, gains.kinds[to], log)
    memset(s.gifts, NONE, sizeof(s.gifts))
    s.givers = s.committed = 0
    s.waiter = s.target = NONE
    settle(rules, s, moved, log)


cdef inline uint32_t hand_over(Rules rules, State* s, Gains* gains, EventLog* log) noexcept nogil:
    """Gifts leave the hands; returns the seats that give or receive."""
    cdef uint32_t left = s.givers, moved = s.givers
    cdef int giver, to, kind
    while left:
        giver = next_of(left, s.active)
        left ^= <uint32_t> 1 << giver
        to = receiver_of(rules, s, giver)
        kind = s.gifts[giver]
        s.hands[giver] ^= 1 << kind
        s.sizes[giver] -= 1
        gains.kinds[to][kind] += 1
        gains.count[to] += 1
        moved |= <uint32_t> 1 << to
        log_between(log, GAVE, giver, to, kind)
    return moved


cdef inline void learn_gifts(Rules rules, State* s, const Gains* gains) noexcept nogil:
    """MB-26: giver and receiver see the card, everybody if the receiver of that one card lays it down as a pair.

    A hand loses before it gains: the gift came from what it held.
    """
    cdef uint32_t seers[SEATS]
    cdef uint32_t left = s.givers
    cdef int giver, to
    while left:
        giver = lowest(left)
        left &= left - 1
        to = receiver_of(rules, s, giver)
        seers[giver] = <uint32_t> 1 << giver | <uint32_t> 1 << to
        if gains.count[to] == 1 and s.hands[to] >> s.gifts[giver] & 1:
            seers[giver] = ALL_OBSERVERS
        card_leaves(rules, s, giver, s.gifts[giver], seers[giver])
    left = s.givers
    while left:
        giver = lowest(left)
        left &= left - 1
        card_arrives(rules, s, receiver_of(rules, s, giver), s.gifts[giver], seers[giver])


cdef inline void learn_pairs(Rules rules, State* s, int seat, const Gains* gains) noexcept nogil:
    """A pair laid down by a seat that got several cards tells nothing: it may have had three of the kind."""
    cdef int kind
    for kind in range(KINDS):
        if gains.kinds[seat][kind] + (s.hands[seat] >> kind & 1) > 1:
            set_fact(rules, s, seat, kind, ABSENT if gains.count[seat] == 1 else UNKNOWN)


# -- whole hands ---------------------------------------------------------------------------------

cdef void swap_hands(Rules rules, State* s, int target, EventLog* log) noexcept nogil:
    """MB-13; with ``last_card_b`` = swap the active hand may be empty."""
    cdef octet holder[SEATS]
    cdef int seat
    for seat in range(SEATS):
        holder[seat] = seat
    holder[s.active] = target
    holder[target] = s.active
    move_hands(rules, s, holder)
    log_swapped(s, target, log)
    settle(rules, s, <uint32_t> 1 << s.active | <uint32_t> 1 << target, log)


cdef void shift_hands(Rules rules, State* s, EventLog* log) noexcept nogil:
    """MB-17: all seats still in pass their whole hands to the next one in on the left."""
    cdef octet holder[SEATS]
    cdef int seat
    for seat in range(SEATS):
        holder[seat] = left_in(s, seat) if s.seats_in >> seat & 1 else seat
    log_passing(s, holder, log)
    move_hands(rules, s, holder)


cdef void move_hands(Rules rules, State* s, const octet* holder) noexcept nogil:
    """Whole hands change places: the hand of seat i goes to ``holder[i]``, and knowledge with it."""
    cdef State old
    cdef int seat
    memcpy(&old, s, sizeof(State))
    for seat in range(min(rules.seat_count, SEATS)):
        s.hands[holder[seat]] = old.hands[seat]
        s.sizes[holder[seat]] = old.sizes[seat]
        move_facts(rules, s, &old, seat, holder[seat])
