"""How likely a die takes a trick when the other seats' faces are like the next one out of the bag.

The rule of thumb reckons with these chances. They leave out that colours must be followed and that
seats choose what they roll.
"""

from __future__ import annotations

from tavolata.ext.mino_dice.dice import COUNTS, DIE_FACES, FACES, KINDS, takes_over

NO_FACE = len(FACES)


def face_shares() -> list[float]:
    """The chance of each face when any one of all the dice is rolled."""
    dice = sum(COUNTS)
    return [
        sum(
            count * faces.count(face) / len(faces)
            for count, faces in zip(COUNTS, DIE_FACES, strict=True)
        )
        / dice
        for face in range(len(FACES))
    ]


def takes_now(seat_count: int) -> list[list[list[float]]]:
    """The chance that a die takes the trick: ``[kind][best face so far][seats still to roll]``.

    The best face is NO_FACE where the die leads.
    """
    shares = face_shares()
    stays = [
        1.0 - sum(shares[face] for face in range(len(FACES)) if takes_over(face, best))
        for best in range(len(FACES))
    ]
    return [
        [
            [
                sum(
                    stays[face] ** after
                    for face in faces
                    if best == NO_FACE or takes_over(face, best)
                )
                / len(faces)
                for after in range(seat_count)
            ]
            for best in range(NO_FACE + 1)
        ]
        for faces in DIE_FACES
    ]


def takes_in_place(seat_count: int) -> list[list[float]]:
    """The chance that a die takes a trick yet to begin: ``[kind][place]``, place 0 leads."""
    shares = face_shares()
    now = takes_now(seat_count)
    best_shares = [0.0] * NO_FACE + [1.0]  # of the best face, before this place
    by_place: list[list[float]] = []
    for place in range(seat_count):
        after = seat_count - 1 - place
        by_place.append(
            [
                sum(share * now[kind][best][after] for best, share in enumerate(best_shares))
                for kind in range(len(KINDS))
            ]
        )
        best_shares = _after_one_more(best_shares, shares)
    return [[by_place[place][kind] for place in range(seat_count)] for kind in range(len(KINDS))]


def _after_one_more(best_shares: list[float], shares: list[float]) -> list[float]:
    rolled = [0.0] * (NO_FACE + 1)
    for best, chance in enumerate(best_shares):
        for face, share in enumerate(shares):
            taken = best == NO_FACE or takes_over(face, best)
            rolled[face if taken else best] += chance * share
    return rolled
