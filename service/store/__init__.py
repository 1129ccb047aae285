"""Stores of table logs."""
