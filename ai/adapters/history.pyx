"""A history of play with chance in it: what walks a game's tree needs, one step at a time.

A match has its chance from a seed. Here chance is asked: a step that needs an outcome is taken back
and the history stands at a chance node until ``answer`` has said what it is; then the step is taken
again, and its rules find the answer where they look for it. A shuffle is asked item by item.

Decisions of several seats at once are put one after another, the lowest seat first; in a sampled
world the seat that it was sampled for. The views and events of the later ones hold nothing of what
the earlier chose.
"""
import hashlib

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

from tavolata.ext.core.bits cimport lowest
from tavolata.ext.core.chance cimport Chance, KeyedChance, random_below
from tavolata.ext.core.game cimport POLICY_RANDOM, POLICY_RULE, SEATS_MAX, Dealer, Game
from tavolata.ext.core.log cimport (
    EVERYBODY,
    TAG_EVENT,
    EventLog,
    event_begin,
    log_end,
    log_grow,
    log_word,
)
from tavolata.ext.core.match cimport event_size, tell_event

from tavolata.ai.adapters.games import game_of
from tavolata.ai.player import Observation
from tavolata.ext.core.errors import IllegalAction, MatchOver, NotToAct
from tavolata.ext.core.match import EVENT_MATCH_ENDED

CHANCE = -1      # who is to act at a chance node; also OpenSpiel's number for it
TERMINAL = -4    # who is to act when the match is over, likewise

cdef enum:
    NOBODY = -2                 # no step is waiting for chance
    THE_DEAL = -3               # the deal is
    NUMBER_WIDTH = 12           # of a number of 32 bits in text, with what follows it
    HEAD = 4                    # words of an event before its content

cdef bytes NO_SEED = bytes(32)


class ChanceAsked(Exception):
    """Rules have asked for an outcome that has no answer yet."""


cdef class Asker(KeyedChance):
    """Chance that has the answers it was given and notes the first question without one.

    answers: outcomes by (purpose, round, index); question: (purpose as number, round, index, items),
    the items of a pick being the numbers from 0.
    """
    cdef dict answers
    cdef tuple question
    cdef bint picks     # the question is a pick, not a shuffle

    def __init__(self, tuple purposes):
        super().__init__(NO_SEED, purposes)
        self.keyed.script = <void*> self

    def outcome_of_pick(self, int purpose, int round, int index, int n):
        if n == 1:
            return 0
        return self._answer(purpose, round, index, tuple(range(n)), True)

    def outcome_of_shuffle(self, int purpose, int round, int index, list items):
        if len(set(items)) < 2:
            return items
        return self._answer(purpose, round, index, tuple(items), False)

    cdef object _answer(self, int purpose, int round, int index, tuple items, bint picks):
        # What rules do after a first unanswered question is taken back with it.
        if self.question is None:
            answer = self.answers.get((purpose, round, index))
            if answer is not None:
                return answer
            self.question = (purpose, round, index, items)
            self.picks = picks
        raise ChanceAsked


cdef class History:
    """A match from the deal on, or a sampled world from some decision on.

    decision_count: decisions taken; turn: number of the decision point, as in a match.
    """
    cdef readonly Game game
    cdef readonly int turn
    cdef readonly int decision_count
    cdef uint8_t* state
    cdef uint8_t* before       # the state to go back to when chance is asked
    cdef EventLog log          # events only, since `base` if there is one
    cdef size_t round_at       # words of the log before the round in progress
    cdef int waiting           # the seat whose step waits for chance, NOBODY or THE_DEAL
    cdef int action            # of that step
    cdef int first             # who is first at the simultaneous decision in progress, or NOBODY
    cdef Asker asker
    cdef list left             # items not yet drawn of the shuffle in question, ascending
    cdef list drawn            # items drawn, in order
    cdef bytes base            # the state a sampled world began with, or None
    cdef int observer          # the seat it was sampled for
    cdef bytes told_before     # that seat's events before it
    cdef size_t round_before   # bytes of them before the round that was in progress

    def __cinit__(self, Game game, *args, **kwargs):
        self.state = <uint8_t*> calloc(1, game.state_bytes)
        self.before = <uint8_t*> calloc(1, game.state_bytes)
        if self.state == NULL or self.before == NULL:
            raise MemoryError

    def __init__(self, Game game):
        """A history before the deal, whose chance is asked first."""
        self._prepare(game)
        self.waiting = THE_DEAL
        self._step()

    def __dealloc__(self):
        free(self.state)
        free(self.before)
        free(self.log.words)

    cdef _prepare(self, Game game):
        self.game = game
        self.asker = Asker(game.purposes)
        self.asker.answers = {}
        self.left, self.drawn = [], []
        self.waiting = self.first = NOBODY
        self.told_before = b""

    # -- copies -------------------------------------------------------------------------------------

    def copy(self) -> History:
        """An independent history at the same point."""
        cdef History twin = History.__new__(History, self.game)
        twin._prepare(self.game)
        memcpy(twin.state, self.state, self.game.state_bytes)
        twin._take_log(<const uint8_t*> self.log.words, self.log.used)
        twin.turn, twin.decision_count, twin.round_at = self.turn, self.decision_count, self.round_at
        twin.waiting, twin.action, twin.first = self.waiting, self.action, self.first
        twin.asker.answers = dict(self.asker.answers)
        twin.asker.question, twin.asker.picks = self.asker.question, self.asker.picks
        twin.left, twin.drawn = list(self.left), list(self.drawn)
        twin.base, twin.observer = self.base, self.observer
        twin.told_before, twin.round_before = self.told_before, self.round_before
        return twin

    cdef _take_log(self, const uint8_t* words, size_t count):
        while self.log.capacity < count and not self.log.out_of_memory:
            log_grow(&self.log)
        if self.log.out_of_memory:
            raise MemoryError("the events of the history could not be stored")
        if count:
            memcpy(self.log.words, words, count * sizeof(int32_t))
        self.log.used = count

    def content(self) -> tuple:
        """All there is to it but the game: what ``restored`` takes. Holds every secret."""
        return (
            self.state[:self.game.state_bytes],
            (<char*> self.log.words)[:self.log.used * sizeof(int32_t)] if self.log.used else b"",
            self.round_at, self.turn, self.decision_count, self.waiting, self.action,
            dict(self.asker.answers), self.asker.question, bool(self.asker.picks),
            list(self.left), list(self.drawn),
            self.base, self.observer, self.told_before, self.round_before, self.first,
        )

    @staticmethod
    def restored(Game game, tuple content) -> History:
        """The history whose ``content`` this is. Trusts it, as pickles are trusted."""
        cdef History made = History.__new__(History, game)
        cdef bytes state, words
        made._prepare(game)
        (
            state, words, made.round_at, made.turn, made.decision_count, made.waiting, made.action,
            made.asker.answers, made.asker.question, made.asker.picks, made.left, made.drawn,
            made.base, made.observer, made.told_before, made.round_before, made.first,
        ) = content
        if <size_t> len(state) != game.state_bytes or len(words) % sizeof(int32_t):
            raise ValueError(f"no history of this game: its state has {len(state)} bytes, not {game.state_bytes}")
        memcpy(made.state, <const uint8_t*> state, game.state_bytes)
        made._take_log(<const uint8_t*> words, len(words) // sizeof(int32_t))
        return made

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return restored, (self.game.spec.id, self.game.seat_count, self.game.options, self.content())

    # -- worlds -------------------------------------------------------------------------------------

    def redealt(self, int seat, object seed) -> History:
        """A world that fits all that the seat to act knows, every physical deal as likely as any other,
        and every choice that others have made in secret.

        The seat's events are the same in it; those of others go on from what they see in it now.
        seed: 64 bits. ValueError for any other seat, at a chance node and at the end.
        """
        if self.to_act < 0 or seat != self.to_act:
            raise ValueError("a world is sampled for the seat to act, at a decision")
        told = self.told(seat)
        return History.sampled(
            self.game, seat, self.turn, self.view(seat), told, len(told) - len(self.told_this_round(seat)), seed
        )

    @staticmethod
    def of_observation(observation, object seed) -> History:
        """A world that fits an observation. Of earlier rounds the seat's events are not there."""
        return History.sampled(
            observation.game, observation.seat, observation.turn, observation.view_bytes,
            observation.event_words, 0, seed,
        )

    @staticmethod
    def sampled(Game game, int seat, int turn, bytes view, bytes told, size_t round_before, object seed) -> History:
        """A world dealt from a seat's view.

        told: the seat's event words so far; round_before: bytes of them before this round.
        """
        cdef History world = History.__new__(History, game)
        cdef Dealer dealer = game.dealer(view, seat)
        cdef Chance chance
        world._prepare(game)
        chance.keyed = NULL
        chance.state = seed & 0xFFFFFFFFFFFFFFFF
        dealer.deal(world.state, &chance)
        world._commit(game.to_act(<const uint8_t*> view), &chance)
        world.base = world.state[:game.state_bytes]
        world.observer, world.turn, world.first = seat, turn, seat
        world.told_before, world.round_before = told, round_before
        return world

    cdef _commit(self, uint32_t open_seats, Chance* chance):
        """Choose again, at random, what a dealer has withdrawn: choices of seats that have committed, as
        their being made is public and their being legal hangs on the hand that was dealt."""
        cdef int32_t* actions = <int32_t*> malloc(self.game.legal_max * sizeof(int32_t))
        cdef uint32_t withdrawn = self.game.to_act(self.state) & ~open_seats
        cdef int seat, count
        if actions == NULL:
            raise MemoryError
        while withdrawn:
            seat = lowest(withdrawn)
            withdrawn &= withdrawn - 1
            count = self.game.legal(self.state, seat, actions)
            self.game.apply(self.state, seat, actions[random_below(&chance.state, count)], chance, NULL)
        free(actions)

    # -- playing ------------------------------------------------------------------------------------

    @property
    def to_act(self) -> int:
        """The seat to decide, CHANCE or TERMINAL."""
        cdef uint32_t seats
        if self.waiting != NOBODY:
            return CHANCE
        if self.game.over(self.state):
            return TERMINAL
        seats = self.game.to_act(self.state)
        if self.first != NOBODY and seats >> self.first & 1:
            return self.first
        return lowest(seats)

    def legal(self) -> list:
        """The legal actions of the seat to act, ascending; empty where no seat is."""
        cdef int seat = self.to_act
        cdef int i, count
        cdef int32_t* actions
        if seat < 0:
            return []
        actions = <int32_t*> malloc(self.game.legal_max * sizeof(int32_t))
        if actions == NULL:
            raise MemoryError
        count = self.game.legal(self.state, seat, actions)
        legal = [actions[i] for i in range(count)]
        free(actions)
        return legal

    def play(self, int action) -> None:
        """Take an action of the seat to act; IllegalAction, NotToAct or MatchOver, and nothing done, if
        it can't be."""
        cdef int seat = self.to_act
        if seat == TERMINAL:
            raise MatchOver("the match is over")
        if seat == CHANCE:
            raise NotToAct("no seat is to act at a chance node")
        if action not in self.legal():
            raise IllegalAction(self.game.why_illegal(self.state[:self.game.state_bytes], seat, action))
        self.waiting, self.action = seat, action
        self._step()

    def outcomes(self) -> list:
        """What chance may give here, as (number, probability), ascending; empty off a chance node.

        Of a pick the numbers are 0 and on, of a shuffle the items that may come next, named alike if
        they are alike.
        """
        cdef double count = len(self.left)
        return [(item, self.left.count(item) / count) for item in sorted(set(self.left))]

    def outcome_name(self, int outcome) -> str:
        """An outcome in words: ``deal QC``, ``roll 3``."""
        if self.asker.question is None:
            raise ValueError("there is no question of chance")
        purpose = self.asker.question[0]
        item = str(outcome) if self.asker.picks else self.game.chance_item(purpose, outcome)
        return f"{self.game.purposes[purpose]} {item}"

    def answer(self, int outcome) -> None:
        """Say what chance gives; ValueError, and nothing done, if it can't be that."""
        if outcome not in self.left:
            raise ValueError(f"chance can't give {outcome} here; possible: {sorted(set(self.left))}")
        purpose, round, index, _ = self.asker.question
        if self.asker.picks:
            self.asker.answers[purpose, round, index] = outcome
        else:
            self.drawn.append(outcome)
            self.left.remove(outcome)
            if len(set(self.left)) > 1:
                return
            self.asker.answers[purpose, round, index] = self.drawn + self.left
        self._step()

    cdef _step(self):
        """Take the step that waits, up to the next decision, question or the end."""
        cdef size_t used = self.log.used
        cdef size_t round_at = self.round_at
        cdef uint32_t others = 0
        cdef Chance chance
        self.left, self.drawn = [], []
        self.asker.question = None
        self.asker.keyed.failed = 0
        chance.keyed = &self.asker.keyed
        chance.state = 0
        memcpy(self.before, self.state, self.game.state_bytes)
        if self.waiting == THE_DEAL:
            self.game.deal(self.state, &chance, &self.log)
        else:
            others = self.game.to_act(self.state) & ~(<uint32_t> 1 << self.waiting)
            self.game.apply(self.state, self.waiting, self.action, &chance, &self.log)
        while not self._stopped() and self.game.horizon(self.state) and not self.game.over(self.state):
            round_at = self.log.used
            self.game.advance(self.state, &chance, &self.log)
        if not self._stopped() and self.game.over(self.state):
            self._close()
        if self._stopped():
            self._take_back(used)
            return
        self.asker.answers.clear()
        if self.waiting >= 0:
            self.decision_count += 1
            if not others:
                self.turn += 1
                self.first = NOBODY
        self.waiting, self.round_at = NOBODY, round_at

    cdef bint _stopped(self) noexcept:
        return self.asker.keyed.failed or self.log.out_of_memory

    cdef _take_back(self, size_t used):
        memcpy(self.state, self.before, self.game.state_bytes)
        self.log.used = used
        if self.log.out_of_memory:
            self.log.out_of_memory = 0
            raise MemoryError("the events of the history could not be stored")
        self.left = sorted(self.asker.question[3])

    cdef void _close(self) noexcept:
        """Write the event that ends a match, as a match does."""
        cdef int32_t words[2 * SEATS_MAX]
        cdef int i
        self.game.placement(self.state, words)
        self.game.totals(self.state, words + self.game.seat_count)
        event_begin(&self.log, EVENT_MATCH_ENDED, <uint32_t> EVERYBODY)
        for i in range(2 * self.game.seat_count):
            log_word(&self.log, words[i])
        log_end(&self.log)

    def play_out(self, object seed, bint by_rule=False) -> tuple:
        """The totals at the end if all goes on at random, or by the rule of thumb; nothing changes here.

        seed: 64 bits. ValueError at a chance node.
        """
        cdef int32_t totals[SEATS_MAX]
        cdef Chance chance
        cdef int i
        if self.waiting != NOBODY:
            raise ValueError("a playout starts at a decision")
        chance.keyed = NULL
        chance.state = seed & 0xFFFFFFFFFFFFFFFF
        memcpy(self.before, self.state, self.game.state_bytes)
        while not self.game.over(self.before):
            self.game.playout(self.before, &chance, POLICY_RULE if by_rule else POLICY_RANDOM)
            if not self.game.over(self.before):
                self.game.advance(self.before, &chance, NULL)
        self.game.totals(self.before, totals)
        return tuple([totals[i] for i in range(self.game.seat_count)])

    # -- what is known ------------------------------------------------------------------------------

    def totals(self) -> tuple:
        """Points of finished rounds, a number a seat."""
        cdef int32_t totals[SEATS_MAX]
        cdef int i
        if self.waiting == THE_DEAL:
            return (0,) * self.game.seat_count
        self.game.totals(self.state, totals)
        return tuple([totals[i] for i in range(self.game.seat_count)])

    def state_bytes(self) -> bytes:
        """The true position, for tests and for the record. Never for players."""
        return self.state[:self.game.state_bytes]

    def view(self, int viewer) -> bytes:
        """The state with all removed that the viewer can't know; zeros before the deal."""
        self._check(viewer)
        if self.waiting == THE_DEAL:
            return bytes(self.game.state_bytes)
        view = PyBytes_FromStringAndSize(<char*> self.state, self.game.state_bytes)
        self.game.blank(<uint8_t*> PyBytes_AS_STRING(view), viewer)
        return view

    def told(self, int viewer) -> bytes:
        """The viewer's events as ``Match.event_words`` gives them: all, or in a sampled world those
        since it was sampled and, for the seat it was sampled for, those before."""
        self._check(viewer)
        words = self._words(viewer, 0)
        return self.told_before + words if self.base is not None and viewer == self.observer else words

    def told_this_round(self, int viewer) -> bytes:
        """Those of the round in progress."""
        self._check(viewer)
        if self.round_at or self.base is None or viewer != self.observer:
            return self._words(viewer, self.round_at)
        return self.told_before[self.round_before:] + self._words(viewer, 0)

    def information_state(self, int seat) -> str:
        """All that the seat has been told, as text without loss.

        An event is ``kind:public numbers`` and, if the seat may know them, ``;secret numbers``. In a
        sampled world others than the observer have a digest of their first view before it.
        """
        start = ""
        if self.base is not None and seat != self.observer:
            start = f"world {self._digest(seat)} "
        return f"seat {seat} {start}{text_of(self.told(seat))}"

    def observation(self) -> Observation:
        """What the seat to act knows, for a player; ValueError where none is."""
        seat = self.to_act
        if seat < 0:
            raise ValueError("no seat is to act")
        return Observation(
            self.game, seat, self.turn, self.view(seat), tuple(self.legal()), self.told_this_round(seat)
        )

    def __str__(self) -> str:
        """The position as the game's one line of text, and the step that waits for chance."""
        state = self.game.format_state(self.state[:self.game.state_bytes]) if self.waiting != THE_DEAL else ""
        if self.waiting == NOBODY:
            return state
        step = "deal" if self.waiting == THE_DEAL else f"{self.waiting} {self.game.action_name(self.action)}"
        return f"{state} | {step} | {sorted(self.asker.answers.items())} {self.asker.question[:3]} {self.drawn}"

    cdef str _digest(self, int seat):
        view = PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.base), len(self.base))
        self.game.blank(<uint8_t*> PyBytes_AS_STRING(view), seat)
        return hashlib.blake2b(view, digest_size=16).hexdigest()

    cdef _check(self, int viewer):
        if not -1 <= viewer < self.game.seat_count:
            raise ValueError(f"there is no viewer {viewer}; viewers are -1 to {self.game.seat_count - 1}")

    cdef bytes _words(self, int viewer, size_t start):
        cdef size_t at = start
        cdef size_t count = 0
        cdef bytes told
        cdef int32_t* out
        while at < self.log.used:
            count += HEAD + event_size(self.log.words + at, viewer)
            at += <size_t> self.log.words[at]
        told = PyBytes_FromStringAndSize(NULL, count * sizeof(int32_t))
        out = <int32_t*> PyBytes_AS_STRING(told)
        at = start
        while at < self.log.used:
            out += tell_event(self.log.words + at, viewer, out)
            at += <size_t> self.log.words[at]
        return told


def restored(str game_id, int seats, dict options, tuple content) -> History:
    """The history out of a pickle."""
    return History.restored(game_of(game_id, seats, options), content)


def text_of(bytes words) -> str:
    """Event words as text, see ``History.information_state``."""
    cdef const int32_t* word = <const int32_t*> PyBytes_AS_STRING(words)
    cdef int count = len(words) // sizeof(int32_t)
    cdef char* text = <char*> malloc(count * NUMBER_WIDTH + 1)
    cdef char* out = text
    cdef int at = 0
    cdef int i, size, secret
    if text == NULL:
        raise MemoryError
    while at < count:
        size, secret = word[at], HEAD + word[at + 3]
        out = put_number(out, word[at + 1], b":")
        for i in range(HEAD, secret):
            out = put_number(out, word[at + i], b",")
        if word[at + 2] and secret < size:
            out[0] = b";"
            out += 1
        for i in range(secret, size):
            out = put_number(out, word[at + i], b",")
        out[0] = b" "
        out += 1
        at += size
    try:
        return text[:out - text].decode("ascii")
    finally:
        free(text)


cdef char* put_number(char* out, int32_t number, char after) noexcept:
    """Write a number and one letter; returns the place after them."""
    cdef char digits[NUMBER_WIDTH]
    cdef int count = 0
    cdef uint32_t rest = <uint32_t> number if number >= 0 else ~<uint32_t> number + 1
    if number < 0:
        out[0] = b"-"
        out += 1
    while True:
        digits[count] = <char> (48 + rest % 10)
        count += 1
        rest //= 10
        if not rest:
            break
    while count:
        count -= 1
        out[0] = digits[count]
        out += 1
    out[0] = after
    return out + 1
