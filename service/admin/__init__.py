"""What who runs a server may do at its store: list, inspect, abort, export."""
