"""Analyses of decisions over the API: hints in play, and reviews of matches that are over."""
