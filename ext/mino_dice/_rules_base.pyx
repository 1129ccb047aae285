"""The rules of Mino Dice, portable."""
include "_rules.pxi"
