"""The machine and what is installed on it."""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata

from tavolata.service.cli.settings import strangers
from tavolata.service.doctor.finding import Finding, fail, ok, warn
from tavolata.service.settings import Settings

PYTHONS = ((3, 11), (3, 13))
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?[^;]*?>=\s*([0-9][0-9.]*)")
FILES_BESIDE = 256  # descriptors that aren't connections


def look(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """All findings."""
    yield python(sys.version_info[:2])
    yield compiled()
    yield packages(metadata.requires("tavolata") or [])
    yield descriptors(settings, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    yield threads(settings)
    for problem in strangers(environment):
        yield warn("environment", problem, "correct its name or remove it")


def python(version: tuple[int, int]) -> Finding:
    """Whether this Python is one of those that are supported."""
    says = f"Python {version[0]}.{version[1]}"
    if PYTHONS[0] <= version <= PYTHONS[1]:
        return ok("python", says)
    return fail("python", says, "use Python 3.11, 3.12 or 3.13")


def compiled() -> Finding:
    """Which build of the compiled parts the processor runs."""
    from tavolata.ext.core.cpu import level

    try:
        chosen = level()
    except ValueError as error:
        return fail("processor", str(error), "remove TAVOLATA_CPU, or set it to base")
    if chosen == "v3":
        return ok("processor", "runs the build for x86-64-v3")
    return ok("processor", "runs the portable build: it has no AVX2, or TAVOLATA_CPU says so")


def packages(requirements: list[str]) -> Finding:
    """Whether what is installed is as new as it has to be; extras that aren't installed aside."""
    old, count = [], 0
    for requirement in requirements:
        name, least = _floor(requirement)
        try:
            version = metadata.version(name) if name else ""
        except metadata.PackageNotFoundError:
            if "extra ==" not in requirement and "sys_platform" not in requirement:
                old.append(f"{name} is missing")
            continue
        count += bool(name)
        if name and _numbers(version) < _numbers(least):
            old.append(f"{name} {version} is older than {least}")
    if old:
        return fail("packages", "; ".join(old), "pip install --upgrade tavolata")
    return ok("packages", f"{count} are as new as they have to be")


def _floor(requirement: str) -> tuple[str, str]:
    found = _REQUIREMENT.match(requirement)
    return (found[1], found[2]) if found else ("", "")


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"[0-9.]*", version)
    return tuple(int(each) for each in found[0].split(".") if each) if found else ()


def descriptors(settings: Settings, limit: int) -> Finding:
    """Whether the process may have as many connections as it may have streams."""
    needed = settings.streams_max + FILES_BESIDE
    if limit == resource.RLIM_INFINITY or limit >= needed:
        return ok("descriptors", "unlimited" if limit < 0 else str(limit))
    return warn(
        "descriptors",
        f"{limit}, and streams_max is {settings.streams_max}: each may have its own connection",
        f"ulimit -n {needed} (LimitNOFILE in systemd), or a lower streams_max",
    )


def threads(settings: Settings) -> Finding:
    """Whether AI players have the cores that they have threads for."""
    cores = len(os.sched_getaffinity(0))
    says = f"{settings.thread_count} for AI players on {cores} cores"
    if settings.thread_count <= cores:
        return ok("threads", says)
    return warn("threads", says, f"ai_threads = {cores} or less")
