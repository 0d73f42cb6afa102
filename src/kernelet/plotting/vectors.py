"""The vectors of a machine as pictures or as a table of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.parameters import count
from kernelet.machine.texts import visible
from kernelet.plotting.canvas import INK, as_written, axes_for, number_text, plain
from kernelet.plotting.models import expansion, feature_names_of, model_of
from kernelet.plotting.mosaic import mosaic, picture_shape

# A table with more cells shows only colours: nobody would compare all the numbers.
_MOST_NUMBERS = 200
# Beyond this share of the colour scale, cells are so dark that their numbers are white.
_DARK = 0.65


class VectorsDisplay:
    """The vectors of a machine, by class and in the order of their coefficients.

    Made by `from_estimator` or `from_vectors`.

    Parameters
    ----------
    vectors : ndarray of shape (m, d)
        The vectors.
    labels : sequence of str
        Text above each picture, or before each row of a table.
    label_name : str, default="vector"
        What the labels are, written above those of a table.
    shape : tuple of int, default=None
        Height and width of a picture; None draws a table.
    feature_names : sequence of str, default=None
        Names of the columns of a table.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure of these.
    image_ : AxesImage
        The pictures side by side, or the table in colours.
    texts_ : list of Text
        The labels of pictures, or the numbers of a table.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelet import SparseSVC, VectorsDisplay
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = SparseSVC(6, random_state=0).fit(X, y)
    >>> display = VectorsDisplay.from_estimator(model)
    >>> display.shape, len(display.texts_)
    ((8, 8), 6)
    """

    def __init__(
        self,
        vectors: FloatArray,
        labels: Sequence[str],
        *,
        label_name: str = "vector",
        shape: tuple[int, int] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.vectors = vectors
        self.labels = labels
        self.label_name = label_name
        self.shape = shape
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: str = "auto",
        shape: tuple[int, int] | None = None,
        feature_names: Sequence[str] | None = None,
        max_vectors: int = 60,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the vectors of a fitted model or a machine.

        Parameters
        ----------
        estimator : fitted classifier, search, Pipeline or KernelMachine
            A Pipeline's vectors are shown in the units of its input.
        kind : {"auto", "images", "table"}, default="auto"
            "auto" draws pictures if a shape is given, or if the features have no names and their
            number is a square of at least 16.
        shape : tuple of int, default=None
            Height and width of a picture; None guesses a square.
        feature_names : sequence of str, default=None
            Names of the features; None means those of the model.
        max_vectors : int, default=60
            If there are more, those with the largest coefficients are shown.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        VectorsDisplay
        """
        model = model_of(estimator)
        found = expansion(model)
        size = np.abs(found.weight)
        kept = np.argsort(-size, kind="stable")[: count("max_vectors", max_vectors)]
        order = kept[np.lexsort((-size[kept], found.side[kept]))]
        has_classes = found.classes.size > 1
        labels = [
            f"{found.classes[found.side[j]]}  " * has_classes + f"({found.weight[j]:.2g})"
            for j in order
        ]
        if feature_names is None and hasattr(model, "feature_names_in_"):
            feature_names = feature_names_of(model, found.vectors.shape[1])
        return cls.from_vectors(
            found.vectors[order],
            labels=labels,
            label_name="class (coefficient)" if has_classes else "(coefficient)",
            kind=kind,
            shape=shape,
            feature_names=feature_names,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_vectors(
        cls,
        vectors: ArrayLike,
        *,
        labels: Sequence[str] | None = None,
        label_name: str = "vector",
        kind: str = "auto",
        shape: tuple[int, int] | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw an array of vectors in its order.

        Parameters
        ----------
        vectors : array-like of shape (m, d)
            The vectors.
        labels : sequence of str, default=None
            Text above or before each; None numbers them.
        label_name : str, default="vector"
            What the labels are, written above those of a table.
        kind : {"auto", "images", "table"}, default="auto"
            As in `from_estimator`.
        shape : tuple of int, default=None
            Height and width of a picture; None guesses a square.
        feature_names : sequence of str, default=None
            Names of the columns of a table.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        VectorsDisplay
        """
        Z = np.asarray(vectors, dtype=np.float64)
        if Z.ndim != 2 or Z.size == 0:
            raise ValueError(f"there must be at least one vector, as a row; got shape {Z.shape}.")
        names = [f"{j + 1}" for j in range(len(Z))] if labels is None else list(labels)
        if len(names) != len(Z):
            raise ValueError(f"labels holds {len(names)} names for {len(Z)} vectors.")
        if feature_names is not None and len(feature_names) != Z.shape[1]:
            raise ValueError(
                f"feature_names holds {len(feature_names)} names for {Z.shape[1]} features."
            )
        shape = picture_shape(kind, shape, Z.shape[1], feature_names is not None)
        display = cls(Z, names, label_name=label_name, shape=shape, feature_names=feature_names)
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        **kwargs : dict
            Passed to matplotlib's ``imshow``.

        Returns
        -------
        VectorsDisplay
            This one, with the artists as attributes.
        """
        draw = self._draw_table if self.shape is None else self._draw_pictures
        draw(ax, kwargs)
        self.figure_ = self.ax_.figure
        return self

    def _draw_pictures(self, ax: Any, kwargs: dict[str, Any]) -> None:
        assert self.shape is not None
        laid_out = mosaic(self.vectors, self.shape)
        self.ax_ = axes_for(self, ax, laid_out.figsize)
        style = {"ha": "center", "va": "bottom", "fontsize": 8, "color": INK}
        self.texts_ = [
            self.ax_.text(x, y, label, **style)
            for (x, y), label in zip(laid_out.labels, self.labels, strict=True)
        ]
        as_written(self.texts_)
        gray = {"cmap": "gray", "interpolation": "nearest"}
        self.image_ = self.ax_.imshow(laid_out.pixels, **(gray | kwargs))
        self.ax_.set_axis_off()

    def _draw_table(self, ax: Any, kwargs: dict[str, Any]) -> None:
        m, d = self.vectors.shape
        # inches: a number of four digits fits into a cell; more than 20 columns share that width
        self.ax_ = axes_for(self, ax, (1.8 + 0.75 * min(d, 20), 1.4 + 0.32 * m))
        # features have different units: colours compare the vectors within each feature
        spread = self.vectors.std(axis=0)
        scaled = (self.vectors - self.vectors.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        # equal vectors may differ by rounding, which must not be visible
        limit = max(float(np.abs(scaled).max()), 1e-12)
        colours = {"cmap": "PuOr", "vmin": -limit, "vmax": limit, "aspect": "auto"}
        self.image_ = self.ax_.imshow(scaled, **(colours | kwargs))
        names = [visible(name) for name in self.feature_names or ()]
        names = names or [f"x{number + 1}" for number in range(d)]
        self.ax_.set_xticks(range(d), names, rotation=40, ha="right", rotation_mode="anchor")
        self.ax_.set_yticks(range(m), [visible(label) for label in self.labels])
        as_written([*self.ax_.get_xticklabels(), *self.ax_.get_yticklabels()])
        self.ax_.tick_params(length=0)
        self.ax_.annotate(
            self.label_name,
            (0.0, 1.0),
            (-5, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            fontsize="small",
            color=INK,
        )
        plain(self.ax_)
        bar = self.ax_.figure.colorbar(self.image_, ax=self.ax_, shrink=0.9, pad=0.02)
        bar.set_label("standard deviations from\nthe vectors' mean")
        bar.outline.set_visible(False)
        self.texts_ = []
        if m * d > _MOST_NUMBERS:
            return
        style = {"ha": "center", "va": "center", "fontsize": 8}
        for (i, j), value in np.ndenumerate(self.vectors):
            ink = "white" if abs(scaled[i, j]) > _DARK * limit else INK
            self.texts_.append(self.ax_.text(j, i, number_text(value), color=ink, **style))
