"""Every game as an OpenSpiel game, ``tavolata_<game id>``; importing this registers them.

Chance is explicit: each pick is a node with its outcomes, each shuffle a node an item. Simultaneous
decisions are sequential, the lowest seat first, with nothing seen of what others chose. The
information state is all that the seat has been told; the observation is its view of the position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from tavolata.ai.adapters.games import game_of
from tavolata.ai.adapters.history import CHANCE, TERMINAL, History
from tavolata.ai.adapters.vectors import Encoding, Reward
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import GameSpec, OptionSpec, OptionValue
from tavolata.ext.registry import GAMES

PREFIX = "tavolata_"
OUTCOMES_MOST = 256  # of one pick or draw: items are bytes
DECISIONS_MOST = 20_000  # bounds of a match of any game, many times what is met in play
CHANCE_NODES_MOST = 20_000
# Of an option whose default hangs on the number of seats. OpenSpiel takes the word `true` in the
# text of a game for a flag, and flags can't be left open.
BY_SEATS = "default"
SWITCH = {"on": True, "off": False}


@dataclass(frozen=True, slots=True)
class Table:
    """What a loaded game hangs on besides the rules."""

    encoding: Encoding
    reward: Reward


class TavolataGame(pyspiel.Game):
    """A game at a table. Parameters: ``players``, ``reward`` (placement, score), ``observation``
    (bits, bytes) and the options of the game."""

    def __init__(self, spec: GameSpec, params: dict[str, Any] | None = None) -> None:
        given = _parameters(spec) | (params or {})
        rules = game_of(spec.id, given["players"], _options(spec, given))
        self.table = Table(
            Encoding(rules, given["observation"]), Reward(spec.low_wins, given["reward"])
        )
        self.rules = rules
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.action_count,
            max_chance_outcomes=OUTCOMES_MOST,
            num_players=rules.seat_count,
            min_utility=-self.table.reward.most,
            max_utility=self.table.reward.most,
            utility_sum=0.0,
            max_game_length=DECISIONS_MOST,
        )
        super().__init__(_type_of(spec), info, params or {})

    def new_initial_state(self, text: str | None = None) -> TavolataState:
        """A state before the deal. A text is refused: no position is set up from one."""
        if text is not None:
            raise ValueError("a match starts with the deal; no state is made from a text")
        return TavolataState(self)

    def max_chance_nodes_in_history(self) -> int:
        """A bound, as ``max_game_length`` is."""
        return CHANCE_NODES_MOST

    def make_py_observer(
        self, iig_obs_type: pyspiel.IIGObservationType | None = None, params: Any = None
    ) -> TavolataObserver:
        """What makes strings and tensors of states; see TavolataObserver."""
        if params:
            raise ValueError(f"observers of this game have no parameters, but were given {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return TavolataObserver(self.table.encoding, kind)


class TavolataState(pyspiel.State):
    """A state: a history and nothing else, dealt once it is first asked for."""

    def __init__(self, game: TavolataGame, history: History | None = None) -> None:
        super().__init__(game)
        self._history = history

    @property
    def history_of_play(self) -> History:
        """What happened. For adapters: it knows every card."""
        if self._history is None:
            self._history = History(self.get_game().rules)
        return self._history

    def current_player(self) -> int:
        return self.history_of_play.to_act

    def is_terminal(self) -> bool:
        return self.history_of_play.to_act == TERMINAL

    def _legal_actions(self, player: int) -> list[int]:
        return self.history_of_play.legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.history_of_play.outcomes()

    def _apply_action(self, action: int) -> None:
        history = self.history_of_play
        if history.to_act == CHANCE:
            history.answer(action)
        else:
            history.play(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            return self.history_of_play.outcome_name(action)
        rules: Game = self.get_game().rules
        return rules.action_name(action)

    def returns(self) -> list[float]:
        """The rewards at the end, zeros before it."""
        if not self.is_terminal():
            return [0.0] * self.num_players()
        table: Table = self.get_game().table
        return table.reward.of(self.history_of_play.totals())

    def resample_from_infostate(self, player: int, uniform: Callable[[], float]) -> TavolataState:
        """A state that the player can't tell from this one, every physical deal of the unseen as
        likely as any other. Its history of moves starts here. uniform: numbers in [0, 1)."""
        seed = int(uniform() * 2**32) << 32 | int(uniform() * 2**32)
        return TavolataState(self.get_game(), self.history_of_play.redealt(player, seed))

    def __str__(self) -> str:
        return str(self.history_of_play)


class TavolataObserver:
    """Strings and tensors of what a player sees.

    With perfect recall, the string is all that the player has been told and there is no tensor;
    else the string is the player's view as hex digits and the tensor the numbers of the view, see
    ``vectors.Encoding``, bytes divided by 255.
    """

    def __init__(self, encoding: Encoding, kind: pyspiel.IIGObservationType) -> None:
        single = pyspiel.PrivateInfoType.SINGLE_PLAYER
        if not kind.public_info or kind.private_info != single:
            raise ValueError("there are observations of what one player sees, and no others")
        self._encoding, self._recall = encoding, kind.perfect_recall
        self.tensor: npt.NDArray[np.float32] | None = None
        self.dict: dict[str, npt.NDArray[np.float32]] = {}
        if not self._recall:
            self.tensor = np.zeros(encoding.size, np.float32)
            self.dict["observation"] = self.tensor

    def set_from(self, state: TavolataState, player: int) -> None:
        """Write the player's observation into the tensor."""
        if self.tensor is not None:
            view = state.history_of_play.view(player)
            seats = self._encoding.game.seat_count
            self.tensor[:] = self._encoding.vector(view, player)
            self.tensor[seats:] /= self._encoding.highest

    def string_from(self, state: TavolataState, player: int) -> str:
        """The player's information state or observation as text."""
        history = state.history_of_play
        if self._recall:
            return history.information_state(player)
        return f"seat {player} {history.view(player).hex()}"


def _parameters(spec: GameSpec) -> dict[str, Any]:
    """Every parameter with its default."""
    options = {option.name: _default(option) for option in spec.options}
    return {"players": spec.seats_usual, "reward": "placement", "observation": "bits"} | options


def _default(option: OptionSpec) -> OptionValue:
    return BY_SEATS if option.default_by_seats else option.default


def _options(spec: GameSpec, params: dict[str, Any]) -> dict[str, OptionValue]:
    """The options among the parameters, as the rules take them."""
    options: dict[str, OptionValue] = {}
    for option in spec.options:
        value = params[option.name]
        if option.default_by_seats:
            if value == BY_SEATS:
                continue
            value = SWITCH.get(value, value)
        options[option.name] = value
    return options


def _type_of(spec: GameSpec) -> pyspiel.GameType:
    return pyspiel.GameType(
        short_name=PREFIX + spec.id,
        long_name=spec.name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=spec.seats_max,
        min_num_players=spec.seats_min,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
        parameter_specification=_parameters(spec),
    )


def _class_of(spec: GameSpec) -> type[TavolataGame]:
    """The class of one game. OpenSpiel lets go of what it was given after the interpreter's end,
    which only classes survive, as their own method resolution order holds them."""

    class RegisteredGame(TavolataGame):
        def __init__(self, params: dict[str, Any] | None = None) -> None:
            super().__init__(spec, params)

    return RegisteredGame


for _spec in GAMES.values():
    pyspiel.register_game(_type_of(_spec), _class_of(_spec))
