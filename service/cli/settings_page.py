"""The page of all settings: python -m tavolata.service.cli.settings_page > docs/settings.md"""

from __future__ import annotations

import sys

from tavolata.service.cli.setting_flags import ALIASES, default_of
from tavolata.service.settings import Settings

_HEAD = """# Settings

Every setting comes from its flag of `tavolata serve`, or else from the environment, or else from a
TOML file (`--config FILE`, with lines like `bind = "127.0.0.1:50051"`), or else it has its
default. A name in the file that is no setting is an error; a variable that begins with `TAVOLATA_`
and is none is warned of. `tavolata serve --print-settings` with the same flags, environment and
file prints what a server would use, as such a file. What more there is to say is in
[deploy.md](deploy.md).

| name | flag | environment | default | |
|---|---|---|---|---|
"""


def page() -> str:
    """The page."""
    return _HEAD + "".join(map(_row, Settings.model_fields))


def _row(name: str) -> str:
    field = Settings.model_fields[name]
    flag = ALIASES.get(name, f"--{name.replace('_', '-')}")
    text = str(field.description).replace("|", "\\|")
    return f"| `{name}` | `{flag}` | `TAVOLATA_{name.upper()}` | {default_of(field)} | {text} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
