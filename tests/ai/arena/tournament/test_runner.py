"""From a schedule to a result hash, and the folder in which that happens."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

import pytest

from tavolata.ai.arena.tournament import folder as folders
from tavolata.ai.arena.tournament.backends import Played
from tavolata.ai.arena.tournament.backends.inline import Inline
from tavolata.ai.arena.tournament.folder import FolderError
from tavolata.ai.arena.tournament.model import Chunk, MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.pace import Pace
from tavolata.ai.arena.tournament.policy import FaultPolicy
from tavolata.ai.arena.tournament.runner import Ending, ForeignResults, Unobserved, run
from tavolata.ai.arena.tournament.specification import SpecificationError, load
from tavolata.ai.arena.tournament.store import Store
from tests.ai.arena.tournament.table_of_four import Blocks, duels, field_of

FIELD = field_of("greedy", "random")
BLOCKS = [duels("greedy", "random", 2), duels("random", "greedy", 1, block=1)]
SPEC = """
title = "Small"
seed = 3
[[games]]
game = "mino_dice"
[[entrants]]
player = "greedy"
[[entrants]]
player = "random"
[format]
kind = "round_robin"
[stop]
rule = "count"
deals = 3
"""


class Watcher:
    """Writes down what it is told, and asks for an end after so many matches."""

    def __init__(self, end_after: int | None = None) -> None:
        self.end_after = end_after
        self.blocks: list[tuple[int, int]] = []
        self.seen: list[MatchPlan] = []

    def planned(self, plans: Sequence[MatchPlan], done: Sequence[MatchOutcome]) -> None:
        self.blocks.append((len(plans), len(done)))

    def played(self, outcomes: Sequence[MatchOutcome]) -> None:
        self.seen += [outcome.plan for outcome in outcomes]

    def stopped(self) -> bool:
        return self.end_after is not None and len(self.seen) >= self.end_after


def play(store: Store, watcher: Watcher | None = None) -> Ending:
    watcher = watcher or Watcher()
    backend = Inline(FIELD, FaultPolicy())
    return run(Blocks(BLOCKS), store, backend, watcher, watcher.stopped)


def test_blocks_are_played_one_after_the_other_and_told(tmp_path: Path) -> None:
    store, watcher = Store(tmp_path / "r"), Watcher()
    ending = play(store, watcher)
    plans = [plan for block in BLOCKS for plan in block]
    assert watcher.blocks == [(4, 0), (2, 0)]
    assert watcher.seen == plans
    assert [outcome.plan for outcome in store.outcomes()] == plans
    assert ending == Ending(6, store.result_hash())
    assert store.facts()["result_hash"] == ending.result_hash


@pytest.mark.parametrize("after", range(1, 5))
def test_a_stopped_tournament_goes_on_to_the_same_result(tmp_path: Path, after: int) -> None:
    whole = play(Store(tmp_path / "whole"))
    store = Store(tmp_path / "parts")
    assert play(store, Watcher(end_after=after)).result_hash is None
    assert "result_hash" not in store.facts()
    kept = [outcome.plan for outcome in store.outcomes()]
    assert after <= len(kept) < 6
    rest = Watcher()
    assert play(store, rest) == whole
    assert set(rest.seen).isdisjoint(kept)
    assert len(rest.seen) + len(kept) == 6


def test_the_last_match_ends_the_tournament_even_when_it_is_stopped_then(tmp_path: Path) -> None:
    assert play(Store(tmp_path / "r"), Watcher(end_after=6)).result_hash is not None


def test_nothing_is_played_again_in_a_finished_tournament(tmp_path: Path) -> None:
    store = Store(tmp_path / "r")
    ending, again = play(store), Watcher()
    assert play(store, again) == ending
    assert again.seen == []


def test_results_that_are_not_planned_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "r")
    play(store)
    backend = Inline(FIELD, FaultPolicy())
    with pytest.raises(ForeignResults, match=r"match 0\.0\.0\.0\.0 is stored with greedy, random"):
        run(Blocks([duels("random", "greedy", 2)]), store, backend)
    with pytest.raises(ForeignResults, match="holds 6 matches; 4 are planned"):
        run(Blocks(BLOCKS[:1]), store, backend)


def test_a_failing_observer_loses_nothing_that_was_played(tmp_path: Path) -> None:
    class Failing(Unobserved):
        def played(self, outcomes: Sequence[MatchOutcome]) -> None:
            raise RuntimeError("the screen is gone")

    store = Store(tmp_path / "r")
    with pytest.raises(RuntimeError, match="the screen is gone"):
        run(Blocks(BLOCKS), store, Inline(FIELD, FaultPolicy()), Failing())
    assert store.count() == 1
    assert play(store) == play(Store(tmp_path / "whole"))


def test_chunks_grow_to_the_time_that_is_wanted() -> None:
    """A backend that says what matches take: an eighth of a second, or two."""

    class Told:
        workers = 1
        sizes: list[int] = []  # noqa: RUF012 - of one test

        def run(self, chunks: Iterable[Chunk]) -> Generator[Played, None, None]:
            inner = Inline(FIELD, FaultPolicy())
            for played in inner.run(chunks):
                self.sizes.append(len(played.outcomes))
                slow = played.outcomes[0].plan.labels[0] == "greedy"
                yield Played(played.outcomes, (2.0 if slow else 0.125,) * len(played.outcomes))

        def close(self) -> None:
            pass

    pace, told = Pace(chunk_s=0.5), Told()
    for played in told.run(pace.chunks(duels("random", "random", 12))):
        pace.learn(played)
    assert told.sizes == [1, 4, 4, 4, 4, 4, 3]
    told.sizes.clear()
    for played in told.run(pace.chunks(duels("greedy", "greedy", 2))):
        pace.learn(played)
    assert told.sizes == [1, 1, 1, 1]


# -- folders ------------------------------------------------------------------------------------


def begun(folder: Path) -> folders.Tournament:
    return folders.create(folder, load(SPEC))


def finish(tournament: folders.Tournament) -> Ending:
    specification = tournament.specification
    backend = Inline(specification.field, specification.policy)
    return run(specification.schedule(), tournament.store, backend)


def test_a_tournament_begins_in_a_new_or_empty_folder_only(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    begun(tmp_path / "empty").close()
    begun(tmp_path / "new" / "below").close()
    with pytest.raises(FolderError, match="holds a tournament; resume it"):
        begun(tmp_path / "empty")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter").touch()
    with pytest.raises(FolderError, match="is not an empty folder"):
        begun(tmp_path / "other")
    with pytest.raises(FolderError, match="is not an empty folder"):
        begun(tmp_path / "other" / "letter")
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["letter"]


def test_one_process_at_a_time_plays_and_others_may_look(tmp_path: Path) -> None:
    running = begun(tmp_path / "t")
    with pytest.raises(FolderError, match="is being run by another process"):
        folders.open_to_run(tmp_path / "t")
    assert folders.is_running(tmp_path / "t")
    finish(running)
    looking = folders.open_to_read(tmp_path / "t")
    assert looking.store.count() == 6
    assert looking.result_hash == running.result_hash is not None
    looking.close()
    running.close()
    assert not folders.is_running(tmp_path / "t")
    folders.open_to_run(tmp_path / "t").close()


def test_a_changed_specification_is_refused_and_told(tmp_path: Path) -> None:
    begun(tmp_path / "t").close()
    file = tmp_path / "t" / folders.SPECIFICATION
    file.write_text(SPEC.replace("deals = 3", "deals = 4").replace("seed = 3", "seed = 8"))
    with pytest.raises(FolderError, match=r"seed: was 3, is 8; stop\.deals: was 3, is 4\. Undo"):
        folders.open_to_run(tmp_path / "t")
    file.write_text(SPEC.replace("deals = 3", "deals = 0"))
    with pytest.raises(SpecificationError, match=r"stop\.deals"):
        folders.open_to_run(tmp_path / "t")
    file.write_text("# the same, in other words\n" + SPEC.replace("Small", "Tiny"))
    folders.open_to_run(tmp_path / "t").close()


def test_changed_rules_are_refused_and_told(tmp_path: Path) -> None:
    began = begun(tmp_path / "t")
    version = began.store.facts()["rules"].split('"')[3]
    began.store.put({"rules": '{"mino_dice": "0.0.1"}'})
    began.close()
    with pytest.raises(FolderError, match=f"mino_dice was 0.0.1, is {version}"):
        folders.open_to_run(tmp_path / "t")


def test_results_are_read_by_what_they_were_played_by(tmp_path: Path) -> None:
    tournament = begun(tmp_path / "t")
    finish(tournament)
    tournament.close()
    (tmp_path / "t" / folders.SPECIFICATION).write_text("nonsense")
    looking = folders.open_to_read(tmp_path / "t")
    assert list(looking.field.entrants) == ["greedy", "random"]
    looking.close()


def test_a_tournament_killed_before_its_first_commit_begins_anew(tmp_path: Path) -> None:
    whole = begun(tmp_path / "whole")
    expected = finish(whole)
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / folders.SPECIFICATION).write_text(SPEC)
    with pytest.raises(FolderError, match="has no results yet"):
        folders.open_to_read(folder)
    resumed = folders.open_to_run(folder)
    assert finish(resumed) == expected


def test_what_is_no_tournament_is_said_to_be_none(tmp_path: Path) -> None:
    for opened in (folders.open_to_run, folders.open_to_read):
        with pytest.raises(FolderError, match=r"there is no tournament\.toml in it"):
            opened(tmp_path / "absent")
    assert list(tmp_path.iterdir()) == []


def test_a_match_is_asked_for_by_an_id_that_was_played(tmp_path: Path) -> None:
    tournament = begun(tmp_path / "t")
    finish(tournament)
    assert tournament.find("0.0.0.2.1").plan.rotation == 1
    with pytest.raises(FolderError, match=r"no match '0\.0\.0\.3\.0' has been played; an id is"):
        tournament.find("0.0.0.3.0")
