"""Players of other packages in a tournament: their settings come from what they are made with."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from tavolata.ai.arena.tournament.backends.inline import Inline
from tavolata.ai.arena.tournament.model import Chunk
from tavolata.ai.arena.tournament.specification import SpecificationError, load
from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.players import ENTRY_POINT, player_spec
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game

TEXT = """
games = [{ game = "bouillabaisse", seats = 2 }]
format.kind = "round_robin"
stop = { rule = "count", deals = 2 }
[[entrants]]
player = "nth"
settings = { place = [0, 1] }
"""


class Nth:
    """Takes the action at a given place."""

    def __init__(self, game: Game, *, place: float = 0) -> None:
        self.place = int(place)

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        legal = observation.legal_actions
        return Decision(legal[self.place % len(legal)])


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        EntryPoint("nth", f"{__name__}:Nth", ENTRY_POINT),
        EntryPoint("plain", "builtins:map", ENTRY_POINT),  # compiled, no signature
    ]
    monkeypatch.setattr("tavolata.ai.players.entry_points", lambda group: found)


def test_keyword_parameters_of_a_packages_player_are_its_settings() -> None:
    assert player_spec("nth").settings == ("place",)
    assert player_spec("plain").settings == ()
    asked = load(TEXT)
    assert list(asked.field.entrants) == ["nth place=0", "nth place=1"]
    plans = asked.schedule().next_block([])
    backend = Inline(asked.field, asked.policy)
    outcomes = [each for part in backend.run([Chunk(0, tuple(plans))]) for each in part.outcomes]
    assert len(outcomes) == 4
    assert not any(each.faults for each in outcomes)
    # It matters which place they take: in a deal the two sides come to different matches.
    assert len({each.hash for each in outcomes}) == 4


def test_other_settings_are_refused_with_those_there_are() -> None:
    with pytest.raises(SpecificationError, match=r"settings\.depth .* allowed: place"):
        load(TEXT.replace("place =", "depth ="))
