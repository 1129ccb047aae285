"""What can be wrong with a request to the rules. Every refusal changes nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """The rule that forbids an action, and why in words for people."""

    rule: str
    text: str


class RulesError(Exception):
    """A request that the rules refuse; ``reason`` is a stable name for programs."""

    reason = "RULES"


class SettingError(RulesError):
    """A table that can't be made (G-1): what was given and what is allowed."""

    reason = "OPTION_OUT_OF_RANGE"

    def __init__(self, name: str, given: object, allowed: str, *, rule: str = "G-1") -> None:
        super().__init__(f"{name} is {given!r}; allowed: {allowed} ({rule})")
        self.name, self.given, self.allowed, self.rule = name, given, allowed, rule


class UnknownOption(SettingError):
    """An option that the game does not have."""

    reason = "UNKNOWN_OPTION"


class SeatCountError(SettingError):
    """A number of seats the game can't be played with."""

    reason = "SEAT_COUNT"


class CombinationError(SettingError):
    """Options that are fine one by one but refused together."""

    reason = "OPTION_COMBINATION"


class IllegalAction(RulesError):
    """An action that a rule forbids now (G-2)."""

    reason = "ILLEGAL_ACTION"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.text} ({refusal.rule})")
        self.rule, self.text = refusal.rule, refusal.text


class NotToAct(RulesError):
    """The seat has nothing to decide now (G-2)."""

    reason = "NOT_YOUR_TURN"
    rule = "G-2"


class AlreadyCommitted(RulesError):
    """The seat has made its secret choice; it can't be changed (G-2)."""

    reason = "ALREADY_COMMITTED"
    rule = "G-2"


class StaleTurn(RulesError):
    """The action answers a decision that is no longer open."""

    reason = "STALE_TURN"

    def __init__(self, turn: int, current: int) -> None:
        super().__init__(f"turn {turn} is not open; the current turn is {current} (G-2)")
        self.turn, self.current = turn, current


class MatchOver(RulesError):
    """The match has ended."""

    reason = "MATCH_FINISHED"
