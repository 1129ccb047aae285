"""C-level only: used by chance (chance.pyi)."""
