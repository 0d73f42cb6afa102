"""How vectors and objective change as a method proceeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.plotting.canvas import (
    add_legend,
    axes_for,
    colour,
    legend_name,
    plain_log_ticks,
    with_grid,
)
from kernelet.plotting.models import last_step, model_of

# Up to this many steps each has its own mark; more would hide the line.
_MOST_MARKS = 30


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Vectors and objective after each step of one search.

    Attributes
    ----------
    n_vectors, objective : ndarrays of shape (n_steps,)
    """

    n_vectors: FloatArray
    objective: FloatArray


class SparsityPathDisplay:
    """Objective and number of vectors against the steps of a method.

    Made by `from_estimator` or `from_results`.

    Parameters
    ----------
    paths : sequence of SparsityPath
        One for each independent search, for example one per class.
    names : sequence of str, default=None
        Their names.
    step_name : str, default="step"
        What the horizontal axis counts.
    first_step : int, default=0
        Where the count begins.

    Attributes
    ----------
    bounding_ax_ : matplotlib Axes
        The axes that were given.
    ax_ : matplotlib Axes
        Where the objective is drawn: the upper part of these, or all if the vectors do not change.
    vectors_ax_ : matplotlib Axes or None
        Where the number of vectors is drawn: the lower part; None if it never changes.
    figure_ : matplotlib Figure
        The figure of these.
    lines_ : list of Line2D
        The objective of each path.
    vectors_lines_ : list of Line2D
        The number of vectors of each path.

    Examples
    --------
    >>> from kernelet import SparseSVC, SparsityPathDisplay
    >>> from kernelet.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> models = SparseSVC(random_state=0).fit_path(X, y, [1, 2, 4])
    >>> display = SparsityPathDisplay.from_results(models)
    >>> display.vectors_lines_[0].get_ydata()
    array([1., 2., 4.])
    """

    def __init__(
        self,
        paths: Sequence[SparsityPath],
        *,
        names: Sequence[str] | None = None,
        step_name: str = "step",
        first_step: int = 0,
    ) -> None:
        self.paths = list(paths)
        self.names = names
        self.step_name = step_name
        self.first_step = first_step

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the ``sparsity_path_`` of a fitted model, or else its ``history_``.

        Parameters
        ----------
        estimator : fitted model, search or Pipeline
            `NormSVC` has a path, `SparseSVC` a history of its objective.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        SparsityPathDisplay
        """
        model = last_step(model_of(estimator))
        path: Any = getattr(model, "sparsity_path_", None)
        history: Any = getattr(model, "history_", None)
        if path is not None:
            paths = as_paths(path)
        elif history is not None:
            n_vectors = model.n_vectors_ / len(history)
            paths = [
                SparsityPath(np.full(len(values), n_vectors), np.asarray(values))
                for values in history
            ]
        else:
            raise ValueError(
                f"{type(model).__name__} has neither sparsity_path_ nor history_; "
                "from_results draws a list of models, such as fit_path returns."
            )
        names = [str(label) for label in getattr(model, "classes_", ())]
        return cls(paths, names=names if len(names) == len(paths) else None).plot(ax=ax, **kwargs)

    @classmethod
    def from_results(
        cls, results: Any, *, step_name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw numbers, or models that were fitted one after the other.

        Parameters
        ----------
        results : dict, structured array, array of shape (n_steps, 2), or sequence
            With ``n_vectors`` and ``objective`` after each step; a sequence of such, one for each
            search; or a sequence of fitted models with ``n_vectors_`` and ``objective_``.
        step_name : str, default=None
            What the horizontal axis counts; None means "step", or "model" for models.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        SparsityPathDisplay
        """
        models = _is_models(results)
        paths = [_path_of_models(results)] if models else as_paths(results)
        if step_name is None:
            step_name = "model" if models else "step"
        return cls(paths, step_name=step_name, first_step=int(models)).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw; the number of vectors goes below the objective if it changes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        **kwargs : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        SparsityPathDisplay
            This one, with the artists as attributes.
        """
        changes = any(np.ptp(path.n_vectors) > 0 for path in self.paths)
        self.bounding_ax_ = axes_for(self, ax, (6.0, 4.8 if changes else 3.6))
        self.figure_ = self.bounding_ax_.figure
        self.ax_, self.vectors_ax_ = self.bounding_ax_, None
        if changes:
            # insets, and not new axes: every layout keeps them with their parent. The objective
            # has the larger part, and the gap fits half a number of each vertical axis
            self.bounding_ax_.set_axis_off()
            self.ax_ = self.bounding_ax_.inset_axes((0.0, 0.41, 1.0, 0.59))
            self.vectors_ax_ = self.bounding_ax_.inset_axes((0.0, 0.0, 1.0, 0.36), sharex=self.ax_)
        self.lines_: list[Any] = []
        self.vectors_lines_: list[Any] = []
        for number, path in enumerate(self.paths):
            style: dict[str, Any] = {"color": colour(number), "linewidth": 1.8}
            if len(path.objective) <= _MOST_MARKS:
                style |= {"marker": "o", "markersize": 4}
            if self.names is not None:
                style["label"] = legend_name(self.names[number])
            steps = self.first_step + np.arange(len(path.objective))
            (line,) = self.ax_.plot(steps, path.objective, **(style | kwargs))
            self.lines_.append(line)
            if self.vectors_ax_ is not None:
                (line,) = self.vectors_ax_.plot(
                    steps, path.n_vectors, drawstyle="steps-post", **(style | kwargs)
                )
                self.vectors_lines_.append(line)
        self.ax_.set_ylabel("objective")
        below = self.ax_ if self.vectors_ax_ is None else self.vectors_ax_
        below.set_xlabel(self.step_name)
        below.xaxis.get_major_locator().set_params(integer=True)
        values = np.concatenate([path.objective for path in self.paths])
        if values.min() > 0.0:
            self.ax_.set_yscale("log")
            plain_log_ticks(self.ax_.yaxis, values.min(), values.max())
        if self.vectors_ax_ is None:
            total = sum(path.n_vectors[-1] for path in self.paths)
            self.ax_.set_title(f"{total:g} vectors", fontsize="medium")
        else:
            self.vectors_ax_.set_ylabel("vectors")
            self.vectors_ax_.set_ylim(bottom=0)
            self.ax_.tick_params(labelbottom=False)
        for axes in (self.ax_, self.vectors_ax_):
            if axes is not None:
                with_grid(axes)
        if self.names is not None:
            add_legend(self.ax_)
        return self


def as_paths(results: Any) -> list[SparsityPath]:
    """Paths from a dictionary, a structured array, an (n_steps, 2) array, or several of them."""
    if isinstance(results, Mapping):
        return [_path(results["n_vectors"], results["objective"])]
    if isinstance(results, np.ndarray) and results.dtype.names:
        return [_path(results["n_vectors"], results["objective"])]
    if isinstance(results, np.ndarray) and results.ndim == 2 and results.shape[1] == 2:
        return [_path(results[:, 0], results[:, 1])]
    if isinstance(results, Sequence) and not isinstance(results, str) and len(results):
        return [path for part in results for path in as_paths(part)]
    raise ValueError(
        "a path must have n_vectors and objective: a dict, a structured array or an array of "
        f"shape (n_steps, 2); got {type(results).__name__}."
    )


def _path(n_vectors: Any, objective: Any) -> SparsityPath:
    path = SparsityPath(np.asarray(n_vectors, np.float64), np.asarray(objective, np.float64))
    if path.n_vectors.shape != path.objective.shape or path.objective.ndim != 1:
        raise ValueError(
            "n_vectors and objective must have the same length, got shapes "
            f"{path.n_vectors.shape} and {path.objective.shape}."
        )
    if path.objective.size == 0:
        raise ValueError("a path has no steps.")
    return path


def _is_models(results: Any) -> bool:
    return (
        isinstance(results, Sequence)
        and len(results) > 0
        and all(hasattr(part, "n_vectors_") and hasattr(part, "objective_") for part in results)
    )


def _path_of_models(models: Sequence[Any]) -> SparsityPath:
    return _path([model.n_vectors_ for model in models], [model.objective_ for model in models])
