"""A summary as one HTML file: tables and plots, nothing fetched from anywhere."""

from __future__ import annotations

from itertools import count

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tavolata.ai.arena.tournament.report import ink, words
from tavolata.ai.arena.tournament.report.figures import FIGURES
from tavolata.ai.arena.tournament.summary import Summary

TEMPLATE = "report.html.j2"
_LAYOUT = """
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 "DejaVu Sans", Verdana, system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 3rem 0 .75rem; padding-top: .75rem; overflow-wrap: anywhere;
  border-top: 1px solid var(--grid); }
.lead, caption, figcaption, .ci { color: var(--soft); }
nav a { color: var(--series-0); margin-right: .9rem; white-space: nowrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .82rem; margin: 1rem 0; width: 100%;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { padding: .3rem .6rem; text-align: right; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--grid); font-weight: normal; }
thead th { font-weight: bold; vertical-align: bottom; white-space: normal; }
th.name, td.name { text-align: left; white-space: normal; overflow-wrap: anywhere;
  min-width: 9rem; }
summary { cursor: pointer; margin: .4rem 0; }
td.won { font-weight: bold; }
td.rank, thead th:first-child { text-align: left; }
.ci { display: block; font-size: .74rem; font-weight: normal; }
figure { margin: 1.25rem 0; }
figure svg { display: block; height: auto; max-width: 100%; }
figcaption { font-size: .82rem; }
.warn { border-left: 4px solid var(--series-1); padding-left: .75rem; }
@media (max-width: 60rem) { figure { overflow-x: auto; } figure svg { max-width: none; } }
@media print { section { break-inside: avoid-page; } nav { display: none; } }
"""


def html(summary: Summary, title: str) -> str:
    """The text of the page; equal summaries and titles give equal texts."""
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "label": words.label,
        "number": words.number,
        "interval": words.interval,
        "percent": words.percent,
        "percent_interval": words.percent_interval,
        "milliseconds": words.milliseconds,
        "verdict": words.verdict,
    }
    numbers = count(1)

    def figure(name: str, subject: object) -> Markup:
        # Matplotlib has escaped the labels in it.
        return Markup(ink.themed(FIGURES[name](subject), f"f{next(numbers)}"))  # noqa: S704

    return environment.get_template(TEMPLATE).render(
        title=title,
        summary=summary,
        ranks=words.ranks,
        count=words.count,
        played=words.played,
        formats=words.FORMATS,
        style=Markup(style()),  # noqa: S704 # our own text, nothing of the summary
        figure=figure,
    )


def style() -> str:
    """The style sheet of a page for light and dark paper, with the colours of the plots."""
    light, dark = ink.variables(dark=False), ink.variables(dark=True)
    scheme = f":root {{ color-scheme: light dark; {light} }}\n"
    return f"{scheme}@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}{_LAYOUT}"
