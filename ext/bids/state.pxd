# A position of Bids. A coloured card c (0..55) is bit c of a word, 14 x colour + number - 1; a card from 56 on (black
# number 56 + number - 1, 2X, -5, Surprise, Lowest, Thief, Ally) is bit card - 56 of another word.
from libc.stdint cimport int16_t, int32_t, uint32_t, uint64_t

from tavolata.ext.core.types cimport octet

cdef enum:
    NONE = 255            # no card, seat or place
    SEATS = 6             # most seats of a table
    PILE_MAX = 16         # most cards in the pile
    ROUNDS = 20           # most rounds of a match
    FIRST_BLACK = 56      # cards from here on stand in the second word
    DOUBLE = 70           # 2X
    MINUS_FIVE = 71
    SURPRISE = 72
    LOWEST = 73
    THIEF = 74
    ALLY = 75
    CARDS = 76

cdef enum Phase:
    BID = 0               # a seat is to bid a card
    THEFT = 1             # the winner of a trick is to steal a card
    BOOKED = 2            # a round's points are booked, the next is not dealt
    OVER = 3

cdef struct State:
    uint64_t hand[6]          # coloured cards a seat holds
    uint64_t left_over        # coloured cards set aside this round
    uint64_t played           # coloured cards bid this round
    uint32_t black[6]         # black cards and Ally a seat holds in its hand
    uint32_t won[6]           # blacks a seat won or stole this round and still has: numbers and -5
    uint32_t played_black     # black cards and Ally that left a hand or the pile openly this round
    int32_t totals[6]         # points of finished rounds
    int16_t points[6]         # points of the round in progress, before the alliance and lucky losers
    int16_t round_points[20][6]  # points of each finished round
    octet pile[16]            # cards from the top, NONE where not to be seen; zero from pile_size on
    octet bids[6]             # cards of the trick in the order bid, zero from bid_count on
    octet last_bids[6]        # the same of the trick before
    octet tricks_won[6]       # this round
    octet lucky[6]            # rounds of the match without a trick
    octet minus_fives[6]      # how often a seat won -5 in the match, thefts counted
    octet pile_size
    octet pile_known          # cards at the bottom of the pile that everybody has seen
    octet blacks_held         # black cards in hands, all hands together
    octet lowest              # 1: the lowest number wins
    octet lowest_next         # 1: from the next trick on (taken under Surprise)
    octet centre              # card, NONE while there is none
    octet bid_count           # bids in the trick
    octet winning             # seat that would win if no more were bid, NONE if none would
    octet victims             # seats that may be robbed in phase theft, a bit each
    octet ally                # seat that played the Ally to a trick that was won, or NONE
    octet ally_winner         # the seat that won it, or NONE
    octet leader              # seat that led, or leads, the trick
    octet seat                # seat to act
    octet first_leader        # seat that led the round's first trick
    octet last_leader         # seat that led the trick before, NONE before the first ends
    octet last_winner         # seat that won it, NONE if it was burnt
    octet last_centre         # its centre
    octet tricks_played       # finished tricks of this round
    octet round               # 1..20
    octet phase
    octet padding[6]          # zero: to a multiple of 8 bytes, so that equal positions are equal bytes
