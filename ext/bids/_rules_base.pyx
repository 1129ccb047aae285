"""The rules of Bids, portable."""
include "_rules.pxi"
