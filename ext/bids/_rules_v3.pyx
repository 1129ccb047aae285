"""The rules of Bids, for x86-64-v3."""
include "_rules.pxi"
