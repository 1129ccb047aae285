"""The rules of La bouillabaisse, portable."""
include "_rules.pxi"
