# A position of Mister Bill. Kinds are numbered 0..12 as in cards.json; a set of kinds or of seats has a bit for each.
from libc.stdint cimport int32_t, uint16_t

from tavolata.ext.core.types cimport octet

cdef enum:
    NONE = 255            # no seat or kind
    SEATS = 8             # most seats of a table
    KINDS = 13
    ROW = 16              # bytes of a row of facts; the last three are zero
    ROUNDS = 3

cdef enum Phase:
    TURN = 0              # the active seat plays a waiter or declines
    GIFT = 1              # givers that have not committed choose a card
    BOOKED = 2            # a round's points are booked, the next is not dealt
    OVER = 3

cdef struct State:
    int32_t totals[8]         # points of finished rounds
    uint16_t hands[8]         # sets of kinds: between decisions no hand holds two of a kind (MB-11)
    uint16_t turns            # turns begun in the round
    uint16_t stall            # turns in a row that ended without a card having left play (MB-23)
    octet facts[9][8][16]     # what an observer knows of a holder's hand, by kind; see facts.pxd. Seat n of
                              # n seats is every spectator: what everybody knows
    octet points[3][8]        # points of each round, the one in progress included
    octet gone[16]            # cards of each kind that have left play; the last three are zero
    octet numbers[8]          # team card of each seat, from 1
    octet sizes[8]            # cards in hand
    octet gifts[8]            # kind a seat has committed to give, NONE before that or where it is not to be seen
    octet out_order[8]        # seats that are out, in order; NONE from out_count on
    octet out_count
    octet completed           # teams that are complete
    octet seats_in            # seats still in
    octet givers              # seats that choose a gift, 0 outside that phase
    octet committed           # those of them that have
    octet target              # of the waiter whose gifts are chosen, or NONE
    octet waiter              # kind of that waiter, or NONE
    octet shifts              # pairs of shift changes yet to take effect; 0 between decisions
    octet has_left            # 1 if a card has left play during this turn
    octet active
    octet dealer
    octet round               # 1..3
    octet phase
    octet padding[7]          # zero: to a multiple of 8 bytes, so that equal positions are equal bytes
