"""`tavolata bench`: figures, each beside a reference measured in the same run."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tavolata.service.bench.measurement import Benchmark, Measurement


class Suite(StrEnum):
    """What can be measured."""

    rules = "rules"
    search = "search"
    service = "service"
    cancellation = "cancellation"
    tournament = "tournament"
    restart = "restart"


def bench(
    suite: Annotated[Suite, typer.Argument(help="What to measure.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, for programs.")
    ] = False,
) -> None:
    """Measure speed against a reference in the same run: a C floor, or a bare echo server.

    Runs on one core (two for the service: one for the server, one for the client). Numbers from a
    busy machine are worth little; ratios suffer less.
    """
    for measurement in _suite(suite)():
        typer.echo(json.dumps(measurement.as_row()) if as_json else words_of(measurement))


def _suite(suite: Suite) -> Benchmark:
    from importlib import import_module

    benchmark: Benchmark = import_module(f"tavolata.service.bench.{suite}").measurements
    return benchmark


def words_of(measurement: Measurement) -> str:
    """The figure as a line for people."""
    line = f"{measurement.case}: {number(measurement.value)} {measurement.unit}"
    if measurement.ratio is not None and measurement.reference_value is not None:
        reference = number(measurement.reference_value)
        line += f" = {measurement.ratio:.2f} x {measurement.reference} ({reference})"
    if measurement.reached is not None:
        line += f" [goal {measurement.goal:g}: {'' if measurement.reached else 'NOT '}reached]"
    return line


def number(value: float) -> str:
    """Whole from a hundred up, else three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
