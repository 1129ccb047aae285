"""C-level only: the log is read through Match (match.pyi)."""
