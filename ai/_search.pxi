from libc.math cimport sqrt
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from tavolata.ai.search cimport EVERYWHERE, NO_NODE, PATH_MAX, Node, RootAction, Searcher
from tavolata.ai.selection cimport ucb
from tavolata.ext.core.bits cimport lowest, nth, popcount
from tavolata.ext.core.chance cimport Chance, random_below, random_unit
from tavolata.ext.core.game cimport POLICY_RULE, SEATS_MAX

cdef extern from *:
    """
    #include <time.h>
    static inline double tav_now_ms(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
    }
    """
    double now_ms "tav_now_ms"() noexcept nogil

cdef enum:
    CHOICES_MAX = 4096      # legal actions of a seat
    CHANCE = -1             # the actor of outcome nodes

cdef struct Walk:           # one iteration
    uint32_t path[PATH_MAX] # edges taken
    int length
    int chosen              # root: index of the deciding seat's action
    bint expanded           # a node was added, or none can be: play the rest out


cdef class Loop(Searcher):
    """Single-observer ISMCTS (Cowling, Powley, Whitehouse 2012) over the game interface.

    Every iteration deals a world that fits the seat's view and walks one tree of actions through it.
    What everybody sees chance do (Game.outcome) has nodes of its own between an action and what follows
    it; the rest of chance is open loop: averaged over.
    At a simultaneous decision every seat chooses from its own statistics (decoupled UCT) or by the
    rule of thumb, and the walk goes on below the deciding seat's action, or else the lowest seat's.
    The deciding seat's own simultaneous decision at the root is by regret matching, unless the others
    follow the rule of thumb: then it is a choice against known strategies, and UCB learns it faster.
    """

    cdef void run(self) noexcept nogil:
        cdef double start = now_ms()
        cdef double sum, square, own
        cdef uint64_t until_clock = 1, at_start, at_clock
        cdef uint64_t next_spread, until = self.plan.iterations
        cdef double elapsed, for_ms = self.pause_ms
        cdef double utility[SEATS_MAX]
        cdef Walk walk
        cdef bint simultaneous
        if self.used == 0:
            self.begin()
        sum, square, next_spread = self.sum, self.square, self.next_spread
        simultaneous = self.mixed
        at_start = at_clock = self.iterations
        if self.pause_at and (until == 0 or self.pause_at < until):
            until = self.pause_at
        if self.plan.think_ms > 0.0 and (for_ms == 0.0 or self.plan.think_ms - self.elapsed_ms < for_ms):
            for_ms = max(self.plan.think_ms - self.elapsed_ms, 1e-6)
        while not self.stop.flag:
            if until and self.iterations >= until:
                break
            if for_ms > 0.0 and self.iterations >= at_clock + until_clock:
                elapsed = now_ms() - start
                if elapsed >= for_ms:
                    break
                # The clock is read about every quarter of a millisecond.
                at_clock = self.iterations
                until_clock = <uint64_t> (0.25 * (at_clock - at_start) / elapsed) + 1 if elapsed > 0.0 else 64
            self.dealer.deal(self.state, &self.chance)
            if self.plan.observed:
                self.walk_apart(&walk, simultaneous)
            else:
                self.walk_down(&walk, simultaneous)
            self.game.playout(self.state, &self.chance, self.plan.policy)
            self.game.utility(self.state, utility)
            self.walk_back(&walk, utility, simultaneous)
            self.iterations = self.iterations + 1   # in place it would need the GIL in the checked build
            own = utility[self.seat]
            sum += own
            square += own * own
            if self.iterations == next_spread:
                next_spread *= 2
                sum = sum if sum > 0.0 else 0.0
                self.spread = sqrt(max(square / self.iterations - (sum / self.iterations) ** 2, 1e-8))
        self.sum, self.square, self.next_spread = sum, square, next_spread
        self.elapsed_ms = self.elapsed_ms + now_ms() - start

    cdef void begin(self) noexcept nogil:
        """Lay the root, and find out whether the decision there is one for regret matching."""
        cdef uint32_t seats
        cdef int32_t totals[SEATS_MAX]
        memset(&self.nodes[0], 0, sizeof(Node))
        self.used = 1
        self.spread = 0.1
        self.next_spread = 8
        self.dealer.deal(self.state, &self.chance)
        self.game.totals(self.state, totals)
        self.total_before = totals[self.seat]
        seats = self.game.to_act(self.state)
        self.mixed = (seats & (seats - 1)) != 0 and not self.plan.others_by_rule and not self.plan.even

    cdef inline void walk_down(self, Walk* walk, bint simultaneous_root) noexcept nogil:
        """From the root to the first action not tried before, and take it."""
        cdef uint32_t node = NO_NODE
        cdef uint32_t edge
        cdef uint32_t seats = self.game.to_act(self.state)
        cdef int seat
        walk.length = 0
        walk.chosen = -1
        walk.expanded = False
        while seats and not walk.expanded and walk.length < self.plan.depth:
            if seats & (seats - 1):
                node = self.choose_together(walk, node, seats, simultaneous_root and walk.length == 0)
            else:
                seat = lowest(seats)
                if self.plan.others_by_rule == EVERYWHERE and seat != self.seat:
                    edge = self.follow_rule(walk, &self.nodes[node].first_child, seat)
                else:
                    edge = self.choose(walk, &self.nodes[node].first_child, seat)
                if edge == NO_NODE:
                    return
                walk.path[walk.length] = edge
                walk.length += 1
                self.game.apply(self.state, seat, self.nodes[edge].action, &self.chance, NULL)
                node = self.after_chance(edge) if self.game.has_outcomes else edge
            seats = self.game.to_act(self.state)

    cdef void walk_apart(self, Walk* walk, bint simultaneous_root) noexcept nogil:
        """As walk_down, but from node to node of the seat that acts: each is found by what that seat was told.

        Chance that a seat is shown is among the events it is told, so Game.outcome is not asked.
        """
        cdef uint32_t* first = &self.nodes[0].first_child
        cdef int choice[SEATS_MAX]
        cdef uint32_t edge, left, seats = self.game.to_act(self.state)
        cdef bint root = True
        cdef int seat
        walk.length = 0
        walk.chosen = -1
        walk.expanded = False
        memset(&self.told, 0, sizeof(self.told))
        while seats and not walk.expanded and walk.length < self.plan.depth:
            left = seats
            while left:
                seat = lowest(left)
                left &= left - 1
                if not root and not (self.plan.others_by_rule and seat != self.seat and seats & (seats - 1)):
                    first = self.first_edge(seat)
                if seats & (seats - 1):
                    self.choose_part(walk, first, seat, simultaneous_root and root, choice)
                    continue
                if first == NULL:
                    edge = NO_NODE
                elif self.plan.others_by_rule == EVERYWHERE and seat != self.seat:
                    edge = self.follow_rule(walk, first, seat)
                else:
                    edge = self.choose(walk, first, seat)
                if edge == NO_NODE:
                    return
                walk.path[walk.length] = edge
                walk.length += 1
                choice[seat] = self.nodes[edge].action
            if not self.carry_out(seats, choice, not walk.expanded):
                return
            root = False
            seats = self.game.to_act(self.state)

    cdef inline uint32_t choose(self, Walk* walk, uint32_t* first, int seat) noexcept nogil:
        """The edge a seat takes here: an untried action at random, else the greatest UCB.

        NO_NODE if the tree is full and nothing here was tried.
        """
        if self.plan.even and seat == self.seat and first == &self.nodes[0].first_child:
            return self.choose_in_turn(walk, first, seat)
        if self.game.has_bits:
            return self.choose_bits(walk, first, seat)
        return self.choose_listed(walk, first, seat)

    cdef uint32_t follow_rule(self, Walk* walk, uint32_t* first, int seat) noexcept nogil:
        """The edge of the rule of thumb's action; NO_NODE if it is not there and there is no room."""
        cdef uint32_t used = self.used
        cdef uint32_t edge = self.edge_of(first, seat, self.game.rule(self.state, seat, &self.chance))
        walk.expanded = self.used != used
        return edge

    cdef uint32_t choose_in_turn(self, Walk* walk, uint32_t* first, int seat) noexcept nogil:
        """The edge of the root's action whose turn it is."""
        cdef uint32_t used = self.used
        cdef uint32_t edge
        walk.chosen = <int> (self.iterations % self.root_count)
        edge = self.edge_of(first, seat, self.root[walk.chosen].action)
        walk.expanded = self.used != used
        return edge

    cdef inline uint32_t choose_bits(self, Walk* walk, uint32_t* first, int seat) noexcept nogil:
        cdef uint64_t legal = self.game.legal_bits(self.state, seat)
        cdef uint64_t untried = legal
        cdef uint32_t there[64]
        cdef int count = 0
        cdef uint32_t child = first[0]
        cdef Node* edge
        while child != NO_NODE:
            edge = &self.nodes[child]
            if edge.actor == seat and legal >> edge.action & 1:
                edge.availability += 1
                untried ^= <uint64_t> 1 << edge.action
                there[count] = child
                count += 1
            child = edge.next_sibling
        if untried and self.used < self.capacity and self.may_widen(there, count):
            walk.expanded = True
            return self.add(first, seat, self.first_try(seat, untried, count))
        return self.best_of(there, count)

    cdef inline bint may_widen(self, const uint32_t* there, int count) noexcept nogil:
        """Progressive widening: whether another action may be tried here by now."""
        cdef uint32_t visits = 0
        cdef int i
        if self.plan.widening == 0.0 or count == 0:
            return True
        for i in range(count):
            visits += self.nodes[there[i]].visits
        return count < 1.0 + self.plan.widening * sqrt(visits)

    cdef inline int first_try(self, int seat, uint64_t untried, int count) noexcept nogil:
        """The action to try next: where the tree widens slowly the rule of thumb's first, else any."""
        cdef int action
        if self.plan.widening > 0.0 and count == 0 and self.plan.policy == POLICY_RULE:
            action = self.game.rule(self.state, seat, &self.chance)
            if untried >> action & 1:
                return action
        return nth(untried, random_below(&self.chance.state, popcount(untried)))

    cdef uint32_t choose_listed(self, Walk* walk, uint32_t* first, int seat) noexcept nogil:
        """The same for games whose actions don't fit a word."""
        cdef int count = self.game.legal(self.state, seat, self.actions)
        cdef uint32_t there[CHOICES_MAX]
        cdef int tried = 0, untried = count, i, pick
        cdef uint32_t child = first[0]
        cdef Node* edge
        for i in range(count):
            self.marks[self.actions[i]] = 1
        while child != NO_NODE:
            edge = &self.nodes[child]
            if edge.actor == seat and self.marks[edge.action]:
                edge.availability += 1
                self.marks[edge.action] = 2
                untried -= 1
                there[tried] = child
                tried += 1
            child = edge.next_sibling
        pick = -1
        if untried and self.used < self.capacity and self.may_widen(there, tried):
            pick = self.first_listed(seat, count, untried, tried)
        child = NO_NODE
        for i in range(count):
            if self.marks[self.actions[i]] == 1:
                if pick == 0:
                    walk.expanded = True
                    child = self.add(first, seat, self.actions[i])
                pick -= 1
            self.marks[self.actions[i]] = 0
        return child if child != NO_NODE else self.best_of(there, tried)

    cdef inline int first_listed(self, int seat, int count, int untried, int tried) noexcept nogil:
        """The place, among the untried actions, of the one to try next; chosen as in first_try."""
        cdef int action, i, place = 0
        if self.plan.widening > 0.0 and tried == 0 and self.plan.policy == POLICY_RULE:
            action = self.game.rule(self.state, seat, &self.chance)
            for i in range(count):
                if self.actions[i] == action:
                    return place
                place += self.marks[self.actions[i]] == 1
        return <int> random_below(&self.chance.state, untried)

    cdef uint32_t after_chance(self, uint32_t edge) noexcept nogil:
        """The node for what chance did in the action of ``edge``; the edge itself where there is no room."""
        cdef int outcome = self.game.outcome(self.state)
        cdef uint32_t child = self.nodes[edge].first_child
        while child != NO_NODE:
            if self.nodes[child].action == outcome:
                return child
            child = self.nodes[child].next_sibling
        return self.add(&self.nodes[edge].first_child, CHANCE, outcome) if self.used < self.capacity else edge

    cdef inline uint32_t best_of(self, const uint32_t* there, int count) noexcept nogil:
        cdef uint32_t best = NO_NODE
        cdef float greatest = -1e30, value
        cdef float c = <float> (self.plan.exploration * self.spread)
        cdef Node* edge
        cdef int i
        for i in range(count):
            edge = &self.nodes[there[i]]
            value = ucb(edge.reward, edge.visits, edge.availability, c)
            if value > greatest:
                greatest = value
                best = there[i]
        return best

    cdef inline uint32_t add(self, uint32_t* first, int seat, int action) noexcept nogil:
        """A new edge in front of those that begin at ``first``; there must be room."""
        cdef uint32_t fresh = self.used
        cdef Node* edge = &self.nodes[fresh]
        self.used = self.used + 1
        edge.reward = 0.0
        edge.visits = 0
        edge.availability = 1
        edge.first_child = NO_NODE
        edge.next_sibling = first[0]
        edge.action = action
        edge.actor = seat
        first[0] = fresh
        return fresh

    # -- simultaneous decisions -------------------------------------------------------------------

    cdef uint32_t choose_together(self, Walk* walk, uint32_t node, uint32_t seats, bint root) noexcept nogil:
        """Every seat in ``seats`` chooses, then all choices are carried out. Returns the node to go on from."""
        cdef int choice[SEATS_MAX]
        cdef uint32_t left = seats, edge, onward = NO_NODE
        cdef int seat
        while left:
            seat = lowest(left)
            left &= left - 1
            edge = self.choose_part(walk, &self.nodes[node].first_child, seat, root, choice)
            if edge != NO_NODE and (onward == NO_NODE or seat == self.seat):
                onward = edge
        left = seats
        while left:
            seat = lowest(left)
            left &= left - 1
            self.game.apply(self.state, seat, choice[seat], &self.chance, NULL)
        if onward == NO_NODE:
            walk.expanded = True
        return onward

    cdef uint32_t choose_part(self, Walk* walk, uint32_t* first, int seat, bint root, int* choice) noexcept nogil:
        """What one of several seats does, into ``choice``, and its edge; NO_NODE if it has none.

        first: where its edges here begin, or NULL if there is no room for any.
        """
        cdef uint32_t edge = NO_NODE
        if root and seat == self.seat:
            choice[seat] = self.choose_by_regret(walk)
            edge = self.edge_of(first, seat, choice[seat])
        elif self.plan.others_by_rule and seat != self.seat:
            choice[seat] = self.game.rule(self.state, seat, &self.chance)
        else:
            edge = self.choose(walk, first, seat) if first != NULL else NO_NODE
            choice[seat] = self.nodes[edge].action if edge != NO_NODE else self.any_action(seat)
        if edge != NO_NODE:
            walk.path[walk.length] = edge
            walk.length += 1
        return edge

    cdef int any_action(self, int seat) noexcept nogil:
        cdef int count = self.game.legal(self.state, seat, self.actions)
        return self.actions[random_below(&self.chance.state, count)]

    cdef uint32_t edge_of(self, uint32_t* first, int seat, int action) noexcept nogil:
        """The edge of an action, added if need be; NO_NODE if there is no room."""
        cdef uint32_t child = first[0]
        while child != NO_NODE:
            if self.nodes[child].actor == seat and self.nodes[child].action == action:
                # In place it would need the GIL in the checked build.
                self.nodes[child].availability = self.nodes[child].availability + 1
                return child
            child = self.nodes[child].next_sibling
        return self.add(first, seat, action) if self.used < self.capacity else NO_NODE

    cdef double root_probability(self, int index, double total) noexcept nogil:
        """Regret matching (Hart, Mas-Colell 2000), with a tenth spread over all for exploration."""
        cdef double share = 1.0 / self.root_count
        if total > 0.0:
            share = max(self.root[index].regret, 0.0) / total
        return 0.9 * share + 0.1 / self.root_count

    cdef double regret_total(self) noexcept nogil:
        cdef double total = 0.0
        cdef int i
        for i in range(self.root_count):
            total += max(self.root[i].regret, 0.0)
        return total

    cdef int choose_by_regret(self, Walk* walk) noexcept nogil:
        cdef double total = self.regret_total()
        cdef double target = random_unit(&self.chance.state)
        cdef int i
        walk.chosen = self.root_count - 1
        for i in range(self.root_count):
            target -= self.root_probability(i, total)
            if target < 0.0:
                walk.chosen = i
                break
        return self.root[walk.chosen].action

    cdef void learn_regret(self, int chosen, double own) noexcept nogil:
        """Regrets from one sampled outcome with each action's mean as control variate (Schmid et al. 2019),
        kept at or above zero (regret matching+). Unbiased, and quiet enough for 64 actions."""
        cdef double total = self.regret_total()
        cdef double value = 0.0, estimate, probability
        cdef double estimates[CHOICES_MAX]
        cdef RootAction* row
        cdef int i
        for i in range(self.root_count):
            row = &self.root[i]
            probability = self.root_probability(i, total)
            estimate = row.utility[self.seat] / row.visits if row.visits else 0.5
            if i == chosen:
                estimate += (own - estimate) / probability
            estimates[i] = estimate
            value += probability * estimate
            row.strategy += (probability - 0.1 / self.root_count) / 0.9
        for i in range(self.root_count):
            self.root[i].regret = max(self.root[i].regret + estimates[i] - value, 0.0)

    # -- what an iteration taught -----------------------------------------------------------------

    cdef inline void walk_back(self, Walk* walk, const double* utility, bint simultaneous_root) noexcept nogil:
        cdef Node* edge
        cdef int i, chosen = walk.chosen
        cdef int32_t scores[SEATS_MAX]
        cdef RootAction* row
        for i in range(walk.length):
            edge = &self.nodes[walk.path[i]]
            edge.visits += 1
            edge.reward += utility[edge.actor]
        if chosen < 0 and walk.length:
            chosen = self.root_index(self.nodes[walk.path[0]].action)
        if chosen < 0:
            return
        if simultaneous_root:
            self.learn_regret(chosen, utility[self.seat])
        row = &self.root[chosen]
        row.visits += 1
        row.square += utility[self.seat] * utility[self.seat]
        self.game.totals(self.state, scores)
        row.gained += scores[self.seat] > self.total_before
        for i in range(self.game.seat_count):
            row.utility[i] += utility[i]
            row.score[i] += scores[i]

    cdef inline int root_index(self, int action) noexcept nogil:
        cdef int i
        for i in range(self.root_count):
            if self.root[i].action == action:
                return i
        return -1
