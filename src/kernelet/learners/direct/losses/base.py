r"""What a loss of classification is, and the losses that are known by name.

.. math:: \min_{w, b} \tfrac12 \|w\|^2 + \sum_i C_i \, \ell(y_i f(x_i))
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import choice
from kernelet.learners.direct.search.inner_problem import BlockInnerSolution, InnerSolution, Start
from kernelet.rows import LabelledBlocks
from kernelet.rows.labelled import Sample
from kernelet.solvers.blocks.margins import Point
from kernelet.solvers.smooth_loss.newton import smooth_ridge, smooth_ridge_blocks
from kernelet.solvers.solution import Status
from kernelet.solvers.squared_hinge.nearby import SEARCH_TOL
from kernelet.subspace import WhitenedMap

if TYPE_CHECKING:
    from kernelet.learners.direct.problems.svm import ClassProblem, SVMProblem

# How exactly the sample is solved that Newton's method on all rows starts from. The sample is wrong
# by far more; a rougher start would cost passes over the rows.
_SAMPLE_TOL = 1e-6
# Names stand in constructor arguments, model files and messages.
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Machine(Protocol):
    """What a solver returns for one output."""

    @property
    def weights(self) -> FloatArray: ...
    @property
    def intercept(self) -> float: ...
    @property
    def primal_value(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def n_iter(self) -> int: ...
    @property
    def status(self) -> Status: ...
    @property
    def is_optimal(self) -> bool: ...


class MarginLoss(ABC):
    """A convex loss of margins y f(x), and how its problem is solved.

    Attributes
    ----------
    name : str
        What ``SparseSVC(loss=...)`` calls it.
    """

    name: str

    @property
    @abstractmethod
    def smooth(self) -> SmoothLoss:
        """A loss with a derivative, whose search ends near that of this one; the loss itself."""

    @property
    def is_smooth(self) -> bool:
        """Whether it has a derivative."""
        return self.smooth is self

    @abstractmethod
    def values(self, margins: FloatArray) -> FloatArray:
        """The loss at each margin."""

    @abstractmethod
    def machines(
        self, Phi: FloatArray, Y: FloatArray, C: FloatArray, tol: float, start: Start | None = None
    ) -> Sequence[Machine]:
        """The machine of each column of Y, as a relative distance ``tol`` from the optimum."""

    @abstractmethod
    def solve(self, problem: SVMProblem, Phi: FloatArray, start: Start | None) -> InnerSolution:
        """Solve the problem over these features, with a certificate."""

    @abstractmethod
    def solve_out_of_core(
        self,
        problem: ClassProblem,
        rows: LabelledBlocks,
        sample: Sample,
        space: WhitenedMap,
        start: Start | None,
    ) -> InnerSolution | BlockInnerSolution:
        """Solve the problem by passes over rows that do not fit in memory.

        Slopes of the rows are asked for where the loss is not smooth: the search then goes on over
        all rows.
        """


class SmoothLoss(MarginLoss):
    """A loss with a derivative; it is enough to give three functions of the margin.

    A search over vectors needs the derivative, and Newton's method on sums over the rows needs
    curvatures as well; `SquaredHinge` shows what can be gained by a solver of its own.
    """

    @abstractmethod
    def slopes(self, margins: FloatArray) -> FloatArray:
        """The derivative at each margin."""

    @abstractmethod
    def curvatures(self, margins: FloatArray) -> FloatArray:
        """The second derivative, or at a kink anything between those of its sides."""

    @property
    def smooth(self) -> SmoothLoss:
        return self

    def machines(
        self, Phi: FloatArray, Y: FloatArray, C: FloatArray, tol: float, start: Start | None = None
    ) -> Sequence[Machine]:
        return smooth_ridge(
            Phi, Y, C, self, tol=tol, start=None if start is None else Point(*start)
        )

    def solve(self, problem: SVMProblem, Phi: FloatArray, start: Start | None) -> InnerSolution:
        return self._solved(problem, Phi, start, problem.tol)

    def approximate(
        self,
        problem: SVMProblem,
        Phi: FloatArray,
        start: Start | None,
        slopes: FloatArray | None,
    ) -> InnerSolution:
        """Solve as exactly as a search over vectors needs, in the precision of the features.

        ``slopes`` is the score gradient of a nearby problem over the same rows.
        """
        # what the last step leaves is about the square of what it brought
        return self._solved(problem, Phi.astype(np.float64, copy=False), start, SEARCH_TOL**2)

    def _solved(
        self, problem: SVMProblem, Phi: FloatArray, start: Start | None, tol: float
    ) -> InnerSolution:
        machines = self.machines(Phi, problem.Y, problem.C, tol, start)
        point = _point(machines)
        margins = problem.Y * point.scores(Phi)
        gradient = problem.C[:, None] * problem.Y * self.slopes(margins)
        return inner_solution(machines, gradient, problem.C * self.values(margins).sum(axis=1))

    def row_losses(self, problem: SVMProblem, solution: InnerSolution) -> FloatArray | None:
        """What each row costs at the solution, all machines together."""
        return solution.row_losses

    def solve_out_of_core(
        self,
        problem: ClassProblem,
        rows: LabelledBlocks,
        sample: Sample,
        space: WhitenedMap,
        start: Start | None,
    ) -> InnerSolution:
        """Solve by Newton's method on sums, from the solution for the sample; no slopes of rows."""
        if start is None:
            Y, Phi = problem.targets.of(sample.block.codes), space.features(sample.block.X)
            found = _point(self.machines(Phi, Y, problem.C * sample.weights, _SAMPLE_TOL))
        else:
            found = Point(*start)
        machines = smooth_ridge_blocks(
            rows, space, problem.targets, problem.C, self, tol=problem.tol, start=found
        )
        return inner_solution(machines, np.empty((0, len(machines))))


def _point(machines: Sequence[Machine]) -> Point:
    return Point(
        np.stack([machine.weights for machine in machines], axis=1),
        np.array([machine.intercept for machine in machines]),
    )


def inner_solution(
    machines: Sequence[Machine], score_gradient: FloatArray, row_losses: FloatArray | None = None
) -> InnerSolution:
    """The solution for all outputs together."""
    point = _point(machines)
    return InnerSolution(
        value=float(sum(machine.primal_value for machine in machines)),
        weights=point.weights,
        intercepts=point.intercepts,
        score_gradient=score_gradient,
        norm_gradient=np.ones(len(machines)),
        gap=max(machine.gap for machine in machines),
        row_losses=row_losses,
    )


LOSSES: dict[str, MarginLoss] = {}
Kind = TypeVar("Kind", bound=type[MarginLoss])


def register_loss(kind: Kind) -> Kind:
    """Make a loss known by its name; a decorator for its class.

    Parameters
    ----------
    kind : subclass of MarginLoss
        Made without arguments. `SmoothLoss` needs three functions of the margin.

    Returns
    -------
    The class.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> from sklearn.datasets import load_iris
    >>> from kernelet import SparseSVC
    >>> from kernelet.learners import SmoothLoss, register_loss
    >>> @register_loss
    ... class Logistic(SmoothLoss):
    ...     name = "cross_entropy"
    ...     def values(self, margins):
    ...         return np.logaddexp(0.0, -margins)
    ...     def slopes(self, margins):
    ...         return -expit(-margins)
    ...     def curvatures(self, margins):
    ...         return expit(margins) * expit(-margins)
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparseSVC(5, loss="cross_entropy", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """
    loss = kind()
    name = getattr(loss, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"{kind.__name__}.name must be of small letters, digits and underscores; got {name!r}."
        )
    known = LOSSES.get(name)
    # a class that is defined again, in a notebook say, replaces itself, and no other of its name
    if known is not None and _place(type(known)) != _place(kind):
        raise ValueError(
            f"a loss called {name!r} is registered already, {_place(type(known))}; give yours "
            "another name."
        )
    LOSSES[name] = loss
    return kind


def _place(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def find_loss(name: str) -> MarginLoss:
    """The loss of a name; a ValueError that lists all names where there is none."""
    return LOSSES[choice("loss", name, LOSSES)]
