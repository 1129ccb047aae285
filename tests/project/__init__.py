"""Tests of the repository itself: layout, build, scripts, packaging."""
