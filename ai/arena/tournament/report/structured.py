"""A summary as JSON, as ``summary.schema.json`` describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.resources import files
from math import isfinite
from typing import Any

from tavolata.ai.arena.tournament.summary import Summary

FORMAT = "tavolata.tournament.summary.v1"
SCHEMA = "summary.schema.json"


def as_json(summary: Summary) -> str:
    """The text of a JSON file; equal summaries give equal texts. An unknown bound is null."""
    return json.dumps({"format": FORMAT} | _plain(summary), indent=1) + "\n"


def schema() -> dict[str, Any]:
    """The JSON schema of what ``as_json`` writes."""
    text = files(__package__).joinpath(SCHEMA).read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
