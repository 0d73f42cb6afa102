"""Machines evaluated on the arrays of other libraries: PyTorch, CuPy, and all of the array API.

A kernel's formula is evaluated node by node in the library of the rows, on their device. NumPy's
arrays never come here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelet.kernels.expression import (
    Call,
    Constant,
    Expression,
    FeatureSum,
    Function,
    Operation,
    Operator,
    SumOverFeatures,
    ordered,
)
from kernelet.kernels.input_stage import input_stage
from kernelet.kernels.numerics.arrays import check_shape

if TYPE_CHECKING:
    from kernelet.machine.machine import KernelMachine

# Elements of the largest array beside rows and scores: enough to keep a graphics processor busy,
# and 32 megabytes in double precision.
_BLOCK_ELEMENTS = 1 << 22

# An array or namespace of a library that is not known here.
Array = Any
Namespace = Any

_FUNCTIONS: Mapping[Function, Callable[[Namespace, Array], Array]] = {
    Function.NEGATIVE: lambda xp, x: -x,
    Function.EXP: lambda xp, x: xp.exp(x),
    Function.LOG1P: lambda xp, x: xp.log1p(x),
    Function.SQRT: lambda xp, x: xp.sqrt(x),
    Function.TANH: lambda xp, x: xp.tanh(x),
    Function.POSITIVE_PART: lambda xp, x: xp.where(x > 0.0, x, xp.zeros_like(x)),
}
_OPERATORS: Mapping[Operator, Callable[[Namespace, Any, Any], Array]] = {
    Operator.ADD: lambda xp, a, b: a + b,
    Operator.SUBTRACT: lambda xp, a, b: a - b,
    Operator.MULTIPLY: lambda xp, a, b: a * b,
    Operator.DIVIDE: lambda xp, a, b: a / b,
    Operator.POWER: lambda xp, a, b: a**b,
    Operator.DAMP: lambda xp, a, b: xp.where(b == 0.0, xp.zeros_like(b), a * b),
}


def array_namespace(X: object) -> Namespace | None:
    """The library of an array that is not NumPy's; None for everything else.

    Parameters
    ----------
    X : object
        Rows of any kind.
    """
    if isinstance(X, np.ndarray | np.generic):
        return None
    torch = sys.modules.get("torch")  # its tensors do not name their namespace
    if torch is not None and isinstance(X, torch.Tensor):
        return torch
    named = getattr(X, "__array_namespace__", None)
    return None if named is None else named()


def like(array: Any, X: Array, xp: Namespace, dtype: Any = None) -> Array:
    """An array of NumPy in the library and on the device of others.

    Parameters
    ----------
    array : array-like
    X : array
        Of that library.
    xp : namespace
        The library.
    dtype : dtype of it, default=None
        None keeps the type.
    """
    return xp.asarray(np.array(array), dtype=dtype, device=X.device)


def _as_type(X: Array, dtype: Any, xp: Namespace) -> Array:
    # PyTorch's asarray, before 2.13, would cut the gradient off
    return X.to(dtype) if hasattr(X, "to") else xp.asarray(X, dtype=dtype)


def decision_function(machine: KernelMachine, X: Array, xp: Namespace) -> Array:
    """f of every row, in the library and on the device of the rows and in the machine's type.

    Parameters
    ----------
    machine : KernelMachine
    X : array of shape (n, d)
    xp : namespace
        The library of X.

    Returns
    -------
    array of shape (n,) for one output, else (n, outputs)
    """
    check_shape(X, machine.n_features)
    key = (xp.__name__, str(X.device))
    evaluator = machine.evaluators.get(key)
    if evaluator is None:
        evaluator = machine.evaluators[key] = Evaluator(machine, X, xp)
    n, length = X.shape[0], evaluator.block_length
    starts = range(0, max(n, 1), length)
    blocks = [evaluator.scores(X[start : min(start + length, n), :]) for start in starts]
    scores = blocks[0] if len(blocks) == 1 else xp.concat(blocks, axis=0)
    if not bool(xp.all(xp.isfinite(scores))):
        _check_scores(machine, scores, X, xp)
    return scores[:, 0] if scores.shape[1] == 1 else scores


def _check_scores(machine: KernelMachine, scores: Array, X: Array, xp: Namespace) -> None:
    """Refuse scores that are not finite, but for rows that are not."""
    rows = _as_type(X, scores.dtype, xp)
    wrong = ~xp.all(xp.isfinite(scores), axis=1) & xp.all(xp.isfinite(rows), axis=1)
    if bool(xp.any(wrong)):
        raise ValueError(
            f"some of the {X.shape[0]} rows have scores that are not finite: a sum of values of "
            f"{machine.kernel!r} overflows. Scale X as the training rows were, or fit again on "
            "scaled rows."
        )


class Evaluator:
    """A machine in one library and on one device.

    Parameters
    ----------
    machine : KernelMachine
    X : array
        Rows of that library, on that device.
    xp : namespace
    """

    def __init__(self, machine: KernelMachine, X: Array, xp: Namespace) -> None:
        self._xp, self._dtype = xp, getattr(xp, machine.dtype.name)
        matrix, kernel = input_stage(machine.kernel)
        try:
            formula = kernel.expression()
        except ValueError as error:
            raise TypeError(
                f"{machine.kernel!r} has no formula, so it is evaluated in NumPy only: pass the "
                "rows as an array of NumPy."
            ) from error
        vectors, shift = machine.vectors, np.zeros(machine.n_features, dtype=machine.dtype)
        if machine.kernel.is_translation_invariant and machine.n_vectors:
            # what is far from zero has few digits left after a product
            shift = vectors.mean(axis=0)
        vectors = vectors - shift
        if matrix is not None:
            vectors = vectors @ matrix.T

        def moved(array: Any) -> Array:
            return like(array, X, xp, self._dtype)

        self._shift = moved(shift)
        self._matrix = None if matrix is None else moved(matrix.T)
        self._coefficients, self._intercepts = (
            moved(machine.coefficients),
            moved(machine.intercepts),
        )
        *self._nodes, self._root = nodes = ordered(formula)
        self._sums = {
            node: _Sum(node, vectors, machine.dtype.type, moved)
            for node in nodes
            if isinstance(node, SumOverFeatures)
        }
        elements = max([each.row_elements for each in self._sums.values()], default=1)
        self.block_length = max(1, _BLOCK_ELEMENTS // max(elements, machine.n_features))

    def scores(self, X: Array) -> Array:
        """Of a block of rows, of shape (rows, outputs)."""
        xp = self._xp
        rows = _as_type(X, self._dtype, xp) - self._shift
        if self._matrix is not None:
            rows = rows @ self._matrix
        values: dict[Expression, Any] = {}
        for node in (*self._nodes, self._root):
            if isinstance(node, SumOverFeatures):
                values[node] = self._sums[node].of_rows(xp, rows)
            elif isinstance(node, Constant):
                values[node] = node.value
            elif isinstance(node, Call):
                values[node] = _FUNCTIONS[node.function](xp, values[node.argument])
            else:
                assert isinstance(node, Operation)
                left, right = values[node.left], values[node.right]
                values[node] = _OPERATORS[node.operator](xp, left, right)
        return values[self._root] @ self._coefficients + self._intercepts


class _Sum:
    """A sum over the features, for all vectors.

    Squared distances are expanded, |x|^2 - 2 x'z + |z|^2 with x and z measured from the mean of
    the vectors. Where the digits that cancel matter, they are sums of squared differences instead.
    """

    def __init__(
        self, node: SumOverFeatures, vectors: Any, number: Any, moved: Callable[[Any], Array]
    ) -> None:
        self._kind = node.kind
        m, d = vectors.shape
        scaled = vectors * np.array(node.scales) if node.scales else vectors
        self._scales = moved(np.array(node.scales)) if node.scales else None
        anchor = np.zeros(d)
        if node.kind is FeatureSum.SQUARED and m:
            anchor = scaled.mean(axis=0)
        centred = scaled - anchor
        norms = np.square(centred).sum(axis=1)
        self._anchor, self._vectors, self._norms = moved(anchor), moved(centred), moved(norms)
        eps = float(np.finfo(number).eps)
        felt = eps * 2.0 * float(norms.max(initial=0.0)) * node.sensitivity
        # more than a quarter of the digits, as for NumPy's arrays
        cancels = not felt <= eps**0.75
        self._by_pairs = node.kind is FeatureSum.TAXICAB or (
            node.kind is FeatureSum.SQUARED and cancels
        )
        self.row_elements = m * d if self._by_pairs else m

    def of_rows(self, xp: Namespace, rows: Array) -> Array:
        """Of shape (rows, vectors)."""
        if self._scales is not None:
            rows = rows * self._scales
        Z = self._vectors
        if self._kind is FeatureSum.PRODUCT:
            return rows @ Z.T
        rows = rows - self._anchor
        if self._by_pairs:
            differences = rows[:, None, :] - Z[None, :, :]
            if self._kind is FeatureSum.TAXICAB:
                return xp.sum(xp.abs(differences), axis=2)
            return xp.sum(differences * differences, axis=2)
        norms = xp.sum(rows * rows, axis=1)
        squares = norms[:, None] - 2.0 * (rows @ Z.T) + self._norms
        return xp.where(squares < 0.0, xp.zeros_like(squares), squares)  # NaN stays
