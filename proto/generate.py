"""Generate the Python of the API beside its .proto files, or check that it is current.

    python proto/generate.py            write
    python proto/generate.py --check    exit 1 and name the files that differ

`./run gen` and `./run check` call it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(description="generate the Python of the API")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        generate(made)
        differing = differences(made, ROOT)
        if not check:
            install(made, ROOT)
            return 0
    for name in differing:
        print(f"proto/{name} is not what ./run gen makes", file=sys.stderr)
    return 1 if differing else 0


def generate(target: Path) -> None:
    """Write messages, services and stubs of every .proto below `target`; exit on an error."""
    sources = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.proto"))
    if not sources:
        raise SystemExit(f"no .proto file below {ROOT}")
    out = str(target)
    code = protoc.main(
        [
            "protoc",
            f"--proto_path={ROOT}",
            f"--proto_path={files('grpc_tools') / '_proto'}",
            f"--plugin=protoc-gen-mypy={_plugin('protoc-gen-mypy')}",
            f"--plugin=protoc-gen-mypy_grpc={_plugin('protoc-gen-mypy_grpc')}",
            f"--python_out={out}",
            f"--grpc_python_out={out}",
            f"--mypy_out=quiet:{out}",
            f"--mypy_grpc_out=quiet:{out}",
            *sources,
        ]
    )
    if code:
        raise SystemExit(code)


def _plugin(name: str) -> str:
    """The plugin of this very environment, whatever is on PATH."""
    return str(Path(sys.executable).parent / name)


def generated_files(folder: Path) -> dict[str, bytes]:
    """Content of every generated file by its path relative to `folder`."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for pattern in GENERATED
        for path in folder.rglob(pattern)
    }


def differences(made: Path, committed: Path) -> list[str]:
    """Paths that are missing, left over or different in `committed`."""
    new, old = generated_files(made), generated_files(committed)
    return sorted(name for name in new.keys() | old.keys() if new.get(name) != old.get(name))


def install(made: Path, target: Path) -> None:
    """Make `target` hold exactly the generated files of `made`; unchanged files keep their time."""
    for name in differences(made, target):
        if (made / name).exists():
            shutil.copyfile(made / name, target / name)
        else:
            (target / name).unlink()


if __name__ == "__main__":
    sys.exit(main())
