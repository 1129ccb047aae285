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
        hashes = b"".join(hashlib.sha256(text).digest() for text in texts)
        words = [int.from_bytes(hashes[at : at + 8], "big") for at in range(0, 64, 8)]
        assert list(digest.numbers(prefix, number)) == words


@pytest.mark.usefixtures("_build")
def test_shake256_is_pythons_at_every_length_around_its_rate() -> None:
    for size in range(300):
        data = Random(size).randbytes(size)
        stream = hashlib.shake_256(data).digest(4 * 100)
        words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4)]
        assert digest.shake256_words(data, 100) == words


@pytest.fixture(params=digest.KECCAK_BUILDS)
def _keccak(request: pytest.FixtureRequest) -> Iterator[None]:
    if digest.choose_keccak(request.param) != request.param:
        digest.choose_build(True)
        pytest.skip(f"this processor can't run {request.param}")
    yield
    digest.choose_build(True)


@pytest.mark.usefixtures("_keccak")
def test_streams_side_by_side_are_pythons_whatever_their_number_and_lengths() -> None:
    choice = Random(2)
    for number in range(1, 9):
        for _ in range(20):
            texts = [choice.randbytes(choice.randrange(136)) for _ in range(number)]
            streams = [hashlib.shake_256(text).digest(500) for text in texts]
            assert digest.shake256_streams(texts, 500) == streams
            assert digest.shake256_words(texts[0], 1) == [int.from_bytes(streams[0][:4], "big")]
