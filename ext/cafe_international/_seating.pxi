# What may be seated where (CI-6 to CI-10, CI-25), and the bookkeeping of guests.

cdef inline void take(State* s, int seat, int kind) noexcept nogil:
    s.hands[seat][kind] += 1
    s.hand_sizes[seat] += 1
    s.held[seat] |= <uint32_t> 1 << kind


cdef inline void drop(State* s, int seat, int kind) noexcept nogil:
    s.hands[seat][kind] -= 1
    s.hand_sizes[seat] -= 1
    if not s.hands[seat][kind]:
        s.held[seat] ^= <uint32_t> 1 << kind


cdef inline bint is_out(const State* s, int seat) noexcept nogil:
    cdef int i
    for i in range(s.out_count):
        if s.out[i] == seat:
            return True
    return False


cdef inline bint is_native(int kind, int nation, int table) noexcept nogil:
    """CI-13, CI-19: whether a guest counts as of the table's nation; nation: of a declared joker, or NONE."""
    if kind < FIRST_JOKER:
        return kind >> 1 == NATION_OF[table]
    return nation == NONE or nation == NATION_OF[table]


cdef inline void count_guest(State* s, int table, int kind, int nation, int by) noexcept nogil:
    """Count a guest in (by = 1) or out (-1) at one of its tables."""
    cdef int difference
    cdef uint32_t bit = <uint32_t> 1 << table
    if sex_of(kind):
        s.men[table] += by
    else:
        s.women[table] += by
    if is_native(kind, nation, table):
        s.natives[table] += by
    difference = s.women[table] - s.men[table]
    s.blocked[0] = s.blocked[0] | bit if difference > 0 else s.blocked[0] & ~bit
    s.blocked[1] = s.blocked[1] | bit if difference < 0 else s.blocked[1] & ~bit


cdef inline int guests_at(const State* s, int table) noexcept nogil:
    return s.women[table] + s.men[table]


cdef inline bint is_balanced(const State* s, int table) noexcept nogil:
    """CI-7, CI-25."""
    return -1 <= <int> s.women[table] - <int> s.men[table] <= 1 or s.parties >> table & 1


cdef inline bint is_alone(const State* s, int chair) noexcept nogil:
    """CI-7: whether the guest on the chair shares none of its tables."""
    cdef int i
    for i in range(TABLE_COUNT[chair]):
        if guests_at(s, TABLES_OF[chair][i]) > 1:
            return False
    return True


cdef uint32_t to_mend(const State* s) noexcept nogil:
    """Tables of this turn's guests where CI-7 does not hold: out of balance, or with a guest alone."""
    cdef uint32_t tables = 0
    cdef int i, j, chair
    for i in range(s.seated_count):
        chair = s.seated_chairs[i]
        if is_alone(s, chair):
            tables |= TABLE_BITS[chair]
        for j in range(TABLE_COUNT[chair]):
            if not is_balanced(s, TABLES_OF[chair][j]):
                tables |= <uint32_t> 1 << TABLES_OF[chair][j]
    return tables


cdef inline bint can_stop(const State* s) noexcept nogil:
    """CI-7; CI-10: the first guest of all may be left alone."""
    return s.unmended == 0 or s.opening and s.seated_count == 1


cdef inline int most_lowered(const State* s) noexcept nogil:
    """CI-15: the greatest number by which the active seat may lower its limit."""
    return min(<int> s.completed_count, <int> s.limits[s.seat])


cdef inline int worth(const State* s, int table) noexcept nogil:
    """CI-24: 2 at the birthday tables."""
    return 2 if s.birthday == NAMED and s.birthday_nation == NATION_OF[table] else 1


cdef inline int party_points(const State* s, int table) noexcept nogil:
    """CI-25, for a table with four guests of one sex."""
    return (NATIVE_PARTY if s.natives[table] == 4 else PARTY) * worth(s, table)


cdef inline int legal_nations(int32_t* out) noexcept nogil:
    """CI-24: any nation, or none for good."""
    cdef int nation
    for nation in range(NATIONS):
        out[nation] = NAME_NATION + nation
    out[NATIONS] = DECLINE
    return NATIONS + 1


cdef inline void clear_turn(State* s) noexcept nogil:
    memset(s.seated_kinds, 0, sizeof(s.seated_kinds))
    memset(s.seated_chairs, 0, sizeof(s.seated_chairs))
    memset(s.booked, 0, sizeof(s.booked))
    memset(s.completed, 0, sizeof(s.completed))
    s.seated_count = s.completed_count = s.opening = 0


cdef void log_hand(const State* s, int seat, EventLog* log) noexcept nogil:
    cdef int kind, i
    for kind in range(KINDS):
        for i in range(s.hands[seat][kind]):
            log_word(log, kind)


cdef Chairs open_to_hand(const State* s, int sex, Chairs open) noexcept nogil:
    """Which of these chairs some guest of that sex in the active seat's hand may take."""
    cdef uint32_t kinds = s.held[s.seat] & kinds_of_sex(sex)
    cdef Chairs chairs = 0
    while kinds:
        chairs |= FITTING[lowest(kinds)]
        kinds &= kinds - 1
    return chairs & open


cdef void first_guest(const State* s, Offers* offers) noexcept nogil:
    """Where a turn's first guest is legal alone or with one more.

    A guest that breaks CI-7 alone breaks it at one table: out of balance there, or alone at its only tables. Who mends
    that is of the other sex, sits at that table, and is legal at his other table. Two tables share one chair
    at most, so nothing else the first guest did matters to him; and a guest that two tables would be out of balance
    for can't be mended.
    """
    cdef Chairs free = joined(s.free), company = joined(s.company)
    cdef Chairs open[2]
    cdef Chairs some[2]
    cdef Chairs twice[2]
    cdef Chairs mended, joined_later, partners, chairs
    cdef uint32_t tables
    cdef int sex, table
    if s.opening:                   # CI-10: the board is empty, and a guest may stay alone
        offers.open[0] = offers.open[1] = free
        return
    for sex in range(2):
        some[sex] = twice[sex] = 0
        tables = s.blocked[sex]
        while tables:
            chairs = TABLE_CHAIRS[lowest(tables)]
            tables &= tables - 1
            twice[sex] |= some[sex] & chairs
            some[sex] |= chairs
        open[sex] = free & ~some[sex]
    for sex in range(2):
        offers.open[sex] = open[sex] & company
        if not s.held[s.seat] & kinds_of_sex(sex):
            continue
        partners = open_to_hand(s, 1 - sex, open[1 - sex])
        if partners == 0:
            continue
        mended = joined_later = 0
        for table in range(TABLES):
            chairs = partners & TABLE_CHAIRS[table]
            if chairs == 0:
                continue
            # The only chair a partner could take at the table is not for the first guest.
            chairs = TABLE_CHAIRS[table] & ~chairs if chairs & (chairs - 1) == 0 else TABLE_CHAIRS[table]
            if s.blocked[sex] >> table & 1:
                mended |= chairs
            elif guests_at(s, table) == 0:
                joined_later |= chairs
        offers.open[sex] |= free & (mended & some[sex] & ~twice[sex] | joined_later & ~company)


cdef void second_guest(const State* s, Offers* offers) noexcept nogil:
    """Where a second guest is legal; if the first is to be mended, at the table that it takes."""
    cdef Chairs company = joined(s.free) & joined(s.company)
    if s.unmended:
        company &= chairs_at(s.unmended)
    offers.open[0] = company & ~chairs_at(s.blocked[0])
    offers.open[1] = company & ~chairs_at(s.blocked[1])


cdef bint party_guest(const State* s, Offers* offers) noexcept nogil:
    """Where the next guest may sit on the way to a party (CI-25); False if there is none in reach."""
    cdef uint32_t tables = ((<uint32_t> 1) << TABLES) - 1
    cdef int i, sex, table
    cdef bint found = False
    for i in range(s.seated_count):
        tables &= TABLE_BITS[s.seated_chairs[i]]
        if sex_of(s.seated_kinds[i]) != sex_of(s.seated_kinds[0]):
            return False
    memset(offers.party, 0, sizeof(offers.party))
    for sex in range(2):
        if s.seated_count and sex != sex_of(s.seated_kinds[0]) or count_of_sex(s, sex) + s.seated_count < 3:
            continue
        for table in range(TABLES):
            if tables >> table & 1 and may_be_party(s, table, sex):
                found |= seats_for_party(s, table, sex, offers)
    return found


cdef inline int count_of_sex(const State* s, int sex) noexcept nogil:
    cdef uint32_t kinds = s.held[s.seat] & kinds_of_sex(sex)
    cdef int count = 0
    while kinds:
        count += s.hands[s.seat][lowest(kinds)]
        kinds &= kinds - 1
    return count


cdef bint may_be_party(const State* s, int table, int sex) noexcept nogil:
    """Whether a table with at most one guest before this turn, none of the other sex, can be filled as far as the other
    tables of its chairs go: those taken this turn are in balance, and those to take stand one more."""
    cdef int there = s.men[table] if sex else s.women[table]
    cdef Chairs chairs = TABLE_CHAIRS[table] & joined(s.free)
    cdef uint32_t others = 0
    cdef int i, j
    if (s.women[table] if sex else s.men[table]) or not 0 <= there - s.seated_count <= 1 or chairs == 0:
        return False
    for i in range(s.seated_count):
        for j in range(TABLE_COUNT[s.seated_chairs[i]]):
            if TABLES_OF[s.seated_chairs[i]][j] != table and not is_balanced(s, TABLES_OF[s.seated_chairs[i]][j]):
                return False
    while chairs:
        others |= TABLE_BITS[first_chair(chairs)]
        chairs &= chairs - 1
    return others & s.blocked[sex] & ~(<uint32_t> 1 << table) == 0


cdef bint seats_for_party(const State* s, int table, int sex, Offers* offers) noexcept nogil:
    """Add the chairs of the table from which the hand can go on to fill it."""
    cdef uint8_t hand[KINDS]
    cdef Chairs free = TABLE_CHAIRS[table] & joined(s.free), chairs
    cdef uint32_t kinds = s.held[s.seat] & kinds_of_sex(sex)
    cdef int kind, chair
    cdef bint found = False
    for kind in range(KINDS):
        hand[kind] = <uint8_t> s.hands[s.seat][kind]
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        hand[kind] -= 1
        chairs = free & FITTING[kind]
        while chairs:
            chair = first_chair(chairs)
            chairs &= chairs - 1
            if can_fill(hand, sex, free & ~one(chair)):
                offers.party[kind] |= one(chair)
                found = True
        hand[kind] += 1
    return found


cdef bint can_fill(uint8_t* hand, int sex, Chairs free) noexcept nogil:
    """Whether guests of that sex in the hand can take all of these chairs (at most three)."""
    cdef uint32_t kinds = kinds_of_sex(sex)
    cdef int kind
    cdef bint fills
    cdef Chairs chair
    if free == 0:
        return True
    chair = free & (~free + 1)
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        if hand[kind] and FITTING[kind] & chair:
            hand[kind] -= 1
            fills = can_fill(hand, sex, free & ~chair)
            hand[kind] += 1
            if fills:
                return True
    return False
