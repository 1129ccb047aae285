"""Builds every .pyx under src/tavolata; all other packaging facts are in pyproject.toml.

Two variants, chosen by the environment variable TAVOLATA_CHECKED:

- unset or 0: fast, for release.
- 1: checked. Bounds, wraparound, overflow and C assertions on; a broken invariant stops the
  process by a trap, so that no sanitizer runtime has to be linked.

A module called `*_v3.pyx` is compiled for x86-64-v3 (AVX2, BMI2) and left out on other
architectures; whoever imports it has to look at the processor first.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = Path("src/tavolata")
LINKS = ("service", "ai", "ext", "seeds", "v1")
CHECKED = os.environ.get("TAVOLATA_CHECKED", "0") not in ("", "0")
VARIANT = "checked" if CHECKED else "fast"
IS_X86_64 = sysconfig.get_platform().endswith(("x86_64", "amd64"))

# No overflowcheck: Cython 3.3 raises its OverflowError without taking the GIL when in a nogil
# function, and it forbids unsigned wraparound too. The compiler's own check does neither.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": CHECKED,
    "initializedcheck": CHECKED,
    "nonecheck": CHECKED,
    "cdivision": True,
    "embedsignature": True,
    "show_performance_hints": True,
}

# Contracting a*b+c to one instruction rounds differently from machine to machine, and search
# results must be the same on all of them. The command line is recorded in the module so that a
# test can tell the variants apart.
SHARED_FLAGS = ["-ffp-contract=off", "-frecord-gcc-switches"]
FAST_FLAGS = ["-O3", "-DTAVOLATA_CHECKED=0", "-DCYTHON_WITHOUT_ASSERTIONS=1"]
# Python's own flags hold -fwrapv and -DNDEBUG, which would silence the overflow checks and assert.
CHECKED_FLAGS = [
    "-O1",
    "-g",
    "-UNDEBUG",
    "-DTAVOLATA_CHECKED=1",
    "-fno-wrapv",
    "-fsanitize=bounds,signed-integer-overflow,shift",
    "-fsanitize-undefined-trap-on-error",
]
V3_FLAGS = ["-march=x86-64-v3"]

# A `nogil` function that may raise takes the GIL after every call to ask whether it did, which
# serialises search threads without any other sign.
GIL_HINT = re.compile(r"require the GIL|exception check", re.IGNORECASE)


def refuse_flattened_links() -> None:
    """Stop with instructions when a clone without symbolic links made text files of them."""
    flat = [name for name in LINKS if not (PACKAGE / name).is_dir()]
    if flat:
        raise SystemExit(
            f"{PACKAGE}: {', '.join(flat)} should be symbolic links to folders, but are not. "
            "This clone was made without symbolic links (the default on Windows). "
            "Turn on Developer Mode, then: git config core.symlinks true && "
            "git checkout -- src/tavolata"
        )


def find_extensions() -> list[Extension]:
    """One extension per .pyx, named after its place under src/."""
    sources = sorted(
        Path(folder) / file
        for folder, _, files in os.walk(PACKAGE, followlinks=True)
        for file in files
        if file.endswith(".pyx")
    )
    return [_extension(path) for path in sources if IS_X86_64 or not path.stem.endswith("_v3")]


def _extension(path: Path) -> Extension:
    flags = SHARED_FLAGS + (CHECKED_FLAGS if CHECKED else FAST_FLAGS)
    if path.stem.endswith("_v3"):
        flags = flags + V3_FLAGS
    return Extension(
        ".".join(path.relative_to("src").with_suffix("").parts),
        sources=[path.as_posix()],
        include_dirs=["src", path.parent.as_posix()],
        extra_compile_args=flags,
        depends=["setup.py", *sorted(p.as_posix() for p in path.parent.glob("*.h"))],
    )


def _c_folder() -> Path:
    """Where the generated C goes: its own folder for each set of directives and Cython."""
    key = repr((sorted(DIRECTIVES.items()), cython_version))
    return Path("build") / f"c-{VARIANT}-{hashlib.sha256(key.encode()).hexdigest()[:10]}"


def generate_c(extensions: list[Extension]) -> list[Extension]:
    """Cythonize what changed; stop on errors and on hints about taking the GIL."""
    started = time.time()
    folder = _c_folder()
    with tempfile.TemporaryFile() as log:
        try:
            with _Captured(log.fileno()):
                made = cythonize(
                    extensions,
                    include_path=["src"],
                    build_dir=str(folder),
                    compiler_directives=DIRECTIVES,
                    # Worker processes inherit the captured output only where they are forked.
                    nthreads=2 if sys.platform == "linux" else 0,
                )
        finally:
            log.seek(0)
            text = log.read().decode(errors="replace")
            sys.stderr.write(text)
    if GIL_HINT.search(text):
        for c_file in folder.rglob("*.c"):
            if c_file.stat().st_mtime >= started - 1:
                c_file.unlink()
        raise SystemExit(
            "error: a nogil function above would take the GIL to check for exceptions; "
            "declare it noexcept or give it an exception value"
        )
    return list(made)


def forget_removed(root: Path, names: set[str]) -> None:
    """Delete what an earlier build left below `root` for sources that are gone.

    Setuptools never removes anything, so a deleted module would go on being imported or packed.
    In the source tree only compiled modules count; in a build folder every file does.
    """
    for folder, _, files in os.walk(root, followlinks=True):
        for file in files:
            path = Path(folder) / file
            place = path.relative_to(root)
            if file.endswith((".so", ".pyd")):
                is_wanted = ".".join((*place.parts[:-1], file.split(".")[0])) in names
            else:
                is_wanted = (Path("src") / place).exists()
            if not is_wanted:
                path.unlink()


class _Captured:
    """Sends file descriptors 1 and 2 to another one, also those of child processes."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._saved: list[int] = []

    def __enter__(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._saved = [os.dup(1), os.dup(2)]
        os.dup2(self._target, 1)
        os.dup2(self._target, 2)

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        for descriptor, saved in enumerate(self._saved, start=1):
            os.dup2(saved, descriptor)
            os.close(saved)


class BuildExtensions(build_ext):
    """build_ext that runs Cython only when something is really built."""

    def finalize_options(self) -> None:
        """Compile two modules at a time unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or 2

    def run(self) -> None:
        """Build unless another process is at it; then wait, since they share their files."""
        Path("build").mkdir(exist_ok=True)
        with Path("build/lock").open("w") as lock:
            if sys.platform != "win32":
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX)
            self._generate_and_compile()

    def _generate_and_compile(self) -> None:
        # The extension objects stay the same: setuptools has put things on them.
        generated = {made.name: made for made in generate_c(self.extensions)}
        for extension in self.extensions:
            extension.sources = generated[extension.name].sources
        forget_removed(Path("src") if self.inplace else Path(self.build_lib), set(generated))
        super().run()


refuse_flattened_links()
setup(
    ext_modules=find_extensions(),
    cmdclass={"build_ext": BuildExtensions},
    # Object files and modules of the variants must not be taken for each other.
    options={"build": {"build_base": f"build/{VARIANT}"}},
)
