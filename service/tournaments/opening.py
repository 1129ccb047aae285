"""The tournament service that the settings ask for."""

from __future__ import annotations

from importlib.util import find_spec

from tavolata.service.ai_levels import ceiling_of
from tavolata.service.identity import Identities
from tavolata.service.ports import Clock, Entropy
from tavolata.service.settings import Settings
from tavolata.service.tournaments.handlers import TournamentService

NEEDED = ("numpy", "openskill")  # for standings and results


class TournamentsRefused(Exception):
    """There can't be tournaments as the settings say; the message says why."""


def tournament_service(
    settings: Settings, clock: Clock, entropy: Entropy, identities: Identities
) -> TournamentService:
    """The service on its folder, or one that refuses. TournamentsRefused says what is wrong."""
    if settings.tournaments_dir is None:
        return TournamentService(identities=identities)
    for name in NEEDED:
        if find_spec(name) is None:
            raise TournamentsRefused(
                f"tournaments need a package that isn't installed ({name}): "
                "pip install 'tavolata[tournament]'"
            )
    # Much to load, and most servers run none.
    from tavolata.service.tournaments.admission import Caps
    from tavolata.service.tournaments.exporting import Exporting
    from tavolata.service.tournaments.shelf import Shelf
    from tavolata.service.tournaments.tournaments import Tournaments

    caps = Caps(
        settings.tournament_matches_max,
        settings.tournament_processes_max,
        ceiling_of(settings),
        settings.thread_count,
    )
    shelf = Shelf(settings.tournaments_dir)
    tournaments = Tournaments(shelf, caps, settings.tournaments_max, clock, entropy)
    return TournamentService(tournaments, Exporting(shelf), identities)
