"""UCT over information states, for x86-64-v3."""
include "_infoset_uct.pxi"
