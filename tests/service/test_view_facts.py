"""What a frontend reads from views: scores by rounds, why not, clocks, names."""

from __future__ import annotations

import pytest
from google.protobuf.duration_pb2 import Duration

from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.catalog_service_pb2 import GetRulesRequest
from tavolata.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tavolata.v1.table_pb2 import TimeControl
from tests.service.house import House, bearer


@pytest.mark.parametrize(("game", "people"), [("bouillabaisse", 3), ("mino_dice", 3), ("bids", 3)])
async def test_the_score_sheet_has_every_round_and_adds_up_to_the_totals(
    house: House, game: str, people: int
) -> None:
    sitting = await house.sitting(people, game=game)
    counts = []
    while True:
        played = await house.play_on(sitting, 5)
        sheet = (await house.view(sitting.table_id)).scores
        rounds = [each.round for each in sheet.rounds]
        assert rounds == list(range(1, len(rounds) + 1))
        sums = [sum(each.points[seat] for each in sheet.rounds) for seat in range(people)]
        assert sums == list(sheet.totals)
        counts.append(len(rounds))
        if played < 5:
            break
    assert counts == sorted(counts)
    assert counts[-1] > 1


async def test_the_rule_that_forbids_an_action_is_named_and_can_be_read(house: House) -> None:
    sitting = await house.sitting(3)
    view = await house.view(sitting.table_id, sitting.owner)
    seat = view.seats_to_act[0]
    mine = await house.view(sitting.table_id, sitting.tokens[seat])
    other = next(number for number in sitting.tokens if number != seat)
    request = pb.GetViewRequest(table_id=sitting.table_id, explain=mine.legal_actions[:1])
    for who in (seat, other):
        answer = await house.stub.GetView(request, metadata=bearer(sitting.tokens[who]))
        (told,) = answer.explanations
        assert told.action == mine.legal_actions[0]
        assert told.legal == (who == seat)
        assert bool(told.rule_id) == bool(told.text) == (who != seat)
    asked = GetRulesRequest(game_id="bouillabaisse", rule_ids=[told.rule_id])
    assert (await CatalogServiceStub(house.channel).GetRules(asked)).rules[0].text


async def test_clocks_are_told_with_the_time_to_compare_them_with(house: House) -> None:
    timed = TimeControl(per_decision=Duration(seconds=100), per_match=Duration(seconds=900))
    sitting = await house.sitting(2, time_control=timed)
    for again in (False, True):
        if again:
            await house.restart()
        view = await house.view(sitting.table_id)
        (seat,) = view.seats_to_act
        clocks = {clock.seat: clock for clock in view.clocks}
        left_us = clocks[seat].deadline.ToMicroseconds() - view.server_time.ToMicroseconds()
        assert 0 < left_us <= 100 * 10**6
        assert not clocks[1 - seat].HasField("deadline")
        assert clocks[seat].match_time_left.ToSeconds() <= 900
