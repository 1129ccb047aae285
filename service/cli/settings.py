"""The settings of a command, or its end with what is wrong about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from tavolata.service.settings import Settings


def load_or_exit(config: Path | None, **flags: object) -> Settings:
    """The settings from flags, environment and file; exit code 2 if they are wrong."""
    import pydantic

    from tavolata.service import settings

    try:
        return settings.load(config, **flags)
    except (pydantic.ValidationError, OSError, ValueError) as error:
        if isinstance(error, pydantic.ValidationError):
            for each in error.errors():
                name = ".".join(map(str, each["loc"]))
                typer.echo(f"tavolata: setting {name}: {each['msg']}", err=True)
        else:
            typer.echo(f"tavolata: {error}", err=True)
        raise typer.Exit(2) from None
