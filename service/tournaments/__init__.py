"""Tournaments that the server runs: each in a process of its own, kept in a folder of its own."""
