"""ProtoNN with as many prototypes as fit, in 4 bytes a number as its paper counts, or in one.

A matrix is dense, or, if fewer than half of its entries are left, a value and an index each: four
bytes each as the paper counts; of 8-bit values the index is a byte (two if there are more than 256
columns). The paper's numbers are float32; a variant in int8 with a scale for each matrix is tried
as well, and better for nearly every budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.small.base import (
    LABEL_BYTES,
    SCALE_BYTES,
    Axis,
    DoesNotFit,
    Parameters,
    Small,
    SmallMethod,
    Task,
    one_of,
)
from benchmarks.small.integers import int8
from benchmarks.small.protonn import Prototypes, initial, train

MOST_PROTOTYPES = 400
FLOAT_BYTES = 4


@dataclass(frozen=True)
class ProtoNN:
    model: Prototypes
    classes: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes[self.model.scores(X).argmax(axis=1)]


def matrix_bytes(n_entries: int, n_kept: int, n_columns: int, value_bytes: int) -> int:
    """Of a matrix, dense or sparse, whichever is less; an 8-bit matrix has a scale."""
    if value_bytes == FLOAT_BYTES:
        index, scale = FLOAT_BYTES, 0
    else:
        index, scale = 1 if n_columns <= 256 else 2, SCALE_BYTES
    return min(n_entries * value_bytes, n_kept * (value_bytes + index)) + scale


def protonn_bytes(rank: int, n_prototypes: int, n_kept: int, task: Task, value_bytes: int) -> int:
    """Of all three matrices, gamma and the labels."""
    sizes = (n_prototypes * rank, n_prototypes * task.n_classes)
    dense = sum(matrix_bytes(size, size, rank, value_bytes) for size in sizes)
    projection = matrix_bytes(rank * task.n_columns, n_kept, task.n_columns, value_bytes)
    return projection + dense + SCALE_BYTES + LABEL_BYTES * task.n_classes


def fit(X: np.ndarray, y: np.ndarray, task: Task, parameters: Parameters, seed: int) -> Small:
    rank, value_bytes = min(parameters["rank"], task.n_columns), parameters["value_bytes"]
    n_kept = int(np.ceil(parameters["density"] * rank * task.n_columns))
    each = value_bytes * (rank + task.n_classes)
    spare = task.n_bytes - protonn_bytes(rank, 0, n_kept, task, value_bytes)
    n_prototypes = min(MOST_PROTOTYPES, spare // each)
    if n_prototypes < task.n_classes:
        raise DoesNotFit(f"only {n_prototypes} prototypes")
    classes, codes = np.unique(y, return_inverse=True)
    start = initial(X, y, rank, n_prototypes, parameters["scale"], seed)
    model = train(start, X, np.eye(len(classes))[codes], n_kept, seed)
    if value_bytes == 1:
        model = rounded(model)
    n_prototypes = len(model.prototypes)
    n_bytes = protonn_bytes(rank, n_prototypes, n_kept, task, value_bytes)
    return Small(ProtoNN(model, classes), n_bytes, n_prototypes)


def rounded(model: Prototypes) -> Prototypes:
    """Every matrix as integers from -127 to 127 times one scale."""
    parts = (model.projection, model.prototypes, model.labels)
    return Prototypes(*(int8(part, by_column=False).values for part in parts), model.gamma)


# Rank of the projection, and the share of its entries that is kept.
SHAPES = ((10, 1.0), (16, 1.0), (24, 1.0), (16, 0.25), (30, 0.25))
# For many columns and few bytes: tried where fewer than three of the others fit.
SPARSER = ((10, 0.25), (10, 0.1), (16, 0.1), (10, 0.04))
FEW_SHAPES = 3


def axes(task: Task) -> tuple[Axis, ...]:
    shapes = [shape for shape in SHAPES if has_room(shape, task)]
    if len(shapes) < FEW_SHAPES:
        shapes += [shape for shape in SPARSER if has_room(shape, task)]
    axis = tuple({"rank": rank, "density": density} for rank, density in shapes or SHAPES[:1])
    return axis, one_of("scale", 1.5, 1.0, 2.0), one_of("value_bytes", 1, 4)


def has_room(shape: tuple[int, float], task: Task) -> bool:
    """Whether a prototype for each class fits as well, in 8 bits."""
    rank, density = shape
    if rank > task.n_columns and shape != SHAPES[0]:
        return False
    rank = min(rank, task.n_columns)
    n_kept = int(np.ceil(density * rank * task.n_columns))
    return protonn_bytes(rank, task.n_classes, n_kept, task, 1) <= task.n_bytes


METHOD = SmallMethod(
    "protonn",
    "ProtoNN (our implementation)",
    "C. Gupta et al., ICML 2017",
    fit,
    axes,
)
