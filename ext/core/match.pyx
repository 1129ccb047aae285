"""A match: options, seed, state and log, behind one checked door (``Match.play``).

Legality is checked here and nowhere else; the rules trust their input. A refused action, or a
step that fails half-way, leaves the match as it was.
"""
import json
import sys

from libc.stdint cimport int32_t, uint8_t, uint32_t
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from tavolata.ext.core.bits cimport lowest
from tavolata.ext.core.chance cimport Chance, KeyedChance
from tavolata.ext.core.digest cimport Sha256, sha256_add, sha256_begin, sha256_end
from tavolata.ext.core.game cimport SEATS_MAX, Dealer, Game
from tavolata.ext.core.log cimport (
    EVERYBODY,
    SPECTATOR,
    TAG_CHANCE,
    TAG_DECISION,
    TAG_EVENT,
    EventLog,
    event_begin,
    log_begin,
    log_end,
    log_word,
)

from tavolata.ext.core.errors import AlreadyCommitted, IllegalAction, MatchOver, NotToAct, StaleTurn
from tavolata.ext.core.records import ChanceOutcome, Decision, MatchEnded, NumberedEvent

# The words of log and records go out as they stand in memory, and are little-endian by definition.
if sys.byteorder != "little":
    raise ImportError("this program runs on little-endian machines")

LOG_DOMAIN = b"tavolata.log.v2\x00"
cdef enum:
    MATCH_ENDED = 0     # the kind of the event, in every game
    EVENT_WORDS = 5     # of an event without content

EVENT_MATCH_ENDED = MATCH_ENDED

cdef extern from *:
    """
    #ifndef TAVOLATA_CHECKED
    #define TAVOLATA_CHECKED 0
    #endif
    """
    int CHECKED "TAVOLATA_CHECKED"


def checked_build() -> bool:
    """Whether this is the build with bounds checks and invariants."""
    return bool(CHECKED)


def header_of(game, commitment: str = "") -> bytes:
    """What the running hash starts from: everything agreed before the deal, as canonical JSON."""
    header = {
        "game": game.spec.id,
        "rules_version": game.spec.rules_version,
        "seats": game.seat_count,
        "options": game.options,
        "commitment": commitment,
    }
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode()


cdef void begin_hash(Sha256* hash, Game game, str commitment):
    """Begin the running hash. Of matches without a commitment a game has only one beginning."""
    cdef bytes begun = game.hash_begun
    if commitment or begun is None:
        start = LOG_DOMAIN + header_of(game, commitment)
        sha256_begin(hash)
        sha256_add(hash, <const uint8_t*> <bytes> start, len(start))
        if not commitment:
            game.hash_begun = (<uint8_t*> hash)[:sizeof(Sha256)]
    else:
        memcpy(hash, <const uint8_t*> begun, sizeof(Sha256))


cdef class Match:
    def __cinit__(self, Game game, *args, **kwargs):
        self.state = <uint8_t*> calloc(1, game.state_bytes)
        self.before = <uint8_t*> malloc(game.state_bytes)
        self.actions = <int32_t*> malloc(game.legal_max * sizeof(int32_t))
        if self.state == NULL or self.before == NULL or self.actions == NULL:
            raise MemoryError

    def __init__(self, Game game, bytes seed, *, dict script=None, str commitment=""):
        """Deal a match.

        seed: 32 bytes; script: chance outcomes fixed by (purpose, round, index), see KeyedChance;
        commitment: the published commitment to the seed, part of the running hash.
        """
        cdef Fault fault
        self.game = game
        self.keyed = KeyedChance(seed, game.purposes, script)
        self.keyed.keyed.log = &self.log
        self.chance.keyed = &self.keyed.keyed
        begin_hash(&self.running, game, commitment)
        with nogil:
            self.game.deal(self.state, &self.chance, &self.log)
            fault = self._settle(0)
        if fault:
            self._raise(fault)

    def __dealloc__(self):
        free(self.state)
        free(self.before)
        free(self.actions)
        free(self.event_at)
        free(self.log.words)

    def copy(self) -> Match:
        """An independent match at the same point."""
        cdef Match twin = Match.__new__(Match, self.game)
        twin.game = self.game
        twin.keyed = KeyedChance(self.keyed.seed, self.keyed.purposes, self.keyed.script)
        twin.keyed.keyed.log = &twin.log
        twin.chance.keyed = &twin.keyed.keyed
        memcpy(twin.state, self.state, self.game.state_bytes)
        twin.log.capacity = max(self.log.used, <size_t> 1)
        twin.log.words = <int32_t*> malloc(twin.log.capacity * sizeof(int32_t))
        twin.event_capacity = max(self.numbered, <size_t> 1)
        twin.event_at = <size_t*> malloc(twin.event_capacity * sizeof(size_t))
        if twin.log.words == NULL or twin.event_at == NULL:
            raise MemoryError
        memcpy(twin.log.words, self.log.words, self.log.used * sizeof(int32_t))
        memcpy(twin.event_at, self.event_at, self.numbered * sizeof(size_t))
        twin.running = self.running
        twin.log.used, twin.numbered = self.log.used, self.numbered
        twin.turn, twin.decision_count, twin.asked = self.turn, self.decision_count, self.asked
        twin.hashed, twin.settled, twin.round_start = self.hashed, self.settled, self.round_start
        return twin

    # -- playing ------------------------------------------------------------------------------------

    @property
    def to_act(self) -> tuple:
        """The seats that must choose, ascending; empty when the match is over."""
        return seats_of(self.game.to_act(self.state))

    @property
    def over(self) -> bool:
        return self.game.over(self.state)

    def legal(self, int seat) -> tuple:
        """The legal actions of a seat, ascending; empty if it has nothing to decide."""
        cdef int i, count
        if not self._is_to_act(seat):
            return ()
        count = self.game.legal(self.state, seat, self.actions)
        return tuple([self.actions[i] for i in range(count)])

    def check(self, int seat, int action, turn=None) -> None:
        """Raise the RulesError that refuses this action, if one does."""
        if self.game.over(self.state):
            raise MatchOver("the match is over")
        if not 0 <= seat < self.game.seat_count:
            raise NotToAct(f"there is no seat {seat}; seats are 0 to {self.game.seat_count - 1} (G-2)")
        if turn is not None and turn != self.turn:
            raise StaleTurn(turn, self.turn)
        if not self._is_to_act(seat):
            if self.asked >> seat & 1:
                raise AlreadyCommitted(f"seat {seat} has committed its choice; it can't be changed (G-2)")
            raise NotToAct(f"seat {seat} is not to act; to act: {', '.join(map(str, self.to_act))} (G-2)")
        if not self.allows(seat, action):
            raise IllegalAction(self.game.why_illegal(self.state[:self.game.state_bytes], seat, action))

    def play(self, int seat, int action, turn=None) -> None:
        """Carry out one action and every forced step after it.

        turn, if given, is the decision that this answers. Raises MatchOver, StaleTurn, NotToAct,
        AlreadyCommitted or IllegalAction (with the rule id), and then nothing has changed.
        """
        cdef Fault fault
        self.check(seat, action, turn)
        with nogil:
            fault = self.step(seat, action)
        if fault:
            self._raise(fault)

    cdef bint allows(self, int seat, int action) noexcept nogil:
        """Whether a seat is to act and may take this action."""
        cdef int count, i
        if not self._is_to_act(seat):
            return False
        count = self.game.legal(self.state, seat, self.actions)
        for i in range(count):
            if self.actions[i] == action:
                return True
        return False

    cdef Fault step(self, int seat, int action) noexcept nogil:
        """Carry out an action that ``allows`` has let through; after a fault nothing has changed."""
        cdef size_t used = self.log.used
        cdef uint32_t pending = self.game.to_act(self.state) & ~(<uint32_t> 1 << seat)
        cdef Fault fault
        memcpy(self.before, self.state, self.game.state_bytes)
        log_begin(&self.log, TAG_DECISION)
        log_word(&self.log, self.turn)
        log_word(&self.log, seat)
        log_word(&self.log, action)
        log_end(&self.log)
        self.game.apply(self.state, seat, action, &self.chance, &self.log)
        fault = self._settle(pending)
        if fault:
            memcpy(self.state, self.before, self.game.state_bytes)
            self.log.used = used
            self.log.out_of_memory = 0
            return fault
        self.decision_count = self.decision_count + 1
        if not pending:
            self.turn = self.turn + 1
        return FAULT_NONE

    cdef Fault _settle(self, uint32_t pending) noexcept nogil:
        """Deal the next round where one has ended, close the match, number what happened."""
        cdef int round_start = self.round_start
        # A log that could not grow has an entry without a size: it can't be counted.
        while not self.log.out_of_memory and self.game.horizon(self.state) and not self.game.over(self.state):
            round_start = <int> self._count_events()
            self.game.advance(self.state, &self.chance, &self.log)
        if self.game.over(self.state):
            self._close()
        if self.keyed.keyed.failed:
            return FAULT_CHANCE
        if self.log.out_of_memory:
            return FAULT_MEMORY
        if CHECKED:
            self.broken = self.game.broken_invariant(self.state)
            if self.broken:
                return FAULT_INVARIANT
        if not self._number():
            return FAULT_MEMORY
        self.round_start = round_start
        if not pending:
            self.asked = self.game.to_act(self.state)
        return FAULT_NONE

    cdef void _close(self) noexcept nogil:
        """Write the event that ends the match."""
        cdef int32_t words[2 * SEATS_MAX]
        cdef int i
        self.game.placement(self.state, words)
        self.game.totals(self.state, words + self.game.seat_count)
        event_begin(&self.log, MATCH_ENDED, <uint32_t> EVERYBODY)
        for i in range(2 * self.game.seat_count):
            log_word(&self.log, words[i])
        log_end(&self.log)

    cdef _raise(self, Fault fault):
        if fault == FAULT_MEMORY:
            raise MemoryError("the log of the match could not grow")
        if fault == FAULT_CHANCE:
            failure, self.keyed.failure = self.keyed.failure, None
            self.keyed.keyed.failed = 0
            raise failure
        raise AssertionError(f"{self.game.spec.id}: invariant {self.broken} does not hold")

    cdef size_t _count_events(self) noexcept nogil:
        """Events logged so far, the ones not numbered yet included."""
        cdef size_t at = self.settled
        cdef size_t count = self.numbered
        while at < self.log.used:
            count += self.log.words[at + 1] == TAG_EVENT
            at += <size_t> self.log.words[at]
        return count

    cdef bint _number(self) noexcept nogil:
        """Number the new events; False, and nothing done, if there is no memory."""
        cdef size_t at = self.settled
        cdef size_t most = self.numbered + (self.log.used - at) // EVENT_WORDS
        cdef size_t capacity
        if most > self.event_capacity:
            capacity = max(2 * self.event_capacity, most, <size_t> 256)
            places = <size_t*> realloc(self.event_at, capacity * sizeof(size_t))
            if places == NULL:
                return False
            self.event_at = places
            self.event_capacity = capacity
        while at < self.log.used:
            if self.log.words[at + 1] == TAG_EVENT:
                self.event_at[self.numbered] = at
                self.numbered = self.numbered + 1
            at += <size_t> self.log.words[at]
        self.settled = at
        return True

    cdef void _hash(self) noexcept nogil:
        """Take into the hash what it has not taken in yet."""
        sha256_add(&self.running, <const uint8_t*> (self.log.words + self.hashed),
                   (self.settled - self.hashed) * sizeof(int32_t))
        self.hashed = self.settled

    cdef bint _is_to_act(self, int seat) noexcept nogil:
        return 0 <= seat < self.game.seat_count and self.game.to_act(self.state) >> seat & 1

    # -- scores -------------------------------------------------------------------------------------

    def totals(self) -> tuple:
        """Points of finished rounds, a number a seat."""
        cdef int32_t words[SEATS_MAX]
        self.game.totals(self.state, words)
        return numbers_of(words, self.game.seat_count)

    def running_points(self) -> tuple:
        """Points of the round in progress, before end-of-round effects."""
        cdef int32_t words[SEATS_MAX]
        self.game.running_points(self.state, words)
        return numbers_of(words, self.game.seat_count)

    def placement(self) -> tuple:
        """Places by the totals as they stand, 1 the best, ties shared."""
        cdef int32_t words[SEATS_MAX]
        self.game.placement(self.state, words)
        return numbers_of(words, self.game.seat_count)

    def utility(self) -> tuple:
        """Each seat's utility in [0, 1] at the end of the match."""
        cdef double values[SEATS_MAX]
        if not self.over:
            raise ValueError("utilities are known when the match is over")
        self.game.utility(self.state, values)
        return tuple(values[i] for i in range(self.game.seat_count))

    # -- what may be seen ---------------------------------------------------------------------------

    def view(self, int viewer) -> bytes:
        """The state with all removed that the viewer, a seat or SPECTATOR (-1), can't know."""
        check_viewer(self.game, viewer)
        view = PyBytes_FromStringAndSize(<char*> self.state, self.game.state_bytes)
        self.game.blank(<uint8_t*> view, viewer)
        return view

    @property
    def event_count(self) -> int:
        return self.numbered

    def events(self, int viewer, int after=0) -> list:
        """The events numbered after+1 and on, as this viewer may see them."""
        cdef int number
        check_viewer(self.game, viewer)
        return [
            NumberedEvent(number + 1, self._event(self.event_at[number], viewer, False))
            for number in range(max(after, 0), <int> self.numbered)
        ]

    def full_events(self) -> list:
        """Every event with its secrets, for the record of a finished match."""
        cdef int number
        return [
            NumberedEvent(number + 1, self._event(self.event_at[number], SPECTATOR, True))
            for number in range(<int> self.numbered)
        ]

    def event_words(self, int viewer, int after=0) -> bytes:
        """The same events as machine words, for players that read them without Python objects.

        An event is ``[size, kind, seen, public count, public..., secret...]``; seen is 1 for who may
        see the secret words, even if there are none, and 0 for whom they are left out.
        """
        cdef size_t first = <size_t> max(after, 0)
        cdef size_t number, words = 0
        cdef int32_t* out
        check_viewer(self.game, viewer)
        for number in range(first, self.numbered):
            words += 4 + event_size(self.log.words + self.event_at[number], viewer)
        told = PyBytes_FromStringAndSize(NULL, words * sizeof(int32_t))
        out = <int32_t*> <char*> told
        for number in range(first, self.numbered):
            out += tell_event(self.log.words + self.event_at[number], viewer, out)
        return told

    cdef object _event(self, size_t at, int viewer, bint all_seen):
        cdef size_t size = <size_t> self.log.words[at]
        cdef int kind = self.log.words[at + 2]
        cdef int public = self.log.words[at + 4]
        cdef size_t first = at + 5
        cdef size_t i
        if public < 0:
            public = <int> size - 5
        shown = tuple([self.log.words[i] for i in range(first, first + public)])
        secret = None
        if all_seen or may_see(self.log.words[at + 3], viewer):
            secret = tuple([self.log.words[i] for i in range(first + public, at + size)])
        if kind == MATCH_ENDED:
            return MatchEnded(shown[:self.game.seat_count], shown[self.game.seat_count:])
        return self.game.event(kind, shown, secret)

    # -- for the record -----------------------------------------------------------------------------

    @property
    def hash(self) -> bytes:
        """The running hash over all that happened, 32 bytes. Worked out when it is asked for."""
        cdef Sha256 so_far
        cdef uint8_t digest[32]
        self._hash()
        so_far = self.running
        sha256_end(&so_far, digest)
        return digest[:32]

    @property
    def decisions(self) -> list:
        """All decisions so far as (turn, seat, action)."""
        cdef size_t at = 0
        cdef list decisions = []
        while at < self.log.used:
            if self.log.words[at + 1] == TAG_DECISION:
                decisions.append((self.log.words[at + 2], self.log.words[at + 3], self.log.words[at + 4]))
            at += <size_t> self.log.words[at]
        return decisions

    def action_words(self) -> bytes:
        """The actions of all decisions so far, 32 bits each, little-endian."""
        cdef size_t at = 0
        cdef bytes actions = PyBytes_FromStringAndSize(NULL, self.decision_count * sizeof(int32_t))
        cdef int32_t* out = <int32_t*> <char*> actions
        while at < self.log.used:
            if self.log.words[at + 1] == TAG_DECISION:
                out[0] = self.log.words[at + 4]
                out += 1
            at += <size_t> self.log.words[at]
        return actions

    @property
    def seed(self) -> bytes:
        """The seed: whoever has it knows every card. Never for players or views."""
        return self.keyed.seed

    def state_bytes(self) -> bytes:
        """The true position, for the record and for tests. Never for players."""
        return self.state[:self.game.state_bytes]

    def entries(self) -> list:
        """The whole log in order: ChanceOutcome, Decision and NumberedEvent, with every secret."""
        cdef size_t at = 0
        cdef size_t size, i
        cdef int32_t* words
        entries = []
        number = 0
        while at < self.log.used:
            words = self.log.words + at
            size = <size_t> words[0]
            if words[1] == TAG_CHANCE:
                name = self.game.purposes[words[2]]
                if words[5] > 0:
                    entries.append(ChanceOutcome(name, words[3], words[4], words[5], (words[6],), ()))
                else:
                    items = tuple([self.game.chance_item(words[2], words[i]) for i in range(6, size)])
                    entries.append(ChanceOutcome(name, words[3], words[4], 0, (), items))
            elif words[1] == TAG_DECISION:
                entries.append(Decision(words[2], words[3], self.game.action_name(words[4])))
            else:
                number += 1
                entries.append(NumberedEvent(number, self._event(at, SPECTATOR, True)))
            at += size
        return entries


cdef check_viewer(Game game, int viewer):
    if not SPECTATOR <= viewer < game.seat_count:
        raise ValueError(f"there is no viewer {viewer}; viewers are seats 0 to {game.seat_count - 1} and {SPECTATOR}")


cdef check_seat(Game game, int seat):
    if not 0 <= seat < game.seat_count:
        raise ValueError(f"there is no seat {seat}; seats are 0 to {game.seat_count - 1}")


cdef int public_words(const int32_t* event) noexcept nogil:
    """How many words of an event's content everybody may see."""
    return event[4] if event[4] >= 0 else event[0] - 5


cdef int event_size(const int32_t* event, int viewer) noexcept nogil:
    """How many words of an event's content this viewer may see."""
    return event[0] - 5 if may_see(event[3], viewer) else public_words(event)


cdef int tell_event(const int32_t* event, int viewer, int32_t* out) noexcept nogil:
    """Write an event as ``Match.event_words`` describes; returns how many words that took."""
    cdef int size = event_size(event, viewer)
    out[0] = size + 4
    out[1] = event[2]
    out[2] = may_see(event[3], viewer)
    out[3] = public_words(event)
    memcpy(out + 4, event + 5, size * sizeof(int32_t))
    return size + 4


cdef bint may_see(int32_t viewers, int viewer) noexcept nogil:
    cdef uint32_t bit = <uint32_t> 1 << (31 if viewer == SPECTATOR else viewer)
    return (<uint32_t> viewers & bit) != 0


cdef tuple numbers_of(const int32_t* words, int count):
    cdef int i
    return tuple([words[i] for i in range(count)])


cdef tuple seats_of(uint32_t mask):
    seats = []
    while mask:
        seats.append(lowest(mask))
        mask &= mask - 1
    return tuple(seats)


cdef tuple legal_of(Game game, const uint8_t* state, int seat):
    cdef int32_t* actions = <int32_t*> malloc(game.legal_max * sizeof(int32_t))
    cdef int i, count
    if actions == NULL:
        raise MemoryError
    count = game.legal(state, seat, actions)
    legal = tuple([actions[i] for i in range(count)])
    free(actions)
    return legal


cdef class Position:
    """A position outside a match: for players' scratch work, analysis and tests.

    Chance here is the fast generator, seeded by the caller; nothing is logged.
    """
    cdef readonly Game game
    cdef uint8_t* state
    cdef Chance chance

    def __cinit__(self, Game game, bytes state, *args, **kwargs):
        if <size_t> len(state) != game.state_bytes:
            raise ValueError(f"a state of this game has {game.state_bytes} bytes, not {len(state)}")
        self.state = <uint8_t*> malloc(game.state_bytes)
        if self.state == NULL:
            raise MemoryError
        memcpy(self.state, <const uint8_t*> state, game.state_bytes)

    def __init__(self, Game game, bytes state, seed: int = 0):
        self.game = game
        self.chance.state = seed & 0xFFFFFFFFFFFFFFFF

    def __dealloc__(self):
        free(self.state)

    def state_bytes(self) -> bytes:
        return self.state[:self.game.state_bytes]

    @property
    def to_act(self) -> tuple:
        return seats_of(self.game.to_act(self.state))

    @property
    def horizon(self) -> bool:
        return self.game.horizon(self.state)

    @property
    def over(self) -> bool:
        return self.game.over(self.state)

    def legal(self, int seat) -> tuple:
        check_seat(self.game, seat)
        return legal_of(self.game, self.state, seat)

    def legal_bits(self, int seat) -> int:
        check_seat(self.game, seat)
        return self.game.legal_bits(self.state, seat)

    def rule(self, int seat) -> int:
        """The rule of thumb's action."""
        check_seat(self.game, seat)
        return self.game.rule(self.state, seat, &self.chance)

    def apply(self, int seat, int action) -> None:
        """Carry out an action; IllegalAction if it is not legal."""
        check_seat(self.game, seat)
        if not self.game.to_act(self.state) >> seat & 1 or action not in self.legal(seat):
            raise IllegalAction(self.game.why_illegal(self.state_bytes(), seat, action))
        self.game.apply(self.state, seat, action, &self.chance, NULL)
        if CHECKED and self.game.broken_invariant(self.state):
            raise AssertionError(f"invariant {self.game.broken_invariant(self.state)} does not hold")

    def advance(self) -> None:
        """Deal the next round; only at a horizon."""
        if not self.game.horizon(self.state) or self.game.over(self.state):
            raise ValueError("no round to deal")
        self.game.advance(self.state, &self.chance, NULL)

    def playout(self, int policy=0) -> None:
        """Play to the horizon or the end: at random (0) or by the rule of thumb (1)."""
        with nogil:
            self.game.playout(self.state, &self.chance, policy)

    def generic_playout(self, int policy=0) -> None:
        """The same by the loop over the interface, the oracle of a game's own playout."""
        with nogil:
            self.game.loop.run(self.game, self.state, &self.chance, policy)

    def blank(self, int viewer) -> bytes:
        check_viewer(self.game, viewer)
        copy = Position(self.game, self.state_bytes())
        self.game.blank(copy.state, viewer)
        return copy.state_bytes()

    def redeal(self, int viewer) -> Position:
        """Another world that the viewer, seeing this position, can't tell from it."""
        cdef Position world = Position(self.game, self.state_bytes())
        world.chance = self.chance
        self.game.dealer(self.blank(viewer), viewer).deal(world.state, &world.chance)
        self.chance.state = world.chance.state
        return world

    def redeals(self, int viewer, int count) -> list:
        """That many such worlds as states, from one dealer as a search makes it."""
        cdef Position world = Position(self.game, self.state_bytes())
        cdef Dealer dealer = self.game.dealer(self.blank(viewer), viewer)
        worlds = []
        for _ in range(count):
            dealer.deal(world.state, &self.chance)
            worlds.append(world.state_bytes())
        return worlds

    def totals(self) -> tuple:
        cdef int32_t words[SEATS_MAX]
        self.game.totals(self.state, words)
        return numbers_of(words, self.game.seat_count)

    def utility(self) -> tuple:
        cdef double values[SEATS_MAX]
        self.game.utility(self.state, values)
        return tuple(values[i] for i in range(self.game.seat_count))
