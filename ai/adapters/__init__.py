"""Our games in other programs' interfaces, and players across them; each needs its extra.

`history` is the tree of a game, chance included, for whoever walks it; `vectors` are observations
and rewards as numbers. PettingZoo and OpenSpiel are imported in the modules that bear their names.
"""
