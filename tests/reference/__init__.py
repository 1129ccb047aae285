"""Slow, plain models of the games, written from the rules documents alone.

They share no code with the engine, so that agreement between the two means something.
"""
