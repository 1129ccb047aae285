"""The terminal client: a whole match as plain lines, for eyes and for screen readers alike.

`table` makes or joins a table, `session` answers keys and tells what happens, `games/` says what
there is to say of each game; nothing else here knows a game.
"""
