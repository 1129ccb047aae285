"""Names that others see: what could make a text look like another, or hide in it, is refused."""

from __future__ import annotations

import unicodedata

from tavolata.service.refusals import invalid_field

NAME_MAX = 64
ALLOWED = (
    f"at most {NAME_MAX} characters: letters, marks, digits, punctuation, symbols and spaces; no "
    "control or format characters, line separators, blank or unassigned characters; the "
    "joiners U+200C and U+200D between two others only"
)
# Scripts and emoji need them within a word.
_JOINERS = frozenset("\u200c\u200d")
# Letters, marks and a symbol that show nothing, or as good as nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_REFUSED = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def check_name(name: str, field: str) -> str:
    """The name itself. Refused with INVALID_FIELD, which says what is allowed."""
    if len(name) > NAME_MAX:
        raise invalid_field(field, f"has {len(name)} characters", ALLOWED)
    for sign in name:
        if sign in _BLANK or (sign not in _JOINERS and unicodedata.category(sign) in _REFUSED):
            raise invalid_field(field, f"has the character U+{ord(sign):04X}", ALLOWED)
    padded = f" {name} "
    for before, sign, after in zip(padded, padded[1:], padded[2:], strict=False):
        if sign in _JOINERS and not {before, after}.isdisjoint({" ", *_JOINERS}):
            raise invalid_field(field, f"has U+{ord(sign):04X} joining nothing", ALLOWED)
    return name
