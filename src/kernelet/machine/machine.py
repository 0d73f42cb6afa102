"""f(x) = sum_j beta_j k(x, z_j) + b, evaluated in blocks of rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kernelet._hooks import hooks
from kernelet.kernels import Kernel, PreparedKernel
from kernelet.kernels.input_stage import input_stage
from kernelet.kernels.numerics.arrays import (
    FloatArray,
    Rows,
    block_length,
    check_rows,
    check_vectors,
    dense,
    quiet,
)
from kernelet.kernels.numerics.blocks import Workspace, run_blocks
from kernelet.kernels.numerics.lazy import lazy
from kernelet.kernels.used_features import used_features
from kernelet.machine.array_api import Evaluator, array_namespace, decision_function
from kernelet.machine.compact import CompactForm


@dataclass(frozen=True, init=False, eq=False, repr=False)
class KernelMachine:
    r"""A kernel expansion with one or more outputs.

    .. math:: f_k(x) = \sum_{j=1}^m \beta_{jk} \, k(x, z_j) + b_k

    It never changes: its arrays are copies of what it is given, in the type of the vectors, and
    read-only. Evaluating it needs nothing but NumPy.

    Parameters
    ----------
    kernel : Kernel
    vectors : array-like of shape (m, d)
        The expansion vectors z_j. There may be none: f is then constant.
    coefficients : array-like of shape (m,) or (m, outputs)
        beta, one column for each output.
    intercepts : float or array-like of shape (outputs,), default=0.0
        b.

    Attributes
    ----------
    kernel : Kernel
    vectors : ndarray of shape (m, d)
    coefficients : ndarray of shape (m, outputs)
    intercepts : ndarray of shape (outputs,)
    compact : CompactForm or None
        The integers that the numbers above are made of, where they were rounded to few bits
        (``vector_bits``): what exports and model files store.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> from kernelet.machine import KernelMachine
    >>> machine = KernelMachine(Gaussian(gamma=0.5), [[0.0], [2.0]], [1.0, -1.0], 0.25)
    >>> machine
    KernelMachine(Gaussian(gamma=0.5), n_vectors=2, n_features=1, n_outputs=1, dtype=float64)
    >>> machine.decision_function([[0.0], [1.0]])
    array([1.11466472, 0.25      ])
    """

    kernel: Kernel
    vectors: FloatArray
    coefficients: FloatArray
    intercepts: FloatArray
    compact: CompactForm | None

    def __init__(
        self,
        kernel: Kernel,
        vectors: ArrayLike,
        coefficients: ArrayLike,
        intercepts: ArrayLike = 0.0,
    ) -> None:
        if not isinstance(kernel, Kernel):
            raise ValueError(
                f"kernel must be a kernel object such as kernels.Gaussian(0.5), got {kernel!r}."
            )
        Z = np.array(check_vectors(vectors), order="C")
        if kernel.n_features not in (None, Z.shape[1]):
            raise ValueError(
                f"the kernel is one of {kernel.n_features} features, the vectors have {Z.shape[1]}."
            )
        beta = np.array(coefficients, dtype=Z.dtype, order="C")
        if beta.ndim == 1:
            beta = beta[:, np.newaxis]
        if beta.ndim != 2 or beta.shape[0] != Z.shape[0] or beta.shape[1] == 0:
            raise ValueError(
                f"coefficients must have shape ({Z.shape[0]},) or ({Z.shape[0]}, outputs) for "
                f"{Z.shape[0]} vectors, got shape {np.shape(coefficients)}."
            )
        b = np.array(intercepts, dtype=Z.dtype, ndmin=1)
        if b.shape != (beta.shape[1],):
            raise ValueError(
                f"intercepts must hold one number for each of the {beta.shape[1]} outputs, "
                f"got shape {np.shape(intercepts)}."
            )
        for array in (Z, beta, b):
            array.flags.writeable = False
        # The only way to set attributes of a frozen dataclass.
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "vectors", Z)
        object.__setattr__(self, "coefficients", beta)
        object.__setattr__(self, "intercepts", b)
        object.__setattr__(self, "compact", None)

    @classmethod
    def from_compact(cls, form: CompactForm, dtype: DTypeLike = np.float64) -> KernelMachine:
        """The machine of a compact form.

        Parameters
        ----------
        form : CompactForm
        dtype : dtype-like, default=float64
            In which f is evaluated.
        """
        grid = form.grid
        machine = cls(
            grid.full_kernel,
            grid.vectors.astype(dtype, copy=False),
            form.coefficient_values,
            form.intercept_values,
        )
        object.__setattr__(machine, "compact", form)
        return machine

    @lazy
    def _prepared(self) -> PreparedKernel:
        # Made when the first row comes: it may hold the vectors once more for each kernel of a
        # sum, and looking at a machine, or loading a file, should not cost that.
        return self.kernel.prepare(self.vectors)

    @lazy
    def evaluators(self) -> dict[tuple[str, str], Evaluator]:
        """What other libraries than NumPy evaluate, by library and device."""
        return {}

    @lazy
    def _block_length(self) -> int:
        return block_length(self._prepared.row_elements, self.vectors.dtype)

    @property
    def n_vectors(self) -> int:
        """m."""
        return int(self.vectors.shape[0])

    @property
    def n_features(self) -> int:
        """d."""
        return int(self.vectors.shape[1])

    @property
    def n_outputs(self) -> int:
        """The number of functions that share the vectors."""
        return int(self.coefficients.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64, in which f is evaluated."""
        return self.vectors.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors, coefficients and intercepts.

        Counted is what a prediction needs: the entries of features with a scale of 0
        (`kernelet.kernels.ScaledFeatures`) are not. Where the kernel has a matrix of r rows
        (`kernelet.kernels.ProjectedFeatures`), it needs that and r numbers of each vector.
        """
        matrix, _ = input_stage(self.kernel)
        n_used = int(used_features(self.kernel, self.n_features).size)
        numbers = self.coefficients.size + self.intercepts.size
        if matrix is None:
            numbers += self.n_vectors * n_used
        else:
            numbers += (n_used + self.n_vectors) * len(matrix)
        return int(numbers * self.dtype.itemsize)

    @quiet
    def decision_function(self, X: Rows, n_threads: int | None = None) -> FloatArray:
        """f of every row.

        The rows are taken in blocks, so that the memory beside X and the result does not grow
        with their number. X is not copied as a whole, whatever its type and order. NaN in a row
        gives NaN.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (n, d)
            Or an array of PyTorch, CuPy or another library of the array API.
        n_threads : int or None, default=None
            None takes all cores for large X and one for small X. The result does not depend on
            it.

        Returns
        -------
        ndarray of shape (n,) for one output, else (n, outputs)
            For an array of another library an array of that, on the same device.

        Raises
        ------
        ValueError
            If scores of finite rows are not finite: the numbers overflow.
        """
        if type(X) is not np.ndarray and (xp := array_namespace(X)) is not None:
            scores: FloatArray = decision_function(self, X, xp)
            return scores
        prepared = self._prepared
        rows = check_rows(X, prepared.n_features)
        n = rows.shape[0]
        values = np.empty((n, self.coefficients.shape[1]), dtype=prepared.dtype)
        if n <= self._block_length:
            K = np.empty((n, prepared.n_vectors), dtype=prepared.dtype)
            self._evaluate(rows, values, K, Workspace())
        else:
            run_blocks(
                lambda start, stop, workspace: self._evaluate(
                    rows[start:stop],
                    values[start:stop],
                    workspace.take(self, "K", stop - start, prepared.n_vectors, prepared.dtype),
                    workspace,
                ),
                n,
                self._block_length,
                self._prepared.row_elements,
                n_threads,
            )
        # Sums are quicker than np.isfinite, and finite unless they overflow. They are NumPy's own:
        # a product of OpenBLAS on several threads never ends if another thread forks meanwhile.
        if not isfinite(sum(values[0].tolist()) if n == 1 else values.sum()):
            self._check_scores(values, rows)
        return values[:, 0] if values.shape[1] == 1 else values

    def _evaluate(self, X: Rows, values: FloatArray, K: FloatArray, workspace: Workspace) -> None:
        self._prepared.fill(X, K, workspace)
        K.dot(self.coefficients, out=values)  # for one row three times as fast as np.matmul
        values += self.intercepts

    def _check_scores(self, values: FloatArray, rows: Rows) -> None:
        """Refuse scores that are not finite, but for rows that are not."""
        wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
        finite = [i for i in wrong if np.isfinite(dense(rows[[i]])).all()]
        if finite:
            largest = float(np.abs(dense(rows[[finite[0]]])).max(initial=0.0))
            raise ValueError(
                f"the scores of {len(finite)} of {len(values)} rows are not finite: a sum of "
                f"values of {self.kernel!r} overflows. Row {finite[0]} has numbers up to "
                f"{largest:.0e}, the vectors up to {np.abs(self.vectors).max(initial=0.0):.0e} and "
                f"the coefficients up to {np.abs(self.coefficients).max(initial=0.0):.0e}; scale X "
                "as the training rows were, or fit again on scaled rows."
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the machine to a file that `kernelet.load` reads.

        Parameters
        ----------
        path : path-like
            By custom it ends in ".kernelet".
        """
        hooks.save(self, path)

    def astype(self, dtype: DTypeLike) -> KernelMachine:
        """The same machine in float32 or float64.

        Parameters
        ----------
        dtype : dtype-like
            float32 halves the memory and is about twice as fast; f keeps about six digits.
        """
        wanted = np.dtype(dtype)
        if wanted not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype must be float32 or float64, got {wanted}.")
        if wanted == self.dtype:
            return self
        if self.compact is not None:
            return KernelMachine.from_compact(self.compact, wanted)
        return KernelMachine(
            self.kernel, self.vectors.astype(wanted), self.coefficients, self.intercepts
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # What was prepared is prepared again, rather than stored.
        if self.compact is not None:
            return KernelMachine.from_compact, (self.compact, self.dtype)
        return KernelMachine, (self.kernel, self.vectors, self.coefficients, self.intercepts)

    def __getstate__(self) -> dict[str, Any]:
        # skops asks for it where `__reduce__` names another function than the class itself
        return {"compact": self.compact, "dtype": self.dtype.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(vars(KernelMachine.from_compact(state["compact"], state["dtype"])))

    def __eq__(self, other: object) -> bool:
        """Whether kernel, type and every number are the same."""
        if not isinstance(other, KernelMachine):
            return NotImplemented
        return (
            self.kernel == other.kernel
            and self.dtype == other.dtype
            and self.compact == other.compact
            and np.array_equal(self.vectors, other.vectors)
            and np.array_equal(self.coefficients, other.coefficients)
            and np.array_equal(self.intercepts, other.intercepts)
        )

    def __hash__(self) -> int:
        return hash((self.kernel, self.dtype, self.vectors.shape, self.n_outputs))

    def __repr__(self) -> str:
        return (
            f"KernelMachine({self.kernel!r}, n_vectors={self.n_vectors}, "
            f"n_features={self.n_features}, n_outputs={self.n_outputs}, dtype={self.dtype})"
        )

    def _repr_html_(self) -> str:
        from kernelet.machine.summary import facts_table, machine_facts  # which import this module

        return facts_table("KernelMachine", machine_facts(self))
