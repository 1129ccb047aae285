"""UCT over information states, portable."""
include "_infoset_uct.pxi"
