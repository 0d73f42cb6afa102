"""Ways to damage JSON: values that lie, and text that is deep, long, doubled or in other codes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from benchmarks.hardening.damage.bytes_of_any import OF_BYTES, by_name, with_foreign_digits

# What may stand where something else should: each is JSON text.
HOSTILE = (
    "null",
    "true",
    "0",
    "-1",
    "1",
    "2",
    "7",
    "0.5",
    "1e308",
    "1e999",
    "-0.0",
    "NaN",
    "Infinity",
    "9007199254740993",
    "18446744073709551615",
    "9" * 400,
    "9" * 5000,
    '""',
    '"rbf"',
    '"KernelMachine"',
    '"\\ud800"',
    '"\\u0000"',
    '"' + "x" * 2000 + '"',
    "[]",
    "{}",
    "[[0]]",
    "[0,9223372036854775807]",
    "[4294967296,4294967296]",
    "[" * 200 + "]" * 200,
    "[" * 5000 + "]" * 5000,
    '{"a":' * 3000 + "1" + "}" * 3000,
    "[" + "[]," * 3000 + "[]]",
    '{"array":"vectors"}',
    '{"float":"nan"}',
    '{"kernel":{"name":"rbf","gamma":-1}}',
    '{"name":"sum","terms":[]}',
    '{"dict":[[{},1]]}',
)
_MARK = "@@hostile@@"
_EXTREMES = (1.7e308, 9e307, 1e154, 1e277, 2.3e-308, 5e-324, 1e-30)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "cp037")


def values(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Values become hostile ones, or are missing."""
    return changed_json(json.loads(data), rng).encode()


def borrowed(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A value becomes what another file has in its place."""
    tree, other = (json.loads(text) for text in (data, others[int(rng.integers(len(others)))]))
    common = [key for key in tree if key in other and other[key] != tree[key]]
    for key in rng.permutation(common)[: int(rng.integers(1, 4))]:
        tree[str(key)] = other[str(key)]
    return json.dumps(tree).encode()


def doubled(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A key is there twice, with the same value or another one."""
    tree = json.loads(data)
    key = list(tree)[int(rng.integers(len(tree)))]
    value = json.dumps(tree[key]) if rng.random() < 0.5 else _hostile(rng)
    return f"{{{json.dumps(key)}: {value}, ".encode() + data.lstrip()[1:]


def resized(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A list has more items than before, or fewer, or is in another list."""
    tree = json.loads(data)
    lists = [(parent, key) for parent, key in _places(tree) if isinstance(parent[key], list)]
    if not lists:
        return values(data, rng, others)
    parent, key = lists[int(rng.integers(len(lists)))]
    items, how = parent[key], rng.integers(4)
    if how == 0:
        parent[key] = items[: int(rng.integers(len(items) + 1))]
    elif how == 1:
        parent[key] = (items or [0]) * int(rng.choice([2, 10, 300]))
    elif how == 2:
        parent[key] = [items]
    else:
        parent[key] = items[::-1]
    return json.dumps(tree).encode()


def extremes(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Numbers become those at the ends of their range, all of them finite."""
    tree = json.loads(data)
    places = [(parent, key) for parent, key in _places(tree) if type(parent[key]) in (int, float)]
    share = rng.choice([0.02, 0.3])
    for parent, key in places:
        if rng.random() < share:
            parent[key] = float(rng.choice(_EXTREMES)) * (1 if rng.random() < 0.5 else -1)
    return json.dumps(tree).encode()


def encodings(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """The text is in another encoding, or begins with a mark, or holds NULs or other digits."""
    text, how = data.decode(), rng.integers(4)
    if how == 0:
        return text.encode(_ENCODINGS[int(rng.integers(len(_ENCODINGS)))])
    if how == 1:
        marks = (b"\xef\xbb\xbf", b"\xff\xfe", b"\0\0\xfe\xff", b"\xef\xbb\xbf" * 2)
        return marks[int(rng.integers(len(marks)))] + data
    if how == 2:
        place = int(rng.integers(len(data) + 1))
        return data[:place] + b"\0" * int(rng.choice([1, 3, 10_000])) + data[place:]
    return with_foreign_digits(text, rng).encode()


def many_values(data: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A text that is deep, long or wide, by itself or as one of the values."""
    n = int(rng.integers(1, 20_000))
    piece = ("[],", '"ab",', "257,", "{},", '{"a":[]},', "1e-400,")[int(rng.integers(6))]
    kernel = '{"name":"scaled","factor":1.0,"kernel":'
    texts = (
        "[" * n + "]" * n,
        '{"a":' * n + "1" + "}" * n,
        "[" + piece * n + "0]",
        "9" * n,
        "0." + "0" * n + "1",
        '"' + "\\u0041" * n + '"',
        " " * n + "1" + "\n" * n,
        kernel * (n % 2000) + '{"name":"linear"}' + "}" * (n % 2000),
        '{"name":"sum","terms":[' + '{"name":"linear"},' * n + '{"name":"linear"}]}',
    )
    text = texts[int(rng.integers(len(texts)))]
    if rng.random() < 0.3:
        return text.encode()
    tree = json.loads(data)
    tree[list(tree)[int(rng.integers(len(tree)))]] = _MARK
    return json.dumps(tree).replace(f'"{_MARK}"', text, 1).encode()


MUTATIONS = by_name(
    (*OF_BYTES, values, borrowed, doubled, resized, extremes, encodings, many_values)
)


def changed_json(tree: Any, rng: np.random.Generator) -> str:
    """JSON text of a tree in which one to three places are changed."""
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(tree))
        if not places:
            break
        parent, key = places[int(rng.integers(len(places)))]
        how = rng.integers(4)
        if how == 0:
            del parent[key]
        elif how == 1 and isinstance(parent, dict):
            parent[f"{key}x"] = parent.pop(key)
        else:
            parent[key] = _MARK
    text = json.dumps(tree)
    while f'"{_MARK}"' in text:
        text = text.replace(f'"{_MARK}"', _hostile(rng), 1)
    return text


def _hostile(rng: np.random.Generator) -> str:
    return HOSTILE[int(rng.integers(len(HOSTILE)))]


def _places(tree: Any) -> Any:
    """(container, key) of every value in a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)
