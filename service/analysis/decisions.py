"""Which decisions a caller may have analyzed, and what their seats knew."""

from __future__ import annotations

from collections.abc import Sequence

from tavolata.ai.player import Observation, observe
from tavolata.ai.review import Point, points_of
from tavolata.ext.core.errors import NotToAct, RulesError, StaleTurn
from tavolata.ext.core.match import Match
from tavolata.service.analysis import refuse as refuse_analysis
from tavolata.service.refusals import invalid_field, of_play
from tavolata.service.tables import refuse
from tavolata.service.tables.callers import refuse_resigned
from tavolata.service.tables.model import SPECTATOR, Table
from tavolata.v1.analysis_service_pb2 import AnalyzeRequest, ReviewMatchRequest
from tavolata.v1.fairness_pb2 import Reveal
from tavolata.v1.table_pb2 import Hints


def open_decision(
    table: Table, viewer: int, request: AnalyzeRequest, *, has_token: bool
) -> Observation:
    """What a seat knows that has to decide now, at a table whose match goes on. Refused as Analyze
    says."""
    match = table.match
    if match is None:
        raise refuse.not_started(table.table_id)
    if viewer == SPECTATOR:
        raise refuse.not_seated(table.table_id) if has_token else refuse.missing_token()
    if table.setup.settings.hints != Hints.HINTS_ALLOWED:
        raise refuse_analysis.hints_forbidden(table.table_id)
    refuse_resigned(table, viewer)
    try:
        _check_open(match, viewer, request.turn if request.HasField("turn") else match.turn)
    except RulesError as error:
        raise of_play(error, match, seat=viewer, table_id=table.table_id) from None
    return observe(match, viewer)


def _check_open(match: Match, seat: int, turn: int) -> None:
    if turn != match.turn:
        raise StaleTurn(turn, match.turn)
    if seat not in match.to_act:
        acting = ", ".join(map(str, match.to_act))
        raise NotToAct(f"seat {seat} has nothing to decide now; to act: {acting} (G-2)")


def is_open(table: Table, observation: Observation) -> bool:
    """Whether a decision is still to be made, as far as this server knows."""
    match = table.match
    if match is None or table.dead or table.over or match.turn != observation.turn:
        return False
    return observation.seat in match.to_act


def past_decision(table: Table, viewer: int, request: AnalyzeRequest) -> int:
    """The place, in a match that is over, of the decision that is asked for. Refused as Analyze
    says."""
    match = table.match
    if match is None:
        raise refuse.not_started(table.table_id)
    if not request.HasField("turn"):
        raise invalid_field("turn", "is absent", "the number of a decision, as the match is over")
    found = {
        seat: place for place, (turn, seat, _) in enumerate(match.decisions) if turn == request.turn
    }
    if not found:
        count = match.decisions[-1][0] + 1 if match.decisions else 0
        raise refuse_analysis.no_decision(request.turn, count)
    seats = sorted(found)
    if not request.HasField("seat") and len(seats) > 1:
        raise invalid_field("seat", "is absent", f"{', '.join(map(str, seats))}: they decided then")
    seat = request.seat if request.HasField("seat") else seats[0]
    if seat not in found:
        raise refuse_analysis.not_by_seat(request.turn, seat, seats)
    if not _is_revealed(table) and seat != viewer:
        raise refuse_analysis.not_revealed(table, viewer)
    return found[seat]


def reviewed_seats(table: Table, viewer: int, request: ReviewMatchRequest) -> list[int]:
    """The seats whose decisions are judged, ascending. Refused as ReviewMatch says."""
    for seat in request.seats:
        if seat >= len(table.seats):
            raise refuse.no_such_seat(seat, table)
    asked = sorted(set(request.seats))
    if _is_revealed(table):
        return asked or list(range(len(table.seats)))
    if viewer == SPECTATOR or request.hindsight or asked not in ([], [viewer]):
        raise refuse_analysis.not_revealed(table, viewer)
    return [viewer]


def _is_revealed(table: Table) -> bool:
    return table.setup.settings.reveal != Reveal.REVEAL_NEVER


def point_at(match: Match, place: int) -> Point:
    """The decision at a place of a match."""
    return next(point for point in points_of(match) if point.place == place)


def points_by(match: Match, seats: Sequence[int]) -> list[Point]:
    """The decisions of these seats, in order."""
    return [point for point in points_of(match) if point.observation.seat in seats]
