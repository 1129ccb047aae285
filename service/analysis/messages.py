"""What searches and reviews find out, as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from google.protobuf.duration_pb2 import Duration

from tavolata.ai.analysis import Findings
from tavolata.ai.player import ActionStatistics, Observation
from tavolata.ai.review import Judgement, Mark, Reviewed, Summary, summary_of
from tavolata.service.codecs import Codec
from tavolata.v1 import analysis_pb2 as pb
from tavolata.v1.replay_pb2 import Decision

MARKS: Final = {
    Mark.ONLY_ACTION: pb.DECISION_MARK_ONLY_ACTION,
    Mark.BEST: pb.DECISION_MARK_BEST,
    Mark.GOOD: pb.DECISION_MARK_GOOD,
    Mark.INACCURACY: pb.DECISION_MARK_INACCURACY,
    Mark.MISTAKE: pb.DECISION_MARK_MISTAKE,
    Mark.BLUNDER: pb.DECISION_MARK_BLUNDER,
}


def analysis_message(observation: Observation, findings: Findings, codec: Codec) -> pb.Analysis:
    """What a search knows by now of a seat's decision."""
    found = findings.found
    think_time = Duration()
    think_time.FromMicroseconds(round(found.elapsed_ms * 1000))
    chosen = [row.action for row in found.statistics].index(found.action)
    return pb.Analysis(
        turn=observation.turn,
        seat=observation.seat,
        actions=[_action(row, codec) for row in found.statistics],
        choice=chosen,
        iterations=found.iterations,
        nodes=found.nodes,
        think_time=think_time,
        final=findings.final,
    )


def _action(row: ActionStatistics, codec: Codec) -> pb.ActionAnalysis:
    made = pb.ActionAnalysis(
        action=codec.action_to(row.action), visits=row.visits, share=row.share, seats=_seats(row)
    )
    if row.visits:
        made.reward.mean, made.reward.half_width = row.mean, row.half_width
    return made


def _seats(row: ActionStatistics) -> list[pb.SeatExpectation]:
    if not row.visits:
        return []
    return [
        pb.SeatExpectation(utility=utility, score=score)
        for utility, score in zip(row.utilities, row.scores, strict=True)
    ]


def reviewed_message(reviewed: Reviewed, facts: Decision, codec: Codec) -> pb.ReviewedDecision:
    """A decision judged. facts: what the match itself doesn't know of it."""
    point = reviewed.point
    seen, hindsight = point.observation, reviewed.hindsight
    decision = Decision(turn=seen.turn, seat=seen.seat, action=codec.action_to(point.action))
    decision.MergeFrom(facts)
    return pb.ReviewedDecision(
        decision=decision,
        legal_action_count=len(seen.legal_actions),
        then=_judgement(reviewed.then, codec),
        hindsight=None if hindsight is None else _judgement(hindsight, codec),
        seats=_seats(reviewed.then.played),
        iterations=reviewed.then.iterations + (hindsight.iterations if hindsight else 0),
    )


def _judgement(judged: Judgement, codec: Codec) -> pb.Judgement:
    made = pb.Judgement(mark=MARKS[judged.mark], best=codec.action_to(judged.best))
    if judged.cost is not None:
        made.cost.mean, made.cost.half_width = judged.cost.mean, judged.cost.half_width
    return made


def seat_reviews(reviewed: Sequence[Reviewed], seats: Sequence[int]) -> list[pb.SeatReview]:
    """The decisions of each seat together."""
    made = []
    for seat in seats:
        own = [each for each in reviewed if each.point.observation.seat == seat]
        hindsight = [each.hindsight for each in own if each.hindsight is not None]
        made.append(
            pb.SeatReview(
                seat=seat,
                decisions=len(own),
                then=_summary(summary_of(each.then for each in own)),
                hindsight=_summary(summary_of(hindsight)) if hindsight else None,
            )
        )
    return made


def _summary(summary: Summary) -> pb.MarkSummary:
    return pb.MarkSummary(
        counts=[
            pb.MarkCount(mark=MARKS[mark], count=count) for mark, count in summary.counts.items()
        ],
        average_cost=summary.average_cost,
    )
