"""A machine with all that its predictions need, with NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.kernels.numerics.arrays import FloatArray, Rows, check_rows, is_sparse
from kernelet.machine.calibration import CalibratedMachine, Calibration, SigmoidCalibration
from kernelet.machine.columns import ColumnEncoder
from kernelet.machine.machine import KernelMachine
from kernelet.machine.reading import Reading, largest_score, most_votes, ordered_votes
from kernelet.machine.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Predictor:
    """What a fitted model predicts with; made by `kernelet.load_predictor`.

    Its predictions are the model's own, bit for bit; behind scalers in single precision, to
    rounding, as versions of scikit-learn differ there. It cannot be fitted, and neither its making
    nor its methods need more than NumPy.

    Parameters
    ----------
    machine : KernelMachine
    reading : Reading, default="scores"
        What the outputs of the machine are: "classes", "pairs" (of classes), "values" (of a
        regression), "features", "outliers" or "scores", from which nothing else is predicted.
    classes : ndarray or None, default=None
        Labels, if the reading is "classes" or "pairs".
    calibration : Calibration or None, default=None
        Makes probabilities of the scores.
    labels_by_scores : bool, default=True
        Whether the class of the largest score is predicted; otherwise it is that of the largest
        probability.
    votes : bool, default=True
        Whether the decision function of pairs is the votes of the classes, not the pairs' scores.
    break_ties : bool, default=False
        Whether equal votes are decided by the scores.
    feature_names : tuple of str or None, default=None
        Of the columns of a row.
    encoder : ColumnEncoder or None, default=None
        Makes rows of a table; without one, the methods take rows of numbers.
    scalings : tuple of Scaling, default=()
        What rows of numbers go through before they are the machine's.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> from kernelet.machine import KernelMachine, Predictor
    >>> machine = KernelMachine(Gaussian(0.5), [[0.0], [2.0]], [1.0, -1.0])
    >>> predictor = Predictor(machine, "classes", np.array(["far", "near"]))
    >>> predictor.predict([[-1.0], [3.0]]).tolist()
    ['near', 'far']
    """

    machine: KernelMachine
    reading: str = Reading.SCORES
    classes: NDArray[Any] | None = None
    calibration: Calibration | None = None
    labels_by_scores: bool = True
    votes: bool = True
    break_ties: bool = False
    feature_names: tuple[str, ...] | None = None
    encoder: ColumnEncoder | None = None
    scalings: tuple[Scaling, ...] = ()

    def __post_init__(self) -> None:
        if self.reading not in list(Reading):
            raise ValueError(f"reading must be one of {', '.join(Reading)}, got {self.reading!r}.")
        if not self.labels_by_scores and self.calibration is None:
            raise ValueError("labels_by_scores=False needs a calibration.")
        n_outputs, wanted = self.machine.n_outputs, _n_outputs(self.reading, self.classes)
        if wanted not in (None, n_outputs):
            raise ValueError(
                f"the machine has {n_outputs} outputs, but its reading as {self.reading} needs "
                f"{wanted}."
            )
        if self.calibration is not None:
            self._check_calibration(self.calibration)
        d = self.machine.n_features
        if self.feature_names is not None and len(self.feature_names) != d:
            raise ValueError(f"there must be {d} feature_names, got {len(self.feature_names)}.")
        if self.encoder is not None and self.scalings:
            raise ValueError("the columns of an encoder are scaled by it; leave out scalings.")
        if self.encoder is not None and self.encoder.n_features != d:
            raise ValueError(
                f"the columns give {self.encoder.n_features} features, but the machine is for {d}."
            )

    def _check_calibration(self, calibration: Calibration) -> None:
        if self.reading == Reading.PAIRS and self.votes:
            assert self.classes is not None
            n_votes = self.classes.size
            if isinstance(calibration, SigmoidCalibration) and calibration.slopes.size != n_votes:
                raise ValueError(f"the calibration must have {n_votes} slopes, one for each class.")
        elif self.reading in (Reading.CLASSES, Reading.SCORES):
            CalibratedMachine(self.machine, calibration)  # refuses another number of outputs
        else:
            raise ValueError(f"there is no calibration of {self.reading}.")

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the rows, as the model's own; the outputs of the machine if it has none.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (n, d)
            If there is an ``encoder``, a table: mapping of str to 1-D array, or pandas DataFrame.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
        """
        return self._scores(self._outputs(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, values, or +1 for inliers and -1 for outliers.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (n, d), or table
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)

        Raises
        ------
        AttributeError
            If the outputs are features, or nothing says what they are.
        """
        if self.reading in (Reading.FEATURES, Reading.SCORES):
            raise AttributeError(
                f"the outputs of this machine are {self.reading}, from which nothing is predicted; "
                "use transform or decision_function."
            )
        scores = self._outputs(X)
        if self.reading == Reading.VALUES:
            return scores
        if self.reading == Reading.OUTLIERS:
            return np.where(scores >= 0, 1, -1)
        assert self.classes is not None
        labels: NDArray[Any] = self.classes[self._codes(scores, self.classes.size)]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (n, d), or table
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n, n_classes)

        Raises
        ------
        AttributeError
            If the model is not calibrated.
        """
        if self.calibration is None:
            raise AttributeError(
                "this model has no probabilities; calibrate it first: kernelet.calibrate."
            )
        return self.calibration.probabilities(self._scores(self._outputs(X)))

    def transform(self, X: Any) -> FloatArray:
        """The outputs of the machine as columns, also if there is one: the features of the rows.

        Parameters
        ----------
        X : array-like or SciPy sparse matrix of shape (n, d), or table
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n, n_outputs)
        """
        outputs = self._outputs(X)
        return outputs.reshape(outputs.shape[0], -1)

    def _scores(self, outputs: FloatArray) -> FloatArray:
        """The decision function, of the outputs of the machine."""
        if self.reading == Reading.PAIRS and self.votes:
            assert self.classes is not None
            return ordered_votes(outputs, self.classes.size)
        return outputs

    def _outputs(self, X: Any) -> FloatArray:
        return self.machine.decision_function(self._rows(X))

    def _rows(self, X: Any) -> Rows:
        if self.encoder is not None:
            return self.encoder.transform(X)
        columns = getattr(X, "columns", None)
        if columns is not None and self.feature_names is not None:
            names = tuple(str(name) for name in columns)
            if names != self.feature_names:
                raise ValueError(
                    f"the columns of X must be {', '.join(self.feature_names)}, in this order; got "
                    f"{', '.join(names)}."
                )
        rows = check_rows(X, self.machine.n_features)
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        for scaling in self.scalings:
            rows = scaling.applied(rows)
        if not np.isfinite(rows.data if is_sparse(rows) else rows).all():
            raise ValueError("X holds NaN or infinity.")
        return rows

    def _codes(self, scores: FloatArray, n_classes: int) -> NDArray[np.intp]:
        """Which class each row is in."""
        if not self.labels_by_scores:
            assert self.calibration is not None
            # also of one score, which is that of the second of two classes
            codes: NDArray[np.intp]
            codes = self.calibration.probabilities(self._scores(scores)).argmax(axis=1)
            return codes
        if self.reading == Reading.PAIRS:
            return most_votes(scores, n_classes, self.break_ties)
        return largest_score(scores)


def _n_outputs(reading: str, classes: NDArray[Any] | None) -> int | None:
    """How many outputs a machine must have to be read like this; None if any number will do."""
    if reading == Reading.OUTLIERS:
        return 1
    if reading not in (Reading.CLASSES, Reading.PAIRS):
        return None
    if classes is None or classes.size < 2:
        raise ValueError(f"a reading as {reading} needs at least two classes.")
    if reading == Reading.PAIRS:
        return int(classes.size * (classes.size - 1) // 2)
    return 1 if classes.size == 2 else int(classes.size)
