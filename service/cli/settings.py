"""The settings of a command, or its end with what is wrong about them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from tavolata.service.settings import Settings

_OTHERS = (
    "TAVOLATA_ALLOW_STALE",
    "TAVOLATA_CHECKED",
    "TAVOLATA_CLIENT_CERT",
    "TAVOLATA_CLIENT_KEY",
    "TAVOLATA_CPU",
    "TAVOLATA_TEST_POSTGRES",
    "TAVOLATA_VENV",
)
_OF_KUBERNETES = re.compile(r"_SERVICE_(HOST|PORT.*)$|_PORT(_\d+_(TCP|UDP).*)?$")


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
                said = each["msg"]
                if each["type"] == "extra_forbidden":
                    said = f"there is no such setting{meant(name, settings.Settings.model_fields)}"
                typer.echo(f"tavolata: setting {name}: {said}", err=True)
        else:
            typer.echo(f"tavolata: {error}", err=True)
        raise typer.Exit(2) from None


def meant(name: str, known: Iterable[str]) -> str:
    """What may have been meant by a name that isn't known, as the end of a sentence."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else "; tavolata serve --list-settings shows all"


def strangers(environment: Mapping[str, str]) -> list[str]:
    """What is wrong about TAVOLATA_* variables that are no settings: nobody reads them.

    Those that Kubernetes sets for a service of this name are none of ours, nor are those for
    building and testing.
    """
    from tavolata.service.settings import Settings

    known = {f"TAVOLATA_{name.upper()}" for name in Settings.model_fields}
    return [
        f"{name} is no setting{meant(name, known)}"
        for name in sorted(environment)
        if name.startswith("TAVOLATA_")
        and name.upper() not in known
        and name not in _OTHERS
        and not _OF_KUBERNETES.search(name)
    ]
