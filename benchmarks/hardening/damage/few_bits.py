"""Damage to machines in few bits: sizes, bits and bases that lie, and arrays that fit the lies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.hardening.damage.model_layout import header_of, itemsize, joined, pieces_of

_BASES = (5e-324, 1e-300, 1e-30, 1e-6, 1e6, 1e30, 1e154, 1e300, 1.7e308, 0.0, -1.0)
_SIZES = (0, 1, 2, 4, 8, 16, 17, 10_000, 2**31, 2**63)
# Numbers of an array that is made to fit, at most: a larger one would say more of this program.
_MOST = 2**18


def compact_numbers(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Sizes, bits and bases of a machine in few bits change; often its arrays fit them again."""
    candidates = [data, *(others[int(place)] for place in rng.permutation(len(others)))]
    for candidate in candidates:
        header = header_of(candidate)
        model = json.loads(header["__metadata__"]["model"])
        found = list(_compact_nodes(model, ""))
        if found:
            break
    else:
        return data[: int(rng.integers(len(data)))]
    prefix, fields = found[0]
    for _ in range(int(rng.integers(1, 4))):
        _change(fields, rng)
    header["__metadata__"]["model"] = json.dumps(model)
    pieces = pieces_of(candidate)
    if rng.random() < 0.7:
        _fit(fields, prefix, header, pieces)
    if rng.random() < 0.3:
        name, padding = f"{prefix}padding", bytes(int(rng.integers(10**5)))
        pieces[name], header[name] = padding, {"dtype": "U8", "shape": [len(padding)]}
    return joined(header, pieces)


def _change(fields: dict[str, Any], rng: np.random.Generator) -> None:
    """One of the numbers."""
    if rng.random() < 0.4:
        place, values = fields["bases"], _BASES
    else:
        place, values = fields, _SIZES
    names = [name for name in sorted(place) if type(place[name]) in (int, float)]
    name = names[int(rng.integers(len(names)))]
    near = (place[name] - 1, place[name] + 1, 3 * place[name], 100 * place[name])
    values = values if rng.random() < 0.6 else near
    place[name] = values[int(rng.integers(len(values)))]


def _compact_nodes(node: Any, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(prefix of its arrays, fields) of every machine in few bits."""
    if "compact" in node["fields"]:
        yield prefix, node["fields"]["compact"]
    for name, part in node["parts"].items():
        yield from _compact_nodes(part, f"{prefix}{name}/")


def _fit(
    fields: dict[str, Any], prefix: str, header: dict[str, Any], pieces: dict[str, bytes]
) -> None:
    """Give arrays the sizes that MODEL_FILE.md says, repeating what is in them."""
    for name, n in _lengths(fields, prefix, pieces).items():
        entry = header.get(prefix + name)
        if entry is None or entry["shape"] == [1] or not 0 <= n <= _MOST:
            continue
        old = np.frombuffer(pieces[prefix + name], np.uint8)
        pieces[prefix + name] = np.resize(old, n * itemsize(entry)).tobytes()
        entry["shape"] = [n]


def _lengths(fields: dict[str, Any], prefix: str, pieces: dict[str, bytes]) -> dict[str, int]:
    """How many numbers, or bytes of packed ones, each array has."""

    def chosen(name: str, n: int) -> int:
        mask = pieces.get(prefix + name)
        if not mask or not 0 <= n <= _MOST:
            return n
        whole = np.resize(np.frombuffer(mask, np.uint8), -(-n // 8))
        return int(np.unpackbits(whole, count=n, bitorder="little").sum())

    def packed(n: int, bits: int) -> int:
        return 2 * n if bits > 8 else -(-n * bits // 8)

    m, d, k = (fields[f"n_{what}"] for what in ("vectors", "features", "outputs"))
    u = chosen("used", d)
    r = fields["n_combinations"] or u
    return {
        "codes": packed(m * chosen("varying", r), fields["vector_bits"]),
        "varying": -(-r // 8),
        "used": -(-d // 8),
        "centres": r,
        "steps": r,
        "scales": u,
        "matrix": packed(r * u, fields["vector_bits"]),
        "matrix_steps": u,
        "coefficients": packed(m * k, fields["coefficient_bits"]),
        "coefficient_scales": m,
        "intercepts": k,
    }
