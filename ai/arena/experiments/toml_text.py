"""Tables as TOML: what a tournament is made from, and what can be read and run by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def toml_text(tables: Mapping[str, Any]) -> str:
    """A mapping as TOML: plain keys first, then tables and arrays of tables.

    Values are text, numbers, true and false, lists of them, and mappings; None is left out.
    """
    plain = [f"{key} = {_value(value)}" for key, value in tables.items() if _is_plain(value)]
    parts = ["\n".join(plain)] if plain else []
    for name, value in tables.items():
        if isinstance(value, Mapping):
            parts.append(f"[{name}]\n{_rows(value)}")
        elif not _is_plain(value) and value is not None:
            parts += [f"[[{name}]]\n{_rows(row)}" for row in value]
    return "\n\n".join(parts) + "\n"


def _is_plain(value: object) -> bool:
    if isinstance(value, Mapping) or value is None:
        return False
    return not (isinstance(value, list | tuple) and value and isinstance(value[0], Mapping))


def _rows(table: Mapping[str, Any]) -> str:
    return "\n".join(
        f"{json.dumps(key) if not key.isidentifier() else key} = {_value(value)}"
        for key, value in table.items()
        if value is not None
    )


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    # JSON's texts, numbers and words are TOML's too, but for a character that JSON leaves as it is.
    return json.dumps(value).replace("\x7f", "\\u007f")
