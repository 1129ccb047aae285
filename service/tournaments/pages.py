"""Pages of a list that grows at its head: a token is the place of the last one that was shown."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Protocol, TypeVar

from tavolata.service.refusals import invalid_field

SIZE_USUAL, SIZE_MOST = 50, 200


class Placed(Protocol):
    """Something with a place in the order of making."""

    @property
    def position(self) -> tuple[int, str]: ...


Item = TypeVar("Item", bound=Placed)


def page_of(newest_first: Sequence[Item], size: int, token: str) -> tuple[list[Item], str]:
    """The page after the token's, and the token of the next one, empty if there is none.

    What is made meanwhile comes before the first page, so that no page has anything twice. Refused
    with INVALID_FIELD for a size below 0 and a token of another make.
    """
    if size < 0:
        raise invalid_field("page_size", f"is {size}", f"0 to {SIZE_MOST}, and more as {SIZE_MOST}")
    size = min(size or SIZE_USUAL, SIZE_MOST)
    rest = list(newest_first)
    if token:
        after = _read(token)
        rest = [item for item in rest if item.position < after]
    page = rest[:size]
    return page, _written(page[-1].position) if len(rest) > size else ""


def _written(position: tuple[int, str]) -> str:
    made_us, name = position
    return urlsafe_b64encode(f"{made_us}.{name}".encode()).decode()


def _read(token: str) -> tuple[int, str]:
    try:
        made_us, _, name = urlsafe_b64decode(token.encode()).decode().partition(".")
        return int(made_us), name
    except ValueError:
        raise invalid_field(
            "page_token", "is no token of a page", "empty, or the next_page_token of a page"
        ) from None
