"""`python -m tavolata` is the command `tavolata`."""

from __future__ import annotations

from tavolata.service.cli.main import app

if __name__ == "__main__":
    app()
