"""Every way to give the unseen cards to the hidden hands that satisfies the facts, and a fair draw from them.

A world is a matrix of zeros and ones: which hand holds which kind (never two of it, MB-11). Each hand
has its size, each kind its number of unseen copies, and all of these are in the hands. The weight
of a world is the number of physical deals that give it, times the number of unseen draws that the facts leave
open (MB-27). Copies of a kind can lie in its hands in (copies)! ways, the same in every world, so the deals
weigh nothing. The draws of each hand are counted apart (joint facts are dropped), as lists of different cards:

- of E unseen cards that are not in the hand, those it has lost, the last one first. A kind held at the last
  sighting with l cards lost since is there, or stands in the list at one of the places 1..l (at most E). With l
  = 0 it is there. (E is at least the number of kinds with l > 0: lost cards may have left play since.)
- of N cards in the hand or in that list, but not held at a sighting, those it has gained. A kind known absent
  with g cards gained since is not there, or stands in the list at one of the places 1..g (at most N). With g = 0
  it is not there. N is the size of the hand - kinds sighted + cards lost since the first of these sightings.

Dividing by the lists of a hand in which nothing has changed leaves the weight of a hand: the product
of (l - i) / (E - i) over the sighted kinds that are missing and of (g - i) / (N - i) over the absent kinds
that are there, each in the order of their counts, i = 0, 1, ... The weight is above zero just if for every
j no more than j kinds with l <= j are missing and no more than j kinds with g <= j are there (facts.pxd).

Without the i this is a product over cells, which can be drawn from kind by kind. A hand is a diagram with a
layer for each kind and two edges a node (without the kind, with it), a position the multiset of
the hands' nodes: hands in the same node are alike, only how many of them get the kind is counted, times a
binomial. Kinds with the most facts come first, after which hands differ by their sizes alone. A draw is
a walk down with probabilities in proportion, taken with the probability that the i leave of its weight and else
repeated: an exact draw, since no factor with an i exceeds the one without. Sums are doubles, right to about 1e-15.
If no world fits, NoDeal is raised; nothing is ever mended.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

from tavolata.ext.core.bits cimport lowest, popcount
from tavolata.ext.core.chance cimport Chance, random_below, random_unit
from tavolata.ext.mister_bill.facts cimport ABSENT, HELD, fits
from tavolata.ext.mister_bill.state cimport KINDS, ROW, SEATS

cdef enum:
    DEAD = 0                # no hand can come from this node
    COMPLETE = 1            # all kinds have been placed
    NODES_MAX = 65535
    TRIALS = 100000         # draws before a view with facts that can't hold together is given up

cdef double[9][9] CHOOSE    # binomial coefficients


def _fill_choose():
    from math import comb

    for n in range(9):
        for k in range(9):
            CHOOSE[n][k] = comb(n, k)


_fill_choose()


class NoDeal(ValueError):
    """No deal of the unseen cards satisfies what is known: the view contradicts itself."""


cdef class Worlds:
    def __init__(self, unseen, sizes, facts):
        """Count the worlds.

        unseen: copies of each kind that are in the hands; sizes: of the hands; facts: the row of 16
        bytes (facts.pxd) about each hand. NoDeal if nothing fits.
        """
        cdef uint16_t nodes[SEATS]
        cdef uint16_t node
        cdef int hand, i
        self.hand_count = len(sizes)
        if self.hand_count > SEATS or len(unseen) != KINDS or any([len(row) != ROW for row in facts]):
            raise ValueError("wrong shape")
        if sum(unseen) != sum(sizes) or min(unseen) < 0:
            raise NoDeal(f"{sum(unseen)} cards are unseen, the hands hold {sum(sizes)}")
        memset(nodes, 0, sizeof(nodes))
        self.node_count = COMPLETE + 1
        self.place_count = 1            # place 0 is none
        self._read(unseen, sizes, facts)
        with nogil:
            for hand in range(self.hand_count):
                node = self.node(hand, 0, self.sizes[hand])
                i = hand
                while i > 0 and nodes[i - 1] > node:
                    nodes[i] = nodes[i - 1]
                    self.root_hand[i] = self.root_hand[i - 1]
                    i -= 1
                nodes[i] = node
                self.root_hand[i] = hand
            if not self.failure and (self.hand_count == 0 or nodes[0] != DEAD):
                self.root = self.place(0, nodes)
        free(self.nodes_seen.slots)
        free(self.places_seen.slots)
        self.nodes_seen.slots = self.places_seen.slots = NULL
        if self.failure:
            raise MemoryError("the worlds of a position are too many to count")
        if self.ways == 0.0 or not self._try():
            raise NoDeal("no deal of the unseen cards satisfies the facts")

    def __dealloc__(self):
        free(self.low)
        free(self.high)
        free(self.low_weight)
        free(self.high_weight)
        free(self.places)
        free(self.moves)
        free(self.nodes_seen.slots)
        free(self.places_seen.slots)

    cdef _read(self, unseen, sizes, facts):
        """What each fact allows, counts cut to the lists there can be, and the order of the kinds."""
        cdef int hand, kind, fact, most
        total = sum(unseen)
        told = [0] * KINDS
        for hand in range(self.hand_count):
            row = facts[hand]
            sighted = [fact - HELD for fact in row if HELD <= fact < ABSENT]
            self.sizes[hand] = sizes[hand]
            # Lost cards may have left play since: there are places for all kinds that can be missing.
            self.elsewhere[hand] = max(total - sizes[hand], len([lost for lost in sighted if lost]))
            most = min(max(sighted, default=0), self.elsewhere[hand])
            self.gainable[hand] = max(sizes[hand] - len(sighted) + most, 0)
            for kind in range(KINDS):
                fact = row[kind]
                if fact >= ABSENT:
                    self.gained[hand][kind] = min(fact - ABSENT, self.gainable[hand])
                    self._sort(hand, kind, self.gained[hand][kind], self.absent, self.forbidden)
                elif fact >= HELD:
                    self.lost[hand][kind] = min(fact - HELD, self.elsewhere[hand])
                    self._sort(hand, kind, self.lost[hand][kind], self.held, self.forced)
                told[kind] += fact > 0
        order = sorted(range(KINDS), key=lambda kind: (unseen[kind] > 0, -told[kind], kind))
        for kind in range(KINDS):
            self.layer_kind[kind] = order[kind]
            self.layer_unseen[kind] = unseen[order[kind]]

    cdef _sort(self, int hand, int kind, int count, uint32_t* open, uint32_t* certain):
        if count:
            open[hand] |= <uint32_t> 1 << kind
        else:
            certain[hand] |= <uint32_t> 1 << kind

    cdef bint _try(self):
        """Whether a draw is ever taken: facts that can't hold together would be drawn for in vain."""
        cdef uint16_t hands[SEATS]
        cdef uint64_t random = 1
        cdef int trial, hand
        cdef double weight
        for trial in range(TRIALS):
            self.propose(hands, &random)
            weight = 1.0
            for hand in range(self.hand_count):
                weight *= self.ordered(hand, hands[hand])
            if weight > 0.0:
                return True
        return False

    @property
    def ways(self) -> float:
        """The weight of all worlds, without the i."""
        return self.places[self.root].ways if self.root else 0.0

    @property
    def table_size(self) -> tuple:
        """How many nodes, positions and moves were counted; for benchmarks."""
        return self.node_count, self.place_count, self.move_count

    # -- hands -----------------------------------------------------------------------------------

    cdef uint32_t node(self, int hand, int layer, int left) noexcept nogil:
        """The node of a hand that lacks ``left`` cards from this layer on."""
        cdef uint32_t low = DEAD, high = DEAD, bit
        cdef uint32_t* known
        cdef uint64_t key = (<uint64_t> 1 << 63 | <uint64_t> hand << 40 | <uint64_t> layer << 32
                             | <uint64_t> left << 24)
        if left < 0 or left > KINDS - layer:
            return DEAD
        if layer == KINDS:
            return COMPLETE
        known = find(&self.nodes_seen, key, 0)
        if known == NULL:
            self.failure = 1
            return DEAD
        if known[0]:
            return known[0] - 1
        bit = <uint32_t> 1 << self.layer_kind[layer]
        if not self.forced[hand] & bit:
            low = self.node(hand, layer + 1, left)
        if self.layer_unseen[layer] and not self.forbidden[hand] & bit:
            high = self.node(hand, layer + 1, left - 1)
        low = self.make_node(hand, layer, low, high)
        known = find(&self.nodes_seen, key, 0)
        if known == NULL:
            self.failure = 1
            return DEAD
        known[0] = low + 1
        return low

    cdef uint32_t make_node(self, int hand, int layer, uint32_t low, uint32_t high) noexcept nogil:
        """The one node of a layer with these edges."""
        cdef uint32_t* known
        cdef int kind = self.layer_kind[layer]
        cdef int lost = self.lost[hand][kind], gained = self.gained[hand][kind]
        cdef uint64_t weights = 0
        if low == DEAD and high == DEAD:
            return DEAD
        if lost:
            weights = <uint64_t> 1 << 16 | <uint64_t> lost << 8 | <uint64_t> self.elsewhere[hand]
        elif gained:
            weights = <uint64_t> 2 << 16 | <uint64_t> gained << 8 | <uint64_t> self.gainable[hand]
        known = find(&self.nodes_seen, <uint64_t> layer << 40 | <uint64_t> low << 16 | high, weights + 1)
        if known == NULL or not self.reserve_node():
            self.failure = 1
            return DEAD
        if known[0]:
            return known[0]
        self.low[self.node_count] = low
        self.high[self.node_count] = high
        self.low_weight[self.node_count] = <double> lost / self.elsewhere[hand] if lost else 1.0
        self.high_weight[self.node_count] = <double> gained / self.gainable[hand] if gained else 1.0
        known[0] = self.node_count
        self.node_count = self.node_count + 1
        return known[0]

    cdef bint reserve_node(self) noexcept nogil:
        cdef uint32_t capacity
        cdef void* grown
        if self.node_count < self.node_capacity:
            return True
        if self.node_count >= NODES_MAX:
            return False
        capacity = 2 * self.node_capacity if self.node_capacity else 256
        grown = realloc(self.low, capacity * sizeof(uint16_t))
        if grown == NULL:
            return False
        self.low = <uint16_t*> grown
        grown = realloc(self.high, capacity * sizeof(uint16_t))
        if grown == NULL:
            return False
        self.high = <uint16_t*> grown
        grown = realloc(self.low_weight, capacity * sizeof(double))
        if grown == NULL:
            return False
        self.low_weight = <double*> grown
        grown = realloc(self.high_weight, capacity * sizeof(double))
        if grown == NULL:
            return False
        self.high_weight = <double*> grown
        self.node_capacity = capacity
        return True

    # -- all hands together ----------------------------------------------------------------------

    cdef uint32_t place(self, int layer, uint16_t* nodes) noexcept nogil:
        """The position with these nodes, its ways counted; nodes: ascending, zero from ``hand_count`` on."""
        cdef uint64_t key[2]
        cdef uint32_t* known
        cdef uint16_t next[SEATS]
        cdef Frame frame
        cdef uint32_t made
        cdef int i
        memcpy(key, nodes, sizeof(key))
        known = find(&self.places_seen, key[0], key[1])
        if known == NULL:
            self.failure = 1
            return 0
        if known[0]:
            return known[0]
        memcpy(frame.nodes, nodes, sizeof(frame.nodes))
        memset(next, 0, sizeof(next))
        frame.layer = layer
        frame.move_count = frame.group_count = 0
        frame.ways = 1.0 if layer == KINDS else 0.0
        for i in range(self.hand_count):
            if i == 0 or nodes[i] != nodes[i - 1]:
                frame.group_start[frame.group_count] = i
                frame.group_count += 1
        frame.group_start[frame.group_count] = self.hand_count
        if layer < KINDS:
            self.place_kind(&frame, 0, self.layer_unseen[layer], 1.0, 0, next)
        made = self.store(&frame)
        known = find(&self.places_seen, key[0], key[1])
        if known == NULL:
            self.failure = 1
            return 0
        known[0] = made
        return made

    cdef void place_kind(self, Frame* frame, int group, int need, double ways, uint32_t takes,
                         uint16_t* next) noexcept nogil:
        """Give the layer's kind to ``need`` hands of the groups from ``group`` on, in every way."""
        cdef uint16_t sorted[SEATS]
        cdef uint32_t child
        cdef int i, start, size, take, least, most
        cdef uint16_t node
        cdef double weight
        if self.failure:
            return
        if group == frame.group_count:
            if need:
                return
            sort_nodes(next, self.hand_count, sorted)
            child = self.place(frame.layer + 1, sorted)
            if self.failure or self.places[child].ways == 0.0:
                return
            frame.ways += ways * self.places[child].ways
            frame.moves[frame.move_count].upto = frame.ways
            frame.moves[frame.move_count].child = child
            frame.moves[frame.move_count].takes = takes
            frame.move_count += 1
            return
        start = frame.group_start[group]
        size = frame.group_start[group + 1] - start
        node = frame.nodes[start]
        most = min(size, need) if self.high[node] != DEAD else 0
        least = 0 if self.low[node] != DEAD else size
        for take in range(least, most + 1):
            weight = ways * CHOOSE[size][take]
            for i in range(size):
                next[start + i] = self.high[node] if i < take else self.low[node]
                weight *= self.high_weight[node] if i < take else self.low_weight[node]
            self.place_kind(frame, group + 1, need - take, weight, takes | <uint32_t> take << 4 * group, next)

    cdef uint32_t store(self, Frame* frame) noexcept nogil:
        cdef void* grown
        cdef uint32_t capacity
        cdef Place* place
        if self.place_count >= self.place_capacity:
            capacity = 2 * self.place_capacity if self.place_capacity else 512
            grown = realloc(self.places, capacity * sizeof(Place))
            if grown == NULL:
                self.failure = 1
                return 0
            self.places = <Place*> grown
            self.place_capacity = capacity
        while self.move_count + frame.move_count > self.move_capacity:
            capacity = 2 * self.move_capacity if self.move_capacity else 1024
            grown = realloc(self.moves, capacity * sizeof(Move))
            if grown == NULL:
                self.failure = 1
                return 0
            self.moves = <Move*> grown
            self.move_capacity = capacity
        place = &self.places[self.place_count]
        memcpy(place.nodes, frame.nodes, sizeof(frame.nodes))
        place.ways = frame.ways
        place.first_move = self.move_count
        place.move_count = frame.move_count
        if frame.move_count:
            memcpy(self.moves + self.move_count, frame.moves, frame.move_count * sizeof(Move))
        self.move_count = self.move_count + frame.move_count
        self.place_count = self.place_count + 1
        return self.place_count - 1

    # -- drawing ---------------------------------------------------------------------------------

    cdef void sample(self, uint16_t* hands, Chance* chance) noexcept nogil:
        """One world in proportion to its weight, as a set of kinds for each hand."""
        cdef uint64_t random = chance.state
        cdef double weight
        cdef int hand
        while True:
            self.propose(hands, &random)
            weight = 1.0
            for hand in range(self.hand_count):
                weight *= self.ordered(hand, hands[hand])
            if weight == 1.0 or random_unit(&random) < weight:
                break
        chance.state = random

    cdef double ordered(self, int hand, uint32_t kinds) noexcept nogil:
        """What is left of the weight of a hand when each lost and gained card needs a place of its own."""
        cdef uint32_t missing = self.held[hand] & ~kinds
        cdef uint32_t come = self.absent[hand] & kinds
        cdef double weight = 1.0
        if missing & (missing - 1):
            weight = places_left(self.lost[hand], missing, self.elsewhere[hand])
        if come & (come - 1):
            weight *= places_left(self.gained[hand], come, self.gainable[hand])
        return weight

    cdef void propose(self, uint16_t* hands, uint64_t* random) noexcept nogil:
        """One world in proportion to its weight without the i."""
        cdef Place* place = &self.places[self.root]
        cdef Move* move
        cdef uint8_t hand_at[SEATS]
        cdef uint16_t next[SEATS]
        cdef int layer, start, end, take, group, i, j
        cdef uint16_t bit, node
        cdef uint8_t hand
        cdef double at
        memset(hands, 0, self.hand_count * sizeof(uint16_t))
        memcpy(hand_at, self.root_hand, sizeof(hand_at))
        for layer in range(KINDS):
            move = self.moves + place.first_move
            if place.move_count > 1:
                at = random_unit(random) * place.ways
                end = place.move_count - 1
                while end and at >= move.upto:
                    move += 1
                    end -= 1
            bit = <uint16_t> (1 << self.layer_kind[layer])
            start = group = 0
            while start < self.hand_count:
                node = place.nodes[start]
                end = start + 1
                while end < self.hand_count and place.nodes[end] == node:
                    end += 1
                take = move.takes >> 4 * group & 15
                for i in range(start, start + take):
                    if take < end - start:
                        j = i + <int> random_below(random, end - i)
                        hand = hand_at[i]
                        hand_at[i] = hand_at[j]
                        hand_at[j] = hand
                    hands[hand_at[i]] |= bit
                    next[i] = self.high[node]
                for i in range(start + take, end):
                    next[i] = self.low[node]
                start = end
                group += 1
            # The hands in the order of their new nodes, as the child has them.
            for i in range(1, self.hand_count):
                node = next[i]
                hand = hand_at[i]
                j = i
                while j > 0 and next[j - 1] > node:
                    next[j] = next[j - 1]
                    hand_at[j] = hand_at[j - 1]
                    j -= 1
                next[j] = node
                hand_at[j] = hand
            place = &self.places[move.child]

    def sample_hands(self, seed: int, int worlds) -> list:
        """So many worlds, each a tuple of the hands as sets of kinds; for tests and benchmarks."""
        cdef Chance chance
        cdef uint16_t hands[SEATS]
        cdef int i
        chance.state = seed & 0xFFFFFFFFFFFFFFFF
        chance.keyed = NULL
        drawn = []
        for _ in range(worlds):
            self.sample(hands, &chance)
            drawn.append(tuple([hands[i] for i in range(self.hand_count)]))
        return drawn


def satisfies(bytes facts, int hand) -> bool:
    """Whether a hand, a set of kinds, satisfies a row of facts."""
    if len(facts) != ROW:
        raise ValueError(f"a row of facts has {ROW} bytes, not {len(facts)}")
    return fits(<const uint8_t*> facts, hand)


cdef double places_left(const int* counts, uint32_t kinds, int length) noexcept nogil:
    """The product of (c - i) / (length - i) over kinds by their counts c, divided by that of c / length."""
    cdef int ordered[KINDS]
    cdef int count, size = 0, i
    cdef double left = 1.0
    while kinds:
        count = counts[lowest(kinds)]
        kinds &= kinds - 1
        i = size
        while i > 0 and ordered[i - 1] > count:
            ordered[i] = ordered[i - 1]
            i -= 1
        ordered[i] = count
        size += 1
    for i in range(1, size):
        if ordered[i] <= i:
            return 0.0
        left *= <double> (ordered[i] - i) * length / (<double> (length - i) * ordered[i])
    return left


cdef inline void sort_nodes(const uint16_t* nodes, int count, uint16_t* out) noexcept nogil:
    cdef int i, j
    memset(out, 0, SEATS * sizeof(uint16_t))
    for i in range(count):
        j = i
        while j > 0 and out[j - 1] > nodes[i]:
            out[j] = out[j - 1]
            j -= 1
        out[j] = nodes[i]


cdef uint32_t* find(Table* table, uint64_t first, uint64_t second) noexcept nogil:
    """Where the value of a key stands, 0 for a new key; NULL without memory. Good until the next call."""
    cdef uint32_t at
    cdef Slot* slot
    if table.slots == NULL or 2 * table.used > table.mask:
        if not grow(table):
            return NULL
    at = slot_of(table, first, second)
    slot = &table.slots[at]
    if slot.value == 0 and slot.first == 0 and slot.second == 0:
        table.used += 1
        slot.first = first
        slot.second = second
    return &slot.value


cdef inline uint32_t slot_of(const Table* table, uint64_t first, uint64_t second) noexcept nogil:
    cdef uint64_t mixed = (first ^ second * <uint64_t> 0x9E3779B97F4A7C15) * <uint64_t> 0xBF58476D1CE4E5B9
    cdef uint32_t at = <uint32_t> (mixed >> 32) & table.mask
    while table.slots[at].first != first or table.slots[at].second != second:
        if table.slots[at].value == 0 and table.slots[at].first == 0 and table.slots[at].second == 0:
            break
        at = (at + 1) & table.mask
    return at


cdef bint grow(Table* table) noexcept nogil:
    cdef Table larger
    cdef uint32_t i
    larger.mask = 2 * table.mask + 1 if table.slots != NULL else 1023
    larger.used = table.used
    larger.slots = <Slot*> calloc(larger.mask + 1, sizeof(Slot))
    if larger.slots == NULL:
        return False
    if table.slots != NULL:
        for i in range(table.mask + 1):
            if table.slots[i].first or table.slots[i].second:
                larger.slots[slot_of(&larger, table.slots[i].first, table.slots[i].second)] = table.slots[i]
        free(table.slots)
    table[0] = larger
    return True
