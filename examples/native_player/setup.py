"""Compiles the player; all other packaging facts are in pyproject.toml."""

from __future__ import annotations

from Cython.Build import cythonize
from setuptools import Extension, setup

import tavolata

# No contraction of a*b+c, which rounds differently from machine to machine: results have to be
# the same on all of them.
setup(
    ext_modules=cythonize(
        [
            Extension(
                "native_player",
                ["native_player.pyx"],
                include_dirs=[tavolata.get_include()],
                extra_compile_args=["-ffp-contract=off"],
            )
        ],
        compiler_directives={"language_level": 3, "boundscheck": False, "wraparound": False},
    )
)
