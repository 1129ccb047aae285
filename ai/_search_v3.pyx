"""The search loop, for x86-64-v3."""
include "_search.pxi"
