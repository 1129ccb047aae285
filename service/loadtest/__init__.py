"""A load on a server: people who play, watch and lose their connections, and what came of it."""
