"""Kinds of dice, their faces and the length of a match from ``seeds/mino_dice``, as numbers."""

from __future__ import annotations

from tavolata.ext.core import seeds

GAME = "mino_dice"
_DATA = seeds.load_json(GAME, "dice")
FACES: tuple[str, ...] = tuple(_DATA["faces"])
KINDS: tuple[str, ...] = tuple(kind["id"] for kind in _DATA["kinds"])
COUNTS: tuple[int, ...] = tuple(kind["count"] for kind in _DATA["kinds"])
DIE_FACES: tuple[tuple[int, ...], ...] = tuple(
    tuple(FACES.index(face) for face in kind["faces"]) for kind in _DATA["kinds"]
)
COLOURS: tuple[int, ...] = tuple(
    number for number, kind in enumerate(_DATA["kinds"]) if kind["group"] == "number"
)
SPECIALS: tuple[int, ...] = tuple(kind for kind in range(len(KINDS)) if kind not in COLOURS)
MINOTAUR, GRIFFIN, MERMAID, FLAG = map(FACES.index, ("minotaur", "griffin", "mermaid", "flag"))
_CYCLE: tuple[int, ...] = tuple(FACES.index(face) for face in _DATA["special_cycle"])
HANDS_MAX: int = max(_DATA["hands"].values())


def hands_of(seat_count: int) -> int:
    """How many hands a match has (MD-2)."""
    hands: int = _DATA["hands"][str(seat_count)]
    return hands


def takes_over(face: int, best: int) -> bool:
    """Whether a face takes over from the best so far (MD-10)."""
    if face == FLAG:
        return False
    if face in _CYCLE:
        next_in_cycle = _CYCLE[(_CYCLE.index(face) + 1) % len(_CYCLE)]
        return best not in _CYCLE or best in (face, next_in_cycle)
    # Numbers stand in ascending order among the faces.
    return best == FLAG or (best not in _CYCLE and best <= face)


def best_place(faces: list[int]) -> int:
    """Which of the faces of a trick, in the order rolled, is the best by MD-10 alone."""
    best = 0
    for place, face in enumerate(faces):
        if place and takes_over(face, faces[best]):
            best = place
    return best


def kind_number(name: str) -> int:
    """The number of a kind such as ``red``; ValueError says which there are."""
    if name in KINDS:
        return KINDS.index(name)
    raise ValueError(f"{name!r} is no die; dice are {', '.join(KINDS)}")


def face_number(name: str) -> int:
    """The number of a face such as ``flag`` or ``7``; ValueError says which there are."""
    if name in FACES:
        return FACES.index(name)
    raise ValueError(f"{name!r} is no face; faces are {', '.join(FACES)}")
