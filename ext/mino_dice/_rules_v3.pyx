"""The rules of Mino Dice, for x86-64-v3."""
include "_rules.pxi"
