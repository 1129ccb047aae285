"""Numbers as people read them; the same in the terminal and in the page."""

from __future__ import annotations

from math import inf, isclose

from tavolata.ai.arena.tournament.estimates import Estimate

MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"  # where there is nothing to tell


def number(value: float, digits: int, *, signed: bool = False) -> str:
    """A number with a real minus sign, and without one where it rounds to zero."""
    text = f"{abs(value):,.{digits}f}"
    if isclose(float(text.replace(",", "")), 0, abs_tol=1e-12):
        return text
    if value < 0:
        return MINUS + text
    return f"+{text}" if signed else text


def interval(estimate: Estimate, digits: int, *, signed: bool = False) -> str:
    """``low to high``; a dash where one deal is all there is."""
    if estimate.low == -inf or estimate.high == inf:
        return NONE
    low = number(estimate.low, digits, signed=signed)
    return f"{low} to {number(estimate.high, digits, signed=signed)}"


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage."""
    return f"{100 * share:.{digits}f} %"


def percent_interval(estimate: Estimate, digits: int = 1) -> str:
    """``low to high %`` of a share."""
    return f"{100 * estimate.low:.{digits}f} to {100 * estimate.high:.{digits}f} %"


def count(number: int, one: str, many: str) -> str:
    """``1 match``, ``1,200 matches``."""
    return f"{number:,} {one if number == 1 else many}"


def played(matches: int, deals: int) -> str:
    """``40 matches over 10 deals``."""
    return f"{count(matches, 'match', 'matches')} over {count(deals, 'deal', 'deals')}"


def milliseconds(value: float | None) -> str:
    """A duration with three digits that count."""
    if value is None:
        return NONE
    if value >= 100:
        return f"{value:,.0f}"
    digits = 1 if value >= 10 else 2 if value >= 1 else 3 if value >= 0.1 else 4
    return f"{value:.{digits}f}"


def ranks(rank: int, low: int, high: int) -> str:
    """A rank with its 95 % range: ``2 (1-3)``; the rank alone where no other is likely."""
    return f"{rank}" if low == high == rank else f"{rank} ({low}\N{EN DASH}{high})"


_VERDICTS = {
    None: "goes on",
    "deals": "all deals played",
    "h0": "h0 accepted",
    "h1": "h1 accepted",
    "narrow": "interval narrow enough",
    "withdrawn": "one was withdrawn",
}


def verdict(word: str | None) -> str:
    """Why a meeting ended."""
    return _VERDICTS[word]


FORMATS = {
    "round_robin": "Everybody against everybody",
    "gauntlet": "Challengers against all the others",
    "ladder": "Everybody against the next one",
    "swiss": "Swiss rounds",
    "knock_out": "Knock-out",
    "mixed": "Mixed tables",
}


def label(text: str) -> str:
    """A label without anything that a terminal or a page would obey, or that XML forbids: what does
    not print is shown as ``\\x1b``."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )
