"""From the source tree to a clean environment: sdist, wheel, install, load everything."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.project.extensions import ROOT, SOURCE, SUFFIX, cython_sources, module_name, runs_here

# Kinds of files that have to be in the wheel wherever they lie in the package.
DATA = {".h", ".j2", ".json", ".md", ".proto", ".pxd", ".pxi", ".pyi"}
FOLDERS = ("service", "ai", "ext", "seeds")

# What the extras bring, and who may need it to load.
OPTIONAL = (
    *("asyncpg", "gymnasium", "hdrh", "jinja2", "matplotlib", "numpy", "open_spiel", "openskill"),
    *("opentelemetry", "optuna", "pettingzoo", "pyspiel", "ray"),
)
WITH_EXTRAS = (
    "tavolata.ai.adapters.open_spiel_",
    "tavolata.ai.adapters.pettingzoo_",
    "tavolata.ai.adapters.vectors",
    "tavolata.ai.arena.experiments.",
    "tavolata.ai.arena.tournament.",
    "tavolata.service.loadtest.",
    "tavolata.service.store.postgres",
    "tavolata.service.tracing",
)
# Run by others, not imported: by the interpreter, by Alembic.
RUN = ("tavolata.__main__", "tavolata.service.store.migrations.env")

# Runs in the clean environment, away from the repository.
LOAD = """
import importlib, json, pkgutil, sys
from importlib.resources import files
import tavolata

def below(folder, path=""):
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from below(entry, f"{path}{entry.name}/")
        else:
            yield path + entry.name, entry

seeds = {name: entry.read_text("utf-8") for name, entry in below(files(tavolata) / "seeds")}
modules = [m.name for m in pkgutil.walk_packages(tavolata.__path__, "tavolata.")]
optional, *unfit = sys.argv[1:]
lacking = {}
for name in modules:
    if name not in unfit:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] not in optional.split():
                raise
            lacking[name] = error.name
print(json.dumps({"place": tavolata.__file__, "version": tavolata.__version__,
                  "seeds": seeds, "modules": modules, "lacking": lacking}))
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command that has to succeed."""
    result = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """From a copy, since a build leaves files beside the sources; links are copied as links."""
    folder = tmp_path_factory.mktemp("sdist")
    tree = shutil.copytree(
        ROOT,
        folder / "tree",
        symlinks=True,
        ignore=shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__"),
    )
    run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", folder, cwd=tree)
    (archive,) = folder.glob("tavolata-*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the unpacked sdist, which knows nothing of the repository."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    run(
        sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, cwd=unpacked
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and what it declares to need."""
    folder = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "--disable-pip-version-check", "install", wheel, cwd=folder)
    return python


@pytest.fixture(scope="module")
def loaded(clean: Path) -> dict[str, Any]:
    """What the installed package says when all of it is imported and every seed read."""
    unfit = [module_name(path) for path in cython_sources() if not runs_here(path)]
    answer: dict[str, Any] = json.loads(
        run(clean, "-c", LOAD, " ".join(OPTIONAL), *unfit, *RUN, cwd=clean.parent)
    )
    return answer


def test_the_sdist_has_every_file_once(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [Path(*Path(member.name).parts[1:]) for member in archive if member.isfile()]
    assert len(names) == len(set(names))
    assert {path.parts[0] for path in names}.isdisjoint(FOLDERS)
    assert [path for path in names if path.suffix in (".so", ".pyc", ".db")] == []
    assert {path.relative_to(ROOT) for path in cython_sources()} <= set(names)


def test_the_wheel_has_the_data_of_every_folder(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and (path.suffix in DATA or folder == "seeds"):
                assert f"tavolata/{path.relative_to(ROOT)}" in names
    assert {f"tavolata/v1/{p.name}" for p in (ROOT / "proto").rglob("*.proto")} <= names
    assert "tavolata/py.typed" in names


def test_the_wheel_has_every_extension_compiled(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    for path in cython_sources():
        assert str(path.relative_to(SOURCE).with_suffix("")) + SUFFIX in names


def test_every_seed_reads_as_in_the_repository(loaded: dict[str, Any], clean: Path) -> None:
    assert loaded["place"].startswith(str(clean.parents[1]))
    folder = ROOT / "seeds"
    expected = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert expected
    assert loaded["seeds"] == expected


def test_every_module_loads_with_the_declared_dependencies_alone(loaded: dict[str, Any]) -> None:
    assert {module_name(path) for path in cython_sources()} <= set(loaded["modules"])
    assert [name for name in loaded["lacking"] if not name.startswith(WITH_EXTRAS)] == []


def test_the_installed_command_starts(clean: Path) -> None:
    assert "serve" in run(clean.parent / "tavolata", "--help", cwd=clean.parent)
