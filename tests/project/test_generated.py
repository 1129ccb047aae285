"""The committed Python of the API is what the .proto files say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.extensions import ROOT


def generate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the generator of a proto folder."""
    return subprocess.run(
        [sys.executable, str(folder / "generate.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    """A copy of proto/ to change."""
    return shutil.copytree(
        ROOT / "proto", tmp_path / "proto", ignore=shutil.ignore_patterns("__pycache__")
    )


def test_the_generated_code_is_current() -> None:
    result = generate(ROOT / "proto", "--check")
    assert result.returncode == 0, result.stderr


def test_an_api_that_changed_since_is_noticed(proto: Path) -> None:
    path = min((proto / "tavolata" / "v1").glob("*.proto"))
    path.write_text(path.read_text() + "\n// Late is a message.\nmessage Late {}\n")
    result = generate(proto, "--check")
    assert result.returncode == 1
    assert f"{path.stem}_pb2.py is not what" in result.stderr


def test_code_left_over_from_a_removed_file_is_noticed_and_removed(proto: Path) -> None:
    old = proto / "tavolata" / "v1" / "old_pb2.py"
    old.write_text("")
    assert generate(proto, "--check").returncode == 1
    assert generate(proto).returncode == 0
    assert not old.exists()
    assert generate(proto, "--check").returncode == 0
