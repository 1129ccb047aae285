"""One module a game, named by the game's id, with the functions of `screen.Screen`."""
