"""What is wrong with a tournament file: the key, what stands there, and what is allowed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from tavolata.ai.arena.tournament.key_texts import allowed_text, chosen_by, models_of, tag_of
from tavolata.ai.arena.tournament.keys import Keys, Tournament

UNKNOWN = "no key of this table"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a specification."""

    key: str  # where, like ``entrants[1].settings.exploration``
    given: str  # what stands there; empty for a key that is missing
    allowed: str  # what may stand there

    def __str__(self) -> str:
        given = f"is {self.given}" if self.given else "is missing"
        return f"{self.key} {given}; allowed: {self.allowed}"


class SpecificationError(ValueError):
    """A specification that can't be run; every problem with its key and what is allowed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


def given_text(value: object) -> str:
    """A value as it is named in an error: JSON, cut after 80 characters."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def problems_of(error: ValidationError, whole: type[Keys] = Tournament) -> list[Problem]:
    """The problems that pydantic found, one a key. whole: what was read."""
    found: dict[str, Problem] = {}
    for row in error.errors(include_url=False):
        path, table, field = _place(row["loc"], whole)
        detail = row.get("ctx", {})
        given = given_text(row["input"])
        if row["type"] == "extra_forbidden":
            problem = Problem(path, UNKNOWN, ", ".join(table.model_fields))
        elif row["type"].startswith("union_tag") and field is not None:
            path += f".{chosen_by(field)}"
            tag = given_text(detail["tag"]) if "tag" in detail else ""
            problem = Problem(path, tag, allowed_text(field).partition(" = ")[2])
        else:
            allowed = allowed_text(field) if field is not None else "a table"
            if row["type"] == "value_error":
                allowed += f" ({detail['error']})"
            problem = Problem(path, "" if row["type"] == "missing" else given, allowed)
        found.setdefault(path, problem)
    return list(found.values())


def _place(loc: Sequence[str | int], whole: type[Keys]) -> tuple[str, type[Keys], FieldInfo | None]:
    """The path of a place in the file, the table it is in, and the key there if it is known."""
    path = ""
    table: type[Keys] = whole
    field: FieldInfo | None = None
    models: tuple[type[Keys], ...] = (whole,)
    discriminator, named = "", False
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif discriminator:  # the tag, which is no part of the path
            models = tuple(model for model in models if tag_of(model, discriminator) == part)
            discriminator = ""
        elif models:
            table = models[0]
            path += f".{part}" if path else part
            field = table.model_fields.get(part)
            models = models_of(field.annotation) if field is not None else ()
            discriminator = chosen_by(field) if field is not None else ""
        elif field is not None and _is_table(field) and not named:
            path += f".{part}"  # what comes after it is of which type the value might have been
            named = True
    return path, table, field


def _is_table(field: FieldInfo) -> bool:
    """Whether the key holds a table of names that are not keys: options, settings."""
    return str(field.annotation).startswith("dict")
