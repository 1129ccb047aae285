"""What a codec of a game gives, and the frame that all codecs share.

A game's codec names the messages and says how a view and each kind of event map to theirs. The
frame keeps one message for each action number, finds numbers by the bytes of a message, and refuses
what belongs to another game or is no action at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from tavolata.ext.core.errors import SettingError
from tavolata.ext.core.spec import GameSpec, Options, OptionValue
from tavolata.service.codecs.options import OptionsCodec, unknown_fields
from tavolata.service.refusals import Refused, invalid_field, of_setting
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.game_pb2 import Action, GameEvent, GameOptions, GameView


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an action: the field below the action, the finding, what is allowed."""

    field: str
    finding: str
    allowed: str


class Codec:
    """The messages of one game."""

    def __init__(
        self,
        spec: GameSpec,
        *,
        options: OptionsCodec[Any],
        actions: Mapping[int, Action],
        problem_of: Callable[[Action], Problem],
        view_to: Callable[[Any], GameView],
        event_to: Mapping[type, Callable[[Any], GameEvent]],
    ) -> None:
        """actions: every action number of the game with its message; problem_of: what is wrong with
        a message of this game that is none of them; event_to: by the class of the event."""
        self.game_id = spec.id
        self.options = options
        self._actions = dict(actions)
        self._numbers = {action.SerializeToString(): n for n, action in self._actions.items()}
        self._problem_of = problem_of
        self._event_to = dict(event_to)
        self.view_to = view_to  # a view dataclass of the game as a message

    # -- options ----------------------------------------------------------------------------------

    def options_from(self, options: GameOptions) -> Options:
        """The options that are set, for the game's spec to check and complete; none if the message
        is empty. Refused with WRONG_GAME, UNKNOWN_OPTION or OPTION_OUT_OF_RANGE."""
        if options.ByteSize() == 0:
            return {}
        given = options.WhichOneof("options")
        if given != self.game_id:
            self._refuse_other_game("options", given, options)
        try:
            return self.options.read(getattr(options, self.game_id))
        except SettingError as error:
            raise of_setting(error) from None

    def options_to(self, options: Mapping[str, OptionValue]) -> GameOptions:
        """Options with their values as a message."""
        return GameOptions(**{self.game_id: self.options.write(options)})

    # -- actions ----------------------------------------------------------------------------------

    def action_from(self, action: Action, field: str = "action") -> int:
        """The number of an action, whether legal or not. Refused with WRONG_GAME or INVALID_FIELD;
        `field` is where the action stands in the request."""
        number = self._numbers.get(action.SerializeToString())
        if number is None:
            self._refuse_action(action, field)
        return number

    def action_to(self, action: int) -> Action:
        """The message of an action number: a shared one, not to be changed. KeyError if the number
        is none of this game's."""
        return self._actions[action]

    def _refuse_action(self, action: Action, field: str) -> NoReturn:
        given = action.WhichOneof("action")
        if given != self.game_id:
            self._refuse_other_game(field, given, action)
        problem = self._problem_of(action)
        raise invalid_field(
            ".".join(filter(None, (field, self.game_id, problem.field))),
            problem.finding,
            problem.allowed,
        )

    # -- events -----------------------------------------------------------------------------------

    def event_to(self, event: object) -> GameEvent:
        """An event dataclass of the game as a message. KeyError if it is none of this game's."""
        return self._event_to[type(event)](event)

    def _refuse_other_game(
        self, field: str, given: str | None, message: Action | GameOptions
    ) -> NoReturn:
        if given is None:
            given = next((f"field {number}" for number in unknown_fields(message)), None)
        if given is None:
            raise invalid_field(field, "is empty", f"{field}.{self.game_id}")
        raise Refused(
            ErrorReason.ERROR_REASON_WRONG_GAME,
            f"{field} is of {given}; the table plays {self.game_id}",
            {"game_id": self.game_id, "given": given},
        )
