"""How a tournament went: meetings and what was decided in them, byes, brackets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tavolata.ai.arena.tournament.formats import Format, Met
from tavolata.ai.arena.tournament.formats.knock_out import KnockOut
from tavolata.ai.arena.tournament.formats.swiss import Swiss
from tavolata.ai.arena.tournament.model import MatchOutcome
from tavolata.ai.arena.tournament.schedule import PairVerdict, TournamentSchedule
from tavolata.ai.arena.tournament.specification import Specification
from tavolata.ai.arena.tournament.stopping import Sprt, StoppingRule, Verdict, Width
from tavolata.ai.arena.tournament.summary import Course, Encounter

WORDS: dict[str | None, str] = {
    None: "goes on",
    Verdict.DEALS: "",
    Verdict.H0: "h0 is accepted",
    Verdict.H1: "h1 is accepted",
    Verdict.NARROW: "the interval is narrow enough",
    Verdict.WITHDRAWN: "ended, as one was withdrawn",
}


def courses(
    spec: Specification, of_block: Callable[[int], Sequence[MatchOutcome]]
) -> tuple[tuple[Course, ...], tuple[str, ...]]:
    """Contest by contest, as far as whole blocks are played; and who was withdrawn.

    of_block: the outcomes there are of a block, in canonical order.
    """
    schedule = spec.schedule()
    done = whole_blocks(schedule, of_block)
    order = {label: place for place, label in enumerate(spec.field.entrants)}
    pairs = sorted(schedule.pair_verdicts(done), key=lambda pair: _in_file(pair, order))
    rounds = schedule.rounds(done)
    made = tuple(
        _course(
            contest.name,
            spec.format.kind,
            format_,
            schedule.stopping,
            [pair for pair in pairs if pair.contest == number],
            rounds[number],
        )
        for number, (contest, format_) in enumerate(
            zip(spec.field.contests, schedule.formats, strict=True)
        )
    )
    return made, tuple(sorted(schedule.withdrawn(done)))


def _in_file(pair: PairVerdict, order: Mapping[str, int]) -> tuple[int, ...]:
    """Meetings as they are numbered; pairs who met at many tables in the order of the file."""
    return pair.round, pair.group, order[pair.first], order[pair.second]


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


def _course(
    contest: str,
    kind: str,
    format_: Format,
    stopping: StoppingRule,
    pairs: Sequence[PairVerdict],
    rounds: Sequence[Sequence[Met]],
) -> Course:
    points: tuple[tuple[str, float], ...] = ()
    if isinstance(format_, Swiss) and rounds:
        scores = format_.scores(rounds)
        points = tuple((label, scores[label].points) for label in format_.ranking(rounds))
    champion = None
    if isinstance(format_, KnockOut) and rounds and format_.meeting_count == _played(rounds):
        champion = format_.winner(rounds[-1][0])
    return Course(
        contest=contest,
        format=kind,
        measure=stopping.measure,
        rule=rule_text(stopping),
        rounds_over=len(rounds),
        encounters=tuple(_encounters(format_, pairs, rounds)),
        points=points,
        champion=champion,
    )


def _encounters(
    format_: Format, pairs: Sequence[PairVerdict], rounds: Sequence[Sequence[Met]]
) -> Iterator[Encounter]:
    """Round by round, in the order of the meetings; who had no opponent in its place."""
    ended = {
        (number if format_.numbered else 0, group): met
        for number, meetings in enumerate(rounds, 1)
        for group, met in enumerate(meetings)
    }
    met_by_two = {
        (pair.round, pair.group): _encounter(format_, pair, ended.get((pair.round, pair.group)))
        for pair in pairs
        if pair.group >= 0
    }
    byes = {
        (round_, group): Encounter(
            round_, met.players[0], None, 0, 0.0, Verdict.DEALS, met.players[0]
        )
        for (round_, group), met in ended.items()
        if len(met.players) == 1
    }
    yield from (found for _, found in sorted({**met_by_two, **byes}.items(), key=_place))
    yield from (_encounter(format_, pair, None) for pair in pairs if pair.group < 0)


def _place(item: tuple[tuple[int, int], Encounter]) -> tuple[int, int]:
    return item[0]


def _encounter(format_: Format, pair: PairVerdict, met: Met | None) -> Encounter:
    winner = met.winner if met else None
    if met and isinstance(format_, KnockOut):
        winner = format_.winner(met)  # of two who are tied, one goes on
    return Encounter(
        pair.round, pair.first, pair.second, pair.deals, pair.difference, pair.verdict, winner
    )


def rule_text(stopping: StoppingRule) -> str:
    """When a meeting ends, in words."""
    most = f"{stopping.deals:,} deals"
    if isinstance(stopping, Sprt):
        return (
            f"SPRT of a mean difference of {stopping.h0:g} (h0) against {stopping.h1:g} (h1), "
            f"alpha {stopping.alpha:g}, beta {stopping.beta:g}, at most {most}"
        )
    if isinstance(stopping, Width):
        return f"95 % interval of half width {stopping.half_width:g}, at most {most}"
    return most


def lines(spec: Specification, of_block: Callable[[int], Sequence[MatchOutcome]]) -> Iterator[str]:
    """The same in words for a terminal. See ``courses``."""
    found, withdrawn = courses(spec, of_block)
    for course in found:
        yield f"{course.contest}: first minus second entrant, in {course.measure}"
        yield from (f"  {_of_encounter(each)}" for each in course.encounters)
        if course.points:
            ranked = [f"{label} {points:g}" for label, points in course.points]
            yield f"  points after round {course.rounds_over}: {', '.join(ranked)}"
        if course.champion is not None:
            yield f"  winner: {course.champion}"
    for label in withdrawn:
        yield f"{label} was withdrawn for its faults"


def _of_encounter(each: Encounter) -> str:
    round_ = f"round {each.round}: " if each.round else ""
    if each.second is None:
        return f"{round_}{each.first} has no opponent"
    deals = f"{each.deals:,} deal" + ("s" if each.deals != 1 else "")
    decided = f"; {WORDS[each.verdict]}" if WORDS[each.verdict] else ""
    return f"{round_}{each.first} - {each.second}: {each.difference:+.3f} over {deals}{decided}"


def _played(rounds: Sequence[Sequence[Met]]) -> int:
    return sum(len(met.players) == 2 for meetings in rounds for met in meetings)
