"""Out-of-core rows, prepared for the learners."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, get_tags

from kernelet.kernels import Kernel, resolve_kernel
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.model_file import remember_training
from kernelet.learners.base.training_data import TrainingData, class_weights
from kernelet.learners.base.training_kernel import check_numbers, check_values, without_rounding
from kernelet.rows import LabelledBlocks, Pieces, open_pieces
from kernelet.rows.labelled import Sample
from kernelet.rows.survey import Survey, survey

# Rows in the sample, for k-means and for choices that need only a few rows. It is drawn quickly;
# searches that need more rows draw them later (`rows.nested_samples`).
SAMPLE_ROWS = 20_000
# With more than a hundred times as many rows, one in a hundred is drawn: the curvature that passes
# over all rows start from is then more exact. The limits keep the sample at 32 MB.
_SAMPLE_SHARE = 100
_MOST_ROWS = 100_000
_MOST_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class OutOfCoreData:
    """Out-of-core rows, with the kernel resolved on them.

    Unlike in a `TrainingData`, equal rows are not merged.

    Attributes
    ----------
    rows : LabelledBlocks
    sample : Sample
    kernel : Kernel
    rng : RandomState
    centre, spread : ndarray of shape (d,)
        Weighted means and standard deviations of the columns.
    least_weight : float
        The smallest weight that is not zero.
    """

    rows: LabelledBlocks
    sample: Sample
    kernel: Kernel
    rng: np.random.RandomState
    centre: FloatArray
    spread: FloatArray
    least_weight: float

    @property
    def at_hand(self) -> TrainingData:
        """Rows in memory that represent all: the sample."""
        block, weights = self.sample.block, self.sample.weights
        return TrainingData(block.X, weights, self.kernel, self.rng, block.codes, self.n_classes)

    @property
    def n_classes(self) -> int:
        """Number of labels."""
        return int(self.rows.classes.size)


def out_of_core_data(
    estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, n_sample: int = SAMPLE_ROWS
) -> OutOfCoreData:
    """Validate the rows, and draw a sample of them: two passes.

    The estimator has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``, with labels also
    ``class_weight``, and if anything is random ``random_state``.
    """
    if y is None and get_tags(estimator).target_tags.required:
        raise ValueError(
            f"{type(estimator).__name__} requires y, the labels of the rows; got None."
        )
    return set_of_pieces(estimator, open_pieces(X, y, sample_weight), y is not None, n_sample)


def set_of_pieces(
    estimator: Any, pieces: Pieces, has_labels: bool = True, n_sample: int = SAMPLE_ROWS
) -> OutOfCoreData:
    """The same for rows that are open already."""
    seen = survey(pieces)
    factors = _factors(estimator, seen, has_labels)
    _remember(estimator, seen, pieces.feature_names, has_labels)
    rows = LabelledBlocks(pieces, seen.classes, factors, seen.lengths, seen.counts, seen.n_features)
    present = factors > 0.0
    n_counted = int(seen.counts[:, present].sum())
    check_numbers(estimator, float(seen.largest[present].max()), (n_counted, seen.n_features))
    rng = check_random_state(getattr(estimator, "random_state", None))
    # only gamma depends on the rows, and it is a number by now
    kernel = resolve_kernel(
        estimator.kernel,
        np.zeros((1, seen.n_features)),
        _gamma(estimator.gamma, seen, factors),
        estimator.degree,
        estimator.coef0,
    )
    # from a copy, so that later draws are the same as for rows in memory
    seed = int(deepcopy(rng).randint(np.iinfo(np.int32).max))
    sample = rows.sample(_sample_size(rows, n_sample), seed)
    check_values(estimator, kernel, sample.block.X.astype(np.float64, copy=False))
    least_weight = float((factors * seen.least)[present].min())
    return OutOfCoreData(rows, sample, kernel, rng, *_location(seen, factors), least_weight)


def _location(seen: Survey, factors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of the columns, the latter 0 if a column is constant."""
    # if squares overflow, no search that would need them can be computed
    with np.errstate(over="ignore", invalid="ignore"):
        mean, variances = seen.moments(factors)
        spread = np.sqrt(variances)
        return mean, without_rounding(mean, spread)


def _sample_size(rows: LabelledBlocks, least: int) -> int:
    """The size of the sample; a larger one gives a better curvature, which saves passes."""
    n, d = rows.shape
    return max(least, min(n // _SAMPLE_SHARE, _MOST_ROWS, _MOST_NUMBERS // d))


def _factors(estimator: Any, seen: Survey, has_labels: bool) -> FloatArray:
    """Class weights; 0 for a class that has no row of positive weight."""
    if not has_labels:
        if not seen.totals.sum():
            raise ValueError("all rows have a sample_weight of zero.")
        return np.ones(1)
    codes = np.arange(seen.classes.size)
    factors = class_weights(estimator.class_weight, seen.classes, codes, seen.totals)
    factors = np.where(seen.totals > 0.0, factors, 0.0)
    if np.count_nonzero(factors) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs rows of at least two classes; with a positive "
            f"weight there is only one class: {seen.classes[factors > 0.0].tolist()}."
        )
    return factors


def _remember(estimator: Any, seen: Survey, names: Any, has_labels: bool) -> None:
    estimator.n_features_in_ = seen.n_features
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    if names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    counts = seen.counts.sum(axis=0) if has_labels else None
    remember_training(estimator, int(seen.lengths.sum()), counts)


def _gamma(gamma: float | str, seen: Survey, factors: FloatArray) -> float | str:
    """The number that a gamma by name means on these rows; see `gamma_of_weighted_rows`."""
    if not isinstance(gamma, str) or gamma not in ("scale", "mean_distance"):
        return gamma
    mean, variances = seen.moments(factors)
    spread = float(variances.sum())
    if gamma == "mean_distance":
        return 1.0 / (2.0 * spread) if spread > 0.0 else 1.0
    # the variance of all numbers together: within the columns, and between their means
    whole = spread + seen.n_features * float(mean.var())
    return 1.0 / whole if whole > 0.0 else 1.0
