"""Tournament files: what they come to, and what is said of each thing that is wrong in them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tavolata.ai.arena.duplicate import Entrant
from tavolata.ai.arena.tournament.key_texts import key_texts, keys_markdown
from tavolata.ai.arena.tournament.policy import FaultPolicy, OnFault, OnSlow
from tavolata.ai.arena.tournament.specification import SpecificationError, load
from tavolata.ai.player import Limits

ROOT = Path(__file__).parents[4]
PLAIN = """
[[games]]
game = "bouillabaisse"

[[entrants]]
player = "greedy"

[[entrants]]
player = "random"

[format]
kind = "round_robin"

[stop]
rule = "count"
deals = 10
"""
RICH = """
title = "Constants"
seed = 7

[limits]
iterations = 200
threads = 2

[[games]]
game = "mino_dice"
seats = [3, 4]
options = { scoring = "simple" }

[[games]]
game = "mino_dice"
name = "free"
options = { follow_after_special = "free" }

[[entrants]]
player = "ismcts"
label = "c {exploration}"
settings = { exploration = { from = 0.3, to = 0.9, steps = 3 }, rule_playouts = [true, false] }

[[entrants]]
player = "flat"
iterations = { from = 10, to = 1000, steps = 3, scale = "log" }

[[entrants]]
player = "flat"
label = "quick"
think_ms = 5.5
nodes = 5000

[[entrants]]
player = "greedy"

[format]
kind = "gauntlet"
challengers = ["c 0.3*", "greedy"]
rotations = 2

[stop]
rule = "sprt"
deals = 1000
h0 = 0
h1 = 0.04
measure = "win_share"

[faults]
on_fault = "forfeit"
on_slow = "fault"
patience_ms = 5000
slow_factor = 1.5
slow_ms = 20
faults_max = 10
"""


def test_a_plain_file_has_every_default() -> None:
    read = load(PLAIN)
    assert (read.title, read.field.seed, read.policy) == ("Tournament", 1, FaultPolicy())
    (contest,) = read.field.contests
    assert (contest.name, contest.game, contest.seats) == ("bouillabaisse", "bouillabaisse", 4)
    assert contest.options["twin_rule"] == "first"
    assert list(read.field.entrants) == ["greedy", "random"]
    assert read.field.entrants["greedy"] == Entrant("greedy", "greedy", Limits(iterations=1))
    plans = read.schedule().next_block([])
    assert len(plans) == 20


def test_a_rich_file_comes_to_what_it_says() -> None:
    read = load(RICH)
    assert [(each.name, each.seats) for each in read.field.contests] == [
        ("mino_dice-3", 3), ("mino_dice-4", 4), ("free", 4),
    ]  # fmt: skip
    assert [each.options["scoring"] for each in read.field.contests] == ["simple", "simple", "full"]
    assert list(read.field.entrants) == [
        "c 0.3 rule_playouts=true", "c 0.3 rule_playouts=false",
        "c 0.6 rule_playouts=true", "c 0.6 rule_playouts=false",
        "c 0.9 rule_playouts=true", "c 0.9 rule_playouts=false",
        "flat iterations=10", "flat iterations=100", "flat iterations=1000", "quick", "greedy",
    ]  # fmt: skip
    search = read.field.entrants["c 0.6 rule_playouts=false"]
    assert search.limits == Limits(iterations=200, threads=2)
    assert dict(search.settings) == {"exploration": 0.6, "rule_playouts": 0.0}
    # Who names one of the two limits takes neither from [limits].
    assert read.field.entrants["quick"].limits == Limits(think_ms=5.5, nodes=5000, threads=2)
    assert read.policy == FaultPolicy(OnFault.FORFEIT, OnSlow.FAULT, 5000.0, 1.5, 20.0, 10)
    plans = read.schedule().next_block([])
    challengers = {"c 0.3 rule_playouts=true", "c 0.3 rule_playouts=false", "greedy"}
    assert {len(set(plan.labels) & challengers) for plan in plans} == {1}
    # 3 challengers and 8 others in 3 contests, 20 deals of 2 matches before the first look.
    assert len(plans) == 3 * 8 * 3 * 20 * 2


def test_entrants_without_limits_anywhere_have_their_players_own() -> None:
    text = PLAIN.replace('"random"', '"ismcts"')
    assert load(text).field.entrants["ismcts"].limits.iterations == 4_000


def test_two_loads_of_the_same_file_give_the_same_digest(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(RICH)
    assert load(path).digest() == load(RICH).digest() == load(RICH).digest()
    assert len(load(RICH).digest()) == 64


def test_layout_title_comments_and_spelt_out_defaults_do_not_change_the_digest() -> None:
    other = (
        "# A tournament\ntitle = 'Else'\nseed = 1\nlimits = {nodes = 1000000}\n"
        + PLAIN.replace(
            'game = "bouillabaisse"',
            'seats = 4\ngame = "bouillabaisse"\noptions.twin_rule = "first"',
        )
    )
    assert load(other).digest() == load(PLAIN).digest()
    assert load(other).changes_from(load(PLAIN)) == []


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("deals = 10\n", "deals = 12\n", "stop.deals: was 10, is 12"),
        ("[[games]]", "seed = 2\n[[games]]", "seed: was 1, is 2"),
        (
            'game = "bouillabaisse"',
            'game = "bouillabaisse"\nseats = 5',
            "games.bouillabaisse.seats: was 4, is 5",
        ),
        (
            'player = "random"',
            'player = "random"\nlabel = "dice"',
            "entrants.random: was there, is not there",
        ),
        (
            'player = "greedy"',
            'player = "greedy"\niterations = 2',
            "entrants.greedy.limits.iterations: was 1, is 2",
        ),
        ('"round_robin"', '"round_robin"\nrotations = 1', 'format.rotations: was "all", is 1'),
        (
            "deals = 10",
            'deals = 10\n[faults]\non_fault = "forfeit"',
            'faults.on_fault: was "replace", is "forfeit"',
        ),
    ],
)
def test_everything_that_changes_results_changes_the_digest(
    old: str, new: str, change: str
) -> None:
    changed = load(PLAIN.replace(old, new))
    assert changed.digest() != load(PLAIN).digest()
    assert change in changed.changes_from(load(PLAIN))


def test_the_order_of_entrants_is_their_seeding_and_changes_the_digest() -> None:
    swapped = PLAIN.replace("greedy", "x").replace("random", "greedy").replace("x", "random")
    assert load(swapped).digest() != load(PLAIN).digest()


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        # Every table: a key that is none, and one that is missing.
        ("[[games]]", "colour = 1\n[[games]]", "colour", "title, seed, games, limits"),
        ("[stop]", "[stop]\nmatches = 1", "stop.matches", "deals, rule"),
        ("[format]", "[format]\nrounds = 3", "format.rounds", "rotations, kind"),
        ('"greedy"', '"greedy"\ndepth = 1', "entrants[0].depth", "player, label"),
        ("[[games]]", "[[games]]\nplayers = 4", "games[0].players", "game, seats, name, options"),
        ("[[games]]", "limits.depth = 1\n[[games]]", "limits.depth", "iterations, think_ms"),
        ("[[games]]", "faults.kind = 1\n[[games]]", "faults.kind", "on_fault, on_slow"),
        ('kind = "round_robin"', "", "format.kind", '"round_robin", "gauntlet", "ladder", "swiss"'),
        ('rule = "count"', "", "stop.rule", '"count", "sprt", "width"'),
        ("deals = 10", "", "stop.deals", "is missing; allowed: an integer from 1 to 10000000"),
        ('player = "random"', "", "entrants[1].player", "is missing; allowed: the name of a"),
        ('game = "bouillabaisse"', "", "games[0].game", "is missing; allowed: the id of a game"),
        ('kind = "round_robin"', 'kind = "swiss"', "format.rounds", "an integer from 1 to 1000"),
        ('kind = "round_robin"', 'kind = "gauntlet"', "format.challengers", "a list of labels"),
        # Types and values, top down.
        ("[[games]]", "title = 3\n[[games]]", "title", "text of 1 to 200 characters"),
        ("[[games]]", "seed = -1\n[[games]]", "seed", "an integer from 0 below 92233720368547758"),
        ("[[games]]", 'seed = "1"\n[[games]]', "seed", 'is "1"; allowed: an integer'),
        ("[[games]]", "seed = 1.0\n[[games]]", "seed", "an integer"),
        ('"bouillabaisse"', '"tarot"', "games[0].game", "mino_dice, bouillabaisse, bids"),
        ('"bouillabaisse"', "3", "games[0].game", "the id of a game"),
        ("[[games]]", "[[games]]\nseats = 13", "games[0].seats", "2 to 12"),
        ("[[games]]", "[[games]]\nseats = [2, 13]", "games[0].seats", "is 13; allowed: 2 to 12"),
        ("[[games]]", "[[games]]\nseats = []", "games[0].seats", "a list of different ones"),
        ("[[games]]", "[[games]]\nseats = [3, 3]", "games[0].seats", "a list of different ones"),
        ("[[games]]", '[[games]]\nseats = "four"', "games[0].seats", "a number of seats"),
        ("[[games]]", '[[games]]\nname = "a b"', "games[0].name", "letters, digits, - and _"),
        (
            "[[games]]", '[[games]]\noptions = { twin_rule = "both" }',
            "games[0].options.twin_rule", "first, last",
        ),
        (
            "[[games]]", "[[games]]\noptions = { speed = 1 }",
            "games[0].options.speed", "first_lead, twin_rule",
        ),
        (
            "[[games]]", "[[games]]\noptions = { twin_rule = 1.5 }",
            "games[0].options.twin_rule", "a table of options",
        ),
        ("[[games]]", "limits.iterations = 0\n[[games]]", "limits.iterations", "from 1 to 1000000"),
        ("[[games]]", "limits.think_ms = 0\n[[games]]", "limits.think_ms", "above 0 to 3600000"),
        ("[[games]]", "limits.nodes = 10\n[[games]]", "limits.nodes", "from 1000 to 100000000"),
        ("[[games]]", "limits.threads = 65\n[[games]]", "limits.threads", "from 1 to 64"),
        ('"random"', '"clairvoyant"', "entrants[1].player", "random, greedy, flat, "),
        ('"random"', '"random"\nlabel = "greedy"', "entrants[1].label", "a label of its own"),
        ('"random"', '"random"\nlabel = ""', "entrants[1].label", "1 to 60 printable characters"),
        ('"random"', '"random"\nlabel = "a\\nb"', "entrants[1].label", "1 to 60 printable"),
        ('"random"', '"random"\nlabel = "{depth}"', "entrants[1].label", "in braces nothing"),
        ('"random"', '"random"\niterations = 1.5', "entrants[1].iterations", "an integer from 1"),
        ('"random"', '"random"\niterations = [5, 5]', "entrants[1].iterations", "twice"),
        ('"random"', '"random"\niterations = []', "entrants[1].iterations", "0 values"),
        ('"random"', '"random"\niterations = true', "entrants[1].iterations", "an integer from 1"),
        ('"random"', '"random"\nthink_ms = [1, -1]', "entrants[1].think_ms", "-1 is no number"),
        ('"random"', '"random"\nnodes = { from = 1, to = 2 }', "entrants[1].nodes", "steps"),
        ('"random"', '"random"\nthreads = 100', "entrants[1].threads", "from 1 to 64"),
        (
            '"random"', '"random"\nthink_ms = { from = 1, to = 9, steps = 1 }',
            "entrants[1].think_ms", "steps is 1; allowed: 2 to 1000",
        ),
        (
            '"random"', '"random"\nthink_ms = { from = -1, to = 9, steps = 3, scale = "log" }',
            "entrants[1].think_ms", "above 0",
        ),
        (
            '"random"', '"random"\nthink_ms = { from = 1, to = 9, steps = 3, scale = "odd" }',
            "entrants[1].think_ms", '"linear", "log"',
        ),
        (
            '"random"', '"random"\nsettings = { exploration = 1 }',
            "entrants[1].settings.exploration", "no setting of random",
        ),
        (
            '"random"', '"ismcts"\nsettings = { depth = 1 }',
            "entrants[1].settings.depth", "exploration, rule_playouts",
        ),
        (
            '"random"', '"ismcts"\nsettings = { exploration = "high" }',
            "entrants[1].settings.exploration", "a number, true or false",
        ),
        (
            '"random"', '"ismcts"\nsettings = { exploration = nan }',
            "entrants[1].settings.exploration", "a number, true or false",
        ),
        ('"round_robin"', '"league"', "format.kind", 'is "league"; allowed: "round_robin"'),
        ('"round_robin"', '"round_robin"\nrotations = 0', "format.rotations", '"all", or an int'),
        ('"round_robin"', '"round_robin"\nrotations = "few"', "format.rotations", '"all"'),
        ('"round_robin"', '"swiss"\nrounds = 2', "format.rounds", "1 to 1 with 2 entrants"),
        ('"round_robin"', '"knock_out"\nthird_place = 1', "format.third_place", "true, false"),
        ('"round_robin"', '"knock_out"\ntie_deals = -1', "format.tie_deals", "from 0 to 100000"),
        ('"round_robin"', '"mixed"\ntables = "some"', "format.tables", '"auto", "all", "balanced"'),
        ('"round_robin"', '"mixed"', "format.kind", "bouillabaisse has 4 seats, and there are 2"),
        (
            '"round_robin"', '"gauntlet"\nchallengers = ["bob"]',
            "format.challengers[0]", "there are greedy, random",
        ),
        ('"round_robin"', '"gauntlet"\nchallengers = []', "format.challengers", "a list of labels"),
        ('"round_robin"', '"gauntlet"\nchallengers = ["*"]', "format.challengers", "not all"),
        ("deals = 10", "deals = 0", "stop.deals", "from 1 to 10000000"),
        ('"count"', '"forever"', "stop.rule", '"count", "sprt", "width"'),
        ('"count"', '"count"\nevery = 2', "stop.every", "deals, rule"),
        ('"count"', '"sprt"\nh0 = 0', "stop.h1", "is missing; allowed: a number from -1 to 1"),
        ('"count"', '"sprt"\nh0 = 0\nh1 = 2', "stop.h1", "a number from -1 to 1"),
        ('"count"', '"sprt"\nh0 = 0\nh1 = 0\ndeals_min = 5', "stop.h1", "above h0, which is 0.0"),
        ('"count"', '"sprt"\nh0 = 0\nh1 = 0.1', "stop.deals_min", "2 to 10, the number of deals"),
        ('"count"', '"sprt"\nh0 = 0\nh1 = 0.1\nalpha = 0', "stop.alpha", "from 1e-06 to 0.4"),
        ('"count"', '"sprt"\nh0 = 0\nh1 = 0.1\nbeta = 0.5', "stop.beta", "from 1e-06 to 0.4"),
        ('"count"', '"width"\nhalf_width = 0', "stop.half_width", "above 0 to 1"),
        ('"count"', '"width"\nhalf_width = 1\nevery = 0', "stop.every", "from 1 to 10000000"),
        ('"count"', '"width"\nhalf_width = 1\nmeasure = "elo"', "stop.measure", '"win_share"'),
        ("[[games]]", 'faults.on_fault = 1\n[[games]]', "faults.on_fault", '"replace", "forfeit"'),
        ("[[games]]", 'faults.on_slow = "x"\n[[games]]', "faults.on_slow", '"count", "fault"'),
        ("[[games]]", "faults.patience_ms = 0\n[[games]]", "faults.patience_ms", "above 0 to"),
        ("[[games]]", "faults.slow_factor = 0.5\n[[games]]", "faults.slow_factor", "from 1 to"),
        ("[[games]]", "faults.slow_ms = -1\n[[games]]", "faults.slow_ms", "from 0 to 3600000"),
        ("[[games]]", "faults.faults_max = 0\n[[games]]", "faults.faults_max", "from 1 to"),
        # The file as a whole.
        ("[format]", "[form", "the file", "TOML 1.0"),
        ("[format]\n", "[[format]]\n", "format", 'a table with kind = "round_robin"'),
        ('[[entrants]]\nplayer = "random"', "", "entrants", "two or more, ranges expanded"),
        (PLAIN, 'entrants = [3]\ngames = ["bids"]\nformat = {}\nstop = {}', "entrants[0]", "[[ent"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_key_and_what_is_allowed(
    old: str, new: str, key: str, says: str
) -> None:
    assert old in PLAIN
    with pytest.raises(SpecificationError) as refused:
        load(PLAIN.replace(old, new))
    problems = {problem.key: problem for problem in refused.value.problems}
    assert key in problems, str(refused.value)
    assert says in str(problems[key])


def test_everything_that_is_wrong_is_said_at_once() -> None:
    text = PLAIN.replace('"greedy"', "1").replace("10", "-3").replace('"bouillabaisse"', "false")
    with pytest.raises(SpecificationError) as refused:
        load(text)
    keys = {problem.key for problem in refused.value.problems}
    assert keys == {"entrants[0].player", "stop.deals", "games[0].game"}


def test_a_game_that_comes_twice_needs_names() -> None:
    twice = PLAIN.replace("[[entrants]]", '[[games]]\ngame = "bouillabaisse"\n[[entrants]]', 1)
    with pytest.raises(SpecificationError, match="a name of its own"):
        load(twice)
    named = twice.replace("[[games]]", '[[games]]\nname = "second"', 1)
    assert [each.name for each in load(named).field.contests] == ["second", "bouillabaisse"]


def test_too_many_entrants_and_tables_are_refused() -> None:
    many = PLAIN.replace('"random"', '"random"\niterations = { from = 1, to = 900, steps = 900 }')
    assert len(load(many).field.entrants) == 901
    more = many.replace('"random"', '"random"\nthreads = [1, 2]')
    with pytest.raises(SpecificationError, match=r"1800 combinations; allowed: at most 1000"):
        load(more)
    with pytest.raises(SpecificationError, match=r"format.tables is .all.; allowed: up to 100000"):
        load(many.replace('"round_robin"', '"mixed"\ntables = "all"'))


def test_files_that_are_no_text_or_too_long_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SpecificationError, match="text in UTF-8"):
        load(path)
    path.write_bytes(b"#" * (1 << 20) + b"##")
    with pytest.raises(SpecificationError, match="longer than 1048576 bytes"):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.toml")


def test_every_key_is_documented_with_what_it_allows() -> None:
    texts = key_texts()
    assert len({text.path for text in texts}) > 40
    for text in texts:
        assert len(text.description) > 5
        assert text.description.endswith(".")
        assert text.allowed


EXAMPLES = sorted((ROOT / "examples" / "tournaments").glob("*.toml"))


def test_there_is_an_example_of_every_format_and_every_rule() -> None:
    read = [tomllib.loads(path.read_text()) for path in EXAMPLES]
    formats = {"round_robin", "gauntlet", "ladder", "swiss", "knock_out", "mixed"}
    assert {each["format"]["kind"] for each in read} == formats
    assert {each["stop"]["rule"] for each in read} == {"count", "sprt", "width"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_tournaments(path: Path) -> None:
    read = load(path)
    assert read.schedule().next_block([])
    assert read.title != "Tournament"


def test_the_documentation_has_the_keys_as_they_are() -> None:
    page = (ROOT / "docs" / "tournaments.md").read_text()
    assert keys_markdown() in page
