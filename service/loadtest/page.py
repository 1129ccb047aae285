"""The result of a load test as one HTML file: tables and plots, nothing fetched from anywhere."""

from __future__ import annotations

from itertools import count
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tavolata.ai.arena.tournament.report import ink
from tavolata.ai.arena.tournament.report.page import style
from tavolata.service.loadtest.plots import PLOTS
from tavolata.service.loadtest.result import Result
from tavolata.service.loadtest.tally import ACTIONS
from tavolata.service.loadtest.terminal import milliseconds

TEMPLATE = "page.html.j2"
_TILES = """
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; padding: 0; margin: 1.25rem 0; list-style: none; }
.tiles li { border: 1px solid var(--grid); border-radius: .4rem; padding: .5rem .9rem; min-width: 7rem; }
.tiles b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .8rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; font-size: .88rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
"""  # noqa: E501 - a style sheet


def html(result: Result) -> str:
    """The text of the page; equal results give equal texts."""
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"ms": milliseconds, "number": _number}
    numbers = count(1)

    def figure(name: str) -> Markup:
        # Matplotlib has escaped the labels in it.
        return Markup(ink.themed(PLOTS[name](result), f"f{next(numbers)}"))  # noqa: S704

    return environment.get_template(TEMPLATE).render(
        result=result,
        plan=result.plan,
        actions=result.actions(),
        by_game=[row for row in result.rows_by_game() if row.what in ACTIONS],
        style=Markup(style() + _TILES),  # noqa: S704 # our own text, nothing of the result
        figure=figure,
        settings=_settings(result),
    )


def _settings(result: Result) -> list[tuple[str, str]]:
    """What the load was, in words."""
    plan = result.plan
    loop = (
        f"closed: the next action when the answer has come, after {plan.think_s:g} s"
        if plan.rate is None
        else f"open: {plan.rate:g} actions/s, {plan.arrivals}"
    )
    games = ", ".join(f"{game} {weight:g}" for game, weight in plan.games.items())
    storms = f"every {plan.storm_s:g} s, {plan.storm_share:.0%} cut" if plan.storm_s else "none"
    return [
        ("server", f"{result.server.target}, version {result.server.version}"),
        ("loop", loop),
        ("tables", f"{plan.tables}, with {plan.seats} seats"),
        ("games by weight", games),
        ("transport", plan.transport + (", people follow views" if plan.views else "")),
        ("watchers of a table", f"{plan.watchers}"),
        ("storms", storms),
        ("seats of AI players", f"{plan.ai_share:.0%} {plan.ai_player} {plan.ai_level}".strip()),
        ("ramp, warm-up, counted", f"{plan.ramp_s:g}, {plan.warmup_s:g}, {result.seconds:.1f} s"),
        ("deadline of a call", f"{plan.timeout_s:g} s"),
        ("processes", f"{plan.processes}, {plan.connections} connections of each"),
        ("streams", f"{plan.streams} of each process" if plan.transport == "stream" else "none"),
        ("seed", f"{plan.seed}"),
    ]


def _number(value: Any, digits: int = 0) -> str:
    return f"{value:,.{digits}f}"
