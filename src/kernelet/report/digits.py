"""The digits' machines for a page: figures, vectors as images, and one that reads what is drawn."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from kernelet.export.javascript import model_document
from kernelet.export.model import ExportedModel, exported_model
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine.reading import Reading
from kernelet.report.comparison import Compared
from kernelet.report.methods import methods

# Of a machine with more vectors the first are shown: ten rows of ten pictures.
MOST_PICTURES = 100


def digits_document(
    compared: Sequence[Compared], sizes: Sequence[int], examples: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """What the page needs of the models that were compared, in types of JSON."""
    models = [_entry(entry) for entry in compared]
    writer = _writer(compared, sizes)
    return {
        "models": models,
        "classes": exported_model(writer.model).classes,
        "sizes": list(sizes),
        "summaries": {method.name: method.summary for method in methods()},
        "writer": {
            "name": writer.figures.method,
            "model": plain_document(writer.model),
            "examples": [list(map(int, example)) for example in examples],
        },
    }


def plain_document(model: Any) -> dict[str, Any]:
    """`model_document` with lists in place of arrays."""
    plain: dict[str, Any] = _without_arrays(model_document(model))
    return plain


def _without_arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_arrays(item) for key, item in value.items()}
    return value.ravel().tolist() if isinstance(value, np.ndarray) else value


def class_weights(exported: ExportedModel) -> FloatArray:
    """The weight of each vector's kernel value in the score of each class.

    A pair's coefficient counts for the first class of the pair and against the second. Of two
    classes with one score the second has it, and the first the opposite.

    Returns
    -------
    ndarray of shape (n_vectors, n_classes)
    """
    beta = np.asarray(exported.machine.coefficients, dtype=np.float64)
    n_classes = len(exported.classes or ())
    if exported.reading is Reading.PAIRS:
        pairs = list(combinations(range(n_classes), 2))
        signs = np.zeros((len(pairs), n_classes))
        for row, (i, j) in enumerate(pairs):
            signs[row, i], signs[row, j] = 1.0, -1.0
        weights: FloatArray = beta @ signs
        return weights
    return np.column_stack([-beta, beta]) if beta.shape[1] == 1 else beta


def pictures(vectors: FloatArray) -> dict[str, Any]:
    """Images of 8-bit levels between the least and the largest value, as base64."""
    low, high = float(vectors.min(initial=0.0)), float(vectors.max(initial=1.0))
    levels = np.round(255.0 * (vectors - low) / (high - low)).astype(np.uint8)
    text = base64.b64encode(levels.tobytes()).decode("ascii")
    return {"bytes": text, "low": low, "high": high}


def _entry(compared: Compared) -> dict[str, Any]:
    exported = exported_model(compared.model)
    first = slice(0, MOST_PICTURES)
    return {
        **asdict(compared.figures),
        "pictures": pictures(np.asarray(exported.machine.vectors[first], dtype=np.float64)),
        "weights": np.round(class_weights(exported)[first], 3).tolist(),
    }


def _writer(compared: Sequence[Compared], sizes: Sequence[int]) -> Compared:
    """The machine that reads what one writes: the first method's, of the largest size asked for."""
    small = compared[1:]
    wanted = [entry for entry in small if entry.figures.budget == max(sizes)]
    return wanted[0] if wanted else small[0]
