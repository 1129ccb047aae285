"""CatalogService: what can be played. Everything it says comes from the games and their seeds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import grpc

from tavolata.ai.levels import DEFAULT_LEVEL, levels_of
from tavolata.ai.player import Limits
from tavolata.ai.players import DEFAULT_PLAYER
from tavolata.ext.core import seeds
from tavolata.ext.core.spec import GameSpec, OptionRefusal, OptionSpec, OptionValue
from tavolata.ext.registry import GAMES, UnknownGame, game_spec
from tavolata.service import ai_levels
from tavolata.service.ai_levels import Ceiling
from tavolata.service.clock import SystemClock
from tavolata.service.codecs import Codec, codec_of
from tavolata.service.players.offers import LEVEL, Standing
from tavolata.service.players.roster import Roster
from tavolata.service.ports import Clock
from tavolata.service.refusals import Refused, invalid_field, of_unknown_game
from tavolata.service.tables.wire import stamp
from tavolata.v1 import catalog_pb2 as pb
from tavolata.v1 import catalog_service_pb2 as service_pb
from tavolata.v1.catalog_service_pb2_grpc import CatalogServiceServicer
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.player_pb2 import SearchLimits
from tavolata.v1.server_info_pb2 import ServerInfo

DEFAULT_CEILING = Ceiling()
RULE_IDS_MAX = 200


class CatalogHandlers(CatalogServiceServicer):
    """The calls of CatalogService. What is refused is raised as Refused."""

    def __init__(
        self,
        ceiling: Ceiling = DEFAULT_CEILING,
        info: ServerInfo | None = None,
        clock: Clock | None = None,
        roster: Roster | None = None,
    ) -> None:
        """ceiling: what a search may spend here, beyond which no level goes; info: what to tell of
        the server, the time apart; roster: the players that programs offer."""
        self._roster = roster
        self._ceiling = ceiling
        self._info = info or ServerInfo()
        self._clock = clock or SystemClock()

    async def ListGames(  # noqa: N802
        self,
        request: service_pb.ListGamesRequest,
        context: grpc.aio.ServicerContext[
            service_pb.ListGamesRequest, service_pb.ListGamesResponse
        ],
    ) -> service_pb.ListGamesResponse:
        """All games, in the order of their ids."""
        return service_pb.ListGamesResponse(
            games=[self._game(game_id) for game_id in sorted(GAMES)]
        )

    async def GetGame(  # noqa: N802
        self,
        request: service_pb.GetGameRequest,
        context: grpc.aio.ServicerContext[service_pb.GetGameRequest, service_pb.GetGameResponse],
    ) -> service_pb.GetGameResponse:
        """One game. Refused with UNKNOWN_GAME."""
        game_id = _known(request.game_id).id
        return service_pb.GetGameResponse(game=self._game(game_id))

    def _game(self, game_id: str) -> pb.Game:
        made = game_message(game_id, self._ceiling)
        if self._roster is None or not (remote := self._roster.playing(game_id)):
            return made
        with_remote = pb.Game()
        with_remote.CopyFrom(made)
        now_us = self._clock.now_us()
        with_remote.ai_players.extend(_remote_player(each, now_us) for each in remote)
        return with_remote

    async def GetRules(  # noqa: N802
        self,
        request: service_pb.GetRulesRequest,
        context: grpc.aio.ServicerContext[service_pb.GetRulesRequest, service_pb.GetRulesResponse],
    ) -> service_pb.GetRulesResponse:
        """Rules of a game by their numbers. Refused with UNKNOWN_GAME, UNKNOWN_RULE or
        INVALID_FIELD."""
        spec = _known(request.game_id)
        if len(request.rule_ids) > RULE_IDS_MAX:
            problem = f"has {len(request.rule_ids)} numbers"
            raise invalid_field("rule_ids", problem, f"at most {RULE_IDS_MAX}")
        return service_pb.GetRulesResponse(
            rules_version=spec.rules_version, rules=_rules(spec, list(request.rule_ids))
        )

    async def GetServerInfo(  # noqa: N802
        self,
        request: service_pb.GetServerInfoRequest,
        context: grpc.aio.ServicerContext[
            service_pb.GetServerInfoRequest, service_pb.GetServerInfoResponse
        ],
    ) -> service_pb.GetServerInfoResponse:
        """Versions, limits, the time."""
        told = service_pb.GetServerInfoResponse(info=self._info)
        told.info.server_time.CopyFrom(stamp(self._clock.now_us()))
        return told


def _known(game_id: str) -> GameSpec:
    try:
        return game_spec(game_id)
    except UnknownGame as error:
        raise of_unknown_game(error) from None


# -- rules --------------------------------------------------------------------------------------


def _rules(spec: GameSpec, rule_ids: list[str]) -> list[pb.Rule]:
    own = _rule_messages(spec.id)
    if not rule_ids:
        return list(own.values())
    known = {**_rule_messages(None), **own}
    for rule_id in rule_ids:
        if rule_id not in known:
            raise Refused(
                ErrorReason.ERROR_REASON_UNKNOWN_RULE,
                f"{spec.name} has no rule {rule_id!r}; it has {', '.join(known)}",
                {"game_id": spec.id, "rule_id": rule_id},
            )
    return [known[rule_id] for rule_id in dict.fromkeys(rule_ids)]


@cache
def _rule_messages(game_id: str | None) -> Mapping[str, pb.Rule]:
    """The rules of a game in order; None: those of all games."""
    text = seeds.conventions() if game_id is None else seeds.rules(game_id)
    return MappingProxyType(
        {
            rule.id: pb.Rule(
                rule_id=rule.id, section=rule.section, origin=rule.marks, text=rule.text
            )
            for rule in text.rules
        }
    )


# -- games --------------------------------------------------------------------------------------


@cache
def game_message(game_id: str, ceiling: Ceiling = DEFAULT_CEILING) -> pb.Game:
    """The game as a message: a shared one, not to be changed."""
    spec, codec = game_spec(game_id), codec_of(game_id)
    # Sent back at another number of seats, a default that depends on it would be somebody's choice.
    defaults = {
        option.name: option.default for option in spec.options if not option.default_by_seats
    }
    return pb.Game(
        game_id=spec.id,
        title=spec.name,
        summary=spec.summary,
        rules_version=spec.rules_version,
        seat_counts=range(spec.seats_min, spec.seats_max + 1),
        usual_seat_count=spec.seats_usual,
        low_wins=spec.low_wins,
        options=[_option(spec, option, codec) for option in spec.options],
        default_options=codec.options_to(defaults),
        ai_players=_ai_players(spec, ceiling),
        puts_single_actions=spec.hides_single_actions,
    )


def _option(spec: GameSpec, option: OptionSpec, codec: Codec) -> pb.OptionSpec:
    made = pb.OptionSpec(
        name=option.name,
        description=option.description,
        rule_id=option.rule,
        min_seats=option.seats_min or spec.seats_min,
        max_seats=option.seats_max or spec.seats_max,
        refusals=map(_refusal, option.refusals),
    )
    if option.type == "bool":
        made.boolean.default_value = bool(option.default)
        made.boolean.default_by_seats.update(
            {seats: bool(value) for seats, value in option.default_by_seats.items()}
        )
    elif option.type == "int":
        made.integer.default_value = int(option.default)
        made.integer.min, made.integer.max = option.minimum, option.maximum
        made.integer.values.extend(map(int, option.values))
        made.integer.default_by_seats.update(
            {seats: int(value) for seats, value in option.default_by_seats.items()}
        )
    else:
        made.choice.default_value = _written(option.default)
        made.choice.default_by_seats.update(
            {seats: _written(value) for seats, value in option.default_by_seats.items()}
        )
        for value in option.values:
            name = codec.options.enum_name(option.name, value)
            made.choice.values.add(value=_written(value), enum_value=name)
    return made


def _refusal(refusal: OptionRefusal) -> pb.OptionRefusal:
    made = pb.OptionRefusal(value=_written(refusal.value), seats=refusal.seats, text=refusal.text)
    # `with` is a word of Python.
    getattr(made, "with").update({name: _written(value) for name, value in refusal.others.items()})
    return made


def _written(value: OptionValue) -> str:
    """A value as the rules write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ai_players(game: GameSpec, ceiling: Ceiling) -> list[pb.AiPlayerSpec]:
    return [
        pb.AiPlayerSpec(
            player=player.name,
            summary=player.description,
            levels=[
                pb.AiLevelSpec(
                    level=name,
                    limits=_limits(ai_levels.within(ceiling, level.limits))
                    if ai_levels.searches(player)
                    else None,
                    temperature=level.temperature,
                )
                for name, level in levels_of(player, game).items()
            ],
            default_level=DEFAULT_LEVEL,
            default_player=player.name == DEFAULT_PLAYER,
        )
        for player in ai_levels.players().values()
    ]


def _remote_player(standing: Standing, now_us: int) -> pb.AiPlayerSpec:
    return pb.AiPlayerSpec(
        player=standing.player,
        summary=standing.summary,
        levels=[pb.AiLevelSpec(level=LEVEL)],
        default_level=LEVEL,
        remote=True,
        present=standing.present(now_us),
    )


def _limits(limits: Limits) -> SearchLimits:
    made = SearchLimits(iterations=limits.iterations, nodes=limits.nodes)
    if limits.think_ms is not None:
        made.think_time.FromMicroseconds(round(limits.think_ms * 1000))
    return made
