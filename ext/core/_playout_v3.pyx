"""The generic playout, for x86-64-v3."""
include "_playout.pxi"
