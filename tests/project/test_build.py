"""setup.py on small projects of its own: what is rebuilt, what is refused, what is checked."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.extensions import CHECKED_MARK, IS_X86_64, ROOT, SUFFIX

DECLARED = "cdef int twice(int x) noexcept nogil\n"
DEFINED = '''"""Small."""
cdef extern from *:
    """
    #include <assert.h>
    static int at(int i) { static int t[2] = {3, 4}; return t[i]; }
    static void below_ten(int x) { assert(x < 10); (void) x; }
    """
    int at(int i) nogil
    void below_ten(int x) nogil
    const int TAVOLATA_CHECKED

include "more.pxi"

cdef int twice(int x) noexcept nogil:
    return x * 2

cdef int plus(int x, int y) noexcept nogil:
    return x + y

def doubled(int x):
    return twice(x) + MORE

def added(int x, int y):
    return plus(x, y)

def item(int i):
    return at(i)

def small(int x):
    below_ten(x)

def is_checked():
    return TAVOLATA_CHECKED
'''
USING = '''"""Uses the other."""
from tavolata.ext.small cimport twice

def fourfold(int x):
    return twice(twice(x))
'''
TAKES_THE_GIL = "\ncdef void careless(int x) nogil:\n    pass\n"


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the real setup.py and two modules, compiled; to be copied, not changed."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("setup.py", "pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder)
    package = folder / "src" / "tavolata"
    for name in ("service", "ai", "ext", "seeds", "v1"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
    (package / "__init__.py").touch()
    ext = package / "ext"
    (ext / "small.pxd").write_text(DECLARED)
    (ext / "small.pyx").write_text(DEFINED)
    (ext / "more.pxi").write_text("cdef int MORE = 0\n")
    (ext / "using.pyx").write_text(USING)
    return built(folder)


@pytest.fixture
def project(built_once: Path, tmp_path: Path) -> Path:
    """The compiled project, to change and build again; the times of its files are kept."""
    return shutil.copytree(built_once, tmp_path / "project")


def build(project: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Compile in place."""
    clean = {key: value for key, value in os.environ.items() if key != "TAVOLATA_CHECKED"}
    return subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=project,
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def call(project: Path, expression: str) -> subprocess.CompletedProcess[str]:
    """Evaluate an expression of `small` and `using` in a process of its own, and print it."""
    code = f"from tavolata.ext import small, using; print({expression})"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=project / "src",
        env=os.environ | {"PYTHONPATH": str(project / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def compiled(project: Path, name: str) -> Path:
    return project / "src" / "tavolata" / "ext" / (name + SUFFIX)


def built(project: Path, **environment: str) -> Path:
    result = build(project, **environment)
    assert result.returncode == 0, result.stderr
    return project


def test_what_is_current_is_not_compiled_again(project: Path) -> None:
    before = compiled(project, "small").stat().st_mtime_ns
    assert compiled(built(project), "small").stat().st_mtime_ns == before


def test_a_change_in_a_declaration_recompiles_whoever_cimports_it(project: Path) -> None:
    before = compiled(project, "using").stat().st_mtime_ns
    touch_later(project / "src" / "tavolata" / "ext" / "small.pxd")
    assert compiled(built(project), "using").stat().st_mtime_ns > before


def test_a_change_in_an_included_file_recompiles_only_whoever_includes_it(project: Path) -> None:
    using = compiled(project, "using").stat().st_mtime_ns
    included = project / "src" / "tavolata" / "ext" / "more.pxi"
    included.write_text("cdef int MORE = 100\n")
    touch_later(included)
    built(project)
    assert call(project, "small.doubled(1)").stdout == "102\n"
    assert compiled(project, "using").stat().st_mtime_ns == using


def test_the_module_of_a_removed_source_is_removed(project: Path) -> None:
    (project / "src" / "tavolata" / "ext" / "using.pyx").unlink()
    built(project)
    assert not compiled(project, "using").exists()
    assert compiled(project, "small").exists()


def test_a_function_that_would_take_the_gil_stops_every_build(project: Path) -> None:
    source = project / "src" / "tavolata" / "ext" / "using.pyx"
    source.write_text(USING + TAKES_THE_GIL)
    for _ in range(2):
        result = build(project)
        assert result.returncode != 0
        assert "'careless' will always require the GIL" in result.stderr
        assert "declare it noexcept" in result.stderr


def test_a_clone_without_symbolic_links_is_told_what_to_do(project: Path) -> None:
    link = project / "src" / "tavolata" / "seeds"
    shutil.rmtree(link)
    link.write_text("../../seeds")
    result = build(project)
    assert result.returncode != 0
    assert "git config core.symlinks true" in result.stderr
    assert "seeds" in result.stderr


def test_the_fast_build_checks_nothing(project: Path) -> None:
    assert CHECKED_MARK not in compiled(project, "small").read_bytes()
    assert call(project, "small.is_checked(), small.small(11)").stdout == "0 None\n"


def test_the_checked_build_stops_where_c_would_go_on(project: Path) -> None:
    for name in ("small", "using"):
        compiled(project, name).unlink()
    built(project, TAVOLATA_CHECKED="1")
    assert CHECKED_MARK in compiled(project, "small").read_bytes()
    assert call(project, "small.is_checked(), small.small(9), small.item(1)").stdout == "1 None 4\n"
    assert call(project, "small.item(2)").returncode in (-signal.SIGILL, -signal.SIGTRAP)
    assert call(project, "small.small(10)").returncode == -signal.SIGABRT
    assert call(project, "small.added(2**31 - 2, 1)").stdout == "2147483647\n"
    assert call(project, "small.added(2**31 - 2, 2)").returncode in (
        -signal.SIGILL,
        -signal.SIGTRAP,
    )


@pytest.mark.skipif(not IS_X86_64, reason="only there is a module for x86-64-v3 compiled")
def test_a_module_for_newer_processors_is_compiled_for_them_and_no_other_is(project: Path) -> None:
    folder = project / "src" / "tavolata" / "ext"
    (folder / "small.pyx").rename(folder / "small_v3.pyx")
    (folder / "small.pxd").rename(folder / "small_v3.pxd")
    (folder / "using.pyx").write_text(USING.replace("small", "small_v3"))
    built(project)
    assert b"-march=x86-64-v3" in compiled(project, "small_v3").read_bytes()
    assert b"-march=x86-64-v3" not in compiled(project, "using").read_bytes()


def touch_later(path: Path) -> None:
    """Give a file a time after everything that was built, whatever the clock's grain."""
    later = path.stat().st_mtime + 5
    newest = max(file.stat().st_mtime for file in path.parent.iterdir())
    os.utime(path, (max(later, newest + 2),) * 2)
