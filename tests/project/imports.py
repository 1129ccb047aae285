"""What each file of the repository imports, Python and Cython alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = (".py", ".pyi")
CYTHON = (".pyx", ".pxd", ".pxi")

# `from a.b cimport (c, d as e)`, `from a import b`, `cimport a.b as c`, `import a, b`; the
# parenthesised list may go over several lines.
_FROM = re.compile(
    r"^[ \t]*from[ \t]+(?P<module>[.\w]+)[ \t]+c?import[ \t]+(?P<names>\([^)]*\)|[^\n]*)",
    re.MULTILINE,
)
_PLAIN = re.compile(r"^[ \t]*c?import[ \t]+(?P<modules>[\w. \t,]+)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
_DOCSTRING = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''", re.DOTALL)


@dataclass(frozen=True)
class Import:
    """`module` is absolute, down to the imported name: `tavolata.ext.core.match.Match`."""

    file: str
    module: str


def imports_of(path: Path, package: str) -> list[Import]:
    """Every import of a file whose package (for relative imports) is `package`."""
    text = path.read_text(encoding="utf-8")
    read = _python_imports if path.suffix in PYTHON else _cython_imports
    return [Import(_shown(path), module) for module in read(text, package)]


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _python_imports(text: str, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute("." * node.level + (node.module or ""), package)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _cython_imports(text: str, package: str) -> Iterator[str]:
    text = _COMMENT.sub("", _DOCSTRING.sub("", text))
    for found in _FROM.finditer(text):
        base = _absolute(found["module"], package)
        yield from (f"{base}.{name}" for name in _names(found["names"].strip("() \t\n")))
    for found in _PLAIN.finditer(text):
        yield from _names(found["modules"])


def _names(listed: str) -> list[str]:
    return [part.split()[0] for part in listed.replace("\n", " ").split(",") if part.split()]


def _absolute(module: str, package: str) -> str:
    level = len(module) - len(module.lstrip("."))
    if not level:
        return module
    parts = package.split(".")
    base = parts[: len(parts) - level + 1]
    return ".".join([*base, module.lstrip(".")]).rstrip(".")


def source_files(*folders: str) -> list[Path]:
    """Hand-written Python and Cython files below flat folders of the repository."""
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in PYTHON + CYTHON and "_pb2" not in path.name
    )


def package_of(path: Path) -> str:
    """`tavolata.ext.core` for ext/core/match.pyx, `tests.project` for tests/project/x.py."""
    parts = path.relative_to(ROOT).parent.parts
    if parts[:3] == ("proto", "tavolata", "v1"):
        return "tavolata.v1"
    return ".".join(parts if parts[0] == "tests" else ("tavolata", *parts))
