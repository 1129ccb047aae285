"""The rules of Mister Bill, portable."""
include "_rules.pxi"
