"""The commands that the documents name exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.extensions import ROOT

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "proto/README.md", ".ci/run")
RUN = re.compile(r"\./run ([a-z][a-z-]*)")
TAVOLATA = re.compile(r"(?:^|[\s`/])tavolata ([a-z][a-z-]*)", re.MULTILINE)
CODE = re.compile(r"```.*?```|^ {4}.*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def documents() -> dict[str, str]:
    """Text of each document that is there."""
    return {name: (ROOT / name).read_text() for name in DOCUMENTS if (ROOT / name).exists()}


def helped() -> dict[str, str]:
    """Command -> description, as ./run help prints them."""
    text = run("help").stdout
    return dict(re.findall(r"^  ([a-z][a-z-]*)  +(\S.*)$", text, re.MULTILINE))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`./run` with arguments, from elsewhere."""
    return subprocess.run(
        [str(ROOT / "run"), *arguments], cwd="/", capture_output=True, text=True, check=False
    )


def test_every_run_command_in_the_documents_exists() -> None:
    named = {(doc, cmd) for doc, text in documents().items() for cmd in RUN.findall(text)}
    known = helped()
    assert ("CONTRIBUTING.md", "test") in named
    assert sorted((doc, cmd) for doc, cmd in named if cmd not in known) == []


def test_every_run_command_with_help_is_carried_out_and_the_other_way_round() -> None:
    script = (ROOT / "run").read_text()
    cases = script[script.index("case $command in") :]
    handled = re.findall(r"^    ([a-z-]+(?: \| [a-z-]+)*)\)", cases, re.MULTILINE)
    words = {word for names in handled for word in names.split(" | ") if word[0] != "-"}
    assert words == set(helped())


def test_an_unknown_run_command_is_refused_with_the_known_ones() -> None:
    result = run("dance")
    assert result.returncode == 1
    assert "no command 'dance'" in result.stderr
    assert "test-checked" in result.stderr


def test_the_scripts_can_be_executed() -> None:
    for name in ("run", ".ci/run"):
        assert (ROOT / name).stat().st_mode & 0o111


def tavolata_commands() -> set[str]:
    code = {doc: " ".join(CODE.findall(text)) for doc, text in documents().items()}
    script = (ROOT / "run").read_text()
    in_run = set(re.findall(r"`tavolata ([a-z-]+)`", script)) | {"demo"}
    return in_run | {cmd for text in code.values() for cmd in TAVOLATA.findall(text)}


@pytest.mark.parametrize("command", sorted(tavolata_commands()))
def test_every_tavolata_command_in_the_documents_exists(command: str) -> None:
    result = subprocess.run(
        [str(Path(sys.executable).parent / "tavolata"), command, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
