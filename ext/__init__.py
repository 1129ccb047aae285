"""Rules of the games, one package each, and the core they share. No I/O, no clock, no logging."""
