"""Hashes without the GIL against Python's own, in every build and at every length that matters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from random import Random

import pytest

from tavolata.ext.core import digest


@pytest.fixture(params=[False, True], ids=["portable", "processor"])
def _build(request: pytest.FixtureRequest) -> Iterator[None]:
    if digest.choose_build(request.param) != request.param:
        digest.choose_build(True)
        pytest.skip("this processor has no instructions for SHA-256")
    yield
    digest.choose_build(True)


@pytest.mark.usefixtures("_build")
def test_sha256_is_pythons_at_every_length_around_its_blocks() -> None:
    for size in range(300):
        data = Random(size).randbytes(size)
        assert digest.sha256([data]) == hashlib.sha256(data).digest()


@pytest.mark.usefixtures("_build")
def test_sha256_does_not_depend_on_how_the_bytes_come_in_parts() -> None:
    choice = Random(1)
    for _ in range(300):
        parts = [choice.randbytes(choice.randrange(150)) for _ in range(choice.randrange(6))]
        assert digest.sha256(parts) == hashlib.sha256(b"".join(parts)).digest()


@pytest.mark.usefixtures("_build")
def test_two_hashes_at_a_time_are_those_of_one_after_the_other() -> None:
    for size in range(150):
        prefix, number = Random(size).randbytes(size), Random(size).getrandbits(63)
        texts = [prefix + (number + n).to_bytes(8, "big") for n in range(2)]
        first = [int.from_bytes(hashlib.sha256(text).digest()[:8], "big") for text in texts]
        assert list(digest.numbers(prefix, number)) == first


@pytest.mark.usefixtures("_build")
def test_shake256_is_pythons_at_every_length_around_its_rate() -> None:
    for size in range(300):
        data = Random(size).randbytes(size)
        stream = hashlib.shake_256(data).digest(4 * 100)
        words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4)]
        assert digest.shake256_words(data, 100) == words
