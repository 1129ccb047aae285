"""Leaf counts of the action tree, and the tables `tests/games/*/counts.txt` they are kept in.

A line of a table reads `seed=7 seats=4 options=- after=0 depth=4 leaves=18 # why this deal, rule`.
`options` are `name:value` pairs joined by commas, or `-`. `after` (0 if absent) counts actions
played before the tree begins: the first legal action of the lowest seat to act, each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.reference.chance import seed_bytes
from tests.reference.model import Model
from tests.reference.registry import GAMES, AnyModel, new_model


def count_leaves(model: Model, depth: int) -> int:
    """Positions `depth` actions below; a match that ends earlier is one leaf.

    One seat's action is one step. Of several seats to act at once the lowest goes first, so a
    simultaneous decision of n seats takes n steps.
    """
    return sum(leaves_by_action(model, depth).values()) if depth and not model.over else 1


def leaves_by_action(model: Model, depth: int) -> dict[str, int]:
    """The leaf count below each action of the lowest seat to act, in action order."""
    leaves = {}
    seat = min(model.to_act())
    for action in model.legal(seat):
        below = model.copy()
        below.play(seat, action)
        leaves[action] = count_leaves(below, depth - 1)
    return leaves


def play_first_legal(model: Model, actions: int) -> None:
    """Play that many actions, each the first legal one of the lowest seat to act."""
    for _ in range(actions):
        seat = min(model.to_act())
        model.play(seat, model.legal(seat)[0])


@dataclass(frozen=True)
class CountCase:
    """A line of a table: a deal, how deep to go, and how many leaves there are."""

    game: str
    seed: int
    seats: int
    options: tuple[tuple[str, object], ...]
    after: int
    depth: int
    leaves: int
    why: str

    def __str__(self) -> str:
        options = ",".join(f"{name}:{value}" for name, value in self.options) or "-"
        return (
            f"{self.game} seed={self.seed} seats={self.seats} options={options} "
            f"after={self.after} depth={self.depth}"
        )

    def root(self) -> AnyModel:
        """The reference model at the root of the tree."""
        model = new_model(self.game, self.seats, dict(self.options), seed_bytes(self.seed))
        play_first_legal(model, self.after)
        return model


def read_counts(game: str) -> list[CountCase]:
    """The lines of the game's table."""
    path = Path(__file__).parent.parent / "games" / game / "counts.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [read_count(game, line) for line in lines if line and not line.startswith("#")]


def read_count(game: str, line: str) -> CountCase:
    """One line of a table."""
    words, _, why = line.partition("#")
    fields = dict(word.split("=", 1) for word in words.split())
    return CountCase(
        game=game,
        seed=int(fields["seed"]),
        seats=int(fields["seats"]),
        options=_read_options(game, fields["options"]),
        after=int(fields.get("after", "0")),
        depth=int(fields["depth"]),
        leaves=int(fields["leaves"]),
        why=why.strip(),
    )


def _read_options(game: str, text: str) -> tuple[tuple[str, object], ...]:
    if text == "-":
        return ()
    options: list[tuple[str, object]] = []
    for pair in text.split(","):
        name, value = pair.split(":")
        by_text = {str(allowed).lower(): allowed for allowed in GAMES[game].options_help[name]}
        options.append((name, by_text[value]))
    return tuple(options)
