"""The rules of Café International, portable."""
include "_rules.pxi"
