"""Ablations and tuning: tournaments that are made from a list of changes to a player."""
