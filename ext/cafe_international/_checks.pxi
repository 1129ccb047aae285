# What holds in every position, for broken_invariant.

cdef bint tiles_add_up(const State* s, const uint8_t* all_tiles) noexcept nogil:
    cdef int count[KINDS]
    cdef int i, seat, kind
    memset(count, 0, sizeof(count))
    for i in range(TILES):
        count[all_tiles[i]] -= 1
    for kind in range(KINDS):
        count[kind] += s.bag[kind]
        for seat in range(SEATS):
            count[kind] += s.hands[seat][kind]
    for i in range(CHAIRS):
        if s.guests[i] != NONE:
            count[s.guests[i]] += 1
    for i in range(s.bar_count):
        count[s.bar[i]] += 1
    for kind in range(KINDS):
        if count[kind]:
            return False
    return True


cdef bint hands_add_up(const State* s) noexcept nogil:
    cdef int seat, kind, size
    for seat in range(SEATS):
        size = 0
        for kind in range(KINDS):
            size += s.hands[seat][kind]
            if (s.hands[seat][kind] > 0) != (s.held[seat] >> kind & 1):
                return False
        if size != s.hand_sizes[seat]:
            return False
    return True


cdef bint tables_add_up(const State* s, bint declared) noexcept nogil:
    cdef int table, chair, women, men, natives
    for table in range(TABLES):
        women = men = natives = 0
        for chair in range(CHAIRS):
            if TABLE_BITS[chair] >> table & 1 and s.guests[chair] != NONE:
                women += 1 - sex_of(s.guests[chair])
                men += sex_of(s.guests[chair])
                natives += is_native(s.guests[chair], s.declared[chair], table)
        if women != s.women[table] or men != s.men[table] or natives != s.natives[table]:
            return False
    for chair in range(CHAIRS):
        if (s.declared[chair] != NONE) != (declared and s.guests[chair] != NONE and s.guests[chair] >= FIRST_JOKER):
            return False
    return True


cdef bint sets_add_up(const State* s) noexcept nogil:
    cdef Chairs free = 0, company = 0, jokers = 0
    cdef uint32_t blocked[2]
    cdef int table, chair
    blocked[0] = blocked[1] = 0
    for chair in range(CHAIRS):
        if s.guests[chair] == NONE:
            free |= one(chair)
        elif s.guests[chair] >= FIRST_JOKER:
            jokers |= one(chair)
    for table in range(TABLES):
        if guests_at(s, table):
            company |= TABLE_CHAIRS[table]
        if s.women[table] != s.men[table]:
            blocked[s.women[table] < s.men[table]] |= <uint32_t> 1 << table
    if free != joined(s.free) or company != joined(s.company) or jokers != joined(s.jokers):
        return False
    return blocked[0] == s.blocked[0] and blocked[1] == s.blocked[1]


cdef bint stands_legal(const State* s) noexcept nogil:
    """CI-7, CI-10, CI-25."""
    cdef int table, chair
    for table in range(TABLES):
        if not is_balanced(s, table):
            return False
    for chair in range(CHAIRS):
        if s.guests[chair] != NONE and is_alone(s, chair) != (chair == s.lone):
            return False
    return True


cdef bint order_adds_up(const State* s) noexcept nogil:
    """The order is not there at all, or has what is in the bag."""
    cdef int count[KINDS]
    cdef int i, kind, known = 0, size = 0
    memset(count, 0, sizeof(count))
    for i in range(TILES):
        if s.order[i]:
            known += 1
            count[s.order[i] - 1] += 1
    for kind in range(KINDS):
        size += s.bag[kind]
        if known and count[kind] != s.bag[kind]:
            return False
    return size == s.bag_size and known in (0, size)
