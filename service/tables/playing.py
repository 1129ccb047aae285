"""Playing: people's actions, AI players', the end of somebody's time; and what may be seen."""

from __future__ import annotations

from collections.abc import Sequence

from tavolata.ext.core.errors import RulesError
from tavolata.service.ports import NO_EPOCH, Entry
from tavolata.service.refusals import invalid_field, of_play
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import BY_NOBODY, BY_PERSON
from tavolata.service.tables.behind import delay_us, shown_to
from tavolata.service.tables.callers import refuse_resigned, seat_of
from tavolata.service.tables.clocks import deadline_us
from tavolata.service.tables.model import SPECTATOR, Table
from tavolata.service.tables.requests import Caller, Change, digest_of, draft, hash_of
from tavolata.service.tables.singles import single_action
from tavolata.service.tables.tables import Tables
from tavolata.service.tables.wire import table_message, view_message
from tavolata.v1.game_pb2 import Action
from tavolata.v1.play_pb2 import ActionReceipt
from tavolata.v1.table_pb2 import Table as TableMessage
from tavolata.v1.view_pb2 import ActionExplanation, View

EXPLAIN_MAX = 64
_PLAY = b"PlayAction"


class Playing:
    """What happens in matches."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def play(
        self, table_id: str, token: str | None, request_id: str, turn: int, action: Action
    ) -> ActionReceipt:
        """Play for the caller's seat, once; durable on return."""
        digest = digest_of(_PLAY, b"%d" % turn, action.SerializeToString(deterministic=True))

        def decide(table: Table, caller: Caller | None) -> Entry:
            seat = seat_of(table, caller).slot
            refuse.unless_over(table)
            if table.match is None:
                raise refuse.not_started(table.table_id)
            refuse_resigned(table, seat)
            number = table.codec.action_from(action)
            return Entry(0, 0, "played", seat, turn, number, BY_PERSON)

        change = Change(table_id, token, request_id, digest)
        _, recorded = await self._tables.change(change, decide)
        return ActionReceipt(turn=recorded.turn, event_number=recorded.event_number)

    async def play_for_ai(
        self,
        table_id: str,
        seat: int,
        turn: int,
        action: int,
        maker: int,
        body: dict[str, object] | None,
        *,
        remote: bool = False,
    ) -> bool:
        """Play what an AI player decided, or what is a person's only action, if that is still
        this server's to do; durable on return. remote: a remote player has answered this server,
        which plays that whoever acts for the match.

        What others do in the meantime, another seat's choice in the same decision say, changes
        nothing about it. Refused if the store doesn't take it.
        """
        while True:
            epoch = self._tables.epoch(table_id)
            if epoch is None and not remote:
                return False
            table = await self._tables.find(table_id)
            match = table.match
            open_to_it = (
                match is not None
                and not table.over
                and match.turn == turn
                and seat in match.to_act
                and (
                    single_action(table, seat) == action
                    if maker == BY_NOBODY
                    else table.seats[seat].decided_by_ai
                )
            )
            if not open_to_it:
                return False
            entry = draft("played", seat, turn=turn, action=action, maker=maker, body=body)
            under = NO_EPOCH if epoch is None else epoch
            if await self._tables.append_durably(table, entry, under) is None:
                return True

    async def time_out(self, table_id: str) -> None:
        """Give the seats whose time has run out to the stand-in. Refused if the store doesn't take
        that."""
        while True:
            epoch = self._tables.epoch(table_id)
            if epoch is None:
                return
            table = await self._tables.find(table_id)
            now = self._tables.clock.now_us()
            late = [
                seat.number
                for seat in table.seats
                if (deadline := deadline_us(table, seat)) is not None and deadline <= now
            ]
            if not late:
                return
            await self._tables.append_durably(table, draft("timed_out", late[0]), epoch)

    def reconsider(self, table_id: str) -> None:
        """Look again at who has to decide at a table."""
        self._tables.reconsider(table_id)

    # -- seeing -----------------------------------------------------------------------------------

    async def table(self, table_id: str, token: str | None) -> TableMessage:
        """The table as the holder of a token may see it, valid or not."""
        table = await self._tables.settled(table_id)
        held = None if token is None else table.tokens.get(hash_of(token))
        return self.message(table, SPECTATOR if held is None or held.void else held.slot)

    def message(self, table: Table, viewer: int) -> TableMessage:
        """A settled table as a message to this viewer."""
        return self.message_of(self.shown(table, viewer))

    def message_of(self, table: Table) -> TableMessage:
        """A table as it is, or was, as a message."""
        return table_message(table, self._tables.expires_us(table))

    def shown(self, table: Table, viewer: int) -> Table:
        """The table as this viewer may see it: itself, or as it was a while ago."""
        return shown_to(table, viewer, self._tables.clock.now_us())

    def now_us(self, table: Table, viewer: int) -> int:
        """The time of what this viewer is shown."""
        return self._tables.clock.now_us() - delay_us(table, viewer)

    async def viewer(self, table_id: str, token: str | None) -> tuple[Table, int]:
        """The table, settled, and the seat that looks at it, SPECTATOR without one."""
        while True:
            table = await self._tables.settled(table_id)
            caller = self._tables.authenticate(table, token)
            await table.settle()  # the first use of a token is recorded
            if not table.dead:
                return table, SPECTATOR if caller is None else caller.slot

    async def view(
        self, table_id: str, token: str | None, explain: Sequence[Action]
    ) -> tuple[View, list[ActionExplanation]]:
        """The caller's view, and for each action whether it would be legal."""
        if len(explain) > EXPLAIN_MAX:
            raise invalid_field("explain", f"has {len(explain)} actions", f"at most {EXPLAIN_MAX}")
        table, viewer = await self.viewer(table_id, token)
        if explain and viewer == SPECTATOR:
            raise refuse.missing_token() if token is None else refuse.not_seated(table_id)
        refuse.unless_rules(table)
        shown = self.shown(table, viewer)
        match = shown.match
        if match is None:
            raise refuse.aborted(table_id) if shown.over else refuse.not_started(table_id)
        explanations = [
            self._explain(table, viewer, action, f"explain[{place}]")
            for place, action in enumerate(explain)
        ]
        return view_message(shown, match, viewer, self.now_us(table, viewer)), explanations

    def _explain(self, table: Table, seat: int, action: Action, field: str) -> ActionExplanation:
        number = table.codec.action_from(action, field)
        assert table.match is not None  # noqa: S101
        if table.over:
            return ActionExplanation(action=action, rule_id="G-2", text="the match is over")
        try:
            table.match.check(seat, number)
        except RulesError as error:
            refused = of_play(error, table.match, seat=seat, table_id=table.table_id)
            rule = refused.metadata.get("rule", "G-2")
            return ActionExplanation(action=action, rule_id=rule, text=refused.message)
        return ActionExplanation(action=action, legal=True)
