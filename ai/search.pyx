"""A search tree of one thread: its memory, its limits, and what it knows at the end."""
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from tavolata.ai.stop cimport Stop
from tavolata.ext.core.game cimport POLICY_RANDOM, POLICY_RULE, Dealer, Game


cdef class Searcher:
    """Base of the two builds of the loop (``_search_base``, ``_search_v3``).

    dealer: deals worlds that fit the seat's view; legal: the seat's legal actions; nodes: records
    of 32 bytes in the arena; exploration: c of UCB in standard deviations of the seat's utility;
    depth: decisions in the tree, 0 for as many as fit.
    """

    def __cinit__(self, Game game, Dealer dealer, int seat, tuple legal, limits, Stop stop,
                  double exploration, bint rule_playouts, bint others_by_rule, double widening, int depth, seed):
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
        self.plan.widening = widening
        self.plan.depth = depth if 0 < depth < PATH_MAX - SEATS_MAX else PATH_MAX - SEATS_MAX
        self.capacity = limits.nodes
        if limits.iterations is not None:     # most nodes an iteration adds: one a seat, and one for chance
            self.capacity = min(limits.nodes, limits.iterations * (game.seat_count + 1) + 1)
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
        free(self.state)
        free(self.actions)
        free(self.marks)
        free(self.root)

    cdef void run(self) noexcept nogil:
        """Search until a limit is reached or the stop flag is set."""

    def search(self) -> None:
        """Run without the GIL."""
        with nogil:
            self.run()

    def report(self) -> tuple:
        """(iterations, nodes, elapsed ms, per root action a dict of its sums)."""
        cdef int n = self.game.seat_count
        rows = []
        for i in range(self.root_count):
            row = self.root[i]
            rows.append({
                "action": row.action, "visits": row.visits,
                "square": row.square, "strategy": row.strategy,
                "utility": [row.utility[s] for s in range(n)], "score": [row.score[s] for s in range(n)],
            })
        return self.iterations, self.used, self.elapsed_ms, rows

    def tree(self) -> list:
        """Every node in the order made: (parent, actor, action, visits, availability, reward).

        Node 0 is the root; an actor of -1 is an outcome of chance. For tests and for looking at.
        """
        cdef uint32_t child
        rows = []
        parents = [0] * self.used
        for index in range(self.used):
            child = self.nodes[index].first_child
            while child != NO_NODE:
                parents[child] = index
                child = self.nodes[child].next_sibling
        for index in range(self.used):
            node = self.nodes[index]
            rows.append((parents[index], node.actor, node.action, node.visits, node.availability, node.reward))
        return rows
