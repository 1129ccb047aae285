"""The search loop, portable."""
include "_search.pxi"
