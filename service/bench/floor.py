"""Compiles and runs the C floor (floor.c) with the flags of the build that is measured."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from tavolata.ext.core.cpu import level

FLAGS = {"base": (), "v3": ("-march=x86-64-v3",)}
PLAYOUTS = 500_000
MOVES = 52  # cards played in one of its playouts


class NoCompiler(RuntimeError):
    """The floor can't be compiled here."""


@cache
def _program(build: str) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NoCompiler("the C floor needs a C compiler (cc or gcc) on the PATH")
    program = Path(tempfile.mkdtemp(prefix="tavolata-floor-")) / "floor"
    with as_file(files("tavolata.service.bench") / "floor.c") as source:
        command = [compiler, "-O3", *FLAGS[build], str(source), "-o", str(program)]
        subprocess.run(command, check=True, capture_output=True, text=True)
    return program


def playouts_per_second(build: str | None = None, seed: int = 1) -> float:
    """Random playouts/s of the floor, the deal included, on one core."""
    command = [str(_program(build or level())), str(PLAYOUTS), str(seed)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    playouts, seconds, _ = done.stdout.split()
    return int(playouts) / float(seconds)
