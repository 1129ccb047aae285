"""The generic playout, portable."""
include "_playout.pxi"
