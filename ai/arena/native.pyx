"""Matches between compiled players, from the deal to the end while the GIL is free.

What happens is what ``duplicate.play_out`` does with the same players and seeds, step for step: each
seat chooses from the blanked state, the answer is checked, and the match is stepped, logged and
hashed by the code behind ``Match.play``.
"""
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from tavolata.ai.basic cimport NativePlayer
from tavolata.ext.core.bits cimport lowest
from tavolata.ext.core.digest cimport Sha256, sha256_add, sha256_begin, sha256_numbers
from tavolata.ext.core.game cimport Game
from tavolata.ext.core.match cimport FAULT_NONE, Fault, Match

from tavolata.ai.arena import timing
from tavolata.ai.basic import is_native

cdef extern from *:
    """
    #include <stdint.h>
    #include <time.h>
    #if defined(__x86_64__) && defined(__GNUC__)
    #include <x86intrin.h>
    static inline uint64_t tav_ticks(void) { return __rdtsc(); }
    #else
    static inline uint64_t tav_ticks(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    #endif
    static inline double tav_seconds(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);  /* the clock of Python's time.monotonic */
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }

    /* The layout of notes.Notes. The reader takes a note only where both counts are the same. */
    typedef struct { int64_t before, position, seat, decision; double since; int64_t after; } tav_note;
    static inline void tav_write_note(volatile tav_note *note, int64_t seat, int64_t decision, double since) {
        int64_t count = note->before + 1;
        note->before = count;
        __atomic_thread_fence(__ATOMIC_RELEASE);
        note->seat = seat;
        note->decision = decision;
        note->since = since;
        __atomic_thread_fence(__ATOMIC_RELEASE);
        note->after = count;
    }

    /* floor(8 * log2(x)) for a positive normal number: eight bins an octave. */
    static inline int tav_eighths(double x) {
        static const double edge[7] = {
            1.0905077326652577, 1.1892071150027210, 1.2968395546510096, 1.4142135623730951,
            1.5422108254079407, 1.6817928305074290, 1.8340080864093424,
        };
        union { double number; uint64_t bits; } split = {x};
        int octave = (int)(split.bits >> 52 & 0x7ff) - 1023, part = 0;
        split.bits = (split.bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
        for (int i = 0; i < 7; i++) part += split.number >= edge[i];
        return 8 * octave + part;
    }
    """
    uint64_t ticks "tav_ticks"() noexcept nogil
    double seconds "tav_seconds"() noexcept nogil
    int eighths "tav_eighths"(double x) noexcept nogil
    ctypedef struct Note "tav_note":
        pass
    void write_note "tav_write_note"(Note* note, int64_t seat, int64_t decision, double since) noexcept nogil

NOTE_BYTES = sizeof(Note)

cdef enum:
    NOBODY = -1
    BINS = 512
    KNOWN = 1024
    LOWEST_BIN = -128

cdef double SHORTEST_MS = timing.SHORTEST_MS
if timing.BINS_PER_OCTAVE != 8 or timing.bin_of(0.0) < LOWEST_BIN:
    raise ImportError("durations are counted in other bins here than in timing.py")

# The processor's counter is read twice for every decision, the clock where a millisecond has gone by. The counter's
# rate is what it was from the start of the process to the start of the match.
cdef uint64_t FIRST_TICKS = ticks()
cdef double FIRST_SECONDS = seconds()


def bin_of(double elapsed_ms) -> int:
    """What ``timing.bin_of`` gives, as it is worked out here. For tests."""
    return eighths(max(elapsed_ms, SHORTEST_MS))


cdef struct Seat:
    void* player                # a NativePlayer, borrowed
    long decisions
    uint64_t think_ticks
    uint32_t bins[BINS]         # decisions by duration, see timing.py

cdef enum Ending:
    PLAYED
    REFUSED                     # a player answered with something that is not legal
    BROKEN                      # the match could not take a step


cdef class NativeMatch:
    """One match and its players.

    players: one a seat, all of classes that ``is_native`` takes; key: the bytes that go before a number in
    the hashes that decisions' seeds come from (duplicate.DecisionSeeds); notes: the buffer of
    notes.Notes, told of every question and answer, or None.
    """
    cdef Match match
    cdef Game game
    cdef tuple players
    cdef Sha256 prefix
    cdef Seat* seats
    cdef uint8_t* shown         # what a seat sees
    cdef uint8_t* common        # the position in which several seats choose at once
    cdef int32_t* legal
    cdef Note unread            # where nobody else reads
    cdef Note* note
    cdef Py_buffer buffer
    cdef uint64_t seeds[8]      # of the decisions from 8n on
    cdef int seeds_at           # 8n, or -1
    cdef uint64_t noted         # the counter at the last look at the clock
    cdef double now_s           # and the clock then
    cdef double ms_a_tick
    cdef uint16_t known_bins[KNOWN]     # number + 1 of a short duration's bin, by ticks; 0: not worked out yet
    cdef Fault fault

    def __cinit__(self, Match match, tuple players, bytes key, notes=None):
        cdef Game game = match.game
        cdef int seat
        if len(players) != game.seat_count or not all([is_native(type(player)) for player in players]):
            raise ValueError(f"{game.seat_count} compiled players are needed, not {players!r}")
        self.match = match
        self.game = game
        self.players = players
        self.seats = <Seat*> calloc(game.seat_count, sizeof(Seat))
        self.shown = <uint8_t*> malloc(game.state_bytes)
        self.common = <uint8_t*> malloc(game.state_bytes)
        self.legal = <int32_t*> malloc(game.legal_max * sizeof(int32_t))
        if not (self.seats and self.shown and self.common and self.legal):
            raise MemoryError
        for seat in range(game.seat_count):
            self.seats[seat].player = <void*> players[seat]
        sha256_begin(&self.prefix)
        sha256_add(&self.prefix, <const uint8_t*> key, len(key))
        self.seeds_at = -1
        self.note = &self.unread
        if notes is not None:
            PyObject_GetBuffer(notes, &self.buffer, PyBUF_WRITABLE)
            if self.buffer.len < <Py_ssize_t> sizeof(Note):
                raise ValueError(f"notes take {sizeof(Note)} bytes, not {self.buffer.len}")
            self.note = <Note*> self.buffer.buf

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)
        free(self.seats)
        free(self.shown)
        free(self.common)
        free(self.legal)

    def play(self) -> bool:
        """Play to the end. False, at the decision where it happened, if an answer is not legal."""
        cdef Ending ending
        with nogil:
            self.look_at_clock(ticks())
            ending = self.run()
        if ending == BROKEN:
            self.match._raise(self.fault)
        return ending == PLAYED

    def spent(self) -> list:
        """Of every seat: how many decisions, milliseconds in all, and decisions by bin of duration."""
        cdef int seat, number
        return [
            (
                self.seats[seat].decisions,
                self.seats[seat].think_ticks * self.ms_a_tick,
                {
                    number + LOWEST_BIN: self.seats[seat].bins[number]
                    for number in range(BINS)
                    if self.seats[seat].bins[number]
                },
            )
            for seat in range(self.game.seat_count)
        ]

    cdef Ending run(self) noexcept nogil:
        cdef const uint8_t* position
        cdef uint32_t waiting, rest
        cdef int seat, action
        while True:
            waiting = self.game.to_act(self.match.state)
            if not waiting:
                return PLAYED
            position = self.match.state
            if waiting & (waiting - 1):
                # Seats of a simultaneous decision choose from what they saw before any of them commits.
                memcpy(self.common, self.match.state, self.game.state_bytes)
                position = self.common
            rest = waiting
            while rest:
                seat = lowest(rest)
                rest &= rest - 1
                action = self.chosen(position, seat)
                if action < 0 or (position == self.common and not self.match.allows(seat, action)):
                    return REFUSED
                self.fault = self.match.step(seat, action)
                if self.fault != FAULT_NONE:
                    return BROKEN

    cdef int chosen(self, const uint8_t* position, int seat) noexcept nogil:
        """The seat's answer from its view of the position, or -1 if it is not legal there."""
        cdef int number = self.match.decision_count
        cdef int count = self.game.legal(position, seat, self.legal)
        cdef uint64_t seed = self.seed_of(number)
        cdef uint64_t began
        cdef int action, i
        memcpy(self.shown, position, self.game.state_bytes)
        self.game.blank(self.shown, seat)
        began = ticks()
        if (began - self.noted) * self.ms_a_tick > 1:
            self.look_at_clock(began)
        write_note(self.note, seat, number, self.now_s)
        action = (<NativePlayer> self.seats[seat].player).choose(
            self.game, self.shown, seat, self.legal, count, seed
        )
        write_note(self.note, NOBODY, 0, self.now_s)
        self.book(&self.seats[seat], ticks() - began)
        for i in range(count):
            if self.legal[i] == action:
                return action
        return -1

    cdef uint64_t seed_of(self, int number) noexcept nogil:
        """The seed of a decision; a hash has four, and two hashes are worked out in the time of one."""
        if self.seeds_at != (number & ~7):
            self.seeds_at = number & ~7
            sha256_numbers(&self.prefix, <uint64_t> number >> 2 & ~1, self.seeds)
        return self.seeds[number & 7]

    cdef void look_at_clock(self, uint64_t counter) noexcept nogil:
        self.noted = counter
        self.now_s = seconds()
        self.ms_a_tick = 1000 * (self.now_s - FIRST_SECONDS) / (counter - FIRST_TICKS)

    cdef inline void book(self, Seat* seat, uint64_t elapsed) noexcept nogil:
        """Add a decision that took so many ticks."""
        seat.decisions += 1
        seat.think_ticks += elapsed
        if elapsed < KNOWN and self.known_bins[elapsed]:
            seat.bins[self.known_bins[elapsed] - 1] += 1
        else:
            self.book_new(seat, elapsed)

    cdef void book_new(self, Seat* seat, uint64_t elapsed) noexcept nogil:
        cdef int number = min(eighths(max(elapsed * self.ms_a_tick, SHORTEST_MS)) - LOWEST_BIN, BINS - 1)
        seat.bins[number] += 1
        if elapsed < KNOWN:
            self.known_bins[elapsed] = <uint16_t> (number + 1)
