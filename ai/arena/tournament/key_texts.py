"""What the keys of a tournament file are called and allow, in words made from their models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from tavolata.ai.arena.tournament.keys import Keys, Tournament


@dataclass(frozen=True, slots=True)
class KeyText:
    """One key as it is documented."""

    path: str  # like ``entrants[].iterations``
    only: str  # the values of the table's kind or rule that have this key, or empty
    allowed: str
    default: str  # in TOML; empty: none; "required" where the key must be there
    description: str


def models_of(annotation: Any) -> tuple[type[Keys], ...]:
    """The tables that a key can hold: one, several to choose from, or none."""
    if isinstance(annotation, type) and issubclass(annotation, Keys):
        return (annotation,)
    if get_origin(annotation) in (Union, UnionType, list):
        return tuple(model for part in get_args(annotation) for model in models_of(part))
    return ()


def tag_of(model: type[Keys], discriminator: str) -> str:
    """The value of ``kind`` or ``rule`` that stands for this table."""
    return str(get_args(model.model_fields[discriminator].annotation)[0])


def chosen_by(field: FieldInfo) -> str:
    """The key by which one of several tables is chosen; empty where there is one."""
    return field.discriminator if isinstance(field.discriminator, str) else ""


def allowed_text(field: FieldInfo) -> str:
    """What a key may hold."""
    extra = field.json_schema_extra
    if isinstance(extra, dict) and "allowed" in extra:
        return str(extra["allowed"])
    if discriminator := chosen_by(field):
        tags = [tag_of(model, discriminator) for model in models_of(field.annotation)]
        return f"a table with {discriminator} = {_listed(tags)}"
    if models_of(field.annotation):
        return "a table"
    types = [part for part in _parts(field.annotation) if part is not type(None)]
    bounds = {
        name: getattr(item, name)
        for item in field.metadata
        for name in ("ge", "gt", "le", "lt", "min_length", "max_length")
        if hasattr(item, name)
    }
    return _of_type(types[0], bounds)


def _parts(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is UnionType else (annotation,)


def _listed(values: list[Any] | tuple[Any, ...]) -> str:
    return ", ".join(json.dumps(value) for value in values)


def _of_type(kind: Any, bounds: dict[str, Any]) -> str:
    if get_origin(kind) is Literal:
        return _listed(get_args(kind))
    if kind is bool:
        return "true, false"
    if kind is str:
        return f"text of {bounds['min_length']} to {bounds['max_length']} characters"
    word = "an integer" if kind is int else "a number"
    low = f"from {bounds['ge']}" if "ge" in bounds else f"above {bounds['gt']}"
    high = f"to {bounds['le']}" if "le" in bounds else f"below {bounds['lt']}"
    return f"{word} {low} {high}"


def key_texts() -> list[KeyText]:
    """Every key in the order of the file, tables before the keys in them."""
    merged: dict[KeyText, list[str]] = {}
    for key in _texts(Tournament, "", ""):
        merged.setdefault(replace(key, only=""), []).append(key.only)
    return [replace(key, only=", ".join(filter(None, tags))) for key, tags in merged.items()]


def _texts(model: type[Keys], prefix: str, only: str) -> Iterator[KeyText]:
    for name, field in model.model_fields.items():
        models = models_of(field.annotation)
        path = prefix + name + ("[]" if get_origin(field.annotation) is list and models else "")
        yield KeyText(path, only, allowed_text(field), _default(field), str(field.description))
        discriminator = chosen_by(field)
        for inner in models:
            tag = tag_of(inner, discriminator) if discriminator else ""
            yield from _texts(inner, f"{path}.", tag)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default is None or isinstance(field.default, Keys) or field.default == {}:
        return ""
    return json.dumps(field.default)


def keys_markdown() -> str:
    """The documentation of every key as a table in Markdown."""
    lines = ["| key | allowed | default | meaning |", "|---|---|---|---|"]
    for key in key_texts():
        only = f" ({key.only})" if key.only else ""
        default = f"`{key.default}`" if key.default not in ("", "required") else key.default
        lines.append(f"| `{key.path}`{only} | {key.allowed} | {default} | {key.description} |")
    return "\n".join(lines) + "\n"
