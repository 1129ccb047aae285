"""A search tree of one thread: its memory, its limits, and what it knows at the end."""
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from tavolata.ai.observers cimport FEWEST_SETS, InformationSet, decided, find, hear, known_to
from tavolata.ai.stop cimport Stop
from tavolata.ext.core.bits cimport lowest
from tavolata.ext.core.game cimport POLICY_RANDOM, POLICY_RULE, Dealer, Game


cdef class Searcher:
    """Base of the two builds of the loop (``_search_base``, ``_search_v3``).

    dealer: deals worlds that fit the seat's view; legal: the seat's legal actions; nodes: records
    of 32 bytes in the arena; exploration: c of UCB in standard deviations of the seat's utility;
    depth: decisions in the tree, 0 for as many as fit; observed: kinds of events, a bit each, by which
    seats tell positions apart, 0 where everybody sees every action.
    """

    def __cinit__(self, Game game, Dealer dealer, int seat, tuple legal, limits, Stop stop,
                  double exploration, bint rule_playouts, int others_by_rule, uint32_t observed,
                  double widening, int depth, seed):
        cdef int i
        self.game = game
        self.dealer = dealer
        self.seat = seat
        self.stop = stop
        self.plan.iterations = limits.iterations or 0
        self.plan.think_ms = limits.think_ms or 0.0
        self.plan.exploration = exploration
        self.plan.policy = POLICY_RULE if rule_playouts else POLICY_RANDOM
        self.plan.others_by_rule = others_by_rule
        self.plan.observed = observed
        self.plan.widening = widening
        self.plan.depth = depth if 0 < depth < PATH_MAX - SEATS_MAX else PATH_MAX - SEATS_MAX
        self.capacity = limits.nodes
        if limits.iterations is not None:     # most nodes an iteration adds: one a seat, and one for chance
            self.capacity = min(limits.nodes, limits.iterations * (game.seat_count + 1) + 1)
        if observed:
            self._share_out_memory(limits.nodes)
        self.nodes = <Node*> malloc(self.capacity * sizeof(Node))
        self.state = <uint8_t*> calloc(1, game.state_bytes)
        self.actions = <int32_t*> malloc(game.legal_max * sizeof(int32_t))
        self.marks = <uint8_t*> calloc(1, game.action_count)
        self.root_count = len(legal)
        self.root = <RootAction*> calloc(self.root_count, sizeof(RootAction))
        if not (self.nodes and self.state and self.actions and self.marks and self.root):
            raise MemoryError
        for i in range(self.root_count):
            self.root[i].action = legal[i]
        self.chance.state = seed & 0xFFFFFFFFFFFFFFFF
        self.chance.keyed = NULL

    def __dealloc__(self):
        free(self.nodes)
        free(self.sets.places)
        free(self.log.words)
        free(self.state)
        free(self.actions)
        free(self.marks)
        free(self.root)

    def _share_out_memory(self, uint32_t nodes):
        """Of the memory for ``nodes`` records at most half is for information sets: a table, while it
        grows, and the half as large one before. The arena gets the rest."""
        cdef uint64_t bytes = nodes * sizeof(Node)
        cdef uint64_t a_place = 3 * sizeof(InformationSet) // 2
        self.sets.size = self.sets.most = 64
        while 2 * self.sets.most * a_place <= bytes // 2:
            self.sets.most *= 2
        self.sets.size = min(self.sets.most, FEWEST_SETS)
        self.capacity = min(self.capacity, (bytes - self.sets.most * a_place) // sizeof(Node))
        self.sets.places = <InformationSet*> calloc(self.sets.size, sizeof(InformationSet))
        if self.sets.places == NULL:
            raise MemoryError

    cdef void run(self) noexcept nogil:
        """Search, or search on, until a limit or a pause is reached or the stop flag is set."""

    # -- what each seat has been told ------------------------------------------------------------

    cdef uint32_t* first_edge(self, int seat) noexcept nogil:
        """Where the edges begin of the node at which a seat finds itself; NULL if there is no room for it."""
        cdef InformationSet* place = find(&self.sets, known_to(&self.told, seat), self.used < self.capacity)
        return &place.first_child if place != NULL else NULL

    cdef bint carry_out(self, uint32_t seats, const int* choice, bint tell) noexcept nogil:
        """Apply what these seats have chosen at once and, if ``tell``, take in what each seat is told of
        it: who has decided, what it has decided itself, and the events. Whether that could be had."""
        cdef uint32_t left = seats
        cdef int seat
        self.log.used = 0
        while left:
            seat = lowest(left)
            left &= left - 1
            self.game.apply(self.state, seat, choice[seat], &self.chance, &self.log if tell else NULL)
            decided(&self.told, seat, choice[seat])
        if not tell or self.log.out_of_memory:
            return False
        hear(&self.told, self.game.seat_count, &self.log, self.plan.observed)
        return True

    def follow(self, dict decision, bytes root=None) -> tuple:
        """Carry out a decision, an action for each seat that acts; from ``root`` or where the last one led.

        Returns the position after it, the key of the node at which each seat would find itself, as in
        ``tree``, and the log's words of this decision. For tests; only before or after a search.
        """
        cdef int choice[SEATS_MAX]
        cdef uint32_t seats = 0
        if root is not None:
            memcpy(self.state, <const uint8_t*> root, self.game.state_bytes)
            memset(&self.told, 0, sizeof(self.told))
        for seat, action in decision.items():
            seats |= <uint32_t> 1 << <int> seat
            choice[<int> seat] = action
        if not self.carry_out(seats, choice, True):
            raise MemoryError
        keys = tuple([known_to(&self.told, seat) for seat in range(self.game.seat_count)])
        return self.state[:self.game.state_bytes], keys, [self.log.words[i] for i in range(self.log.used)]

    def search(self) -> None:
        """Run without the GIL to the end."""
        self.search_on(0, 0.0)

    def search_on(self, uint64_t iterations, double ms) -> bool:
        """Run without the GIL until there have been so many iterations in all, or so many
        milliseconds have passed; 0: to the end. Whether the search is over.

        Where it pauses makes no difference to what it finds.
        """
        self.pause_at, self.pause_ms = iterations, ms
        with nogil:
            self.run()
        if self.plan.iterations and self.iterations >= self.plan.iterations:
            return True
        return self.stop.flag != 0 or 0.0 < self.plan.think_ms <= self.elapsed_ms

    def compare(self) -> None:
        """Try the actions given as legal in turn, and no other that there may be. To be called before
        the search; the means of the actions can then be compared, as each comes from as many iterations.
        """
        self.plan.even = True

    def report(self) -> tuple:
        """(iterations, nodes, elapsed ms, per root action a dict of its sums)."""
        cdef int n = self.game.seat_count
        rows = []
        for i in range(self.root_count):
            row = self.root[i]
            rows.append({
                "action": row.action, "visits": row.visits, "gained": row.gained,
                "square": row.square, "strategy": row.strategy,
                "utility": [row.utility[s] for s in range(n)], "score": [row.score[s] for s in range(n)],
            })
        return self.iterations, self.used, self.elapsed_ms, rows

    def tree(self) -> list:
        """Every node in the order made: (parent, actor, action, visits, availability, reward).

        Node 0 is the root; an actor of -1 is an outcome of chance. Where nodes are the acting seat's, edges have
        one of these rows for a parent, which follow in no order: (-1, -2, acting seat, arrivals, arrivals, key).
        For tests and for looking at.
        """
        cdef uint32_t child, i
        rows = []
        parents = [0] * self.used
        sets = []
        for i in range(self.sets.size):
            child = self.sets.places[i].first_child
            if child == NO_NODE:
                continue
            place = self.sets.places[i]
            sets.append((-1, -2, self.nodes[child].actor, place.arrivals, place.arrivals, place.key))
            while child != NO_NODE:
                parents[child] = self.used + len(sets) - 1
                child = self.nodes[child].next_sibling
        for index in range(self.used):
            child = self.nodes[index].first_child
            while child != NO_NODE:
                parents[child] = index
                child = self.nodes[child].next_sibling
        for index in range(self.used):
            node = self.nodes[index]
            rows.append((parents[index], node.actor, node.action, node.visits, node.availability, node.reward))
        return rows + sets
