"""Requests that nobody would send: built from the API's descriptors, or bytes without sense."""

from __future__ import annotations

import random
import struct
from typing import Any

from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

DEPTH = 4
REPEATED_MAX = 4
_BITS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_FLOATS = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e308, 5e-324)
_TEXTS = (
    "", " ", "\x00", "a" * 64, "a" * 65, "a" * 5000, "\U0001f3b2" * 30, "\u202egnp.exe", "../../x",
    "'; DROP TABLE entries; --", "%s%n", "{}", "\r\n", "null", "-1", "\ufeff", "e\u0301" * 9,
)  # fmt: skip
_VARINT, _FIXED64, _BYTES, _START, _END, _FIXED32 = range(6)

Known = dict[str, list[Any]]
"""Values that fields of a name really have: ids of tables, actions, games."""


class Maker:
    """Makes requests, by chance from a generator. known: values that get past the first checks."""

    def __init__(self, draws: random.Random, known: Known) -> None:
        self._draws = draws
        self._known = known

    def request(self, method: MethodDescriptor) -> bytes:
        """The bytes of a request of a method, as a rule no sensible one."""
        message = GetMessageClass(method.input_type)()
        self._fill(message, DEPTH)
        written = message.SerializeToString()
        match self._draws.randrange(10):
            case 0:
                return self._damaged(written)
            case 1:
                return written + self._unknown_field()
            case 2:
                return written + self._odd_field(message.DESCRIPTOR)
            case 3:
                return self._draws.randbytes(self._draws.choice([0, 1, 2, 7, 40, 300]))
            case 4 if self._draws.random() < 0.1:
                return self._too_much(written, message.DESCRIPTOR)
        return written

    # -- messages ---------------------------------------------------------------------------------

    def _fill(self, message: Message, depth: int) -> None:
        for field in message.DESCRIPTOR.fields:
            # Of a oneof the last one set is what counts.
            share = 0.85 if field.name in self._known else 0.55
            if field.containing_oneof is not None:
                share = 1.6 / len(field.containing_oneof.fields)
            if self._draws.random() < share:
                self._set(message, field, depth)

    def _set(self, message: Message, field: Any, depth: int) -> None:
        known = self._known.get(field.name)
        known = known if known and self._draws.random() < 0.8 else None
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            self._set_message(message, field, depth, known)
        elif field.is_repeated:
            count = self._draws.randrange(REPEATED_MAX)
            getattr(message, field.name).extend(self._value(field) for _ in range(count))
        else:
            fits = known and isinstance(known[0], type(getattr(message, field.name)))
            chosen = self._draws.choice(known) if known and fits else self._value(field)
            setattr(message, field.name, chosen)

    def _set_message(
        self, message: Message, field: FieldDescriptor, depth: int, known: list[Any] | None
    ) -> None:
        kind = field.message_type
        if depth == 0 or kind is None or kind.GetOptions().map_entry:
            return
        held = getattr(message, field.name)
        parts = [held]
        if field.is_repeated:
            parts = [held.add() for _ in range(self._draws.randrange(REPEATED_MAX))]
        for part in parts:
            part.SetInParent()
            chosen = self._draws.choice(known) if known else None
            if isinstance(chosen, type(part)):
                part.CopyFrom(chosen)
            else:
                self._fill(part, depth - 1)

    def _value(self, field: FieldDescriptor) -> Any:
        draws = self._draws
        if field.cpp_type in _BITS:
            low, high = _BITS[field.cpp_type]
            near = draws.choice([0, 1, 2, 3, 5, 100, 2**16, high, high - 1, low, -1])
            return min(max(near, low), high)
        if field.enum_type is not None:
            numbers = [value.number for value in field.enum_type.values]
            return draws.choice([*numbers, -1, 99, 2**31 - 1])
        if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
            return draws.random() < 0.5
        if field.type == FieldDescriptor.TYPE_BYTES:
            return draws.randbytes(draws.choice([0, 1, 31, 32, 33, 64, 65, 900]))
        if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
            return draws.choice(_TEXTS)
        return draws.choice(_FLOATS)

    # -- bytes ------------------------------------------------------------------------------------

    def _damaged(self, written: bytes) -> bytes:
        damaged = bytearray(written)
        for _ in range(self._draws.randint(1, 4)):
            if not damaged:
                break
            place = self._draws.randrange(len(damaged))
            match self._draws.randrange(4):
                case 0:
                    damaged[place] = self._draws.randrange(256)
                case 1:
                    damaged[place] ^= 1 << self._draws.randrange(8)
                case 2:
                    del damaged[place:]
                case 3:
                    damaged[place:place] = self._draws.randbytes(3)
        return bytes(damaged)

    def _unknown_field(self) -> bytes:
        number = self._draws.choice([99, 1000, 2**29 - 1, 19_000])
        return _tag(number, _VARINT) + _varint(self._draws.getrandbits(63))

    def _odd_field(self, descriptor: Any) -> bytes:
        """A field of the message with another wire type, text that is no UTF-8, or a group."""
        fields = list(descriptor.fields)
        number = self._draws.choice(fields).number if fields else 1
        match self._draws.randrange(6):
            case 0:
                return _tag(number, _VARINT) + b"\xff" * 10 + b"\x01"
            case 1:
                return _tag(number, _FIXED32) + struct.pack("<f", float("nan"))
            case 2:
                return _tag(number, _BYTES) + b"\x04\xff\xfe\xc0\x80"
            case 3:
                return _tag(number, _BYTES) + _varint(2**31 - 1)
            case 4:
                deep = self._draws.choice([5, 99, 120, 500])
                return _tag(number, _START) * deep + _tag(number, _END) * deep
            case _:
                return _tag(number, _FIXED64) + b"\x00" * 8

    def _too_much(self, written: bytes, descriptor: Any) -> bytes:
        """A message nested very deep or very large."""
        fields = list(descriptor.fields)
        number = self._draws.choice(fields).number if fields else 1
        if self._draws.random() < 0.5:
            return written + _tag(200, _BYTES) + _varint(70_000) + bytes(70_000)
        nested = b""
        for _ in range(self._draws.choice([90, 101, 1000])):
            nested = _tag(number, _BYTES) + _varint(len(nested)) + nested
        return nested


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


# -- below the messages ---------------------------------------------------------------------------

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_TYPES = range(10)  # DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, ... CONTINUATION


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """One HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _literal(name: bytes, value: bytes) -> bytes:
    """A header as HPACK writes it without index and without Huffman's code."""
    return b"\x00" + _length(name) + _length(value)


def _length(text: bytes) -> bytes:
    return (
        bytes([len(text)]) + text if len(text) < 127 else b"\x7f" + _varint(len(text) - 127) + text
    )


def headers(path: bytes) -> bytes:
    """The headers of a call."""
    pairs = {
        b":method": b"POST", b":scheme": b"http", b":path": path, b":authority": b"x",
        b"content-type": b"application/grpc", b"te": b"trailers",
    }  # fmt: skip
    return b"".join(_literal(name, value) for name, value in pairs.items())


def raw_bytes(draws: random.Random, path: str, request: bytes) -> bytes:
    """What a connection is to be sent: noise, or HTTP/2 with something wrong in it."""
    match draws.randrange(7):
        case 0:
            return draws.randbytes(draws.randint(1, 400))
        case 1:
            return b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        case 2:  # frames of any kind
            frames = [
                frame(
                    draws.choice(_TYPES), draws.randrange(256), draws.randrange(8),
                    draws.randbytes(draws.choice([0, 1, 4, 5, 8, 9, 60])),
                )
                for _ in range(draws.randint(1, 8))
            ]  # fmt: skip
            return PREFACE + frame(4, 0, 0, b"") + b"".join(frames)
    called = PREFACE + frame(4, 0, 0, b"") + frame(1, 4, 1, headers(path.encode()))
    match draws.randrange(5):
        case 0:  # the message's length isn't that of what comes
            message = struct.pack(">BI", 0, draws.choice([0, 1, 2**31, 2**32 - 1])) + request
        case 1:  # said to be compressed
            message = struct.pack(">BI", draws.choice([1, 2, 255]), len(request)) + request
        case 2:  # reset before its end
            return called + frame(0, 0, 1, b"\x00") + frame(3, 0, 1, struct.pack(">I", 8))
        case 3:
            return called + frame(0, 1, 1, draws.randbytes(draws.randint(0, 9)))
        case _:
            message = struct.pack(">BI", 0, len(request)) + request
    sent = called + frame(0, 1, 1, message)
    if draws.random() < 0.5:
        damaged = bytearray(sent)
        # Not the highest bit: gRPC stops listening, for a moment, when a method's name is no UTF-8,
        # and what others are refused with then has no reason. test_fuzz.py has that by itself.
        damaged[draws.randrange(len(PREFACE), len(damaged))] ^= 1 << draws.randrange(7)
        sent = bytes(damaged)
    return sent
