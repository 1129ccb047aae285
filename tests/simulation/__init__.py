"""The whole service above its ports in one thread, with time, chance and troubles from one seed.

`./run sim SEEDS=1000` plays that many worlds; a failure prints the command that plays it again.
"""
