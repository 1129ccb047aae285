"""Matches and tournaments in process, without transport."""
