"""What every registered game promises, whatever its rules: one suite over all of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from random import Random

import pytest

from tavolata.ext.bids.views import BonusScored
from tavolata.ext.cafe_international.views import HandsCounted, PutAtBar, Seated
from tavolata.ext.core.errors import (
    AlreadyCommitted,
    IllegalAction,
    MatchOver,
    NotToAct,
    RulesError,
    StaleTurn,
)
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match, Position
from tavolata.ext.core.records import ChanceOutcome
from tavolata.ext.registry import GAMES
from tests.games.engine import item_codes, make_game
from tests.games.probe import RANDOM, RULE, random_match, report
from tests.games.tables import covering_settings, setting_name
from tests.project.extensions import IS_X86_64, SOURCE, runs_here
from tests.reference.chance import seed_bytes

SETTINGS = [
    pytest.param(game, number, id=f"{game} {setting_name(setting)}")
    for game in GAMES
    for number, setting in enumerate(covering_settings(game))
]
HAS_V3 = IS_X86_64 and runs_here(SOURCE / "tavolata/ext/core/_playout_v3.pyx")
every_setting = pytest.mark.parametrize("game, number", SETTINGS)
every_game = pytest.mark.parametrize("game", GAMES)


def rules_of(game: str, number: int) -> Game:
    return make_game(game, *covering_settings(game)[number])


def decisions(rules: Game, seed: int) -> Iterator[Match]:
    """The match at every decision of a random play; one object, moving on."""
    return (match for match in random_match(rules, seed) if not match.over)


@every_setting
def test_legal_actions_are_sorted_unique_bounded_and_there_for_who_is_to_act(
    game: str, number: int
) -> None:
    rules = rules_of(game, number)
    for match in random_match(rules, 21):
        assert bool(match.to_act) != match.over
        assert list(match.to_act) == sorted(set(match.to_act))
        position = Position(rules, match.state_bytes())
        for seat in range(rules.seat_count):
            legal = match.legal(seat)
            assert bool(legal) == (seat in match.to_act)
            assert list(legal) == sorted(set(legal))
            assert all(0 <= action < rules.action_count for action in legal)
            assert len(legal) <= rules.legal_max
            if legal and rules.has_bits:
                assert position.legal_bits(seat) == sum(1 << action for action in legal)


@every_setting
def test_every_legal_action_has_a_name_of_its_own_that_names_it_back(
    game: str, number: int
) -> None:
    rules = rules_of(game, number)
    for match in decisions(rules, 22):
        for seat in match.to_act:
            names = [rules.action_name(action) for action in match.legal(seat)]
            assert [rules.action_number(name) for name in names] == list(match.legal(seat))


@every_game
@pytest.mark.parametrize("name", ["", "play", "bid", "roll", "play XX", "bid -1", "roll die", "7"])
def test_a_name_of_no_action_is_refused_with_the_wrong_word_and_what_is_right(
    game: str, name: str
) -> None:
    with pytest.raises(ValueError, match=r"^'(.*)' is no (\w+); .+") as refusal:
        rules_of(game, 0).action_number(name)
    wrong = str(refusal.value).split("'")[1]
    assert wrong in (name, name.partition(" ")[2])


@every_setting
def test_a_copied_match_plays_on_identically_and_apart(game: str, number: int) -> None:
    rules = rules_of(game, number)
    for step, match in enumerate(decisions(rules, 23)):
        if step % 60 != 7:
            continue
        before = snapshot(match)
        twins = [match.copy(), match.copy()]
        for twin in twins:
            assert snapshot(twin) == before
            choice = Random(step)
            while not twin.over:
                seat = choice.choice(twin.to_act)
                twin.play(seat, choice.choice(twin.legal(seat)))
        assert snapshot(twins[0]) == snapshot(twins[1])
        assert snapshot(match) == before


def snapshot(match: Match) -> tuple[object, ...]:
    """Everything that can be read of a match."""
    viewers = range(-1, match.game.seat_count)
    return (
        match.state_bytes(),
        match.hash,
        match.turn,
        match.decision_count,
        tuple(match.decisions),
        match.event_count,
        match.round_start,
        match.to_act,
        tuple(match.view(viewer) for viewer in viewers),
        tuple(match.event_words(viewer) for viewer in viewers),
        tuple(map(str, match.full_events())),
    )


@every_setting
def test_games_end_and_scores_add_up(game: str, number: int) -> None:
    """Totals are the sums of the rounds and of what is paid outside them (BI-13, CI-12, CI-16,
    CI-22); the best total has place 1 and the highest utility."""
    rules = rules_of(game, number)
    *_, match = random_match(rules, 24)
    view = rules.view(match.view(-1), -1)
    rounds = getattr(view, "round_points")  # noqa: B009 - the view of any game
    events = [entry.event for entry in match.events(-1)]
    paid = [event for event in events if isinstance(event, BonusScored | Seated | PutAtBar)]
    lost = [event.penalties for event in events if isinstance(event, HandsCounted)]
    assert match.totals() == tuple(
        sum(row[seat] for row in rounds)
        + sum(each.points for each in paid if each.seat == seat)
        - sum(penalties[seat] for penalties in lost)
        for seat in seats(rules)
    )
    assert match.running_points() == (0,) * rules.seat_count
    totals, places, utility = match.totals(), match.placement(), match.utility()
    assert min(places) == 1
    assert all(0 <= value <= 1 for value in utility)
    by_place = sorted(seats(rules), key=lambda seat: places[seat])
    assert sorted(utility, reverse=True) == [utility[seat] for seat in by_place]
    for seat in seats(rules):
        better = sum(places[other] < places[seat] for other in seats(rules))
        assert places[seat] == better + 1
        for other in seats(rules):
            # Equal totals are unlike places only if a seat is out of the game (CI-17).
            assert places[seat] != places[other] or totals[seat] == totals[other]
            assert (places[seat] == places[other]) == (utility[seat] == utility[other])


def seats(rules: Game) -> range:
    return range(rules.seat_count)


@every_setting
def test_a_position_and_every_view_of_it_come_back_from_their_line_of_text(
    game: str, number: int
) -> None:
    rules = rules_of(game, number)
    for match in random_match(rules, 25):
        for state in (match.state_bytes(), match.view(-1), match.view(match.turn % 3 - 1)):
            line = rules.format_state(state)
            assert "\n" not in line
            assert rules.parse_state(line) == state
            assert rules.pack(rules.unpack(state)) == state


@every_game
def test_a_position_that_cannot_be_read_is_refused_with_a_reason(game: str) -> None:
    rules = rules_of(game, 0)
    line = rules.format_state(Match(rules, bytes(32)).state_bytes())
    words = line.split()
    for number, word in enumerate(words):
        missing = " ".join(words[:number] + words[number + 1 :])
        with pytest.raises(ValueError, match=word.partition("=")[0]):
            rules.parse_state(missing)
        for wrong in ("?", "", "x=1"):
            broken = " ".join(
                [*words[:number], f"{word.partition('=')[0]}={wrong}", *words[number + 1 :]]
            )
            with pytest.raises(
                ValueError, match=f"^{re.escape(broken.split(' ')[number])}: '"
            ) as no:
                rules.parse_state(broken)
            _, _, why = str(no.value).partition(": ")
            assert re.match(
                rf"'{re.escape(wrong)}' (is no .+; |is none of .|has 1 parts between .+ wanted$)",
                why,
            )


@every_setting
def test_asking_changes_nothing(game: str, number: int) -> None:
    rules = rules_of(game, number)
    for step, match in enumerate(random_match(rules, 26)):
        if step % 5:
            continue
        state = match.state_bytes()
        position = Position(rules, state, step)
        for seat in position.to_act:
            position.legal(seat)
            if rules.has_bits:
                position.legal_bits(seat)
            position.rule(seat)
        for viewer in range(-1, rules.seat_count):
            position.blank(viewer)
            position.redeal(viewer)
        _ = (position.to_act, position.horizon, position.over, position.totals())
        if position.over:
            position.utility()
        assert position.state_bytes() == state
        before = snapshot(match)
        _ = (match.running_points(), match.placement(), match.totals(), match.entries())
        assert snapshot(match) == before


# What a refusal says: who or what is wrong, what would be right where that is known, and the rule.
WHAT_IS_WRONG = {
    MatchOver: r"^the match is over",
    NotToAct: r"(no seat -?\d+; seats are|seat \d+ is not to act; to act:) [\d, to]+ \(G-2\)$",
    AlreadyCommitted: r"seat \d+ has committed its choice; it can't be changed \(G-2\)$",
    StaleTurn: r"turn -?\d+ is not open; the current turn is \d+ \(G-2\)$",
    IllegalAction: r"\w.* \([A-Z]+-\d+\)$",
}


@every_setting
def test_a_refused_action_changes_nothing_and_says_what_is_wrong(game: str, number: int) -> None:
    rules = rules_of(game, number)
    kinds: set[type] = set()
    for step, match in enumerate(random_match(rules, 27)):
        if step % 16 and not match.over:
            continue
        before = snapshot(match)
        asked = {
            (seat, action, turn)
            for seat in (-1, rules.seat_count, *seats(rules))
            for action in (-1, 0, rules.action_count, *match.legal(seat)[:1])
            for turn in (None, match.turn + 1, match.turn - 1)
        }
        for seat, action, turn in asked:
            legal = 0 <= seat < rules.seat_count and action in match.legal(seat)
            if legal and turn is None:
                continue
            with pytest.raises(RulesError) as refusal:
                match.play(seat, action, turn)
            kinds.add(refusal.type)
            assert re.search(WHAT_IS_WRONG[refusal.type], str(refusal.value))
        assert snapshot(match) == before
    assert kinds >= {IllegalAction, MatchOver, NotToAct, StaleTurn}


def test_a_committed_choice_cannot_be_changed() -> None:
    """G-2, wherever several seats choose at once."""
    simultaneous = 0
    for game in GAMES:
        match = Match(rules_of(game, 0), bytes(32))
        if len(match.to_act) < 2:
            continue
        simultaneous += 1
        seat = match.to_act[0]
        actions = match.legal(seat)
        match.play(seat, actions[0])
        before = snapshot(match)
        for action in actions:
            with pytest.raises(AlreadyCommitted, match="can't be changed"):
                match.play(seat, action)
        assert match.legal(seat) == ()
        assert snapshot(match) == before
    assert simultaneous


@every_game
@pytest.mark.parametrize("probe", ["matches", "playouts"])
@pytest.mark.parametrize("cpu", ["", "base", "v3"])
def test_another_process_and_every_build_play_the_same(game: str, probe: str, cpu: str) -> None:
    if cpu == "v3" and not HAS_V3:
        pytest.skip("this processor has no x86-64-v3")
    assert probed(probe, game, cpu) == report(probe, game)


@every_game
@pytest.mark.parametrize("cpu", ["base", "v3"])
def test_the_override_chooses_the_build(game: str, cpu: str) -> None:
    if cpu == "v3" and not HAS_V3:
        pytest.skip("this processor has no x86-64-v3")
    assert all(line.endswith(f"_{cpu}") for line in probed("builds", game, cpu))


@every_game
def test_every_method_of_the_interface_is_there(game: str) -> None:
    """In a process of its own: a missing one aborts it and says which."""
    assert len(probed("methods", game)) == len(covering_settings(game))


def probed(probe: str, game: str, cpu: str = "") -> list[str]:
    environment = os.environ | {"TAVOLATA_CPU": cpu, "PYTHONHASHSEED": "4"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.games.probe", probe, game],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@every_setting
def test_every_action_is_an_event_for_those_who_follow_events_alone(game: str, number: int) -> None:
    rules = rules_of(game, number)
    events, actions = 0, 0
    for match in random_match(rules, 29):
        if match.decision_count > actions:
            assert match.event_count > events, rules.action_name(match.decisions[-1][2])
        events, actions = match.event_count, match.decision_count


@every_setting
def test_the_running_hash_is_another_after_every_action(game: str, number: int) -> None:
    """What it is a hash of is checked against its page in tests/core/test_record.py."""
    rules = rules_of(game, number)
    hashes = [match.hash for match in random_match(rules, 28)]
    assert len(set(hashes)) == len(hashes)
    for other in (Match(rules, seed_bytes(28), commitment="1"), Match(rules, seed_bytes(29))):
        assert other.hash not in hashes


@every_game
def test_an_impossible_script_is_refused_and_changes_nothing(game: str) -> None:
    rules = rules_of(game, 0)
    free = Match(rules, bytes(32))
    outcomes = [entry for entry in free.entries() if isinstance(entry, ChanceOutcome)]
    pick = next(outcome for outcome in outcomes if outcome.choices)
    key = (pick.purpose, pick.round, pick.index)
    with pytest.raises(ValueError, match=f"{pick.choices} is scripted"):
        Match(rules, bytes(32), script={key: pick.choices})
    shuffle = next(outcome for outcome in outcomes if outcome.items)
    codes = item_codes(game, shuffle.purpose)
    order = [codes[name] for name in shuffle.items]
    for wrong in (order[:-1], [*order, order[0]], [order[-1]] * len(order)):
        with pytest.raises(ValueError, match="the scripted order is not one of the items"):
            Match(rules, bytes(32), script={(shuffle.purpose, shuffle.round, shuffle.index): wrong})
    # In a later round the step that deals it is taken back.
    match = Match(rules, bytes(32), script={(shuffle.purpose, shuffle.round + 1, 0): order[:-1]})
    while not match.over and can_play_on(match.copy()):
        match.play(match.to_act[0], match.legal(match.to_act[0])[0])
    if match.over:
        assert match.round_start == 0, "a later round was dealt all the same"
        return
    before = snapshot(match)
    for _ in range(2):
        with pytest.raises(ValueError, match="the scripted order is not one of the items"):
            match.play(match.to_act[0], match.legal(match.to_act[0])[0])
        assert snapshot(match) == before


def can_play_on(match: Match) -> bool:
    """Whether the first legal action is carried out."""
    try:
        match.play(match.to_act[0], match.legal(match.to_act[0])[0])
    except ValueError:
        return False
    return True


@every_setting
@pytest.mark.parametrize("policy", [RANDOM, RULE])
def test_a_games_own_playout_is_the_generic_loop(game: str, number: int, policy: int) -> None:
    rules = rules_of(game, number)
    for step, match in enumerate(decisions(rules, 29)):
        if step % 7 == policy:
            own = Position(rules, match.state_bytes(), step)
            loop = Position(rules, match.state_bytes(), step)
            own.playout(policy)
            loop.generic_playout(policy)
            assert outcome(own) == outcome(loop)


@every_setting
def test_a_rule_playout_is_the_rule_of_thumb_step_by_step(game: str, number: int) -> None:
    rules = rules_of(game, number)
    for step, match in enumerate(decisions(rules, 30)):
        if step % 11:
            continue
        walk = Position(rules, match.state_bytes(), step)
        while walk.to_act:
            seat = walk.to_act[0]
            walk.apply(seat, walk.rule(seat))
        played = Position(rules, match.state_bytes(), step)
        played.playout(RULE)
        assert outcome(walk) == outcome(played)


def outcome(position: Position) -> tuple[object, ...]:
    """What a playout is for, and the round that the same chance deals after it.

    How the last cards fell is nothing that anything behind a horizon looks at.
    """
    assert position.horizon or position.over
    worth = (position.horizon, position.over, position.totals(), position.utility())
    if position.over:
        return worth
    position.advance()
    return (*worth, position.state_bytes())
