"""Small integers without gaps: what loops over single bits say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelet.machine import packing
from kernelet.machine.packing import packed, packed_bytes, unpacked
from random_examples import examples


def bits_of(data: bytes) -> list[int]:
    """All bits, the lowest of each byte first."""
    return [byte >> place & 1 for byte in data for place in range(8)]


def bytes_of(bits: list[int]) -> bytes:
    """The inverse, with zeros up to a whole byte."""
    full = bits + [0] * (-len(bits) % 8)
    return bytes(sum(full[i + j] << j for j in range(8)) for i in range(0, len(full), 8))


def by_hand(codes: list[int], bits: int) -> bytes:
    """The stream, one bit at a time."""
    width = bits if bits <= 8 else 16
    return bytes_of([code >> place & 1 for code in codes for place in range(width)])


CODES = st.integers(1, 16).flatmap(
    lambda bits: st.tuples(st.just(bits), st.lists(st.integers(0, 2**bits - 1), max_size=70))
)


@examples(200)
@given(CODES)
def test_is_the_stream_that_loops_write_and_read(given_codes):
    bits, codes = given_codes
    data = packed(np.array(codes, dtype=np.int64), bits)
    assert data.dtype == np.uint8
    assert data.tobytes() == by_hand(codes, bits)
    assert data.size == packed_bytes(len(codes), bits)
    found = unpacked(data, bits, len(codes))
    assert found.dtype == np.uint16
    assert found.tolist() == codes
    # the loop that a processor runs: take the bits of each code where they begin
    width, stream = bits if bits <= 8 else 16, bits_of(data.tobytes())
    for place, code in enumerate(codes):
        own = stream[place * width : (place + 1) * width]
        assert sum(bit << i for i, bit in enumerate(own)) == code


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 6, 7, 8, 9, 16])
def test_more_than_is_unpacked_at_a_time(bits, monkeypatch):
    codes = np.random.default_rng(0).integers(0, 2**bits, 1000)
    data = packed(codes, bits)
    monkeypatch.setattr(packing, "_AT_ONCE", 64)
    assert unpacked(data, bits, 1000).tolist() == codes.tolist()
    assert unpacked(data, bits, 999).tolist() == codes[:-1].tolist()


def test_pieces_begin_with_a_byte():
    assert packing._AT_ONCE % 8 == 0


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.int64, bool])
def test_any_integers_in_any_order(dtype):
    codes = np.array([[1, 0, 1], [0, 1, 1]], dtype=dtype)
    assert packed(codes, 1).tolist() == [0b110101]
    assert packed(np.asfortranarray(codes), 1).tolist() == [0b110101]
    assert packed(codes.T, 2).tolist() == packed(np.ascontiguousarray(codes.T), 2).tolist()


def test_words_have_their_lower_byte_first():
    assert packed(np.array([0x1234, 0x01FF]), 13).tolist() == [0x34, 0x12, 0xFF, 0x01]


@pytest.mark.parametrize(
    ("n_codes", "bits", "n_bytes"),
    [(0, 5, 0), (1, 2, 1), (4, 2, 1), (5, 2, 2), (8, 5, 5), (9, 5, 6), (3, 8, 3), (3, 9, 6)],
)
def test_bytes(n_codes, bits, n_bytes):
    assert packed_bytes(n_codes, bits) == n_bytes
