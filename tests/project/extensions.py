"""Compiled modules and what they were made from: which are stale, left over or of which variant."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from Cython.Build.Dependencies import DependencyTree
from Cython.Compiler.Main import Context
from Cython.Compiler.Options import CompilationOptions, default_options, get_directive_defaults

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX")
IS_X86_64 = sysconfig.get_platform().endswith(("x86_64", "amd64"))

# Recorded by the compiler in every module: only the checked build is compiled with it.
CHECKED_MARK = b"-fsanitize=bounds"


def cython_sources() -> list[Path]:
    """Every .pyx that is compiled on this machine, as a path below src/."""
    found = [
        Path(folder) / file for folder, file in _files(SOURCE / "tavolata") if file.endswith(".pyx")
    ]
    return sorted(path for path in found if IS_X86_64 or not path.stem.endswith("_v3"))


def runs_here(source: Path) -> bool:
    """Whether this processor has the instructions that a module is compiled for."""
    if not source.stem.endswith("_v3"):
        return True
    processors = Path("/proc/cpuinfo")
    flags = set(processors.read_text().split()) if processors.exists() else set()
    return {"avx2", "bmi2", "fma"} <= flags


def module_name(source: Path) -> str:
    """`tavolata.ext.core.match` for .../src/tavolata/ext/core/match.pyx."""
    return ".".join(source.relative_to(SOURCE).with_suffix("").parts)


def outdated() -> list[str]:
    """Compiled modules in the source tree that are missing, stale or without a source."""
    options = CompilationOptions(default_options, include_path=[str(SOURCE)])
    tree = DependencyTree(Context([str(SOURCE)], get_directive_defaults(), options=options))
    problems = []
    expected = set()
    for source in cython_sources():
        module = source.with_name(source.stem + SUFFIX)
        expected.add(module)
        if not module.exists():
            problems.append(f"{module_name(source)} is not built")
            continue
        newest, dependency = tree.newest_dependency(str(source))
        if newest > module.stat().st_mtime:
            problems.append(f"{module_name(source)} is older than {Path(dependency).name}")
    for folder, file in _files(SOURCE / "tavolata"):
        if file.endswith(SUFFIX) and Path(folder) / file not in expected:
            problems.append(f"{file} has no source any more")
    return problems


def unchecked(package: Path) -> list[str]:
    """Compiled modules of an installed package that are not of the checked build."""
    return [
        file
        for folder, file in _files(package)
        if file.endswith(SUFFIX) and CHECKED_MARK not in (Path(folder) / file).read_bytes()
    ]


def _files(top: Path) -> Iterator[tuple[str, str]]:
    """(folder, file name) of everything below `top`, through the links."""
    for folder, _, files in os.walk(top, followlinks=True):
        for file in files:
            yield folder, file
