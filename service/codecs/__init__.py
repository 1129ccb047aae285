"""Codecs: the only place where messages of games meet the values of the rules. No rules here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tavolata.ext.registry import game_spec
from tavolata.service.codecs import (
    bids,
    bouillabaisse,
    cafe_international,
    mino_dice,
    mister_bill,
)
from tavolata.service.codecs.base import Codec
from tavolata.v1.score_pb2 import RoundScore, ScoreSheet

__all__ = ["CODECS", "Codec", "Scored", "codec_of", "score_sheet"]

CODECS: Mapping[str, Codec] = {
    codec.game_id: codec
    for codec in (
        bids.CODEC,
        bouillabaisse.CODEC,
        cafe_international.CODEC,
        mino_dice.CODEC,
        mister_bill.CODEC,
    )
}


def codec_of(game_id: str) -> Codec:
    """The codec of a game; UnknownGame says which games there are."""
    return CODECS[game_spec(game_id).id]


class Scored(Protocol):
    """What every game's view has about scores, in the order of seats."""

    @property
    def totals(self) -> tuple[int, ...]:
        """Points of finished rounds."""

    @property
    def points(self) -> tuple[int, ...]:
        """Points of the round in progress."""

    @property
    def round_points(self) -> tuple[tuple[int, ...], ...]:
        """A row of points for each finished round."""


def score_sheet(view: Scored, placement: tuple[int, ...]) -> ScoreSheet:
    """The scores of a view as a message; placement: places by the totals as they stand."""
    return ScoreSheet(
        totals=view.totals,
        running_points=view.points,
        places=placement,
        rounds=[
            RoundScore(round=number, points=points)
            for number, points in enumerate(view.round_points, start=1)
        ],
    )
