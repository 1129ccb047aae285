"""Settings by file, environment and flags, and what is told about them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from tavolata.service import settings
from tavolata.service.cli.main import app
from tavolata.service.cli.settings import strangers
from tavolata.service.cli.settings_page import page
from tavolata.service.settings import Settings
from tests.project.extensions import ROOT

# For every setting something else than its default.
OTHERS: dict[str, str] = {
    "db": "other.db", "store": "postgresql://me:secret@db/tables", "bus": "off", "bind": "[::1]:7",
    "tls_cert": "c.pem", "tls_key": "k.pem", "tls_client_ca": "a.pem", "metrics_bind": "[::1]:9",
    "traces": "otlp", "identity": "optional", "identity_issuer": "https://i", "log_format": "json",
    "identity_audience": "a", "identity_jwks_url": "https://k",
    "identity_algorithms": "ES256,EdDSA", "tournaments_dir": "t", "log_level": "debug",
    "players_token_file": "p", "players_replacement": "random",
}  # fmt: skip


def serve(*arguments: str, env: dict[str, str] | None = None) -> Any:
    """`tavolata serve`, which is to end by itself."""
    return CliRunner().invoke(app, ["serve", *arguments], env=env)


def other(name: str) -> str:
    """A value as text that is allowed and isn't the default."""
    default = Settings.model_fields[name].default
    if name in OTHERS:
        return OTHERS[name]
    if isinstance(default, bool):
        return str(not default).lower()
    return str(default + 1 if default < 2 else default - 1)


def printed(*arguments: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    """What --print-settings says, read as the file that it is."""
    told = serve(*arguments, "--print-settings", env=env)
    assert told.exit_code == 0, told.output
    return tomllib.loads(told.stdout)


def test_every_setting_is_taken_from_flag_environment_and_file(tmp_path: Path) -> None:
    plain, values = printed(), {name: other(name) for name in Settings.model_fields}
    flags: list[str] = []
    env, lines = {}, []
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(Settings.model_fields[name].default, bool):
            flags.append(flag if value == "true" else f"--no-{flag[2:]}")
        else:
            flags += [flag, value]
        written = '["ES256", "EdDSA"]' if name == "identity_algorithms" else value
        env[f"TAVOLATA_{name.upper()}"] = written
        quoted = isinstance(plain.get(name, ""), str)
        lines.append(f'{name} = "{written}"' if quoted else f"{name} = {written}")
    by_flag = printed(*flags)
    assert by_flag.keys() == values.keys()
    assert {name for name in values if by_flag[name] == plain.get(name)} == set()
    assert printed(env=env) == by_flag
    file = tmp_path / "settings.toml"
    file.write_text("\n".join(lines))
    assert printed("--config", str(file)) == by_flag


def test_what_is_printed_is_a_file_that_gives_the_same_but_a_password(tmp_path: Path) -> None:
    told = serve(
        "--store", "postgresql://me:secret@db/tables", "--ai-floor", "2", "--print-settings"
    )
    assert "secret" not in told.output
    file = tmp_path / "settings.toml"
    file.write_text(told.stdout)
    again = settings.load(file)
    assert again.store == "postgresql://me@db/tables"
    assert again.ai_floor_s == 2
    assert again.model_copy(update={"store": "", "ai_floor_s": 0.4}) == settings.load(None)


def test_unknown_names_and_wrong_values_are_told_with_what_may_be_meant(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    for text, says in (
        ("ai_thread = 3", "setting ai_thread: there is no such setting; did you mean ai_threads?"),
        ("qqqq = 3", "--list-settings"),
        ("ai_threads = 'many'", "setting ai_threads: "),
        ("ai_threads = 9999", "less than or equal to 256"),
        ("ai_threads = ", "Invalid value"),
    ):
        file.write_text(text)
        told = serve("--config", str(file), "--print-settings")
        assert told.exit_code == 2
        assert says in told.stderr
        assert "Traceback" not in told.stderr
    told = serve("--config", str(tmp_path / "nowhere.toml"), "--print-settings")
    assert told.exit_code == 2
    assert "nowhere.toml" in told.stderr


def test_variables_that_nobody_reads_are_warned_of() -> None:
    env = {"TAVOLATA_WATCHER_MAX": "1", "TAVOLATA_WATCHERS_MAX": "1", "TAVOLATA_CPU": "portable"}
    of_kubernetes = {
        "TAVOLATA_PORT": "tcp://10.0.0.1:50051",
        "TAVOLATA_SERVICE_HOST": "10.0.0.1",
        "TAVOLATA_SERVICE_PORT_GRPC": "50051",
        "TAVOLATA_PORT_50051_TCP_ADDR": "10.0.0.1",
    }
    (warning,) = strangers(env | of_kubernetes)
    assert warning == "TAVOLATA_WATCHER_MAX is no setting; did you mean TAVOLATA_WATCHERS_MAX?"
    told = serve("--print-settings", env=env)
    assert told.exit_code == 0
    assert f"warning: {warning}" in told.stderr


def test_help_has_a_flag_with_a_description_for_every_setting() -> None:
    command: Any = get_command(app)
    serve_command = command.commands["serve"]
    context = serve_command.make_context("serve", [], resilient_parsing=True)
    helped = {flag: each.help for each in serve_command.get_params(context) for flag in each.opts}
    for name, field in Settings.model_fields.items():
        assert str(field.description) in helped[f"--{name.replace('_', '-')}"]
    told = serve("--help")
    assert told.exit_code == 0
    assert "--metrics-bind" in told.stdout


def test_general_help_loads_no_settings() -> None:
    code = (
        "import sys; from typer.testing import CliRunner\n"
        "from tavolata.service.cli.main import app\n"
        "told = CliRunner().invoke(app, ['--help']); assert 'serve' in told.output\n"
        "print([m for m in sys.modules if m.startswith('pydantic')])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_the_page_of_settings_is_the_one_that_the_settings_make() -> None:
    held = (ROOT / "docs" / "settings.md").read_text()
    assert held == page(), "python -m tavolata.service.cli.settings_page > docs/settings.md"
