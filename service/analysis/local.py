"""A review without a server, told as ReviewMatch tells it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tavolata.ai.review import Question, Reviewed, points_of, reviewing
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match
from tavolata.service.analysis.messages import reviewed_message, seat_reviews
from tavolata.service.codecs import codec_of
from tavolata.v1.analysis_service_pb2 import ReviewMatchResponse, ReviewStart, ReviewSummary
from tavolata.v1.replay_pb2 import Decision


def review_match(
    match: Match, seats: Sequence[int], question: Question
) -> Iterator[ReviewMatchResponse]:
    """The messages of a review of these seats' decisions; of a decision, what the match knows."""
    codec, stop = codec_of(match.game.spec.id), Stop()
    points = [point for point in points_of(match) if point.observation.seat in seats]
    yield ReviewMatchResponse(start=ReviewStart(decisions=len(points)))
    reviewed: list[Reviewed] = []
    for point in points:
        work = reviewing(point, question, stop)
        while True:
            try:
                next(work)
            except StopIteration as end:
                reviewed.append(end.value)
                break
        yield ReviewMatchResponse(decision=reviewed_message(reviewed[-1], Decision(), codec))
    yield ReviewMatchResponse(summary=ReviewSummary(seats=seat_reviews(reviewed, seats)))
