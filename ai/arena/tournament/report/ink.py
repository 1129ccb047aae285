"""How plots look: colours for light and dark paper that colour-blind people tell apart, SVG text.

Plots are drawn in the colours for light paper; in a page every such colour becomes a CSS variable
with that colour as what it falls back on, so that one drawing serves both and can be cut out.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from tavolata.ai.arena.tournament.report.words import label as printable

# name: on light paper, on dark paper. The series were searched for: any two of them are 30 or more
# apart in CIELAB for normal sight and for each kind of colour blindness.
COLOURS = {
    "ink": ("#1b1f24", "#e6e8eb"),
    "soft": ("#5c6670", "#a3adb8"),
    "grid": ("#d9dde2", "#353b43"),
    "paper": ("#fefefe", "#14171b"),
    "series-0": ("#0981ba", "#62a5db"),
    "series-1": ("#e17508", "#f4b601"),
    "series-2": ("#00413f", "#baff99"),
    "series-3": ("#4c0092", "#8060eb"),
    "series-4": ("#b17b53", "#bb5d10"),
    "series-5": ("#919197", "#ffe3f7"),
    "series-6": ("#573003", "#eb0164"),
}
INK, SOFT, GRID, PAPER = (COLOURS[name][0] for name in ("ink", "soft", "grid", "paper"))
SERIES = tuple(light for name, (light, _) in COLOURS.items() if name.startswith("series"))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.3)))
LABEL_MAX = 26

_STYLE: Any = {
    "text.parse_math": False,  # a label may hold dollars
    "axes.unicode_minus": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "tavolata",
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
}


@contextmanager
def style() -> Iterator[None]:
    """Everything drawn inside looks as plots here look."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Whoever shows the SVG brings the letters; here they are only measured.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        warnings.filterwarnings("ignore", message=r"Matplotlib currently does not support")
        yield


def as_svg(figure: Figure) -> str:
    """The SVG of a figure: no date, no metadata, no declaration; the same for the same figure."""
    text = io.StringIO()
    figure.savefig(
        text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
    )
    svg = text.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return _compact(svg)


def _compact(svg: str) -> str:
    """The same drawing in fewer letters: nothing between tags, lines of a path joined, hundredths
    of a point."""
    svg = re.sub(r"\s*<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r">\s+<", "><", svg)
    return re.sub(r' (d|x|y|transform)="([^"]*)"', _rounded, svg)


def _rounded(attribute: re.Match[str]) -> str:
    value = re.sub(r"(\.\d\d)\d+", r"\1", " ".join(attribute[2].split()))
    return f' {attribute[1]}="{value}"'


def themed(svg: str, prefix: str) -> str:
    """The SVG for a page: colours as variables, ids that begin with the prefix."""
    for name, (light, _) in COLOURS.items():
        svg = svg.replace(light, f"var(--{name}, {light})")
    svg = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{prefix}-", svg)
    return svg.replace("<svg ", '<svg role="img" ', 1)


def variables(dark: bool) -> str:
    """The colours as CSS declarations."""
    return " ".join(f"--{name}: {both[dark]};" for name, both in COLOURS.items())


def series(number: int) -> tuple[str, str, Any]:
    """Colour, marker and dashes of one of many series; the first 49 differ in colour and marker."""
    lap, place = divmod(number, len(SERIES))
    return SERIES[place], MARKERS[(place + 3 * lap) % len(MARKERS)], DASHES[lap % len(DASHES)]


def short(label: str, length: int = LABEL_MAX) -> str:
    """A label that fits beside an axis, or above one that is so many letters wide."""
    text = printable(label)
    return text if len(text) <= length else text[: length - 1] + "\N{HORIZONTAL ELLIPSIS}"
