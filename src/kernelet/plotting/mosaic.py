"""Vectors that are pictures, side by side in one large picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import choice, count

KINDS = ("auto", "images", "table")
# Fewer pixels than 4 x 4 are numbers to be read, not a picture.
_LEAST_PIXELS = 16
# Ratio of a mosaic's width to its height: near the golden ratio, as usual for figures.
_ASPECT = 1.6
# Width of a picture in a figure, in inches: a label such as "7  (0.12)" fits above it.
_INCHES = 0.95


def picture_shape(
    kind: str, shape: tuple[int, int] | None, n_features: int, has_names: bool
) -> tuple[int, int] | None:
    """Height and width of a picture; None for a table.

    Parameters
    ----------
    kind : {"auto", "images", "table"}
    shape : tuple of int or None
        As given by the caller.
    n_features : int
    has_names : bool
        Whether the features have names, which pixels do not.
    """
    choice("kind", kind, KINDS)
    if kind == "table":
        return None
    if shape is not None:
        height, width = (count("shape", size) for size in shape)
        if height * width != n_features:
            raise ValueError(
                f"shape={tuple(shape)} has {height * width} pixels, the vectors {n_features}."
            )
        return height, width
    side = math.isqrt(n_features)
    if side * side == n_features and (
        kind == "images" or (n_features >= _LEAST_PIXELS and not has_names)
    ):
        return side, side
    if kind == "images":
        raise ValueError(
            f"{n_features} features make no square picture; give shape=(height, width)."
        )
    return None


@dataclass(frozen=True, eq=False)
class Mosaic:
    """Pictures in rows, each with room for a line of text above it.

    Attributes
    ----------
    pixels : ndarray of two dimensions
        NaN between the pictures.
    labels : list of (x, y)
        Position of the text of each picture: the middle of its lower edge.
    figsize : tuple of float
        Size of a separate figure, in inches.
    """

    pixels: FloatArray
    labels: list[tuple[float, float]]
    figsize: tuple[float, float]


def mosaic(vectors: FloatArray, shape: tuple[int, int]) -> Mosaic:
    """Put vectors side by side as pictures of this height and width."""
    (height, width), m = shape, len(vectors)
    n_columns = min(m, max(1, math.ceil(math.sqrt(_ASPECT * m * height / width))))
    n_rows = math.ceil(m / n_columns)
    # room between pictures, and for a line of text above each
    gap, top = max(1, round(0.12 * width)), max(2, round(0.3 * height))
    pixels = np.full((n_rows * (height + top), n_columns * (width + gap) - gap), np.nan)
    labels = []
    for j, vector in enumerate(vectors):
        row, column = divmod(j, n_columns)
        y, x = row * (height + top) + top, column * (width + gap)
        pixels[y : y + height, x : x + width] = vector.reshape(shape)
        # in imshow, the middle of the first pixel is at 0
        labels.append((x + width / 2 - 0.5, y - 0.5 - 0.06 * height))
    tall = n_rows * (height + top) / (width + gap)
    return Mosaic(pixels, labels, (_INCHES * n_columns + 0.3, _INCHES * tall + 0.2))
