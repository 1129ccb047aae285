"""The flat folders, the links that make one package of them, and what lies beside what."""

from __future__ import annotations

import importlib

import pytest

from tests.project.extensions import ROOT, SOURCE, cython_sources, module_name, runs_here

LINKS = {
    "service": "../../service",
    "ai": "../../ai",
    "ext": "../../ext",
    "seeds": "../../seeds",
    "v1": "../../proto/tavolata/v1",
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_is_relative_and_leads_to_its_flat_folder(name: str) -> None:
    link = SOURCE / "tavolata" / name
    assert str(link.readlink()) == LINKS[name]
    assert link.resolve() == ROOT / LINKS[name].removeprefix("../../")
    assert link.is_dir()


def test_every_extension_has_its_types_beside_it() -> None:
    sources = cython_sources()
    assert sources
    assert [str(path) for path in sources if not path.with_suffix(".pyi").exists()] == []


def test_every_stub_of_the_rules_and_the_search_has_a_source() -> None:
    stubs = [path for folder in ("ext", "ai") for path in (ROOT / folder).rglob("*.pyi")]
    assert [
        str(path)
        for path in stubs
        if not path.with_suffix(".pyx").exists() and not path.with_suffix(".py").exists()
    ] == []


def test_every_folder_with_code_is_a_package() -> None:
    folders = {
        path.parent
        for top in ("service", "ai", "ext", "tests")
        for path in (ROOT / top).rglob("*.py*")
        if path.suffix in (".py", ".pyx", ".pyi")
    }
    assert [str(f) for f in sorted(folders) if not (f / "__init__.py").exists()] == []


def test_every_extension_loads_and_documents_itself() -> None:
    names = [module_name(path) for path in cython_sources() if runs_here(path)]
    assert [name for name in names if not importlib.import_module(name).__doc__] == []
