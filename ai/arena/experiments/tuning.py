"""Tuning: settings of a player that beat the default, looked for by an optimiser.

A trial is a tournament of the settings against the default; its value is the mean difference in
utility. All trials play the same deals (common random numbers), so that they differ by the settings
more than by luck. The best of many noisy trials looks better than it is: it meets the default once
more on deals that no trial has seen, and only that counts.

The optimiser is Optuna's tree-structured Parzen estimator. It is seeded for each trial by the
number of the trial, so that an interrupted search goes on as if it had not been.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import optuna
from optuna.samplers import TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from tavolata.ai.arena.experiments import keys
from tavolata.ai.arena.experiments.parts import Challenger, Part, part
from tavolata.ai.arena.tournament.comparisons import Compared, finite
from tavolata.ai.arena.tournament.specification import read_text, validated

JOURNAL = "trials.log"
TRIALS = "trials"
CONFIRM = "confirm"
STUDY = "tuning"
FRESH = 1 << 62  # added to the seed for deals that no trial has seen
STARTUP_SHARE, STARTUP_MAX = 3, 10  # trials at random: a third of all, at most ten
COUNT = "count"


@dataclass(frozen=True, slots=True)
class Tuning:
    """A file of tuning, checked."""

    text: str
    read: keys.Tuning

    def part(self, name: str, settings: Mapping[str, keys.Setting], *, fresh: bool) -> Part:
        """The tournament of these settings against the default."""
        read = self.read
        stop = read.confirm.model_dump() if fresh else {"rule": COUNT, "deals": read.deals}
        all_settings = read.default.settings | dict(settings)
        challenger = Challenger("tuned", read.default.player, all_settings, "parameters")
        seed = read.seed + (FRESH if fresh else 0)
        return part(name, read, read.games, [challenger], stop, seed)


def load_tuning(source: Path | str) -> Tuning:
    """The file (a Path) or text of TOML; errors as those of a tournament's file."""
    text = read_text(source) if isinstance(source, Path) else source
    made = Tuning(text, validated(text, keys.Tuning))
    for fresh in (False, True):  # what is wrong with games, player or a setting
        made.part(
            "check",
            {name: _first(each) for name, each in made.read.parameters.items()},
            fresh=fresh,
        )
    return made


def _first(parameter: keys.Parameter) -> keys.Setting:
    if parameter.choices is not None:
        return parameter.choices[0]
    assert parameter.from_ is not None  # noqa: S101 - the model has seen to it
    return parameter.from_


class Search:
    """A search as far as it has come: asks for tournaments, and learns from them.

    folder: of the experiment; all that is known stands there.
    """

    def __init__(self, tuning: Tuning, folder: Path) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.tuning, self.folder = tuning, folder
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that this storage is young
            storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
        self.study = optuna.create_study(
            study_name=STUDY, storage=storage, direction="maximize", load_if_exists=True
        )
        self.confirmed: list[Compared] | None = None

    @property
    def finished(self) -> list[FrozenTrial]:
        """The trials that have a value, in order."""
        return self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))

    @property
    def best(self) -> FrozenTrial:
        """The trial with the greatest value, the first of equals."""
        return max(self.finished, key=lambda trial: (trial.value or 0.0, -trial.number))

    def next_part(self) -> Part | None:
        """The tournament to play next; None: the search is over."""
        if self.confirmed is not None:
            return None
        if len(self.finished) >= self.tuning.read.trials:
            return self.tuning.part(CONFIRM, self.best.params, fresh=True)
        trial = self._begun() or self._asked()
        return self.tuning.part(f"{TRIALS}/{trial.number:05}", trial.params, fresh=False)

    def learn(self, played: Part) -> None:
        """Take in a tournament that is played to its end."""
        found = played.compared(self.folder)
        if played.name == CONFIRM:
            self.confirmed = found
            return
        number = int(played.name.rpartition("/")[2])
        self.study.tell(number, fmean(row.utility.mean for row in found))

    def _begun(self) -> FrozenTrial | None:
        """A trial that was interrupted. One that was not even asked for whole is given up."""
        for trial in self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            if trial.params.keys() == self.tuning.read.parameters.keys():
                return trial
            self.study.tell(trial.number, state=TrialState.FAIL)
        return None

    def _asked(self) -> optuna.Trial:
        read = self.tuning.read
        finished = len(self.finished)
        self.study.sampler = TPESampler(
            seed=(read.seed + finished) % (1 << 32),
            n_startup_trials=min(STARTUP_MAX, -(-read.trials // STARTUP_SHARE)),
        )
        trial = self.study.ask()
        for name, parameter in read.parameters.items():
            if parameter.choices is not None:
                trial.suggest_categorical(name, parameter.choices)
            elif parameter.from_ is not None and parameter.to is not None:
                trial.suggest_float(name, parameter.from_, parameter.to, log=parameter.log)
        return trial

    def as_object(self) -> dict[str, Any]:
        """Everything for programs."""
        return {
            "trials": [
                {"number": each.number, "settings": each.params, "utility": each.value}
                for each in self.finished
            ],
            "best": self.best.params,
            "confirmed": [
                {
                    "contest": row.contest,
                    "deals": row.deals,
                    "utility": row.utility.mean,
                    "utility_half_width": finite(row.utility.half_width),
                    "p": row.p,
                }
                for row in self.confirmed or ()
            ],
        }


def markdown(search: Search) -> str:
    """Trials, best first, and what the best one was worth on fresh deals."""
    read = search.tuning.read
    names = list(read.parameters)
    games = f"{len(read.games)} game{'s' if len(read.games) > 1 else ''}"
    tried = f"{len(search.finished)} trials of {read.deals:,} deals in {games}"
    lines = [
        f"**{read.title}**: {tried}, against the default",
        "",
        f"| trial | {' | '.join(names)} | utility |",
        f"|---|{'---|' * len(names)}---|",
    ]
    ranked = sorted(search.finished, key=lambda trial: (-(trial.value or 0.0), trial.number))
    lines += [
        f"| {each.number} | {' | '.join(_text(each.params[name]) for name in names)} | "
        f"{each.value:+.3f} |"
        for each in ranked
    ]
    lines += ["", "The best one on fresh deals:", "", "| contest | deals | utility | p |"]
    lines.append("|---|---|---|---|")
    lines += [
        f"| {row.contest} | {row.deals:,} | {row.utility.mean:+.3f} ± "
        f"{row.utility.half_width:.3f} | {row.p:.3f} |"
        for row in search.confirmed or ()
    ]
    return "\n".join(lines) + "\n"


def _text(value: keys.Setting) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:.4g}"
