"""How a tournament went, in words: meetings and what was decided in them, byes, brackets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tavolata.ai.arena.tournament.formats import Format, Met
from tavolata.ai.arena.tournament.formats.knock_out import KnockOut
from tavolata.ai.arena.tournament.formats.swiss import Swiss
from tavolata.ai.arena.tournament.model import MatchOutcome
from tavolata.ai.arena.tournament.schedule import PairVerdict, TournamentSchedule
from tavolata.ai.arena.tournament.specification import Specification
from tavolata.ai.arena.tournament.stopping import Verdict

WORDS = {
    None: "; goes on",
    Verdict.DEALS: "",
    Verdict.H0: "; h0 is accepted",
    Verdict.H1: "; h1 is accepted",
    Verdict.NARROW: "; the interval is narrow enough",
    Verdict.WITHDRAWN: "; ended, as one was withdrawn",
}


def lines(spec: Specification, of_block: Callable[[int], Sequence[MatchOutcome]]) -> Iterator[str]:
    """Contest by contest, as far as whole blocks are played.

    of_block: the outcomes there are of a block, in canonical order.
    """
    schedule = spec.schedule()
    done = whole_blocks(schedule, of_block)
    pairs, rounds = schedule.pair_verdicts(done), schedule.rounds(done)
    for number, (contest, format_) in enumerate(
        zip(spec.field.contests, schedule.formats, strict=True)
    ):
        yield f"{contest.name}: first minus second entrant, in {schedule.stopping.measure}"
        own = [pair for pair in pairs if pair.contest == number]
        yield from (f"  {_of_pair(pair)}" for pair in own)
        yield from (f"  {text}" for text in _of_rounds(format_, rounds[number]))
    for label in sorted(schedule.withdrawn(done)):
        yield f"{label} was withdrawn for its faults"


def whole_blocks(
    schedule: TournamentSchedule, of_block: Callable[[int], Sequence[MatchOutcome]]
) -> list[MatchOutcome]:
    """The outcomes of the blocks that are played to their end."""
    done: list[MatchOutcome] = []
    while plans := schedule.next_block(done):
        outcomes = of_block(plans[0].block)
        if len(outcomes) < len(plans):
            break
        done += outcomes
    return done


def _of_pair(pair: PairVerdict) -> str:
    round_ = f"round {pair.round}: " if pair.round else ""
    deals = f"{pair.deals:,} deal" + ("s" if pair.deals != 1 else "")
    return (
        f"{round_}{pair.first} - {pair.second}: {pair.difference:+.3f} over {deals}"
        f"{WORDS[pair.verdict]}"
    )


def _of_rounds(format_: Format, rounds: Sequence[Sequence[Met]]) -> Iterator[str]:
    """Byes, and where everybody stands after the rounds that are over."""
    for number, meetings in enumerate(rounds, 1):
        for met in meetings:
            if len(met.players) == 1:
                yield f"round {number}: {met.players[0]} has no opponent"
    if isinstance(format_, Swiss) and rounds:
        scores = format_.scores(rounds)
        ranked = [f"{label} {scores[label].points:g}" for label in format_.ranking(rounds)]
        yield f"points after round {len(rounds)}: {', '.join(ranked)}"
    if isinstance(format_, KnockOut) and rounds and format_.meeting_count == _played(rounds):
        yield f"winner: {format_.winner(rounds[-1][0])}"


def _played(rounds: Sequence[Sequence[Met]]) -> int:
    return sum(len(met.players) == 2 for meetings in rounds for met in meetings)
