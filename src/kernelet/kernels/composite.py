"""Kernels made of kernels: sums, products, multiples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.base import Kernel, PreparedKernel, Pullback
from kernelet.kernels.expression import Constant, Expression, Operation, Operator
from kernelet.kernels.numerics.arrays import FloatArray, Rows, quiet
from kernelet.kernels.numerics.blocks import Workspace
from kernelet.kernels.parameters import positive
from kernelet.kernels.registry import register_kernel


class _OfAllParts:
    """A property that a kernel has where all its parts have it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, kernel: CompositeKernel | None, owner: type) -> Any:
        if kernel is None:  # asked of the class
            return self
        return all(getattr(part, self._name) for part in kernel.parts)


class CompositeKernel(Kernel, ABC):
    """A kernel that can do what all its parts can do."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Kernel, ...]: ...

    is_positive_definite = _OfAllParts()
    has_input_gradient = _OfAllParts()
    is_smooth = _OfAllParts()
    has_constant_diagonal = _OfAllParts()
    is_translation_invariant = _OfAllParts()
    is_serializable = _OfAllParts()

    @property
    def n_features(self) -> int | None:
        return common_features(self.parts)


@final
@register_kernel
@dataclass(frozen=True)
class Sum(CompositeKernel):
    """The sum of kernels, also written `a + b`.

    Parameters
    ----------
    terms : sequence of Kernel
        At least one. Sums among them are flattened.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, Linear
    >>> kernel = Gaussian(gamma=0.5) + Linear()
    >>> kernel
    Sum(terms=(Gaussian(gamma=0.5), Linear()))
    >>> kernel([[1.0, 2.0]], [[1.0, 2.0]])
    array([[6.]])
    """

    terms: tuple[Kernel, ...]

    name = "sum"

    def __post_init__(self) -> None:
        terms = _kernels("terms", self.terms)
        flat = [k for term in terms for k in (term.terms if isinstance(term, Sum) else [term])]
        object.__setattr__(self, "terms", tuple(flat))

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return self.terms

    def expression(self, scales: tuple[float, ...] = ()) -> Expression:
        return _joined(Operator.ADD, [term.expression(scales) for term in self.terms])

    def prepare(self, Z: FloatArray) -> PreparedKernel:
        return _PreparedSum([term.prepare(Z) for term in self.terms])

    @property
    def largest_value(self) -> float:
        return sum(term.largest_value for term in self.terms)

    @quiet
    def diagonal(self, X: Rows) -> FloatArray:
        total: FloatArray = np.sum([term.diagonal(X) for term in self.terms], axis=0)
        return total


@final
@register_kernel
@dataclass(frozen=True)
class Product(CompositeKernel):
    """The product of kernels, also written `a * b`.

    Parameters
    ----------
    factors : sequence of Kernel
        At least one. Products among them are flattened.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, Linear
    >>> kernel = Gaussian(gamma=0.5) * Linear()
    >>> kernel([[1.0, 2.0]], [[0.0, 2.0]])
    array([[2.42612264]])
    """

    factors: tuple[Kernel, ...]

    name = "product"

    def __post_init__(self) -> None:
        factors = _kernels("factors", self.factors)
        flat = [k for f in factors for k in (f.factors if isinstance(f, Product) else [f])]
        object.__setattr__(self, "factors", tuple(flat))

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return self.factors

    def expression(self, scales: tuple[float, ...] = ()) -> Expression:
        return _joined(Operator.MULTIPLY, [factor.expression(scales) for factor in self.factors])

    def prepare(self, Z: FloatArray) -> PreparedKernel:
        return _PreparedProduct([factor.prepare(Z) for factor in self.factors])

    @property
    def largest_value(self) -> float:
        return prod(factor.largest_value for factor in self.factors)

    @quiet
    def diagonal(self, X: Rows) -> FloatArray:
        product: FloatArray = np.prod([factor.diagonal(X) for factor in self.factors], axis=0)
        return product


@final
@register_kernel
@dataclass(frozen=True)
class Scaled(CompositeKernel):
    """A positive multiple of a kernel, also written `2.0 * a`.

    Parameters
    ----------
    kernel : Kernel
    factor : float

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> (2.0 * Gaussian(gamma=0.5))([[0.0, 0.0]], [[1.0, 1.0]])
    array([[0.73575888]])
    """

    kernel: Kernel
    factor: float

    name = "scaled"

    def __post_init__(self) -> None:
        _kernels("kernel", (self.kernel,))
        object.__setattr__(self, "factor", positive("factor", self.factor))

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def expression(self, scales: tuple[float, ...] = ()) -> Expression:
        inner = self.kernel.expression(scales)
        return _joined(Operator.MULTIPLY, [Constant(self.factor), inner])

    def prepare(self, Z: FloatArray) -> PreparedKernel:
        return _PreparedMultiple(self.kernel.prepare(Z), self.factor)

    @property
    def largest_value(self) -> float:
        return self.factor * self.kernel.largest_value

    @quiet
    def diagonal(self, X: Rows) -> FloatArray:
        return self.kernel.diagonal(X) * self.factor


def _joined(operator: Operator, parts: Sequence[Expression]) -> Expression:
    """As in NumPy, the product of kernel values that are infinite and 0 is NaN."""
    return reduce(lambda left, right: Operation(operator, left, right), parts)


def common_features(parts: Sequence[Kernel]) -> int | None:
    """The number of features that the parts need, None if all take any number."""
    asked = {part.n_features for part in parts} - {None}
    if len(asked) > 1:
        raise ValueError(f"kernels of {' and '.join(map(str, asked))} features cannot be combined.")
    return asked.pop() if asked else None


def _kernels(name: str, parts: object) -> Sequence[Kernel]:
    if not isinstance(parts, Sequence) or not all(isinstance(part, Kernel) for part in parts):
        raise ValueError(f"{name} must be made of kernels, got {parts!r}.")
    if not parts:
        raise ValueError(f"{name} must hold at least one kernel.")
    common_features(parts)
    return parts


class _PreparedParts(PreparedKernel, ABC):
    """Kernels that are joined by a ufunc, value by value."""

    join: np.ufunc

    def __init__(self, parts: Sequence[PreparedKernel]) -> None:
        self.n_vectors, self.n_features = parts[0].n_vectors, parts[0].n_features
        self.dtype = parts[0].dtype
        self.row_elements = self.n_vectors + sum(part.row_elements for part in parts)
        self._parts = parts

    @final
    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        self._parts[0].fill(X, out, workspace)
        values = workspace.take(self, "values", X.shape[0], self.n_vectors, self.dtype)
        for part in self._parts[1:]:
            part.fill(X, values, workspace)
            self.join(out, values, out=out)


class _PreparedSum(_PreparedParts):
    join = np.add

    @quiet
    def linearize(self, X: Rows) -> tuple[FloatArray, Pullback]:
        linearized = [part.linearize(X) for part in self._parts]
        total: FloatArray = np.sum([K for K, _ in linearized], axis=0)
        pullbacks = [pullback for _, pullback in linearized]

        @quiet
        def pullback(W: FloatArray, rows: NDArray[np.intp] | None = None) -> FloatArray:
            gradient: FloatArray = np.sum([pull(W, rows) for pull in pullbacks], axis=0)
            return gradient

        return total, pullback


class _PreparedProduct(_PreparedParts):
    join = np.multiply

    @quiet
    def linearize(self, X: Rows) -> tuple[FloatArray, Pullback]:
        linearized = [part.linearize(X) for part in self._parts]
        values = [K for K, _ in linearized]
        product: FloatArray = np.prod(values, axis=0)

        @quiet
        def pullback(W: FloatArray, rows: NDArray[np.intp] | None = None) -> FloatArray:
            # The product rule. The other factors are multiplied again: dividing the product by a
            # factor fails if the factor is 0.
            gradients = []
            for index, (_, pull) in enumerate(linearized):
                weights = W
                for K in values[:index] + values[index + 1 :]:
                    weights = weights * (K if rows is None else K[rows])
                gradients.append(pull(weights, rows))
            gradient: FloatArray = np.sum(gradients, axis=0)
            return gradient

        return product, pullback


class _PreparedMultiple(PreparedKernel):
    def __init__(self, part: PreparedKernel, factor: float) -> None:
        self.n_vectors, self.n_features = part.n_vectors, part.n_features
        self.dtype = part.dtype
        self.row_elements = part.row_elements
        self._part = part
        self._factor = factor

    def fill(self, X: Rows, out: FloatArray, workspace: Workspace) -> None:
        self._part.fill(X, out, workspace)
        out *= self._factor

    @quiet
    def linearize(self, X: Rows) -> tuple[FloatArray, Pullback]:
        K, pullback = self._part.linearize(X)

        @quiet
        def scaled(W: FloatArray, rows: NDArray[np.intp] | None = None) -> FloatArray:
            return pullback(W, rows) * self._factor

        return K * self._factor, scaled
