"""Who may import whom: the table of the architecture, and that nobody strays from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project.imports import (
    CYTHON,
    ROOT,
    Import,
    imports_of,
    package_of,
    source_files,
)

LAYERS = ("ext", "ai", "service")
FOLDERS = ("service", "ai", "ext", "seeds", "proto")

# Of ours. A game is every folder of ext/ but core; `*` stands for all games.
ALLOWED = {
    "ext.core": set(),
    "ext.registry": {"ext.core", "*"},
    "*": {"ext.core"},
    "ai": {"ext.core"},
    "ai.adapters": {"ai", "ext.core", "ext.registry"},
    "ai.arena": {"ai", "ext.core", "ext.registry"},
    "service": {"v1", "ai", "ai.arena", "ext.core", "ext.registry", "*"},
}

# Of others. Rules do no I/O beyond reading seeds, and have no clock and no chance of their own;
# protobuf, logging and storage belong to the service.
SERVICE_ONLY = {"grpc", "google", "structlog", "logging", "apsw", "asyncio", "typer", "uvloop"}
FORBIDDEN = {
    "ext": SERVICE_ONLY | {"time", "datetime", "random", "secrets", "socket", "threading", "uuid"},
    "ai": SERVICE_ONLY | {"secrets", "socket"},
}
# A tournament keeps its own results, in a file that only it knows.
GRANTED = {"ai.arena": {"apsw"}}


def part_of(module: str) -> str:
    """The row of the table that a dotted name below `tavolata` belongs to."""
    parts = module.split(".")[1:]
    if parts[:1] == ["ext"]:
        if len(parts) < 2 or parts[1] in ("core", "registry"):
            return ".".join(parts[:2])
        return f"ext.{parts[1]}"
    if parts[:2] in (["ai", "adapters"], ["ai", "arena"]):
        return ".".join(parts[:2])
    return parts[0] if parts else ""


def row(part: str) -> str:
    """The key of ALLOWED for a part: all games share one."""
    return part if part in ALLOWED else "*"


def strays(importer: str, module: str) -> bool:
    """Whether a file of the part `importer` must not import `module`."""
    top = module.split(".")[0]
    if top != "tavolata":
        forbidden = FORBIDDEN.get(importer.split(".")[0], set())
        return top in forbidden - GRANTED.get(importer, set())
    target = part_of(module)
    if target == importer:
        return False
    if target == "__version__":
        return importer not in ("service", "ai.arena")
    if target.startswith("ext.") and row(target) == "*":
        return "*" not in ALLOWED[row(importer)]
    return target not in ALLOWED[row(importer)]


def importer_of(path: Path) -> str:
    """The part a file belongs to; `ext/registry.py` may be a module or a package."""
    package = package_of(path)
    if package == "tavolata.ext" and path.stem != "__init__":
        return part_of(f"{package}.{path.stem}")
    return part_of(package)


@pytest.mark.parametrize("layer", LAYERS)
def test_every_part_imports_only_what_the_architecture_lets_it(layer: str) -> None:
    files = source_files(layer)
    assert files
    wrong = [
        found
        for path in files
        if importer_of(path) != "ext"
        for found in imports_of(path, package_of(path))
        if strays(importer_of(path), found.module)
    ]
    assert wrong == []


def test_the_package_of_rules_itself_imports_nothing() -> None:
    (path,) = [file for file in source_files("ext") if importer_of(file) == "ext"]
    assert [i for i in imports_of(path, "tavolata.ext") if i.module.startswith("tavolata")] == []


@pytest.mark.parametrize(
    ("importer", "module"),
    [
        ("ext.core", "tavolata.ext.mino_dice.rules"),
        ("ext.core", "tavolata.ai.search"),
        ("ext.core", "time"),
        ("ext.mino_dice", "tavolata.ext.bouillabaisse.deck"),
        ("ext.mino_dice", "tavolata.ext.registry"),
        ("ext.mino_dice", "random"),
        ("ext.mino_dice", "tavolata.v1.mino_dice_pb2"),
        ("ext.registry", "tavolata.ai"),
        ("ai", "tavolata.ext.registry"),
        ("ai", "tavolata.ext.mino_dice"),
        ("ai", "tavolata.ai.arena.duel"),
        ("ai", "tavolata.ai.adapters.history"),
        ("ai", "google.protobuf.message"),
        ("ai", "secrets"),
        ("ai", "apsw"),
        ("ai.adapters", "tavolata.ai.arena.duplicate"),
        ("ai.adapters", "tavolata.ext.mino_dice"),
        ("ai.adapters", "apsw"),
        ("ai.arena", "tavolata.ai.adapters.history"),
        ("ai.arena", "typer"),
        ("ext.core", "tavolata.__version__"),
        ("ai.arena", "tavolata.service.tables"),
        ("ai.arena", "tavolata.ext.mino_dice"),
        ("service", "tavolata.ai.adapters.history"),
    ],
)
def test_an_import_against_the_architecture_is_noticed(importer: str, module: str) -> None:
    assert strays(importer, module)


@pytest.mark.parametrize(
    ("importer", "module"),
    [
        ("ext.core", "tavolata.ext.core.chance"),
        ("ext.mino_dice", "tavolata.ext.core.game"),
        ("ext.registry", "tavolata.ext.mino_dice.Game"),
        ("ai", "tavolata.ext.core.match"),
        ("ai.adapters", "tavolata.ext.registry.game_spec"),
        ("ai.adapters", "tavolata.ai.player"),
        ("ai.arena", "tavolata.ext.registry.game"),
        ("ai.arena", "tavolata.ai.players"),
        ("ai.arena", "apsw"),
        ("service", "tavolata.v1.table_pb2"),
        ("service", "tavolata.__version__"),
        ("service", "tavolata.ext.bouillabaisse.notation"),
    ],
)
def test_an_import_along_the_architecture_is_let_pass(importer: str, module: str) -> None:
    assert not strays(importer, module)


def test_nobody_imports_the_flat_folders_by_their_bare_names() -> None:
    files = source_files("service", "ai", "ext", "tests", "proto", "deploy")
    assert any(path.suffix in CYTHON for path in files)
    bare = [
        found
        for path in files
        for found in imports_of(path, package_of(path))
        if found.module.split(".")[0] in FOLDERS
    ]
    assert bare == []


def draws_from_the_global_generator(text: str) -> list[str]:
    """Names used of the module `random`, other than classes to be seeded."""
    direct = re.findall(r"(?<![\w.])random\.(\w+)", text)
    imported = re.findall(r"from random import ([^\n]+)", text)
    names = direct + [name.strip("() ") for line in imported for name in line.split(",")]
    return [name for name in names if name not in ("Random", "SystemRandom")]


def test_nobody_draws_from_the_global_random_generator() -> None:
    # The client may: it spreads its retries so, and no match depends on when they come.
    client = ROOT / "service" / "client"
    files = [f for f in source_files("service", "ai", "ext") if not f.is_relative_to(client)]
    found = {str(f): draws_from_the_global_generator(f.read_text("utf-8")) for f in files}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "text", ["x = random.random()", "random.shuffle(a)", "from random import Random, choice"]
)
def test_a_draw_from_the_global_random_generator_is_noticed(text: str) -> None:
    assert draws_from_the_global_generator(text)


def test_imports_are_read_from_every_form_that_python_has(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(
        "import a.b, c as d\nfrom e.f import (\n    g,\n    h as i,\n)\n"
        "from . import j\nfrom ..k import l\ndef m():\n    from n import o\n"
    )
    assert _modules(imports_of(path, "p.q.r")) == [
        "a.b", "c", "e.f.g", "e.f.h", "n.o", "p.q.k.l", "p.q.r.j",
    ]  # fmt: skip


def test_imports_are_read_from_every_form_that_cython_has(tmp_path: Path) -> None:
    path = tmp_path / "x.pyx"
    path.write_text(
        '"""Text.\n\nimport nothing\n"""\n'
        "cimport a.b as c\nimport d, e.f\nfrom g.h cimport (\n    i,  # why\n    j as k,\n)\n"
        "from . cimport l\nfrom ..m import n\n# import nothing\n"
    )
    assert _modules(imports_of(path, "p.q.r")) == [
        "a.b", "d", "e.f", "g.h.i", "g.h.j", "p.q.m.n", "p.q.r.l",
    ]  # fmt: skip


def _modules(found: list[Import]) -> list[str]:
    return sorted(each.module for each in found)
