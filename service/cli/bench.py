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
    if suite is Suite.rules:
        from tavolata.service.bench.rules import measurements
    elif suite is Suite.search:
        from tavolata.service.bench.search import measurements
    else:
        from tavolata.service.bench.service import measurements
    return measurements


def words_of(measurement: Measurement) -> str:
    """The figure as a line for people."""
    line = f"{measurement.case}: {measurement.value:,.4g} {measurement.unit}"
    if measurement.ratio is not None:
        line += f" = {measurement.ratio:.2f} x {measurement.reference} ({measurement.reference_value:,.4g})"
    if measurement.goal is not None:
        line += (
            f" [goal {measurement.goal:g}: {'reached' if measurement.reached else 'NOT reached'}]"
        )
    return line
