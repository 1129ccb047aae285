"""Game, view, match, chance and event log: what every game and every player builds on."""
