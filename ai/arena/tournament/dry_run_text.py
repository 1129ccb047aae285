"""A dry run in words, for people who decide whether to start the tournament."""

from __future__ import annotations

from collections.abc import Iterator

from tavolata.ai.arena.tournament.dry_run import ContestForecast, Forecast


def lines(found: Forecast) -> list[str]:
    """The forecast: contest by contest, then all together."""
    text = [line for contest in found.contests for line in _of_contest(contest, found.measure)]
    text.append(_in_all(found))
    paces = ", ".join(f"{label} {ms:.3g}" for label, ms in found.decision_ms.items())
    text.append(f"milliseconds a decision: {paces}")
    faults = f", with {found.faults} faults of players" if found.faults else ""
    text.append(f"{found.played} matches were played to tell this{faults}")
    return text


def _of_contest(contest: ContestForecast, measure: str) -> Iterator[str]:
    least, expected, most = contest.deals_least, contest.deals_expected, contest.deals_most
    deals = f"{most:,} deals"
    if least != most:
        deals = f"{least:,} to {deals}, probably up to {expected:,}"
    yield (
        f"{contest.name}: {contest.meetings:,} meeting{'s' * (contest.meetings > 1)} of {deals}, "
        f"{contest.matches_a_deal} matches a deal, {contest.match_s:.3g} s a match"
    )
    if contest.deviation is None or contest.half_width is None:
        yield "  too few deals of a meeting were played to tell how much differences vary"
        return
    yield (
        f"  differences of two entrants in {measure} vary by {contest.deviation:.3f} from deal to "
        f"deal; after {expected:,} deals they are known to ±{contest.half_width:.3f}, and one of "
        f"{contest.detectable:.3f} is told from none in four of five tournaments"
    )


def _in_all(found: Forecast) -> str:
    least, expected, most = found.matches
    quick, likely, slow = map(duration_text, found.seconds)
    workers = f"{found.workers} worker" + ("s" if found.workers > 1 else "")
    if least == most:
        return f"in all {most:,} matches, about {likely} on {workers}"
    return (
        f"in all {least:,} to {most:,} matches, probably up to {expected:,}: "
        f"{quick} to {slow}, probably up to {likely}, on {workers}"
    )


def duration_text(seconds: float) -> str:
    """A time for people: ``40 s``, ``12 min``, ``3.5 h``, ``2.1 days``."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"
