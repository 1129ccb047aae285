"""Hints and reviews in words: what is worth how much, and what decisions cost."""

from __future__ import annotations

from collections.abc import Callable

from tavolata.ext.registry import game_spec
from tavolata.service.codecs import codec_of
from tavolata.v1 import analysis_pb2 as pb
from tavolata.v1 import game_pb2, table_pb2
from tavolata.v1.analysis_service_pb2 import ReviewSummary

_TOLD = 4  # actions that a hint tells
ERRORS = (
    pb.DECISION_MARK_INACCURACY,
    pb.DECISION_MARK_MISTAKE,
    pb.DECISION_MARK_BLUNDER,
)
_PLURALS = {"only action": "without choice", "best": "best"}

NameOf = Callable[[game_pb2.Action], str]
Who = Callable[[int], str]  # `you`, `AI 2`


def naming(settings: table_pb2.TableSettings, seats: int) -> NameOf:
    """What the rules call the actions of a game, such as `play QC`."""
    codec = codec_of(settings.game_id)
    game = game_spec(settings.game_id).make(seats, codec.options_from(settings.options))
    return lambda action: game.action_name(codec.action_from(action))


def mark_name(mark: pb.DecisionMark.ValueType) -> str:
    """`blunder`."""
    return pb.DecisionMark.Name(mark).removeprefix("DECISION_MARK_").lower().replace("_", " ")


def hint_told(analysis: pb.Analysis, name_of: NameOf, who: Who) -> str:
    """What a search found out about the reader's decision. Values are hundredths of the way from
    the last place to the first."""
    choice = analysis.actions[analysis.choice]
    others = [row for place, row in enumerate(analysis.actions) if place != analysis.choice]
    others = [row for row in others if row.visits > 1]
    others.sort(key=lambda row: row.share, reverse=True)
    parts = [f"Hint, after {analysis.iterations:,} tries: {name_of(choice.action)}"]
    if choice.visits:
        mean, error = 100 * choice.reward.mean, 100 * choice.reward.half_width
        parts[0] += f", worth {mean:.1f} of 100, give or take {error:.1f}"
    parts[0] += "."
    if len(analysis.actions) == 1:
        parts.append("There is no other choice.")
    elif others:
        told = "; ".join(
            f"{name_of(row.action)}, {100 * row.reward.mean:.1f} give or take "
            f"{100 * row.reward.half_width:.1f}"
            for row in others[: _TOLD - 1]
        )
        more = len(analysis.actions) - 1 - len(others[: _TOLD - 1])
        parts.append(f"Next: {told}{f'; and {more} more' if more else ''}.")
    if choice.seats:
        points = ", ".join(
            f"{who(seat)} {expected.score:.1f}" for seat, expected in enumerate(choice.seats)
        )
        parts.append(f"Points to expect at the end of the round: {points}.")
    return " ".join(parts)


def decision_told(reviewed: pb.ReviewedDecision, name_of: NameOf, who: Who) -> str:
    """A decision and what is to be said about it."""
    made = reviewed.decision
    told = f"Turn {made.turn}, {who(made.seat)}: {name_of(made.action)}. "
    told += f"{_judged(reviewed.then, name_of)}."
    if reviewed.HasField("hindsight"):
        told += f" With hindsight: {_judged(reviewed.hindsight, name_of)}."
    return told


def _judged(judgement: pb.Judgement, name_of: NameOf) -> str:
    told = mark_name(judgement.mark).capitalize()
    if judgement.HasField("cost"):
        cost = judgement.cost
        told += f", cost {100 * cost.mean:.1f} of 100, give or take {100 * cost.half_width:.1f}"
        told += f"; the search prefers {name_of(judgement.best)}"
    return told


def is_error(reviewed: pb.ReviewedDecision) -> bool:
    """Whether a decision was an error by what its seat knew then."""
    return reviewed.then.mark in ERRORS


def summary_told(summary: ReviewSummary, who: Who) -> list[str]:
    """A sentence for each seat."""
    return [_seat_told(each, who) for each in summary.seats]


def _seat_told(review: pb.SeatReview, who: Who) -> str:
    if not review.decisions:
        return f"{who(review.seat)}: no decision."
    told = f"{who(review.seat)}, {_decisions(review.decisions)}: {_marks(review.then)}."
    if review.HasField("hindsight"):
        told += f" With hindsight: {_marks(review.hindsight)}."
    return told


def _marks(summary: pb.MarkSummary) -> str:
    counts = ", ".join(_count(row) for row in summary.counts)
    return f"average cost {100 * summary.average_cost:.2f} of 100; {counts}"


def _count(row: pb.MarkCount) -> str:
    name = mark_name(row.mark)
    if name in _PLURALS:
        return f"{row.count} {_PLURALS[name]}"
    if row.count == 1 or row.mark == pb.DECISION_MARK_GOOD:
        return f"{row.count} {name}"
    return f"{row.count} {name[:-1] + 'ies' if name.endswith('y') else name + 's'}"


def _decisions(count: int) -> str:
    return f"{count} decision{'s' if count != 1 else ''}"
