"""Options of a game between its options message and the values that the rules know.

The message is described by its own fields, so a game's codec only names it: a `bool` option is an
`optional bool`, an `int` option an `optional sint32`, an `enum` option an enum, its values named
by the enum's name and the value of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from tavolata.ext.core.errors import SettingError, UnknownOption
from tavolata.ext.core.spec import Options, OptionSpec, OptionValue

M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class _Field:
    spec: OptionSpec
    values: Mapping[int, OptionValue]  # of an enum: the rules' value by number
    numbers: Mapping[OptionValue, int]
    names: Mapping[OptionValue, str]


class OptionsCodec(Generic[M]):
    """The options message of one game, and the specs of the same options."""

    def __init__(self, message: type[M], specs: tuple[OptionSpec, ...]) -> None:
        """ValueError if the message's fields are not the options of `specs`."""
        self._message = message
        fields = message.DESCRIPTOR.fields_by_name
        if set(fields) != {spec.name for spec in specs}:
            raise ValueError(
                f"{message.DESCRIPTOR.name} has other fields than the game has options"
            )
        self._fields = {spec.name: _field(spec, fields[spec.name]) for spec in specs}

    def read(self, message: M) -> Options:
        """The options that are set. UnknownOption for a field that the message doesn't have, by its
        number; SettingError for an enum value that it doesn't have."""
        for number in unknown_fields(message):
            raise UnknownOption(str(number), f"field {number}", ", ".join(self._fields))
        return {
            name: self._value(self._fields[name], getattr(message, name))
            for descriptor, _ in message.ListFields()
            for name in (descriptor.name,)
        }

    def write(self, options: Mapping[str, OptionValue]) -> M:
        """The message; options that are not in the mapping stay unset."""
        made = self._message()
        for name, value in options.items():
            numbers = self._fields[name].numbers
            setattr(made, name, numbers[value] if numbers else value)
        return made

    def enum_name(self, option: str, value: OptionValue) -> str:
        """The name of the enum value that stands for a value of an enum option."""
        return self._fields[option].names[value]

    def _value(self, field: _Field, given: OptionValue) -> OptionValue:
        if not field.values:
            return given
        if given not in field.values:
            raise SettingError(field.spec.name, given, field.spec.allowed)
        return field.values[int(given)]


def unknown_fields(message: Message) -> list[int]:
    """The numbers of fields that were received but are not in the message's definition."""
    found = UnknownFieldSet(message)
    return [found[place].field_number for place in range(len(found))]


def _field(spec: OptionSpec, field: Any) -> _Field:
    if spec.type != "enum":
        wanted = {"bool": FieldDescriptor.CPPTYPE_BOOL, "int": FieldDescriptor.CPPTYPE_INT32}
        if field.cpp_type != wanted[spec.type] or not field.has_presence:
            raise ValueError(f"{field.full_name} must be an optional {spec.type}")
        return _Field(spec, {}, {}, {})
    enum = field.enum_type
    if enum is None:
        raise ValueError(f"{field.full_name} must be an enum")
    numbers = {value: _number(enum, value) for value in spec.values}
    if len(numbers) != len(enum.values) - 1:
        raise ValueError(f"{enum.full_name} has other values than the option {spec.name}")
    names = {value: enum.values_by_number[number].name for value, number in numbers.items()}
    return _Field(spec, {number: value for value, number in numbers.items()}, numbers, names)


def _number(enum: EnumDescriptor, value: OptionValue) -> int:
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", enum.name).upper()
    return enum.values_by_name[f"{prefix}_{str(value).upper()}"].number
