# A position of La bouillabaisse. A card is a bit: 16 x suit + rank, suits C D H S, rank 0 (the 2) to 12 (the ace).
from libc.stdint cimport int16_t, int32_t, uint64_t

from tavolata.ext.core.types cimport octet

cdef enum:
    NONE = 255            # no suit, rank, card or seat

cdef enum Phase:
    PLAY = 0              # a seat is to play a card
    BOOKED = 1            # a round's points are booked, the next is not dealt
    OVER = 2

cdef struct State:
    uint64_t hand[12]           # cards a seat holds at least once
    uint64_t twin[12]           # cards a seat holds twice (two decks)
    uint64_t played             # cards played this round at least once
    uint64_t played_twin        # cards played twice
    uint64_t trick_cards        # cards in the trick, at least once
    uint64_t trick_twins        # cards twice in the trick
    uint64_t led                # all cards of the led suit; 0 while nothing is led
    uint64_t best               # the card that takes the trick so far
    uint64_t suit_cards         # cards that count as of the drawn suit this round
    uint64_t rank_cards         # the same of the drawn rank
    uint64_t drawn_cards        # the drawn card, where it counts this round
    int32_t totals[12]          # points of finished rounds
    int16_t points[12]          # points of the round in progress, before all_or_nothing
    int16_t round_points[6][12] # points of each finished round
    octet voids[12]           # bit per suit: the seat has shown that it holds none
    octet trick[12]           # cards of the trick in the order played
    octet last_trick[12]      # cards of the trick before
    octet tricks_taken[12]    # this round
    octet trick_count         # cards in the trick
    octet tricks_played       # finished tricks of this round
    octet last_leader         # seat that led the trick before, NONE before the first is taken
    octet last_winner
    octet winner              # seat that takes the trick so far
    octet leader              # seat that led, or leads, the trick
    octet seat                # seat to play
    octet dealer
    octet round               # 1..6
    octet phase
    octet drawn_suit          # 0..3, NONE before round 2
    octet drawn_rank          # rank 0..12, NONE before round 3
    octet drawn_card          # card, NONE before round 4
    octet padding[3]            # zero: to a multiple of 8 bytes, so that equal positions are equal bytes
