# What observers, seats and spectators, know of each hand (MB-25 to MB-27): how facts.pxd's rows change, what a view
# leaves out, and worlds that fit one.

cdef enum:
    ALL_OBSERVERS = 0x1FF       # seats and spectators, a bit each


cdef inline void card_leaves(Rules rules, State* s, int seat, int kind, uint32_t seers) noexcept nogil:
    """A card leaves a hand; ``seers`` know which one, and so that no second one is there (MB-11)."""
    cdef int observer
    for observer in range(min(rules.observer_count, SEATS + 1)):
        if observer == seat:
            continue
        if seers >> observer & 1:
            s.facts[observer][seat][kind] = ABSENT
        else:
            lose_unseen(<uint8_t*> s.facts[observer][seat])


cdef inline void card_arrives(Rules rules, State* s, int seat, int kind, uint32_t seers) noexcept nogil:
    cdef int observer
    for observer in range(min(rules.observer_count, SEATS + 1)):
        if observer == seat:
            continue
        if seers >> observer & 1:
            s.facts[observer][seat][kind] = HELD
        else:
            gain_unseen(<uint8_t*> s.facts[observer][seat])


cdef inline void set_fact(Rules rules, State* s, int seat, int kind, int fact) noexcept nogil:
    """What everybody sees of a kind in a seat's hand."""
    cdef int observer
    for observer in range(min(rules.observer_count, SEATS + 1)):
        if observer != seat:
            s.facts[observer][seat][kind] = fact


cdef inline void forget_hand(Rules rules, State* s, int seat) noexcept nogil:
    """Nothing is to be known of the hand of a seat that is out."""
    cdef int observer
    for observer in range(min(rules.observer_count, SEATS + 1)):
        memset(s.facts[observer][seat], 0, ROW)


cdef inline void move_facts(Rules rules, State* s, const State* old, int seat, int holder) noexcept nogil:
    """MB-26: who knew a hand knows it where it goes; who gave it away knows it whole."""
    cdef int observer
    for observer in range(min(rules.observer_count, SEATS + 1)):
        if observer == holder:
            memset(s.facts[observer][observer], 0, ROW)
        elif observer == seat:
            know_whole(<uint8_t*> s.facts[observer][holder], old.hands[seat])
        else:
            memcpy(s.facts[observer][holder], old.facts[observer][seat], ROW)


cdef void conclude(Rules rules, State* s, uint32_t moved) noexcept nogil:
    """Who knows as many kinds of a hand for certain as it has cards knows it whole."""
    cdef int observer, seat
    cdef uint32_t certain, left = moved & s.seats_in
    while left:
        seat = lowest(left)
        left &= left - 1
        for observer in range(min(rules.observer_count, SEATS + 1)):
            certain = kinds_at(<uint8_t*> s.facts[observer][seat], HELD)
            if certain and popcount(certain) == s.sizes[seat]:
                know_whole(<uint8_t*> s.facts[observer][seat], certain)


cdef void hide_from(Rules rules, State* s, int viewer) noexcept nogil:
    """MB-25, MB-26: hands, gifts and what has been seen of hands are for their seat alone.

    What spectators know stays: it follows from what everybody saw.
    """
    cdef int seat
    for seat in range(min(rules.seat_count, SEATS)):     # the compiler warns without the bound
        if seat != viewer:
            s.hands[seat] = 0
            s.gifts[seat] = NONE
            memset(s.facts[seat], 0, sizeof(s.facts[seat]))


cdef class UnseenHands(Dealer):
    """The unseen cards to the other hands, in proportion to the deals and unseen draws that the viewer's facts leave.

    worlds.pyx says what that is and how it is drawn exactly. Nothing but the facts on record counts (MB-27):
    not how a hand came by its cards, nor what its seat chose to give or play. Other seats know in these worlds what
    everybody knows, and choose their gifts anew.
    """
    cdef State view
    cdef Worlds worlds
    cdef int seats[SEATS]
    cdef int hand_count

    def __init__(self, Rules rules, bytes view, int viewer):
        cdef int seat, kind, observer = viewer if viewer >= 0 else rules.seat_count
        cdef State* s = &self.view
        self.view = (<const State*> <const uint8_t*> view)[0]
        unseen = []
        for kind in range(KINDS):
            unseen.append(rules.count[kind] - s.gone[kind])
            if viewer >= 0:
                unseen[kind] -= s.hands[viewer] >> kind & 1
        rows = []
        for seat in range(rules.seat_count):
            if seat == viewer:
                continue
            s.committed &= ~(1 << seat)
            memcpy(s.facts[seat], s.facts[rules.seat_count], sizeof(s.facts[seat]))
            memset(s.facts[seat][seat], 0, ROW)
            if s.sizes[seat]:
                self.seats[self.hand_count] = seat
                self.hand_count += 1
                rows.append(<bytes> (<const char*> s.facts[observer][seat])[:ROW])
        self.worlds = Worlds(unseen, [s.sizes[self.seats[i]] for i in range(self.hand_count)], rows)

    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        cdef State* s = <State*> state
        cdef uint16_t hands[SEATS]
        cdef int i
        memcpy(s, &self.view, sizeof(State))
        self.worlds.sample(hands, chance)
        for i in range(self.hand_count):
            s.hands[self.seats[i]] = hands[i]
