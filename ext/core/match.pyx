"""A match: options, seed, state and log, behind one checked door (``Match.play``).

Legality is checked here and nowhere else; the rules trust their input. A refused action, or a
step that fails half-way, leaves the match as it was.
"""
import hashlib
import json

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from tavolata.ext.core.bits cimport lowest
from tavolata.ext.core.chance cimport Chance, KeyedChance
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

LOG_DOMAIN = b"tavolata.log.v1\x00"
EVENT_MATCH_ENDED = 0

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


cdef class Match:
    cdef readonly Game game
    cdef readonly int turn
    cdef readonly int decision_count
    cdef readonly bytes hash
    cdef readonly list decisions          # (turn, seat, action)
    cdef KeyedChance keyed
    cdef Chance chance
    cdef EventLog log
    cdef uint8_t* state
    cdef uint8_t* before                  # the state to go back to when a step fails
    cdef uint32_t asked                   # the seats of the decision in progress, committed or not
    cdef list event_at                    # first word of every event
    cdef size_t hashed                    # words that are in the hash
    cdef readonly int round_start         # events before the round in progress

    def __cinit__(self, Game game, *args, **kwargs):
        self.state = <uint8_t*> calloc(1, game.state_bytes)
        self.before = <uint8_t*> malloc(game.state_bytes)
        if self.state == NULL or self.before == NULL:
            raise MemoryError

    def __init__(self, Game game, bytes seed, *, dict script=None, str commitment=""):
        """Deal a match.

        seed: 32 bytes; script: chance outcomes fixed by (purpose, round, index), see KeyedChance;
        commitment: the published commitment to the seed, part of the running hash.
        """
        self.game = game
        self.keyed = KeyedChance(seed, game.purposes, script)
        self.keyed.log = &self.log
        self.chance.keyed = <void*> self.keyed
        self.decisions = []
        self.event_at = []
        self.hash = hashlib.sha256(LOG_DOMAIN + header_of(game, commitment)).digest()
        game.deal(self.state, &self.chance, &self.log)
        self._settle()

    def __dealloc__(self):
        free(self.state)
        free(self.before)
        free(self.log.words)

    def copy(self) -> Match:
        """An independent match at the same point."""
        cdef Match twin = Match.__new__(Match, self.game)
        twin.game = self.game
        twin.keyed = KeyedChance(self.keyed.seed, self.keyed.purposes, self.keyed.script)
        twin.keyed.log = &twin.log
        twin.chance.keyed = <void*> twin.keyed
        memcpy(twin.state, self.state, self.game.state_bytes)
        twin.log.words = <int32_t*> malloc(max(self.log.used, <size_t> 1) * sizeof(int32_t))
        if twin.log.words == NULL:
            raise MemoryError
        memcpy(twin.log.words, self.log.words, self.log.used * sizeof(int32_t))
        twin.log.used = self.log.used
        twin.log.capacity = max(self.log.used, <size_t> 1)
        twin.turn, twin.decision_count, twin.asked = self.turn, self.decision_count, self.asked
        twin.hash, twin.hashed, twin.round_start = self.hash, self.hashed, self.round_start
        twin.decisions, twin.event_at = list(self.decisions), list(self.event_at)
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
        if not self._is_to_act(seat):
            return ()
        return legal_of(self.game, self.state, seat)

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
        if action not in legal_of(self.game, self.state, seat):
            raise IllegalAction(self.game.why_illegal(self.state[:self.game.state_bytes], seat, action))

    def play(self, int seat, int action, turn=None) -> None:
        """Carry out one action and every forced step after it.

        turn, if given, is the decision that this answers. Raises MatchOver, StaleTurn, NotToAct,
        AlreadyCommitted or IllegalAction (with the rule id), and then nothing has changed.
        """
        cdef size_t used = self.log.used
        cdef uint32_t pending
        self.check(seat, action, turn)
        memcpy(self.before, self.state, self.game.state_bytes)
        pending = self.game.to_act(self.state) & ~(<uint32_t> 1 << seat)
        log_begin(&self.log, TAG_DECISION)
        log_word(&self.log, self.turn)
        log_word(&self.log, seat)
        log_word(&self.log, action)
        log_end(&self.log)
        with nogil:
            self.game.apply(self.state, seat, action, &self.chance, &self.log)
        try:
            self._settle(pending)
        except BaseException:
            memcpy(self.state, self.before, self.game.state_bytes)
            self.log.used = used
            self.log.out_of_memory = 0
            while self.event_at and self.event_at[len(self.event_at) - 1] >= used:
                self.event_at.pop()
            raise
        self.decisions.append((self.turn, seat, action))
        self.decision_count += 1
        if not pending:
            self.turn += 1

    cdef _settle(self, uint32_t pending=0):
        """Deal the next round where one has ended, close the match, number and hash what happened."""
        cdef int32_t words[2 * SEATS_MAX]
        cdef int i, round_start = self.round_start
        # A log that could not grow has an entry without a size: it can't be counted.
        while not self.log.out_of_memory and self.game.horizon(self.state) and not self.game.over(self.state):
            round_start = self._count_events()
            self.game.advance(self.state, &self.chance, &self.log)
        if self.game.over(self.state):
            self.game.placement(self.state, words)
            self.game.totals(self.state, words + self.game.seat_count)
            event_begin(&self.log, EVENT_MATCH_ENDED, <uint32_t> EVERYBODY)
            for i in range(2 * self.game.seat_count):
                log_word(&self.log, words[i])
            log_end(&self.log)
        if self.log.out_of_memory:
            raise MemoryError("the log of the match could not grow")
        if self.keyed.failure is not None:
            failure, self.keyed.failure = self.keyed.failure, None
            raise failure
        if CHECKED:
            broken = self.game.broken_invariant(self.state)
            if broken:
                raise AssertionError(f"{self.game.spec.id}: invariant {broken} does not hold")
        self._number_and_hash()
        self.round_start = round_start
        if not pending:
            self.asked = self.game.to_act(self.state)

    cdef int _count_events(self):
        """Events logged so far, the ones not numbered yet included."""
        cdef size_t at = self.hashed
        cdef int count = len(self.event_at)
        while at < self.log.used:
            count += self.log.words[at + 1] == TAG_EVENT
            at += <size_t> self.log.words[at]
        return count

    cdef _number_and_hash(self):
        cdef size_t at = self.hashed
        cdef size_t size
        digest = self.hash
        while at < self.log.used:
            size = <size_t> self.log.words[at]
            digest = hashlib.sha256(digest + words_as_bytes(self.log.words + at, size)).digest()
            if self.log.words[at + 1] == TAG_EVENT:
                self.event_at.append(at)
            at += size
        self.hash = digest
        self.hashed = at

    cdef bint _is_to_act(self, int seat):
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
        cdef bytearray copy = bytearray(self.state[:self.game.state_bytes])
        cdef uint8_t* raw = copy
        check_viewer(self.game, viewer)
        self.game.blank(raw, viewer)
        return bytes(copy)

    @property
    def event_count(self) -> int:
        return len(self.event_at)

    def events(self, int viewer, int after=0) -> list:
        """The events numbered after+1 and on, as this viewer may see them."""
        cdef int number
        check_viewer(self.game, viewer)
        return [
            NumberedEvent(number + 1, self._event(self.event_at[number], viewer, False))
            for number in range(max(after, 0), len(self.event_at))
        ]

    def full_events(self) -> list:
        """Every event with its secrets, for the record of a finished match."""
        cdef int number
        return [
            NumberedEvent(number + 1, self._event(self.event_at[number], SPECTATOR, True))
            for number in range(len(self.event_at))
        ]

    def event_words(self, int viewer, int after=0) -> bytes:
        """The same events as machine words, for players that read them without Python objects.

        An event is ``[size, kind, seen, public count, public..., secret...]``; seen is 1 for who may
        see the secret words, even if there are none, and 0 for whom they are left out.
        """
        cdef list parts = []
        cdef int32_t head[4]
        cdef bint seen
        cdef int number
        cdef size_t at, size
        cdef int public
        check_viewer(self.game, viewer)
        for number in range(max(after, 0), len(self.event_at)):
            at = self.event_at[number]
            size = <size_t> self.log.words[at]
            public = self.log.words[at + 4]
            if public < 0:
                public = <int> size - 5
            seen = may_see(self.log.words[at + 3], viewer)
            if not seen:
                size = 5 + public
            head[0] = <int32_t> size - 1
            head[1] = self.log.words[at + 2]
            head[2] = seen
            head[3] = public
            parts.append((<uint8_t*> head)[:sizeof(head)])
            parts.append((<uint8_t*> (self.log.words + at + 5))[:(size - 5) * sizeof(int32_t)])
        return b"".join(parts)

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
        if kind == EVENT_MATCH_ENDED:
            return MatchEnded(shown[:self.game.seat_count], shown[self.game.seat_count:])
        return self.game.event(kind, shown, secret)

    # -- for the record -----------------------------------------------------------------------------

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


cdef bint may_see(int32_t viewers, int viewer) noexcept nogil:
    cdef uint32_t bit = <uint32_t> 1 << (31 if viewer == SPECTATOR else viewer)
    return (<uint32_t> viewers & bit) != 0


cdef bytes words_as_bytes(const int32_t* words, size_t count):
    """Little-endian on every machine, since the running hash is checked elsewhere."""
    return (<const uint8_t*> words)[:count * sizeof(int32_t)]


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
