"""The keys of the files of ablations and of tuning.

What games and players there are is checked when the tournaments are made from them.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from tavolata.ai.arena.tournament.keys import Count, Game, Keys, Limits, Sprt, Width, text

NAME = r"^[A-Za-z0-9_-]{1,40}$"
Setting = bool | int | float
SETTINGS = text("a table of settings of the player: numbers, true, false")


class Player(Keys):
    """A player with settings; limits are those of the file."""

    player: str = Field(
        default="ismcts",
        description="Name of the player.",
        json_schema_extra=text("the name of a player"),
    )
    settings: dict[str, Setting] = Field(
        default={},
        description="Its settings where they are not the game's own.",
        json_schema_extra=SETTINGS,
    )


class Ablation(Keys):
    """One change to the default player."""

    label: str = Field(
        min_length=1,
        max_length=50,
        description="What is changed, in a few words.",
        json_schema_extra=text("1 to 50 printable characters"),
    )
    settings: dict[str, Setting] = Field(
        default={},
        description="Settings that are changed.",
        json_schema_extra=SETTINGS,
    )
    player: str | None = Field(
        default=None,
        description="Another player; default: the default's.",
        json_schema_extra=text("the name of a player"),
    )
    games: list[str] | None = Field(
        default=None,
        description="Games in which it is a change. Default: all.",
        json_schema_extra=text("a list of games of the file"),
    )


class Experiment(Keys):
    """What ablations and tuning have in common."""

    title: str = Field(
        default="Experiment", min_length=1, max_length=200, description="Heading of the table."
    )
    seed: int = Field(default=1, ge=0, lt=1 << 62, description="The same seed, the same deals.")
    games: list[Game] = Field(
        min_length=1, description="Games that are played.", json_schema_extra=text("[[games]]")
    )
    limits: Limits = Field(default=Limits(), description="Limits of all players.")
    default: Player = Field(default=Player(), description="What everything is compared with.")


class Ablations(Experiment):
    """A file of ablations."""

    ablations: list[Ablation] = Field(
        min_length=1,
        description="Changes, each against the default.",
        json_schema_extra=text("[[ablations]]"),
    )
    stop: Count | Width | Sprt = Field(
        discriminator="rule",
        description="When a comparison ends. Under sprt alpha and beta are divided by the number "
        "of comparisons.",
    )


class Parameter(Keys):
    """What is tuned: a setting, and where it may be."""

    from_: float | None = Field(default=None, alias="from", description="Least value.")
    to: float | None = Field(default=None, description="Greatest value.")
    log: bool = Field(default=False, description="Equal ratios are equal steps.")
    choices: list[Setting] | None = Field(
        default=None,
        min_length=2,
        description="The values, where there are a few.",
        json_schema_extra=text("a list of two or more numbers, true, false"),
    )

    @model_validator(mode="after")
    def _either(self) -> Parameter:
        ends = (self.from_, self.to)
        if (self.choices is None) == (ends == (None, None)) or (None in ends) != (
            ends == (None, None)
        ):
            raise ValueError("a parameter has from and to, or choices")
        if self.from_ is not None and self.to is not None:
            if not self.from_ < self.to:
                raise ValueError("from is below to")
            if self.log and self.from_ <= 0:
                raise ValueError("from is above 0 on a log scale")
        return self


class Tuning(Experiment):
    """A file of tuning."""

    parameters: dict[str, Parameter] = Field(
        min_length=1,
        description="Settings that are tuned, by name.",
        json_schema_extra=text("a table for each setting: [parameters.exploration]"),
    )
    trials: int = Field(ge=1, le=100_000, description="Settings that are tried.")
    deals: int = Field(
        ge=2,
        le=1_000_000,
        description="Deals of a trial, against the default; the same ones in every trial.",
    )
    confirm: Count | Width | Sprt = Field(
        discriminator="rule",
        description="How the best trial then meets the default, on deals that no trial has seen.",
    )
