"""`tavolata match`: duplicate matches of players in this process, with paired intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tavolata.ai.arena.duplicate import Entrant, MatchResult
    from tavolata.ai.arena.statistics import Comparison, Interval, Standing
    from tavolata.ai.arena.tournament.stopping import StoppingRule, Verdict

PLAYERS_HELP = (
    "Players, who fill the seats in turn (A B at four seats: A B A B). A player is a name, or "
    "LABEL=NAME, perhaps at a level (ismcts@easy), with limits and settings after colons: "
    "ismcts:iterations=500, wild=ismcts:think_ms=20:rule_playouts=false. "
    "`cheating`, for matches only, sees every card."
)
SPRT_HELP = (
    "Two mean differences of win share, first player minus all others, such as 0,0.1: after 20 "
    "deals and every 10 more, stop as soon as a probability ratio test decides between them (5 % "
    "error each way)."
)
WIDTH = 120  # of the table where there is no terminal
LABEL_MIN = 12  # letters of a label on a line where it is narrow
LIMITS = ("iterations", "think_ms", "nodes", "threads")


def match(
    game: Annotated[str, typer.Argument(help="Game id, such as mino_dice or bouillabaisse.")],
    players: Annotated[list[str], typer.Argument(help=PLAYERS_HELP)],
    seats: Annotated[
        int | None, typer.Option(help="Number of seats. Default: as many as players, or the usual.")
    ] = None,
    deals: Annotated[
        int, typer.Option(min=1, help="Deals; each is a whole match for every rotation.")
    ] = 20,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the game as name=value; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed, the same deals.")] = 1,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Worker processes. Default: one a core.")
    ] = None,
    sprt: Annotated[str | None, typer.Option(help=SPRT_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Let players meet over duplicate deals: every deal is played once for each rotation of the
    players over the seats, from one seed, and players are compared deal by deal.
    """
    from tavolata.ai.arena.duplicate import Pairing, PlayerFault, play_deals
    from tavolata.ai.arena.statistics import standings
    from tavolata.ai.players import UnknownPlayer
    from tavolata.ext.core.errors import SettingError
    from tavolata.ext.registry import UnknownGame, game_spec

    try:
        spec = game_spec(game)
        entrants = [entrant(text) for text in players]
        count = seats or (len(entrants) if len(entrants) > 2 else spec.seats_usual)
        options = spec.complete(count, dict(option_of(spec, text) for text in option or ()))
        check_seats(entrants, count)
        rule = stopping_rule(sprt, deals)
    except (UnknownGame, UnknownPlayer, SettingError, ValueError) as error:
        raise typer.BadParameter(str(error)) from None
    lineup = tuple(entrants[seat % len(entrants)] for seat in range(count))
    pairing = Pairing(game, options, lineup)
    try:
        played = play_deals(pairing, deals, base=seed, processes=processes)
        results, verdict = until(rule, shown(played, deals, quiet=as_json), lineup[0].label)
    except PlayerFault as fault:
        typer.echo(f"a player was at fault: {fault}", err=True)
        raise typer.Exit(1) from None
    table, pairs = standings(results)
    if as_json:
        typer.echo(json.dumps(as_object(game, options, results, table, pairs, verdict)))
    else:
        report(table, pairs, len(results))
        if sprt is not None:
            typer.echo(f"the test between {sprt}: {verdict.value}")


def entrant(text: str) -> Entrant:
    """A player from the command line; ValueError or UnknownPlayer says what is wrong."""
    from tavolata.ai.arena.cheating import arena_player_spec
    from tavolata.ai.arena.duplicate import Entrant
    from tavolata.ai.player import Limits

    name, *words = text.split(":")
    label, _, player = name.rpartition("=")
    spec = arena_player_spec(player)
    limits: dict[str, Any] = {}
    settings = []
    for word in words:
        key, _, value = word.partition("=")
        if key in LIMITS:
            limits[key] = number_of(word, value, float if key == "think_ms" else int)
        elif key in spec.settings:
            settings.append((key, number_of(word, value, float)))
        else:
            known = ", ".join((*LIMITS, *spec.settings))
            raise ValueError(f"{word!r}: {player} takes {known}")
    if "iterations" not in limits and "think_ms" not in limits:
        limits["iterations"] = spec.limits.iterations
        limits["think_ms"] = spec.limits.think_ms
    return Entrant(label or text, player, Limits(**limits), tuple(settings))


def number_of(word: str, value: str, kind: Callable[[str], float]) -> float:
    """The value as a number, true and false as 1 and 0."""
    if value in ("true", "false"):
        return float(value == "true")
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{word!r}: {value!r} is not a number") from None


def option_of(spec: Any, text: str) -> tuple[str, bool | int | str]:
    """``name=value`` with the value in the option's type; unknown names are left to the spec."""
    name, _, value = text.partition("=")
    types = {option.name: option.type for option in spec.options}
    if types.get(name) == "bool" and value in ("true", "false"):
        return name, value == "true"
    return name, int(value) if value.lstrip("-").isdigit() else value


def check_seats(entrants: list[Entrant], seats: int) -> None:
    """Every player gets a seat, and each label stands for one player."""
    if len(entrants) > seats:
        raise ValueError(
            f"{len(entrants)} players for {seats} seats; --seats must be at least that"
        )
    labels = [one.label for one in entrants]
    if len(set(labels)) != len(labels) and len(set(entrants)) != len(set(labels)):
        raise ValueError(
            "players with different limits need labels of their own: LABEL=NAME:limit=n"
        )


def stopping_rule(text: str | None, deals: int) -> StoppingRule:
    """When to stop; ValueError says what is wrong with the two differences."""
    from tavolata.ai.arena.tournament.stopping import Count, Sprt

    if text is None:
        return Count(deals, "win_share")
    low, _, high = text.partition(",")
    h0, h1 = number_of(text, low, float), number_of(text, high, float)
    if not -1 <= h0 < h1 <= 1:
        raise ValueError(f"--sprt {text}: two numbers from -1 to 1 are needed, the lower one first")
    return Sprt(deals, "win_share", h0=h0, h1=h1)


def until(
    rule: StoppingRule, deals: Iterable[list[MatchResult]], first: str
) -> tuple[list[list[MatchResult]], Verdict]:
    """The deals 0 and on up to the look at which the rule stops, and its verdict.

    Deals that end out of turn wait for those before them, so that fast ones are not preferred.
    """
    from tavolata.ai.arena.tournament.stopping import Verdict

    waiting: dict[int, list[MatchResult]] = {}
    results: list[list[MatchResult]] = []
    look = rule.next_look(0)
    for deal in deals:
        waiting[deal[0].deal] = deal
        while len(results) in waiting:
            results.append(waiting.pop(len(results)))
            if len(results) < look:
                continue
            verdict = rule.verdict(differences(results, first))
            if verdict is not None:
                return results, verdict
            look = rule.next_look(len(results))
    return results, Verdict.DEALS


def differences(results: list[list[MatchResult]], first: str) -> list[float]:
    """Win share of the player of this label less that of all others, deal by deal."""
    means = []
    for deal in results:
        seats = [seat for each in deal for seat in each.seats]
        own = [seat.won for seat in seats if seat.label == first]
        others = [seat.won for seat in seats if seat.label != first]
        means.append(fmean(own) - fmean(others or own))
    return means


def shown(
    results: Iterable[list[MatchResult]], deals: int, *, quiet: bool
) -> Iterable[list[MatchResult]]:
    """Pass results through with a progress line on a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        return results
    return track(results, "playing deals", total=deals, console=console, transient=True)


def report(table: list[Standing], pairs: list[Comparison], deals: int) -> None:
    """Standings and comparisons for people."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    rows = Table(title=f"{deals} deals; intervals 95 %, paired by deal", show_edge=False)
    longest = max((len(row.label) for row in table), default=0)
    width = longest if console.width >= WIDTH else min(longest, LABEL_MIN)
    rows.add_column("player", overflow="fold", width=width)
    for head in ("matches", "win share", "fair", "place", "total", "utility", "ms", "iterations"):
        rows.add_column(head, justify="right", overflow="fold")  # on a narrow terminal, at the ±
    for row in table:
        rows.add_row(
            row.label,
            str(row.matches),
            words_of(row.win_share, 3),
            f"{row.fair_share:.3f}",
            words_of(row.place, 2),
            words_of(row.total, 1),
            words_of(row.utility, 3),
            f"{row.think_ms:.2f}",
            f"{row.iterations:,.0f}",
        )
    console.print(rows)
    for pair in pairs:
        sure = "" if pair.utility.excludes_zero else " (no difference shown)"
        console.print(
            f"{pair.label} - {pair.other}: utility {words_of(pair.utility, 3)}, "
            f"win share {words_of(pair.win_share, 3)}, total {words_of(pair.total, 1)}{sure}"
        )


def words_of(interval: Interval, digits: int) -> str:
    """``mean ± half width``."""
    return f"{interval.mean:.{digits}f} ± {interval.half_width:.{digits}f}"


def as_object(
    game: str,
    options: dict[str, Any],
    results: list[list[MatchResult]],
    table: list[Standing],
    pairs: list[Comparison],
    verdict: Verdict,
) -> dict[str, Any]:
    """Everything for programs, single matches included."""
    return {
        "stopped_by": verdict.value,
        "game": game,
        "options": options,
        "standings": [finite(asdict(row)) for row in table],
        "comparisons": [finite(asdict(pair)) for pair in pairs],
        "matches": [asdict(result) for deal in results for result in deal],
    }


def finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: the half width of a single deal's interval becomes null."""
    return {
        key: finite(value) if isinstance(value, dict) else None if value == float("inf") else value
        for key, value in row.items()
    }
