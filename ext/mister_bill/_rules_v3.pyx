"""The rules of Mister Bill, for x86-64-v3."""
include "_rules.pxi"
