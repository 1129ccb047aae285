from libc.math cimport log, sqrt
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from tavolata.ai.clock cimport now_ms
from tavolata.ai.observers cimport InformationSet, find, known_to, mix
from tavolata.ai.search cimport NO_NODE, PATH_MAX, Node, RootAction, Searcher
from tavolata.ext.core.bits cimport lowest
from tavolata.ext.core.chance cimport random_below
from tavolata.ext.core.game cimport SEATS_MAX

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    static inline uint64_t tav_folded(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128)a * b;
        return (uint64_t)(product >> 64) ^ (uint64_t)product;
    }
    static inline uint64_t tav_word_at(const uint8_t *bytes, size_t at, size_t size) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
        return word;
    }
    /* 64 bits of any bytes, two words a multiplication. */
    static inline uint64_t tav_bytes_key(const uint8_t *bytes, size_t size) {
        uint64_t key = size * 0x9e3779b97f4a7c15ULL;
        size_t at = 0;
        for (; at + 16 <= size; at += 16) {
            uint64_t pair[2];
            memcpy(pair, bytes + at, 16);
            key = tav_folded(pair[0] ^ 0xa0761d6478bd642fULL, pair[1] ^ key) + at;
        }
        for (; at < size; at += 8)
            key = tav_folded(tav_word_at(bytes, at, size) ^ 0xe7037ed1a0b428dbULL, key ^ 0x8ebc6af09c88c6e3ULL);
        return key;
    }
    """
    uint64_t bytes_key "tav_bytes_key"(const uint8_t* bytes, size_t size) noexcept nogil

cdef enum:
    CHOICES_MAX = 4096      # legal actions of a seat

cdef double TIE = 1e-5      # values so close are equally good

cdef struct Walk:           # one iteration
    uint32_t path[PATH_MAX] # edges taken
    int length


cdef class Loop(Searcher):
    """ISMCTS as OpenSpiel has it, over the game interface: plain UCT over information states.

    A node is all that the seat to act knows: its view and what it has been told since the root. An iteration
    deals a world, goes down by UCT with the node's own visits, and ends at the first node that was not
    there before, from which it plays out at random. In a node every legal action is taken once, in random
    order, before any is taken twice. Seats that decide at once do so one after another without seeing
    each other: at the root the deciding seat first, then by number. Where chance is open it leads on
    to other nodes; where it is hidden, iterations average over it.

    Two things differ from OpenSpiel's, both in favour of this one: the root is there from the start, not from
    the first iteration on, and playouts end at the horizon of the round, with its expected utility, unless
    whole_match is set: then they go on to the end of the match, as OpenSpiel's do.
    exploration is UCT's constant for utilities in [0, 1].

    An edge is a Node as in the other loop. So is what a place of the table leads to: `visits` made before, edges
    (`availability`) and legal actions (`action`, -1 before they were counted) of an information state.
    """
    cdef public bint whole_match
    cdef uint8_t* seen      # scratch: what the acting seat sees

    def __cinit__(self, *args):
        self.seen = <uint8_t*> malloc(self.game.state_bytes)
        if self.seen == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.seen)

    cdef void run(self) noexcept nogil:
        cdef double start = now_ms()
        cdef double elapsed
        cdef double utility[SEATS_MAX]
        cdef uint64_t until_clock = 64, at_clock = 0
        cdef Walk walk
        self.used = 0
        self.state_node(self.seat)
        while not self.stop.flag:
            if self.plan.iterations and self.iterations >= self.plan.iterations:
                break
            if self.plan.think_ms > 0.0 and self.iterations >= at_clock + until_clock:
                elapsed = now_ms() - start
                if elapsed >= self.plan.think_ms:
                    break
                # The clock is read about every quarter of a millisecond.
                at_clock = self.iterations
                until_clock = <uint64_t> (0.25 * self.iterations / elapsed) + 1 if elapsed > 0.0 else 64
            self.dealer.deal(self.state, &self.chance)
            self.walk_down(&walk)
            self.play_out()
            self.game.utility(self.state, utility)
            self.walk_back(&walk, utility)
            self.iterations = self.iterations + 1   # in place it would need the GIL in the checked build
        self.elapsed_ms = now_ms() - start

    cdef void play_out(self) noexcept nogil:
        self.game.playout(self.state, &self.chance, self.plan.policy)
        while self.whole_match and not self.game.over(self.state):
            self.game.advance(self.state, &self.chance, NULL)
            self.game.playout(self.state, &self.chance, self.plan.policy)

    cdef void walk_down(self, Walk* walk) noexcept nogil:
        """From the root to a node that is new, which is added if there is room."""
        cdef uint32_t seats = self.game.to_act(self.state)
        cdef uint32_t node = 0, edge
        cdef int choice[SEATS_MAX]
        cdef int seat = self.seat
        walk.length = 0
        memset(&self.told, 0, sizeof(self.told))
        while walk.length < self.plan.depth:
            edge = self.choose(node, seat)
            if edge == NO_NODE:
                return
            walk.path[walk.length] = edge
            walk.length += 1
            choice[seat] = self.nodes[edge].action
            if not self.carry_out(<uint32_t> 1 << seat, choice, True):
                return
            seats = self.game.to_act(self.state)
            if not seats:
                return
            seat = lowest(seats)
            node = self.known_node(seat)
            if node == NO_NODE:
                return

    cdef uint32_t known_node(self, int seat) noexcept nogil:
        """The node of all that the seat knows now; NO_NODE, and the node added, if it is new."""
        cdef InformationSet* place
        cdef uint64_t key
        memcpy(self.seen, self.state, self.game.state_bytes)
        self.game.blank(self.seen, seat)
        key = mix(bytes_key(self.seen, self.game.state_bytes), known_to(&self.told, seat))
        place = find(&self.sets, key, self.used < self.capacity)
        if place == NULL:
            return NO_NODE
        if place.first_child == NO_NODE:
            place.first_child = self.state_node(seat)
            return NO_NODE
        return place.first_child

    cdef uint32_t state_node(self, int seat) noexcept nogil:
        """A new node of an information state; there must be room."""
        cdef uint32_t fresh = self.used
        cdef Node* node = &self.nodes[fresh]
        self.used = self.used + 1
        memset(node, 0, sizeof(Node))
        node.actor = seat
        node.action = -1
        return fresh

    cdef uint32_t choose(self, uint32_t at, int seat) noexcept nogil:
        """The edge a seat takes: an untried action at random, else the greatest UCT; NO_NODE if there is no
        edge and no room for one."""
        cdef Node* node = &self.nodes[at]
        cdef uint32_t edge
        if node.action < 0 or node.availability < <uint32_t> node.action:
            edge = self.untried(node, seat) if self.used < self.capacity else self.best_of(node)
        else:
            edge = self.best_of(node)
        if edge != NO_NODE:
            node.visits += 1
        return edge

    cdef uint32_t untried(self, Node* node, int seat) noexcept nogil:
        """A new edge for one of the actions that have none, each as likely."""
        cdef int count = self.game.legal(self.state, seat, self.actions)
        cdef uint32_t child = node.first_child
        cdef int i, pick
        while child != NO_NODE:
            self.marks[self.nodes[child].action] = 1
            child = self.nodes[child].next_sibling
        node.action = count
        pick = <int> random_below(&self.chance.state, <uint32_t> count - node.availability)
        for i in range(count):
            if self.marks[self.actions[i]]:
                self.marks[self.actions[i]] = 0
                continue
            if pick == 0:
                child = self.add_edge(node, seat, self.actions[i])
            pick -= 1
        return child

    cdef uint32_t add_edge(self, Node* node, int seat, int action) noexcept nogil:
        cdef uint32_t fresh = self.used
        cdef Node* edge = &self.nodes[fresh]
        self.used = self.used + 1
        memset(edge, 0, sizeof(Node))
        edge.next_sibling = node.first_child
        edge.action = action
        edge.actor = seat
        node.first_child = fresh
        node.availability += 1
        return fresh

    cdef uint32_t best_of(self, const Node* node) noexcept nogil:
        """Any of the edges with the greatest UCT value; NO_NODE if there is none."""
        cdef double values[CHOICES_MAX]
        cdef double visits = log(node.visits) if node.visits else 0.0
        cdef double greatest = -1e30
        cdef uint32_t child = node.first_child
        cdef Node* edge
        cdef int count = 0, ties = 0, i = 0
        while child != NO_NODE:
            edge = &self.nodes[child]
            values[count] = edge.reward / edge.visits + self.plan.exploration * sqrt(visits / edge.visits)
            greatest = max(greatest, values[count])
            count += 1
            child = edge.next_sibling
        for i in range(count):
            ties += values[i] > greatest - TIE
        if ties > 1:
            ties = 1 + <int> random_below(&self.chance.state, <uint32_t> ties)
        child = node.first_child
        for i in range(count):
            ties -= values[i] > greatest - TIE
            if ties == 0:
                return child
            child = self.nodes[child].next_sibling
        return NO_NODE

    cdef void walk_back(self, const Walk* walk, const double* utility) noexcept nogil:
        cdef int32_t scores[SEATS_MAX]
        cdef RootAction* row
        cdef Node* edge
        cdef int i, seat
        for i in range(walk.length):
            edge = &self.nodes[walk.path[i]]
            edge.visits += 1
            edge.reward += utility[edge.actor]
        if walk.length == 0:
            return
        self.game.totals(self.state, scores)
        for i in range(self.root_count):
            row = &self.root[i]
            if row.action != self.nodes[walk.path[0]].action:
                continue
            row.visits += 1
            row.square += utility[self.seat] * utility[self.seat]
            for seat in range(self.game.seat_count):
                row.utility[seat] += utility[seat]
                row.score[seat] += scores[seat]
