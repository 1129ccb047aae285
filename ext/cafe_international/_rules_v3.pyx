"""The rules of Café International, for x86-64-v3."""
include "_rules.pxi"
