"""The options of a game by their names in the rules, set and told with the catalog's help."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.message import Message

from tavolata.v1 import catalog_pb2, game_pb2


class WrongOption(ValueError):
    """An option or a value that the game doesn't have; the text says what there is."""


def options_of(game: catalog_pb2.Game, texts: Iterable[str]) -> game_pb2.GameOptions:
    """The game's default options with `name=value` texts applied; WrongOption names what is wrong.

    What is in range but refused in combination is left to the server.
    """
    options = game_pb2.GameOptions()
    inner = _inner(options, game.default_options)
    specs = {spec.name: spec for spec in game.options}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if name not in specs or not equals:
            raise WrongOption(
                f"{text!r} is no option of {game.title}; write name=value with one of: "
                f"{', '.join(specs) or 'none'}"
            )
        setattr(inner, name, _value(specs[name], value))
    return options


def _inner(options: game_pb2.GameOptions, like: game_pb2.GameOptions) -> Message:
    which = like.WhichOneof("options")
    if which is None:
        raise WrongOption("the server did not say which options the game has")
    inner: Message = getattr(options, which)
    inner.SetInParent()
    return inner


def allowed(spec: catalog_pb2.OptionSpec) -> str:
    """What an option can be, in words."""
    which = spec.WhichOneof("kind")
    if which == "choice":
        return ", ".join(value.value for value in spec.choice.values)
    if which == "integer":
        values = spec.integer.values
        return (
            ", ".join(map(str, values)) if values else f"{spec.integer.min} to {spec.integer.max}"
        )
    return "true, false"


def _value(spec: catalog_pb2.OptionSpec, text: str) -> bool | int | str:
    which = spec.WhichOneof("kind")
    if which == "boolean" and text.casefold() in ("true", "false", "yes", "no", "on", "off"):
        return text.casefold() in ("true", "yes", "on")
    if which == "integer" and text.lstrip("-").isdecimal():
        return int(text)
    if which == "choice":
        for value in spec.choice.values:
            if value.value == text:
                return value.enum_value
    raise WrongOption(f"option {spec.name} can't be {text!r}; allowed: {allowed(spec)}")


def options_told(game: catalog_pb2.Game, options: game_pb2.GameOptions) -> str:
    """`all_flags first; three_way rolling`: every option of a table."""
    which = options.WhichOneof("options")
    if which is None:
        return ""
    inner: Message = getattr(options, which)
    return "; ".join(f"{spec.name} {_told(spec, inner)}" for spec in game.options)


def _told(spec: catalog_pb2.OptionSpec, inner: Message) -> str:
    value = getattr(inner, spec.name)
    if spec.WhichOneof("kind") == "boolean":
        return "true" if value else "false"
    if spec.WhichOneof("kind") != "choice":
        return str(value)
    enum = inner.DESCRIPTOR.fields_by_name[spec.name].enum_type
    name = enum.values_by_number[value].name if enum is not None else ""
    by_name = {choice.enum_value: choice.value for choice in spec.choice.values}
    return by_name.get(name, spec.choice.default_value)
