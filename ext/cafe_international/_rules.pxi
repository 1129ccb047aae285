include "_chairs.pxi"

from tavolata.ext.cafe_international.state cimport (
    BIRTHDAY,
    COMPLETED_MAX,
    DECLINED,
    GUESTS_MAX,
    LIMIT,
    NAMED,
    NATIONS,
    OFF,
    OVER,
    SEATS,
    TILES,
    TURN,
    WAITING,
    State,
)
from tavolata.ext.core.bits cimport popcount
from tavolata.ext.core.chance cimport Chance, chance_pick, chance_shuffle, random_below, random_shuffle
from tavolata.ext.core.game cimport Dealer, Game, places_from_scores
from tavolata.ext.core.log cimport EVERYBODY, EventLog, event_begin, log_end, log_word

cdef enum Action:               # see actions.py
    SEAT_DECLARED = 1768
    AT_BAR = 3400
    SWAP = 3424
    STOP = 5056
    LOWER = 5057
    NAME_NATION = 5063
    DECLINE = 5075
    ACTION_COUNT = 5076

cdef enum Purpose:
    BAG = 0
    START = 1

cdef enum EventKind:            # 0 is the core's match_ended
    DREW = 1
    STARTED = 2
    SEATED = 3
    TABLE_COMPLETED = 4
    PARTY_HELD = 5
    PUT_AT_BAR = 6
    SWAPPED = 7
    LIMIT_LOWERED = 8
    BIRTHDAY_NAMED = 9
    WENT_OUT = 10
    PASSED = 11
    HANDS_COUNTED = 12
    STOPPED = 13

cdef enum:
    NATIVE_TABLE = 8            # points of the guest that makes a table all native (CI-13)
    PARTY = 20                  # CI-25
    NATIVE_PARTY = 40
    GUEST_LEFT = 5              # what a guest still held costs at the end (CI-22)
    JOKER_LEFT = 10
    BEHIND = -1000000           # ranks a seat that is out behind every total (CI-17)

cdef struct Offers:             # where the active seat may put its next guest
    Chairs open[2]              # for a woman, a man, apart from nations
    Chairs party[KINDS]         # for a kind, towards a party (CI-25); only with has_party
    bint has_party


cdef class Rules(Game):
    cdef bint declared                  # joker_identity = declared
    cdef bint automatic                 # draw_less = automatic
    cdef bint same_sex                  # swap_same_sex
    cdef bint regulars
    cdef bint birthday
    cdef int threshold
    cdef int bag_low
    cdef int hand_limit
    cdef uint8_t all_tiles[TILES]       # every guest by its kind, in the documented order

    def __init__(self, spec, int seat_count, dict options, face):
        cdef int kind, i, at = 0
        super().__init__(spec, seat_count, options, face)
        self.state_bytes = sizeof(State)
        self.action_count = ACTION_COUNT
        self.legal_max = 256         # two jokers declared on every chair are 172
        self.has_bits = False
        self.has_outcomes = False
        self.purposes = ("bag", "start")
        self.declared = options["joker_identity"] == "declared"
        self.automatic = options["draw_less"] == "automatic"
        self.same_sex = options["swap_same_sex"]
        self.regulars = options["regulars"]
        self.birthday = options["birthday"]
        self.threshold = options["birthday_threshold"]
        self.bag_low = options["bag_low"]
        self.hand_limit = seed_board.HAND_LIMIT
        for kind in range(KINDS):
            for i in range(seed_board.COUNTS[kind]):
                self.all_tiles[at] = kind
                at += 1

    # -- the course of a match -------------------------------------------------------------------

    cdef void deal(self, void* state, Chance* chance, EventLog* log) noexcept nogil:
        """CI-4: the bag is shuffled, every seat draws, the starting seat is drawn."""
        cdef State* s = <State*> state
        cdef uint8_t order[TILES]
        cdef int seat, i
        memset(s, 0, sizeof(State))
        memset(s.guests, NONE, sizeof(s.guests))
        memset(s.declared, NONE, sizeof(s.declared))
        memset(s.out, NONE, sizeof(s.out))
        s.lone = s.birthday_nation = NONE
        s.opening = 1
        s.birthday = WAITING if self.birthday else OFF
        split((<Chairs> 1 << CHAIRS) - 1, s.free)
        memcpy(order, self.all_tiles, TILES)
        chance_shuffle(chance, BAG, 0, 0, order, TILES)
        for i in range(TILES):
            s.order[i] = order[i] + 1
            s.bag[order[i]] += 1
        s.bag_size = TILES
        for seat in range(min(self.seat_count, SEATS)):
            s.limits[seat] = self.hand_limit
            self.draw(s, seat, self.hand_limit, log)
        s.seat = chance_pick(chance, START, 0, 0, self.seat_count)
        if log != NULL:
            event_begin(log, STARTED, <uint32_t> EVERYBODY)
            log_word(log, s.seat)
            log_end(log)

    cdef void draw(self, State* s, int seat, int count, EventLog* log) noexcept nogil:
        """So many guests from the bag into a hand, or what the bag has."""
        cdef uint8_t drawn[KINDS]
        cdef int kind, i
        if count > s.bag_size:
            count = s.bag_size
        if count <= 0:
            return
        if log != NULL:
            memset(drawn, 0, sizeof(drawn))
        for i in range(count):
            kind = s.order[TILES - s.bag_size] - 1
            s.order[TILES - s.bag_size] = 0
            s.bag_size -= 1
            s.bag[kind] -= 1
            take(s, seat, kind)
            if log != NULL:
                drawn[kind] += 1
        if log != NULL:
            event_begin(log, DREW, <uint32_t> EVERYBODY)
            log_word(log, seat)
            for kind in range(KINDS):
                for i in range(drawn[kind]):
                    log_word(log, kind)
            log_end(log)

    cdef uint32_t to_act(self, const void* state) noexcept nogil:
        cdef const State* s = <const State*> state
        return <uint32_t> 1 << s.seat if s.phase != OVER else 0

    cdef bint horizon(self, const void* state) noexcept nogil:
        """Never: there are no rounds."""
        return False

    cdef bint over(self, const void* state) noexcept nogil:
        return (<const State*> state).phase == OVER

    # -- where guests may sit --------------------------------------------------------------------

    cdef void find_offers(self, const State* s, Offers* offers) noexcept nogil:
        """Where the next guest may sit so that the turn can end legally (CI-7, CI-8)."""
        if s.seated_count == 0:
            first_guest(s, offers)
        elif s.seated_count == 1:
            second_guest(s, offers)
        else:
            offers.open[0] = offers.open[1] = 0
        offers.has_party = self.regulars and party_guest(s, offers)

    cdef inline Chairs chairs_for(self, const Offers* offers, int kind) noexcept nogil:
        cdef Chairs chairs = offers.open[sex_of(kind)] & FITTING[kind]
        return chairs | offers.party[kind] if offers.has_party else chairs

    cdef bint can_seat(self, const State* s) noexcept nogil:
        """Whether the active seat may seat another guest in this turn."""
        cdef Offers offers
        cdef uint32_t kinds = s.held[s.seat]
        self.find_offers(s, &offers)
        while kinds:
            if self.chairs_for(&offers, lowest(kinds)) != 0:
                return True
            kinds &= kinds - 1
        return False

    # -- legal actions ---------------------------------------------------------------------------

    cdef int legal(self, const void* state, int seat, int32_t* out) noexcept nogil:
        cdef const State* s = <const State*> state
        if s.phase == TURN:
            return self.legal_in_turn(s, out)
        return self.legal_limits(s, out) if s.phase == LIMIT else legal_nations(out)

    cdef int legal_in_turn(self, const State* s, int32_t* out) noexcept nogil:
        """CI-5: seat a guest, put one at the bar, swap a joker; with a guest seated, seat another or stop."""
        cdef int count = self.legal_seats(s, out)
        cdef uint32_t kinds
        if s.seated_count:
            if can_stop(s):
                out[count] = STOP
                count += 1
            return count
        kinds = s.held[s.seat] & ~<uint32_t> JOKER_KINDS
        while kinds:        # CI-16: anybody but a joker
            out[count] = AT_BAR + lowest(kinds)
            count += 1
            kinds &= kinds - 1
        if s.jokers[0] | s.jokers[1]:
            count = self.legal_swaps(s, out, count)
        return count

    cdef int legal_seats(self, const State* s, int32_t* out) noexcept nogil:
        cdef Offers offers
        cdef uint32_t kinds = s.held[s.seat]
        cdef Chairs chairs
        cdef int kind, count = 0
        self.find_offers(s, &offers)
        if self.declared:
            kinds &= ~<uint32_t> JOKER_KINDS
        while kinds:
            kind = lowest(kinds)
            kinds &= kinds - 1
            chairs = self.chairs_for(&offers, kind)
            while chairs:
                out[count] = CHAIRS * kind + first_chair(chairs)
                count += 1
                chairs &= chairs - 1
        if self.declared and s.held[s.seat] & JOKER_KINDS:
            for kind in range(FIRST_JOKER, KINDS):
                if s.hands[s.seat][kind]:
                    count = self.legal_declarations(kind, self.chairs_for(&offers, kind), out, count)
        return count

    cdef int legal_declarations(self, int kind, Chairs chairs, int32_t* out, int count) noexcept nogil:
        """CI-19: a declared joker names a nation of one of its tables."""
        cdef int chair, base, one_nation, other
        while chairs:
            chair = first_chair(chairs)
            chairs &= chairs - 1
            base = SEAT_DECLARED + NATIONS * (CHAIRS * (kind - FIRST_JOKER) + chair)
            one_nation = other = NATION_OF[TABLES_OF[chair][0]]
            if TABLE_COUNT[chair] == 2:
                other = NATION_OF[TABLES_OF[chair][1]]
            out[count] = base + min(one_nation, other)
            count += 1
            if other != one_nation:
                out[count] = base + max(one_nation, other)
                count += 1
        return count

    cdef int legal_swaps(self, const State* s, int32_t* out, int count) noexcept nogil:
        """CI-18: a guest that is no joker takes a joker's chair."""
        cdef uint32_t kinds = s.held[s.seat] & ~<uint32_t> JOKER_KINDS
        cdef Chairs chairs
        cdef int kind, chair
        while kinds:
            kind = lowest(kinds)
            kinds &= kinds - 1
            chairs = joined(s.jokers) & FITTING[kind]
            while chairs:
                chair = first_chair(chairs)
                chairs &= chairs - 1
                if self.may_swap(s, kind, chair):
                    out[count] = SWAP + CHAIRS * kind + chair
                    count += 1
        return count

    cdef inline bint may_swap(self, const State* s, int kind, int chair) noexcept nogil:
        """CI-10, CI-18, CI-19: whether a guest that fits the chair may take the joker's place on it."""
        cdef int sex = sex_of(kind), i, table, women, men
        if chair == s.lone or self.declared and s.declared[chair] != kind >> 1:
            return False
        if sex == sex_of(s.guests[chair]):
            return True
        if self.same_sex:
            return False
        for i in range(TABLE_COUNT[chair]):
            table = TABLES_OF[chair][i]
            women = s.women[table] + (-1 if sex else 1)
            men = s.men[table] + (1 if sex else -1)
            if not -1 <= women - men <= 1 and not s.parties >> table & 1:
                return False
        return True

    cdef int legal_limits(self, const State* s, int32_t* out) noexcept nogil:
        """CI-15: by nothing, or up to the number of tables completed, the limit not below 0."""
        cdef int k
        for k in range(most_lowered(s) + 1):
            out[k] = LOWER + k
        return most_lowered(s) + 1

    # -- a turn ----------------------------------------------------------------------------------

    cdef void apply(self, void* state, int seat, int action, Chance* chance, EventLog* log) noexcept nogil:
        cdef State* s = <State*> state
        s.passes = 0                    # CI-20: any action restarts the count
        if s.phase == LIMIT:
            self.lower_limit(s, action - LOWER, log)
        elif s.phase == BIRTHDAY:
            self.name_birthday(s, action, log)
        elif action < SEAT_DECLARED:
            self.seat_guest(s, action // CHAIRS, action % CHAIRS, NONE, log)
        elif action < AT_BAR:
            action -= SEAT_DECLARED
            self.seat_guest(
                s, FIRST_JOKER + action // (CHAIRS * NATIONS), action // NATIONS % CHAIRS, action % NATIONS, log
            )
        elif action < SWAP:
            self.put_at_bar(s, action - AT_BAR, log)
        elif action < STOP:
            self.swap(s, (action - SWAP) // CHAIRS, (action - SWAP) % CHAIRS, log)
        else:
            if log != NULL:
                event_begin(log, STOPPED, <uint32_t> EVERYBODY)
                log_word(log, s.seat)
                log_end(log)
            self.stop_seating(s, log)

    cdef void seat_guest(self, State* s, int kind, int chair, int nation, EventLog* log) noexcept nogil:
        """CI-12: the guest's points are booked before the next one sits."""
        cdef int at = s.seated_count, before = s.completed_count, i, party, points
        drop(s, s.seat, kind)
        self.sit(s, kind, chair, nation)
        s.seated_kinds[at] = kind
        s.seated_chairs[at] = chair
        s.seated_count = at + 1
        points = self.book(s, at)
        party = self.hold_party(s, at, &points) if s.seated_count > 2 else NONE
        s.totals[s.seat] += points
        s.unmended = to_mend(s)
        if s.lone != NONE and not is_alone(s, s.lone):
            s.lone = NONE
        if log != NULL:
            event_begin(log, SEATED, <uint32_t> EVERYBODY)
            log_word(log, s.seat)
            log_word(log, kind)
            log_word(log, chair + 1)
            log_word(log, nation)
            log_word(log, points)
            log_end(log)
            for i in range(before, s.completed_count):
                event_begin(log, TABLE_COMPLETED, <uint32_t> EVERYBODY)
                log_word(log, s.seat)
                log_word(log, s.completed[i] + 1)
                log_end(log)
            if party != NONE:
                self.log_party(s, party, log)
        if not self.asks_for_birthday(s):
            self.after_guest(s, log)

    cdef inline void sit(self, State* s, int kind, int chair, int nation) noexcept nogil:
        """A guest on a free chair."""
        cdef Chairs free = joined(s.free) & ~one(chair)
        cdef int i
        split(free, s.free)
        split(joined(s.company) | chairs_at(TABLE_BITS[chair]), s.company)
        if kind >= FIRST_JOKER:
            split(joined(s.jokers) | one(chair), s.jokers)
        s.guests[chair] = kind
        s.declared[chair] = nation
        for i in range(TABLE_COUNT[chair]):
            count_guest(s, TABLES_OF[chair][i], kind, nation, 1)

    cdef inline int book(self, State* s, int at) noexcept nogil:
        """CI-12 to CI-14, CI-24: what the turn's guest number ``at`` scores at its tables."""
        cdef int chair = s.seated_chairs[at], i, table, points, sum = 0
        for i in range(TABLE_COUNT[chair]):
            table = TABLES_OF[chair][i]
            points = s.women[table] + s.men[table]
            if points == 4 and s.natives[table] == 4:
                points = NATIVE_TABLE
                s.completed[s.completed_count] = table
                s.completed_count += 1
            elif points == 1:
                points = 0
            points *= worth(s, table)
            s.booked[at][i] = points
            sum += points
        return sum

    cdef int hold_party(self, State* s, int at, int* points) noexcept nogil:
        """CI-25: the table that the last guest of a party filled, or NONE; its points replace all others there."""
        cdef int chair = s.seated_chairs[at], i, j, table, there
        for i in range(TABLE_COUNT[chair]):
            table = TABLES_OF[chair][i]
            if (s.women[table] == 4 or s.men[table] == 4) and not s.parties >> table & 1:
                there = party_points(s, table)
                points[0] += there
                for j in range(at + 1):
                    points[0] -= s.booked[j][1 if TABLES_OF[s.seated_chairs[j]][1] == table else 0]
                s.parties |= <uint32_t> 1 << table
                return table
        return NONE

    cdef void log_party(self, State* s, int table, EventLog* log) noexcept nogil:
        event_begin(log, PARTY_HELD, <uint32_t> EVERYBODY)
        log_word(log, s.seat)
        log_word(log, table + 1)
        log_word(log, party_points(s, table))
        log_end(log)

    cdef inline bint asks_for_birthday(self, State* s) noexcept nogil:
        """CI-24: the first total to reach the threshold names the nation before anything else."""
        if s.birthday != WAITING or s.totals[s.seat] < self.threshold:
            return False
        s.phase = BIRTHDAY
        return True

    cdef void name_birthday(self, State* s, int action, EventLog* log) noexcept nogil:
        s.birthday = DECLINED
        if action != DECLINE:
            s.birthday = NAMED
            s.birthday_nation = action - NAME_NATION
        if log != NULL:
            event_begin(log, BIRTHDAY_NAMED, <uint32_t> EVERYBODY)
            log_word(log, s.seat)
            log_word(log, s.birthday_nation)
            log_end(log)
        s.phase = TURN
        if s.seated_count:
            self.after_guest(s, log)
        else:
            self.after_bar(s, log)

    cdef inline void after_guest(self, State* s, EventLog* log) noexcept nogil:
        """CI-8: the turn ends by itself when no further guest can be seated."""
        if s.seated_count > 1 and not self.regulars or not self.can_seat(s):
            self.stop_seating(s, log)

    cdef void stop_seating(self, State* s, EventLog* log) noexcept nogil:
        """CI-10: a guest left alone in the opening; CI-15: lowering the limit comes before the draw."""
        if s.opening and s.seated_count == 1:
            s.lone = s.seated_chairs[0]
        s.unmended = 0
        if most_lowered(s) and not self.automatic:
            s.phase = LIMIT
        else:
            self.lower_limit(s, most_lowered(s), log)

    cdef void lower_limit(self, State* s, int k, EventLog* log) noexcept nogil:
        cdef bint asked = s.phase == LIMIT      # then keeping the limit is told too
        s.phase = TURN
        s.limits[s.seat] -= k
        if log != NULL and (k or asked):
            event_begin(log, LIMIT_LOWERED, <uint32_t> EVERYBODY)
            log_word(log, s.seat)
            log_word(log, s.limits[s.seat])
            log_end(log)
        self.draw(s, s.seat, s.limits[s.seat] - s.hand_sizes[s.seat], log)
        self.end_turn(s, log)

    cdef void put_at_bar(self, State* s, int kind, EventLog* log) noexcept nogil:
        """CI-16; CI-17: who can't pay is out."""
        cdef int place = s.bar_count, value = BAR_VALUE[place]
        cdef bint pays = s.totals[s.seat] + value >= 0 or value > 0
        drop(s, s.seat, kind)
        s.bar[place] = kind
        s.bar_count = place + 1
        if pays:
            s.totals[s.seat] += value
        if log != NULL:
            event_begin(log, PUT_AT_BAR, <uint32_t> EVERYBODY)
            log_word(log, s.seat)
            log_word(log, kind)
            log_word(log, place + 1)
            log_word(log, value if pays else 0)
            log_end(log)
        if not pays:
            self.go_out(s, log)
        elif not self.asks_for_birthday(s):
            self.after_bar(s, log)

    cdef void after_bar(self, State* s, EventLog* log) noexcept nogil:
        """CI-16: one guest is drawn, whatever the limit."""
        self.draw(s, s.seat, 1, log)
        self.end_turn(s, log)

    cdef void go_out(self, State* s, EventLog* log) noexcept nogil:
        s.out[s.out_count] = s.seat
        s.out_count += 1
        if log != NULL:
            event_begin(log, WENT_OUT, <uint32_t> EVERYBODY)
            log_word(log, s.seat)
            log_hand(s, s.seat, log)
            log_end(log)
        self.end_turn(s, log)

    cdef void swap(self, State* s, int kind, int chair, EventLog* log) noexcept nogil:
        """CI-18: no points, no draw."""
        cdef int joker = s.guests[chair], i
        for i in range(TABLE_COUNT[chair]):
            count_guest(s, TABLES_OF[chair][i], joker, s.declared[chair], -1)
            count_guest(s, TABLES_OF[chair][i], kind, NONE, 1)
        split(joined(s.jokers) & ~one(chair), s.jokers)
        s.guests[chair] = kind
        s.declared[chair] = NONE
        drop(s, s.seat, kind)
        take(s, s.seat, joker)
        if log != NULL:
            event_begin(log, SWAPPED, <uint32_t> EVERYBODY)
            log_word(log, s.seat)
            log_word(log, kind)
            log_word(log, chair + 1)
            log_word(log, joker)
            log_end(log)
        self.end_turn(s, log)

    # -- between turns ---------------------------------------------------------------------------

    cdef void end_turn(self, State* s, EventLog* log) noexcept nogil:
        """CI-21 ends the match; else the next seat that can do anything has its turn (CI-20)."""
        clear_turn(s)
        if self.is_finished(s):
            self.count_hands(s, log)
            return
        s.seat = self.left_of(s, s.seat)
        while not self.can_act(s):
            s.passes += 1
            if log != NULL:
                event_begin(log, PASSED, <uint32_t> EVERYBODY)
                log_word(log, s.seat)
                log_end(log)
            if s.passes == self.seat_count - s.out_count:
                self.count_hands(s, log)
                return
            s.seat = self.left_of(s, s.seat)

    cdef inline bint is_finished(self, const State* s) noexcept nogil:
        """CI-17: one seat is left; CI-21: bar, chairs, bag or a hand."""
        cdef int seat
        if s.out_count == self.seat_count - 1 or s.bar_count == PLACES or s.bag_size <= self.bag_low:
            return True
        if not s.free[0] | s.free[1]:
            return True
        for seat in range(min(self.seat_count, SEATS)):
            if not s.hand_sizes[seat] and not is_out(s, seat):
                return True
        return False

    cdef inline int left_of(self, const State* s, int seat) noexcept nogil:
        """The next seat that is still in the game."""
        while True:
            seat = 0 if seat + 1 == self.seat_count else seat + 1
            if not is_out(s, seat):
                return seat

    cdef inline bint can_act(self, const State* s) noexcept nogil:
        """CI-20: anybody but a joker may go to the bar."""
        return s.held[s.seat] & ~<uint32_t> JOKER_KINDS != 0 or self.can_seat(s)

    cdef void count_hands(self, State* s, EventLog* log) noexcept nogil:
        """CI-22: what is still held costs; seats that are out keep what they have."""
        cdef int penalties[SEATS]
        cdef int seat, jokers
        s.phase = OVER
        for seat in range(min(self.seat_count, SEATS)):
            penalties[seat] = 0
            if not is_out(s, seat):
                jokers = s.hands[seat][FIRST_JOKER] + s.hands[seat][FIRST_JOKER + 1]
                penalties[seat] = GUEST_LEFT * (s.hand_sizes[seat] - jokers) + JOKER_LEFT * jokers
            s.totals[seat] -= penalties[seat]
        if log != NULL:
            event_begin(log, HANDS_COUNTED, <uint32_t> EVERYBODY)
            for seat in range(min(self.seat_count, SEATS)):
                log_word(log, penalties[seat])
            for seat in range(min(self.seat_count, SEATS)):
                log_word(log, s.totals[seat])
            log_end(log)

    # -- scores ----------------------------------------------------------------------------------

    cdef void totals(self, const void* state, int32_t* out) noexcept nogil:
        memcpy(out, (<const State*> state).totals, self.seat_count * sizeof(int32_t))

    cdef void running_points(self, const void* state, int32_t* out) noexcept nogil:
        """Zeros: totals are running totals."""
        memset(out, 0, self.seat_count * sizeof(int32_t))

    cdef void placement(self, const void* state, int32_t* places) noexcept nogil:
        """CI-23: the highest total wins; CI-17: seats that are out come last, the later out the better."""
        cdef int32_t standing[SEATS]
        self.standings(<const State*> state, standing)
        places_from_scores(standing, self.seat_count, False, places)

    cdef void standings(self, const State* s, int32_t* out) noexcept nogil:
        """Numbers that order the seats as they are placed."""
        cdef int i
        memcpy(out, s.totals, sizeof(s.totals))
        for i in range(s.out_count):
            out[s.out[i]] = BEHIND + i

    cdef void utility(self, const void* state, double* out) noexcept nogil:
        """(n - p)/(n - 1), the difference to the mean of the others' totals folded in as in the core:
        seats that are out are told apart by their totals too, though not placed by them."""
        cdef const State* s = <const State*> state
        cdef int32_t standing[SEATS]
        cdef int n = self.seat_count, seat, other
        cdef double won, difference, span = 1.0 / (4 * n)
        self.standings(s, standing)
        for seat in range(n):
            won = difference = 0.0
            for other in range(n):
                if other != seat:
                    won += 1.0 if standing[seat] > standing[other] else (0.5 if standing[seat] == standing[other] else 0.0)
                    difference += s.totals[seat] - s.totals[other]
            difference /= 100.0 * (n - 1)
            difference = 0.5 + 0.5 * difference / (1.0 + (difference if difference >= 0 else -difference))
            out[seat] = (1.0 - span) * won / (n - 1) + span * difference

    # -- what a seat knows -----------------------------------------------------------------------

    cdef void blank(self, void* state, int viewer) noexcept nogil:
        """CI-26: only the bag's order is hidden."""
        cdef State* s = <State*> state
        memset(s.order, 0, sizeof(s.order))

    cpdef Dealer dealer(self, bytes view, int viewer):
        return ShuffledBag(view)

    # -- playing it out --------------------------------------------------------------------------

    cdef bint has_rule(self) noexcept nogil:
        return True

    cdef int rule(self, const void* state, int seat, Chance* chance) noexcept nogil:
        """The action that promises most points, see _thumb.pxi."""
        cdef const State* s = <const State*> state
        if s.phase == LIMIT:
            return LOWER + most_lowered(s)
        if s.phase == BIRTHDAY:
            return NAME_NATION + promising_nation(s)
        return self.promising_action(s, chance)

    cdef int promising_action(self, const State* s, Chance* chance) noexcept nogil:
        cdef Offers offers
        cdef Promise best
        cdef uint32_t kinds
        best.action = -1
        best.value = -1000000
        best.ties = 0
        self.find_offers(s, &offers)
        self.consider_guests(s, &offers, &best, chance)
        if s.seated_count:
            if can_stop(s):
                prefer(&best, STOP, 0, chance)
            return best.action
        kinds = s.held[s.seat] & ~<uint32_t> JOKER_KINDS
        if kinds:
            prefer(&best, AT_BAR + least_useful(s, kinds), promise_of_bar(s), chance)
        if best.value < 0 and s.jokers[0] | s.jokers[1]:
            self.consider_swaps(s, &best, chance)
        return best.action

    cdef void consider_guests(self, const State* s, const Offers* offers, Promise* best, Chance* chance) noexcept nogil:
        """Every guest on every chair, with the best second guest after a first."""
        cdef Candidate found[CANDIDATES_MAX]
        cdef Candidate seconds[SECONDS]
        cdef int i, value, count = self.candidates(s, offers, found), second_count = 0
        if s.seated_count == 0:
            second_count = best_alone(found, count, seconds)
        for i in range(count):
            value = found[i].value
            if s.seated_count == 0:
                value += promise_of_second(s, &found[i], seconds, second_count)
            if offers.has_party and offers.party[found[i].kind] & one(found[i].chair):
                value = max(value, 0) + 10 * PARTY
            prefer(best, seat_action(found[i].kind, found[i].chair, found[i].nation), value, chance)

    cdef int candidates(self, const State* s, const Offers* offers, Candidate* found) noexcept nogil:
        cdef Chairs alone = joined(s.company)
        cdef Chairs chairs
        cdef Chairs unblocked[2]
        cdef uint32_t kinds = s.held[s.seat]
        cdef int kind, chair, nation, count = 0
        unblocked[0] = alone & ~chairs_at(s.blocked[0])
        unblocked[1] = alone & ~chairs_at(s.blocked[1])
        while kinds:
            kind = lowest(kinds)
            kinds &= kinds - 1
            chairs = self.chairs_for(offers, kind)
            while chairs:
                chair = first_chair(chairs)
                chairs &= chairs - 1
                nation = promising_declaration(s, chair) if self.declared and kind >= FIRST_JOKER else NONE
                found[count].kind = kind
                found[count].chair = chair
                found[count].nation = nation
                found[count].value = promise_of_guest(s, kind, chair, nation)
                found[count].alone = s.opening or unblocked[sex_of(kind)] & one(chair) != 0
                count += 1
        return count

    cdef void consider_swaps(self, const State* s, Promise* best, Chance* chance) noexcept nogil:
        cdef int32_t swaps[FIRST_JOKER * 4]
        cdef int i, count = self.legal_swaps(s, swaps, 0)
        for i in range(count):
            prefer(best, swaps[i], promise_of_swap(s), chance)

    # -- checks ----------------------------------------------------------------------------------

    cdef int broken_invariant(self, const void* state) noexcept nogil:
        """1: a kind has more or fewer guests than there are; 2: a hand's size or kinds are not those of its
        guests; 3: a table's counts are not those of its chairs; 4: sets of chairs or tables are wrong;
        5: a table is out of balance or a guest alone between turns; 6: the bag's order is not its content."""
        cdef const State* s = <const State*> state
        if not tiles_add_up(s, self.all_tiles):
            return 1
        if not hands_add_up(s):
            return 2
        if not tables_add_up(s, self.declared):
            return 3
        if not sets_add_up(s):
            return 4
        if s.seated_count == 0 and not stands_legal(s):
            return 5
        return 0 if order_adds_up(s) else 6

    def unpack(self, bytes state) -> dict:
        return (<const State*> <const uint8_t*> state)[0]

    def pack(self, dict fields) -> bytes:
        cdef State s
        memset(&s, 0, sizeof(State))
        s = fields
        return (<uint8_t*> &s)[:sizeof(State)]


include "_seating.pxi"
include "_thumb.pxi"
include "_checks.pxi"


cdef class ShuffledBag(Dealer):
    """The bag in any order; everything else is open."""
    cdef State view
    cdef uint8_t tiles[TILES]

    def __init__(self, bytes view):
        cdef int kind, i, at = 0
        self.view = (<const State*> <const uint8_t*> view)[0]
        for kind in range(KINDS):
            for i in range(self.view.bag[kind]):
                self.tiles[at] = kind
                at += 1

    cdef void deal(self, void* state, Chance* chance) noexcept nogil:
        cdef State* s = <State*> state
        cdef int size = self.view.bag_size, i
        cdef uint8_t order[TILES]
        memcpy(s, &self.view, sizeof(State))
        memcpy(order, self.tiles, TILES)
        random_shuffle(&chance.state, order, size)
        for i in range(size):
            s.order[TILES - size + i] = order[i] + 1
