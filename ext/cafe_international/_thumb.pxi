# The rule of thumb: the turn of one or two guests that scores most, less what it leaves to the others. In tenths
# of a point.

cdef enum:
    CANDIDATES_MAX = 256        # guests x chairs of a first guest: 2 jokers x 68, 3 guests x 8
    SECONDS = 6                 # how many of the best second guests are kept
    GIFT = 40                   # a table left with three natives is eight points for somebody
    JOKER_KEPT = 25             # what a joker in the hand is worth while the bag is full
    BAR_TURN = 25               # a guest at the bar takes a turn that could seat two

cdef struct Promise:            # the best action so far
    int action
    int value
    int ties

cdef struct Candidate:
    int kind
    int chair
    int nation                  # of a declared joker, or NONE
    int value
    bint alone                  # legal without a second guest


cdef inline void prefer(Promise* best, int action, int value, Chance* chance) noexcept nogil:
    """Keep the better action; among equals any."""
    if value > best.value:
        best.ties = 1
    elif value == best.value:
        best.ties += 1
        if random_below(&chance.state, best.ties):
            return
    else:
        return
    best.action = action
    best.value = value


cdef inline int seat_action(int kind, int chair, int nation) noexcept nogil:
    if nation == NONE:
        return CHAIRS * kind + chair
    return SEAT_DECLARED + NATIONS * (CHAIRS * (kind - FIRST_JOKER) + chair) + nation


cdef inline int promise_at(const State* s, int table, int kind, int nation, int more, int more_natives) noexcept nogil:
    """What a guest gets at a table where ``more`` guests will have sat down before, less the gift it leaves."""
    cdef int guests = guests_at(s, table) + more + 1
    cdef int natives = s.natives[table] + more_natives + is_native(kind, nation, table)
    cdef int value = 0
    if guests == 4 and natives == 4:
        value = 10 * NATIVE_TABLE + 20      # and the limit may be lowered
    elif guests > 1:
        value = 10 * guests
    value *= worth(s, table)
    if guests == 3 and natives == 3:
        value -= GIFT
    return value


cdef inline int promise_of_guest(const State* s, int kind, int chair, int nation) noexcept nogil:
    cdef int value = promise_at(s, TABLES_OF[chair][0], kind, nation, 0, 0)
    if TABLE_COUNT[chair] == 2:
        value += promise_at(s, TABLES_OF[chair][1], kind, nation, 0, 0)
    if kind >= FIRST_JOKER:
        value -= joker_kept(s)
    return value


cdef inline int joker_kept(const State* s) noexcept nogil:
    """A joker helps as long as there are turns to come; at the end it costs (CI-22)."""
    return JOKER_KEPT if s.bag_size > 25 else s.bag_size - 25


cdef inline int promise_of_bar(const State* s) noexcept nogil:
    cdef int value = BAR_VALUE[s.bar_count]
    return 10 * value - BAR_TURN if value > 0 or s.totals[s.seat] + value >= 0 else -5000


cdef inline int promise_of_swap(const State* s) noexcept nogil:
    return joker_kept(s) - 40


cdef int least_useful(const State* s, uint32_t kinds) noexcept nogil:
    """The kind that fewest free chairs are left for."""
    cdef Chairs chairs
    cdef int kind, count, fewest = CHAIRS + 1, best = 0
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        chairs = FITTING[kind] & joined(s.free)
        count = popcount(<uint64_t> chairs) + popcount(<uint64_t> (chairs >> 64))
        if count < fewest:
            fewest = count
            best = kind
    return best


cdef int promising_nation(const State* s) noexcept nogil:
    """CI-24: the nation with most room, its guests in the seat's hand counting double."""
    cdef Chairs chairs
    cdef int nation, value, most = -1, best = 0
    for nation in range(NATIONS):
        chairs = FITTING[2 * nation] & joined(s.free)
        value = popcount(<uint64_t> chairs) + popcount(<uint64_t> (chairs >> 64))
        value += 2 * (s.hands[s.seat][2 * nation] + s.hands[s.seat][2 * nation + 1])
        if value > most:
            most = value
            best = nation
    return best


cdef inline int promising_declaration(const State* s, int chair) noexcept nogil:
    """CI-19: the nation of the table where a joker counts most as a native."""
    cdef int table = TABLES_OF[chair][0]
    cdef int other = TABLES_OF[chair][1]
    if other != NONE and s.natives[other] == guests_at(s, other) > s.natives[table]:
        table = other
    return NATION_OF[table]


cdef inline int difference_with(const State* s, int table, const Candidate* first) noexcept nogil:
    """Women less men at a table once the first guest sits."""
    cdef int difference = <int> s.women[table] - <int> s.men[table]
    if TABLE_BITS[first.chair] >> table & 1:
        difference += -1 if sex_of(first.kind) else 1
    return difference


cdef bint agree(const State* s, const Candidate* first, int kind, int chair) noexcept nogil:
    """Whether a second guest at one of the first one's tables leaves both guests' tables in balance."""
    cdef uint32_t tables = TABLE_BITS[first.chair] | TABLE_BITS[chair]
    cdef int table, difference
    while tables:
        table = lowest(tables)
        tables &= tables - 1
        difference = difference_with(s, table, first)
        if TABLE_BITS[chair] >> table & 1:
            difference += -1 if sex_of(kind) else 1
        if not -1 <= difference <= 1 and not s.parties >> table & 1:
            return False
    return True


cdef int promise_of_joining(const State* s, const Candidate* first, int kind, int chair) noexcept nogil:
    """What a second guest gets who shares a table with the first, whose gift it takes back."""
    cdef int i, table, shared, native, value = 0
    for i in range(TABLE_COUNT[chair]):
        table = TABLES_OF[chair][i]
        shared = TABLE_BITS[first.chair] >> table & 1
        native = shared and is_native(first.kind, first.nation, table)
        value += promise_at(s, table, kind, NONE, shared, native)
        if native and guests_at(s, table) == 2 and s.natives[table] == 2:
            value += GIFT
    return value - (joker_kept(s) if kind >= FIRST_JOKER else 0)


cdef int best_alone(const Candidate* found, int count, Candidate* seconds) noexcept nogil:
    """Copy the best candidates that are legal alone, best first; returns how many."""
    cdef int i, j, kept = 0
    for i in range(count):
        if not found[i].alone or kept == SECONDS and found[i].value <= seconds[SECONDS - 1].value:
            continue
        j = kept if kept < SECONDS else SECONDS - 1
        while j > 0 and seconds[j - 1].value < found[i].value:
            seconds[j] = seconds[j - 1]
            j -= 1
        seconds[j] = found[i]
        kept = min(kept + 1, <int> SECONDS)
    return kept


cdef int promise_of_second(const State* s, const Candidate* first, const Candidate* seconds, int count) noexcept nogil:
    """The most a second guest adds; -5000 if there must be one and is none."""
    cdef Chairs near = chairs_at(TABLE_BITS[first.chair]) & joined(s.free) & ~one(first.chair)
    cdef Chairs chairs
    cdef uint32_t kinds = s.held[s.seat]
    cdef int i, kind, chair, most = 0 if first.alone else -5000
    if s.hands[s.seat][first.kind] == 1:
        kinds ^= <uint32_t> 1 << first.kind
    if first.alone:
        for i in range(count):
            if kinds >> seconds[i].kind & 1 and not TABLE_BITS[seconds[i].chair] & TABLE_BITS[first.chair]:
                most = max(most, seconds[i].value)
                break
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        chairs = FITTING[kind] & near
        while chairs:
            chair = first_chair(chairs)
            chairs &= chairs - 1
            if agree(s, first, kind, chair):
                most = max(most, promise_of_joining(s, first, kind, chair))
    return most
