"""Error against cost, with the model to match as a line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kernelet.learners.base.parameters import choice
from kernelet.plotting.canvas import (
    CHOSEN,
    FAINT,
    INK,
    add_legend,
    axes_for,
    legend_name,
    number_text,
    plain_log_ticks,
    ticks_at,
    with_grid,
)
from kernelet.plotting.frontier_curves import (
    COSTS,
    FrontierCurve,
    curve_styles,
    results_frontier,
    search_frontier,
)
from kernelet.selection import BudgetSearchCV

# Ticks are at the budgets themselves if these are few and far enough apart to be read: over two
# decades, a factor of 1.25 is a twentieth of the axis, the width of three digits.
_MOST_TICKS = 10
_LEAST_RATIO = 1.25


class FrontierDisplay:
    """Error against the number of vectors, microseconds per row, or bytes.

    Made by `from_estimator` or `from_results`.

    Parameters
    ----------
    curves : dict of str to FrontierCurve
        Name of the curve -> costs, errors in percent, standard errors.
    x : {"vectors", "microseconds", "bytes"}, default="vectors"
        What the costs are.
    chosen : int, default=None
        Index of the chosen budget on its curve.
    chosen_curve : str, default=None
        The name of that curve; None means the first.
    reference : float, default=None
        The error to match, in percent.
    reference_error : float, default=None
        Its standard error.
    reference_name : str, default="reference"
        The model with this error.
    reference_cost : float, default=None
        Its cost, of the same kind.
    error_name : str, default="error"
        Label of the vertical axis.
    ours : str or sequence of str, default=None
        Names of curves to draw in front of the others, with thicker lines. None means those that
        have the name of an estimator of kernelet (``SparseSVC`` or ``sparse_svc``).

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of these.
    lines_ : dict of str to Line2D
        The line of each curve.
    line_ : Line2D
        The first of these.
    reference_line_ : Line2D or None
        The line of the reference.
    chosen_ : Line2D or None
        The mark of the chosen budget.

    Examples
    --------
    >>> from kernelet import BudgetSearchCV, FrontierDisplay, SparseSVC
    >>> from kernelet.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> search = BudgetSearchCV(SparseSVC(random_state=0), budgets=[1, 2, 4]).fit(X, y)
    >>> display = FrontierDisplay.from_estimator(search)
    >>> display.line_.get_xdata()
    array([1., 2., 4.])
    """

    def __init__(
        self,
        curves: Mapping[str, FrontierCurve],
        *,
        x: str = "vectors",
        chosen: int | None = None,
        chosen_curve: str | None = None,
        reference: float | None = None,
        reference_error: float | None = None,
        reference_name: str = "reference",
        reference_cost: float | None = None,
        error_name: str = "error",
        ours: str | Collection[str] | None = None,
    ) -> None:
        self.curves = dict(curves)
        self.x = choice("x", x, COSTS)
        self.chosen = chosen
        self.chosen_curve = chosen_curve
        self.reference = reference
        self.reference_error = reference_error
        self.reference_name = reference_name
        self.reference_cost = reference_cost
        self.error_name = error_name
        self.ours = ours

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        budgets: Iterable[int] | None = None,
        cv: Any = 5,
        scoring: Any = None,
        reference: Any = None,
        x: str = "vectors",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted search, or cross-validate a model over budgets and draw the result.

        Parameters
        ----------
        estimator : BudgetSearchCV or estimator with ``n_vectors``
            A fitted search needs no other argument; one that tried several ``vector_bits`` has a
            curve for each.
        X, y : arrays, default=None
            Rows and targets, for anything that is not a fitted search.
        budgets : sequence of int, default=None
            Numbers of vectors; None means those of the search.
        cv : int, splitter or iterable, default=5
            Folds.
        scoring : str or callable, default=None
            A score that is at most 1, such as accuracy: the error is 1 minus the score.
        reference : estimator or float, default=None
            The model, or score, to match.
        x : {"vectors", "microseconds", "bytes"}, default="vectors"
            The cost.
        name : str, default=None
            Name of the curve; None means the class of the model.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        FrontierDisplay
        """
        choice("x", x, COSTS)
        search = estimator
        if not isinstance(search, BudgetSearchCV):
            options: dict[str, Any] = {} if budgets is None else {"budgets": budgets}
            search = BudgetSearchCV(
                estimator, cv=cv, scoring=scoring, reference=reference, refit=False, **options
            )
        if not search.__sklearn_is_fitted__():
            if X is None:
                raise ValueError("X and y are needed to draw a search or model that is not fitted.")
            search = clone(search).fit(X, y)
        return cls(**search_frontier(search, x, name)).plot(ax=ax, **kwargs)

    @classmethod
    def from_results(
        cls,
        results: Any,
        *,
        x: str = "vectors",
        chosen: int | None = None,
        reference: float | str | None = None,
        name: str = "cross-validation",
        ours: str | Collection[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw ``cv_results_`` of a search, or a table with a curve for each of many methods.

        Parameters
        ----------
        results : dict, DataFrame or path of a csv file
            ``cv_results_``, or columns method, budget, error (in percent) and the costs n_vectors,
            predict_us, n_bytes, as in the frontier tables of ``benchmarks/results``.
        x : {"vectors", "microseconds", "bytes"}, default="vectors"
            The cost.
        chosen : int, default=None
            Index of the budget to mark: in ``cv_results_``, or on the first curve of a table.
        reference : float or str, default=None
            The error to match in percent, or the method of the table with that error.
        name : str, default="cross-validation"
            Name of the curve of ``cv_results_``.
        ours : str or sequence of str, default=None
            Methods of the table to draw in front of the others; None means those of kernelet.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        FrontierDisplay
        """
        choice("x", x, COSTS)
        frontier = results_frontier(results, x, name, reference, chosen)
        return cls(**frontier, ours=ours).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        **kwargs : dict
            Passed to matplotlib's ``errorbar``.

        Returns
        -------
        FrontierDisplay
            This one, with the artists as attributes.
        """
        ax = axes_for(self, ax)
        self.ax_, self.figure_ = ax, ax.figure
        ax.set(xscale="log", xlabel=COSTS[self.x].label, ylabel=f"{self.error_name} (%)")
        with_grid(ax, "y")
        drawn = {
            name: self._draw_curve(ax, name, style | kwargs)
            for name, style in curve_styles(self.curves, self.ours).items()
        }
        self.lines_ = {name: drawn[name] for name in self.curves}
        self.line_ = next(iter(self.lines_.values()))
        self._draw_reference(ax)
        self._draw_chosen(ax)
        self._set_ticks(ax)
        handles, labels = ax.get_legend_handles_labels()
        # curves first, in their order and not in that of drawing
        places = {legend_name(name): place for place, name in enumerate(self.curves)}
        order = sorted(range(len(labels)), key=lambda i: places.get(labels[i], len(places)))
        add_legend(ax, [handles[i] for i in order], [labels[i] for i in order])
        return self

    def _draw_curve(self, ax: Any, name: str, style: dict[str, Any]) -> Any:
        curve = self.curves[name]
        drawn = ax.errorbar(curve.costs, curve.errors, yerr=curve.standard_errors, **style)
        return drawn.lines[0]

    def _draw_reference(self, ax: Any) -> None:
        self.reference_line_ = None
        if self.reference is None:
            return
        cost = np.nan if self.reference_cost is None else self.reference_cost
        between = f"{number_text(cost)} {COSTS[self.x].label}, " if np.isfinite(cost) else ""
        label = f"{self.reference_name}: {between}{self.reference:.1f} %"
        self.reference_line_ = ax.axhline(
            self.reference, color=INK, linestyle="--", linewidth=1.2, label=label, zorder=1.5
        )
        if self.reference_error:  # a band behind the curves
            low, high = self.reference + self.reference_error * np.array([-1.0, 1.0])
            ax.axhspan(low, high, color=FAINT, alpha=0.18, linewidth=0, zorder=0.5)

    def _draw_chosen(self, ax: Any) -> None:
        self.chosen_ = None
        if self.chosen is None:
            return
        names = iter(self.curves)
        curve = self.curves[next(names) if self.chosen_curve is None else self.chosen_curve]
        cost, error = curve.costs[self.chosen], curve.errors[self.chosen]
        (self.chosen_,) = ax.plot(
            [cost],
            [error],
            linestyle="none",
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor=CHOSEN,
            markeredgewidth=1.8,
            zorder=4,  # in front of all curves
            label=f"chosen: {number_text(cost)} {COSTS[self.x].label}, {error:.1f} %",
        )

    def _set_ticks(self, ax: Any) -> None:
        costs = np.unique(np.concatenate([curve.costs for curve in self.curves.values()]))
        if self.x == "vectors" and len(self.curves) == 1 and costs.size <= _MOST_TICKS:
            places = [costs[0]]
            for cost in costs[1:]:
                if cost >= _LEAST_RATIO * places[-1]:
                    places.append(cost)
            ticks_at(ax.xaxis, places)
        else:
            plain_log_ticks(ax.xaxis, costs.min(), costs.max())
