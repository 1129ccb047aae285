"""A summary for people and programs: terminal tables, JSON, CSV, one HTML file with plots."""

from __future__ import annotations

from tavolata.ai.arena.tournament.report.delimited import as_csv
from tavolata.ai.arena.tournament.report.figures import as_svgs
from tavolata.ai.arena.tournament.report.page import html
from tavolata.ai.arena.tournament.report.structured import as_json
from tavolata.ai.arena.tournament.report.terminal import terminal

__all__ = ["as_csv", "as_json", "as_svgs", "html", "terminal"]
