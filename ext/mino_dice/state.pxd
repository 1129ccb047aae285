# A position of Mino Dice. Kinds of dice: minotaur griffin mermaid red yellow purple gray (0..6); a set of kinds has
# a bit for each. Faces: minotaur griffin mermaid flag 1..7 (0..10). What each face takes over from is in dice.py.
from libc.stdint cimport int16_t, int32_t, uint16_t

from tavolata.ext.core.types cimport octet

cdef enum:
    NONE = 255            # no bid or seat
    NO_FACE = 11          # nothing is rolled in the trick yet; every face takes over from it
    SEATS = 6             # most seats of a table
    KINDS = 7
    HANDS = 8             # most hands of a match

cdef enum Phase:
    BID = 0               # seats that have not committed are to bid
    ROLL = 1              # a seat is to roll a die
    BOOKED = 2            # a hand's points are booked, the next is not drawn
    OVER = 3

cdef struct State:
    int32_t totals[6]         # points of finished hands
    int16_t hand_points[8][6] # points of each finished hand
    int16_t bonus[6]          # what the tricks a seat took this hand earn if it meets its bid (MD-15, MD-16)
    uint16_t faces            # faces in the trick, a bit each
    octet dice[6][8]          # dice a seat holds of each kind; the last column is zero
    octet rolled[6][8]        # dice of each kind that a seat has rolled this hand; the last column is zero
    octet kinds[6]            # kinds a seat holds at least one die of
    octet voids[6]            # colours a seat has shown that it holds none of (MD-20), as a set of kinds
    octet bids[6]             # 0..hand, NONE before the seat has committed or where it is not to be seen
    octet trick_kinds[6]      # dice of the trick in the order rolled
    octet trick_faces[6]      # and their faces
    octet last_kinds[6]       # the same of the trick before
    octet last_faces[6]
    octet tricks_taken[6]     # this hand
    octet committed           # seats that have bid, a bit each
    octet flagged             # seats that took a trick with a flag in it this hand, a bit each
    octet led                 # led colour as a set of one kind; 0 while none is set
    octet best                # face that takes the trick so far, or NO_FACE
    octet winner              # seat that rolled it, or NONE
    octet trick_count         # dice in the trick
    octet tricks_played       # finished tricks of this hand
    octet last_leader         # seat that led the trick before, NONE before the first is taken
    octet last_winner
    octet leader              # seat that led, or leads, the trick
    octet seat                # seat to roll
    octet first_player
    octet hand                # 1..8, also the number of dice drawn
    octet phase
    octet padding[4]          # zero: to a multiple of 8 bytes, so that equal positions are equal bytes
