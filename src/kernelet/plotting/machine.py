"""A machine over two features: regions, boundary, margins, data, vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine import KernelMachine
from kernelet.plotting.canvas import (
    INK,
    add_legend,
    as_written,
    axes_for,
    colour,
    legend_name,
    marker,
    pale,
    plain,
)
from kernelet.plotting.models import (
    DrawnExpansion,
    expansion,
    feature_names_of,
    last_step,
    model_of,
)
from kernelet.plotting.plane import class_codes, classes_of, scores_on_grid

# Area of the marks with the largest and the smallest coefficient, in square points: rows have 12.
_LARGEST, _SMALLEST = 170.0, 35.0
# More vectors than this are drawn smaller, so that together they do not cover more, but not smaller
# than this share, at which they are about as large as the marks of rows.
_ROOMY, _LEAST_SHARE = 25, 0.15


class MachineDisplay:
    """What a machine of two features does with the plane.

    Regions are shaded by class; a solid line is the boundary between them. For two classes dashed
    lines are f = -1 and f = +1, for more the f_k = +1 of each class in its colour. Rows are small
    marks. Vectors are large marks in the colour of the class for which their coefficient is largest
    (white if none is positive), and their area grows with the coefficient. Made by
    `from_estimator`.

    Parameters
    ----------
    xx0, xx1 : ndarrays of shape (n, n)
        Grid of the two features.
    scores : ndarray of shape (n, n) or (n, n, n_classes)
        f on it, one function for two classes.
    expansion : DrawnExpansion or None
        Vectors with their classes and weights.
    classes : ndarray
        The labels.
    X : ndarray of shape (n_rows, 2), default=None
        Rows to show.
    codes : ndarray of int, default=None
        Their classes, as indices into ``classes``.
    feature_names : sequence of str, default=("x1", "x2")
        Labels of the axes.
    has_margins : bool, default=True
        Whether scores of +1 and -1 are margins.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of these.
    surface_ : QuadContourSet
        The regions.
    boundaries_ : list of QuadContourSet
        The boundary; for more than two classes that of each class.
    margins_ : list of QuadContourSet
        The margins, likewise.
    data_ : list of PathCollection
        The rows of each class.
    vectors_ : list of PathCollection
        The vectors of each class.

    Examples
    --------
    >>> from kernelet import MachineDisplay, SparseSVC
    >>> from kernelet.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> model = SparseSVC(5, random_state=0).fit(X, y)
    >>> display = MachineDisplay.from_estimator(model, X, y)
    >>> sum(len(marks.get_offsets()) for marks in display.vectors_)
    5
    """

    def __init__(
        self,
        xx0: FloatArray,
        xx1: FloatArray,
        scores: FloatArray,
        expansion: DrawnExpansion | None,
        classes: NDArray[Any],
        *,
        X: FloatArray | None = None,
        codes: NDArray[np.intp] | None = None,
        feature_names: Sequence[str] = ("x1", "x2"),
        has_margins: bool = True,
    ) -> None:
        self.xx0 = xx0
        self.xx1 = xx1
        self.scores = scores
        self.expansion = expansion
        self.classes = classes
        self.X = X
        self.codes = codes
        self.feature_names = feature_names
        self.has_margins = has_margins

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 300,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted classifier or a machine.

        Parameters
        ----------
        estimator : fitted classifier, search, Pipeline or KernelMachine
            With two features and ``decision_function``.
        X : array-like of shape (n_samples, 2)
            Rows; the part of the plane around them is shown.
        y : array-like of shape (n_samples,), default=None
            Their labels; without them the rows are not drawn.
        grid_resolution : int, default=300
            Points along each axis at which f is evaluated.
        feature_names : sequence of str, default=None
            Labels of the axes; None means the feature names of the model.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        MachineDisplay
        """
        model = model_of(estimator)
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(
                f"MachineDisplay draws machines of two features; X has shape {rows.shape}. "
                "VectorsDisplay shows the vectors of any machine."
            )
        names = feature_names_of(model, 2) if feature_names is None else list(feature_names)
        xx0, xx1, scores = scores_on_grid(model, X, grid_resolution)
        classes = classes_of(model, scores)
        # the scores of an SVC with several classes are votes of pairs of classes
        has_margins = scores.ndim == 2 or isinstance(model, KernelMachine)
        display = cls(
            xx0,
            xx1,
            scores,
            expansion(model),
            classes,
            X=rows,
            codes=None if y is None else class_codes(classes, y),
            feature_names=names,
            has_margins=has_margins or hasattr(last_step(model), "machine_"),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        **kwargs : dict
            Passed to matplotlib's ``scatter`` of the vectors.

        Returns
        -------
        MachineDisplay
            This one, with the artists as attributes.
        """
        ax = axes_for(self, ax, (6.0, 5.0))
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_regions(ax)
        self._draw_data(ax)
        self._draw_vectors(ax, kwargs)
        ax.set(
            xlabel=self.feature_names[0],
            ylabel=self.feature_names[1],
            xlim=(self.xx0.min(), self.xx0.max()),
            ylim=(self.xx1.min(), self.xx1.max()),
        )
        as_written([ax.xaxis.label, ax.yaxis.label])
        plain(ax)
        if self.margins_:
            name = "f = +1, -1" if self.scores.ndim == 2 else "f of the class = 1"
            ax.plot([], [], color=INK, linestyle="dashed", linewidth=1.0, label=name)
        # next to the plane, not on it: there are data everywhere
        add_legend(ax, loc="upper left", bbox_to_anchor=(1.01, 1.0), markerscale=1.3)
        return self

    def _draw_regions(self, ax: Any) -> None:
        n_classes = self.classes.size
        f = self.scores if self.scores.ndim == 3 else np.stack([-self.scores, self.scores], axis=2)
        self.surface_ = ax.contourf(
            self.xx0,
            self.xx1,
            f.argmax(axis=2),
            levels=np.arange(n_classes + 1) - 0.5,
            colors=[pale(colour(k)) for k in range(n_classes)],
        )
        self.boundaries_: list[Any] = []
        self.margins_: list[Any] = []
        if self.scores.ndim == 2:
            self.boundaries_.append(self._contour(ax, self.scores, [0.0], INK, "solid", 1.8))
            if self.has_margins:
                self.margins_.append(self._contour(ax, self.scores, [-1, 1], INK, "dashed", 1.0))
            return
        for k in range(n_classes):
            own, others = f[:, :, k], np.delete(f, k, axis=2).max(axis=2)
            self.boundaries_.append(self._contour(ax, own - others, [0.0], INK, "solid", 1.4))
            if self.has_margins:
                self.margins_.append(self._contour(ax, own, [1.0], colour(k), "dashed", 1.2))

    def _contour(
        self, ax: Any, values: FloatArray, levels: list[float], color: str, line: str, width: float
    ) -> Any:
        # matplotlib warns about a level that no value reaches; then there is nothing to draw
        reached = [level for level in levels if values.min() < level < values.max()]
        if not reached:
            return None
        style = {"colors": color, "linestyles": line, "linewidths": width}
        return ax.contour(self.xx0, self.xx1, values, levels=reached, **style)

    def _draw_data(self, ax: Any) -> None:
        self.data_: list[Any] = []
        if self.X is None or self.codes is None:
            return
        for k, label in enumerate(self.classes):
            rows = self.X[self.codes == k]
            self.data_.append(
                ax.scatter(
                    rows[:, 0],
                    rows[:, 1],
                    s=12,
                    marker=marker(k),
                    color=colour(k),
                    alpha=0.75,
                    linewidths=0,
                    label=legend_name(label),
                    zorder=2.2,  # above the lines, which have 2, and below the vectors
                )
            )

    def _draw_vectors(self, ax: Any, kwargs: dict[str, Any]) -> None:
        self.vectors_: list[Any] = []
        if self.expansion is None:
            return
        # areas compare coefficients with each other: how large they are depends on C
        size = np.abs(self.expansion.weight)
        total = size.size
        crowd = min(1.0, max(_ROOMY / max(total, 1), _LEAST_SHARE))
        share = size / max(size.max(initial=0.0), np.finfo(np.float64).tiny)
        area = crowd * (_SMALLEST + (_LARGEST - _SMALLEST) * share)
        for k in range(self.classes.size):
            here = self.expansion.side == k
            against = self.expansion.weight[here] < 0
            style: dict[str, Any] = {
                "marker": marker(k),
                "facecolor": [pale(colour(k), 0.0 if hollow else 1.0) for hollow in against],
                "edgecolor": "black",
                "linewidths": 1.4 * crowd**0.5,
                "zorder": 3,
            }
            places = self.expansion.vectors[here]
            self.vectors_.append(
                ax.scatter(places[:, 0], places[:, 1], s=area[here], **(style | kwargs))
            )
        # the legend has one mark for vectors, of no class and of medium size
        ax.scatter(
            [],
            [],
            s=90,
            facecolor="white",
            edgecolor="black",
            linewidths=1.4,
            label=f"{total} vector" + "s" * (total != 1),
        )
