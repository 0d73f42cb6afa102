"""Ways to damage a file of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

# A file, what draws, and other files of the same kind.
Mutation = Callable[[bytes, np.random.Generator, list[bytes]], bytes]

# Bytes in which most formats say what follows.
_HEADER = 500


def flip_bits(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """One to eight bits anywhere; half of the time in front, where they matter more."""
    changed = bytearray(data)
    end = len(data) if rng.random() < 0.5 else min(_HEADER, len(data))
    for place in rng.integers(end, size=rng.integers(1, 9)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def set_bytes(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A few bytes in a row become other ones."""
    place, length = int(rng.integers(len(data))), int(rng.integers(1, 17))
    return data[:place] + rng.bytes(length) + data[place + length :]


def truncate(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The end is missing; sometimes all but the first bytes."""
    end = len(data) if rng.random() < 0.7 else 20
    return data[: int(rng.integers(end))]


def insert(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Bytes between others, or at the end."""
    place = int(rng.integers(len(data) + 1))
    return data[:place] + rng.bytes(int(rng.integers(1, 100))) + data[place:]


def cut_out(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A piece is missing or there twice."""
    a, b = sorted(int(place) for place in rng.integers(len(data) + 1, size=2))
    return data[:a] + data[b:] if rng.random() < 0.5 else data[:b] + data[a:]


def swap(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Two neighbouring blocks are in each other's place."""
    a, b, c = sorted(int(place) for place in rng.integers(len(data) + 1, size=3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def splice(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The beginning of one file with the end of another."""
    other = others[int(rng.integers(len(others)))]
    return data[: int(rng.integers(len(data)))] + other[int(rng.integers(len(other))) :]


def by_name(mutations: Iterable[Mutation]) -> dict[str, Mutation]:
    """Ways to damage a file by their names, in the order of these."""
    named = {mutation.__name__: mutation for mutation in mutations}  # type: ignore[attr-defined]
    return dict(sorted(named.items()))


def with_foreign_digits(text: str, rng: np.random.Generator) -> str:
    """A text in which some digits are Arabic, Bengali or twice as wide; `int` reads them too."""
    zero = int(rng.choice([0x660, 0x9E6, 0xFF10]))
    return text.translate({48 + int(digit): zero + int(digit) for digit in rng.permutation(10)[:3]})


OF_BYTES = (flip_bits, set_bytes, truncate, insert, cut_out, swap, splice)
