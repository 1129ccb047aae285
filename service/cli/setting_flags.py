"""A flag for every setting, made from the settings themselves when a command that has them is run.

`tavolata --help` doesn't need them, so it doesn't load what they are made of.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from tavolata.service.settings import Settings

_KEY = "tavolata.settings"
PANEL = "Settings"
# Names that were there before every setting had a flag.
ALIASES = {"ai_floor_s": "--ai-floor", "ai_jitter_s": "--ai-jitter"}


class SettingsCommand(TyperCommand):
    """A command that takes every setting as a flag; `given` has them."""

    _flags: list[Any] | None = None

    def get_params(self, ctx: Any) -> Any:
        """Its own parameters, and the flags."""
        if self._flags is None:
            self._flags = _flags()
        own = super().get_params(ctx)
        return [*own[:-1], *self._flags, own[-1]]  # the last one is --help


def given(ctx: Any) -> dict[str, Any]:
    """The settings that were given as flags, as text or truth values."""
    return dict(ctx.meta.get(_KEY, {}))


def _flags() -> list[Any]:
    """The options of a command that has one for each setting, keeping what they are given."""
    from tavolata.service.settings import Settings

    def command(**_: object) -> None:
        """Has the options."""

    parameters = [_parameter(*each) for each in Settings.model_fields.items()]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(command)
    made: Any = typer.main.get_command(app)
    for option in made.params:
        option.expose_value = False
        option.callback = _keep
    return list(made.params)


def _keep(ctx: Any, option: Any, value: Any) -> None:
    from tavolata.service.settings import Settings

    if value is not None:
        several = isinstance(Settings.model_fields[option.name].default, tuple)
        ctx.meta.setdefault(_KEY, {})[option.name] = value.split(",") if several else value


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    flag = f"--{name.replace('_', '-')}"
    says = f"{field.description} (default: {default_of(field)})"
    annotation: Any
    if field.annotation is bool:
        option = typer.Option(f"{flag}/--no-{flag[2:]}", help=says, rich_help_panel=PANEL)
        annotation = Annotated[bool | None, option]
    else:
        names = [flag, *([ALIASES[name]] if name in ALIASES else [])]
        option = typer.Option(*names, metavar=_kind(field), help=says, rich_help_panel=PANEL)
        annotation = Annotated[str | None, option]
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=None, annotation=annotation)


def _kind(field: FieldInfo) -> str:
    """What a value looks like."""
    kinds = [each for each in get_args(field.annotation) if each is not type(None)]
    if kinds and all(isinstance(each, str) for each in kinds):
        return "|".join(kinds)
    kind = kinds[0] if kinds else field.annotation
    if kind in (int, float):
        return "NUMBER"
    return "PATH" if kind is Path else "TEXT"


def default_of(field: FieldInfo) -> str:
    """A setting's default, for people."""
    value = field.default
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value)


def as_toml(settings: Settings) -> str:
    """The settings as a file for --config, without the password of a database."""
    from tavolata.service.store.revisions import postgres_place

    lines = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if name == "store" and value:
            value = postgres_place(value)
        lines.append(f"# {name} is not set" if value is None else f"{name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    # JSON's way to write a string is one of TOML's, once DEL is escaped, too.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
