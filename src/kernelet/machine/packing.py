"""Small integers one behind the other, without gaps between their bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Codes of up to this many bits are packed; longer ones are integers of 16 bits.
MOST_PACKED_BITS = 8
# Codes that are unpacked at a time: their bits, a byte and then two each, fit into a processor's
# cache, and what files ask for in memory does not multiply. A multiple of 8, so that pieces begin
# with a byte.
_AT_ONCE = 2**15


def packed(codes: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """The bytes of some codes; the first code begins at the lowest bit of the first byte.

    Parameters
    ----------
    codes : ndarray of integers
        From 0 to 2^bits - 1, in C order.
    bits : int
        Above 8 every code takes two bytes, the lower one first.

    Examples
    --------
    >>> packed(np.array([1, 2, 15]), 4).tolist()
    [33, 15]
    """
    flat = codes.ravel()
    if bits > MOST_PACKED_BITS:
        return np.frombuffer(flat.astype("<u2").tobytes(), np.uint8)
    single = np.unpackbits(flat.astype(np.uint8)[:, None], axis=1, count=bits, bitorder="little")
    return np.packbits(single, bitorder="little")


def unpacked(data: NDArray[np.uint8], bits: int, n_codes: int) -> NDArray[np.uint16]:
    """The codes of `packed`.

    Examples
    --------
    >>> unpacked(np.array([33, 15], dtype=np.uint8), 4, 3).tolist()
    [1, 2, 15]
    """
    if bits > MOST_PACKED_BITS:
        return np.frombuffer(data.tobytes(), "<u2", n_codes).astype(np.uint16)
    weights = (1 << np.arange(bits)).astype(np.uint16)
    codes = np.empty(n_codes, dtype=np.uint16)
    for start in range(0, n_codes, _AT_ONCE):
        part = codes[start : start + _AT_ONCE]
        piece = data[start * bits // 8 :][: packed_bytes(part.size, bits)]
        single = np.unpackbits(piece, count=part.size * bits, bitorder="little")
        part[:] = single.reshape(part.size, bits).astype(np.uint16) @ weights
    return codes


def packed_bytes(n_codes: int, bits: int) -> int:
    """How many bytes some codes take."""
    return 2 * n_codes if bits > MOST_PACKED_BITS else -(-n_codes * bits // 8)
