"""The rules of La bouillabaisse, for x86-64-v3."""
include "_rules.pxi"
