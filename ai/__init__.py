"""Players and search. Knows no game: everything goes through `tavolata.ext.core`."""
