"""A predictor refuses what does not fit together, and rows that its model would refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from kernelet import KernelMachine
from kernelet.kernels import Gaussian
from kernelet.machine import Predictor, SigmoidCalibration, TemperatureCalibration
from kernelet.machine.columns import ColumnEncoder

Z = np.random.default_rng(0).normal(size=(4, 2))
ROWS = np.random.default_rng(1).normal(size=(7, 2))
LABELS = np.array(["a", "b", "c"])


def machine(n_outputs):
    beta = np.random.default_rng(2).normal(size=(4, n_outputs))
    return KernelMachine(Gaussian(0.5), Z, beta, np.ones(n_outputs))


@pytest.mark.parametrize(
    ("n_outputs", "parts", "reason"),
    [
        (1, {"reading": "votes"}, "reading must be one of scores"),
        (3, {"reading": "classes"}, "at least two classes"),
        (3, {"reading": "classes", "classes": LABELS[:1]}, "at least two classes"),
        (3, {"reading": "classes", "classes": LABELS[:2]}, "3 outputs, .* classes needs 1"),
        (2, {"reading": "pairs", "classes": LABELS}, "2 outputs, .* pairs needs 3"),
        (2, {"reading": "outliers"}, "2 outputs, .* outliers needs 1"),
        (2, {"calibration": SigmoidCalibration(np.ones(1), np.ones(1))}, "1 slopes for 2 outputs"),
        (1, {"reading": "values", "calibration": TemperatureCalibration(1.0)}, "no calibration of"),
        (1, {"labels_by_scores": False}, "labels_by_scores=False needs a calibration"),
        (1, {"feature_names": ("x",)}, "2 feature_names, got 1"),
        (1, {"encoder": ColumnEncoder.fit({"x": [1.0, 2.0]})}, "give 1 features"),
    ],
)
def test_parts_that_do_not_fit_together(n_outputs, parts, reason):
    with pytest.raises(ValueError, match=reason):
        Predictor(machine(n_outputs), **parts)


@pytest.mark.parametrize("reading", ["scores", "features"])
def test_nothing_is_predicted_from_scores_and_features(reading):
    predictor = Predictor(machine(2), reading)
    with pytest.raises(AttributeError, match=f"are {reading}, .* use transform"):
        predictor.predict(ROWS)
    with pytest.raises(AttributeError, match="no probabilities; calibrate it"):
        predictor.predict_proba(ROWS)
    assert_array_equal(predictor.transform(ROWS), predictor.machine.decision_function(ROWS))


def test_one_feature_is_a_column():
    assert Predictor(machine(1), "features").transform(ROWS).shape == (7, 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_rows_that_are_not_finite(bad, kind):
    rows = ROWS.copy()
    rows[3, 1] = bad
    with pytest.raises(ValueError, match="NaN or infinity"):
        Predictor(machine(1), "outliers").predict(kind(rows))


def test_rows_of_other_types_give_the_same():
    predictor = Predictor(machine(1), "values")
    whole = np.rint(3 * ROWS)
    wanted = predictor.predict(whole)
    for rows in (whole.astype(int), whole.tolist(), pd.DataFrame(whole), whole.astype(np.float16)):
        assert_array_equal(predictor.predict(rows), wanted)
    found = predictor.predict(sparse.coo_array(whole))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_columns_in_another_order():
    predictor = Predictor(machine(1), "values", feature_names=("x", "y"))
    frame = pd.DataFrame(ROWS, columns=["x", "y"])
    assert_array_equal(predictor.predict(frame), predictor.predict(ROWS))
    with pytest.raises(ValueError, match="must be x, y, in this order; got y, x"):
        predictor.predict(frame[["y", "x"]])


def test_pairs_of_two_classes():
    """One column of scores, positive for the first class."""
    predictor = Predictor(machine(1), "pairs", LABELS[:2])
    scores = predictor.machine.decision_function(ROWS)
    assert 0 < (scores > 0).sum() < len(ROWS)
    assert_array_equal(predictor.predict(ROWS), np.where(scores > 0, "a", "b"))


def test_labels_by_probabilities_need_not_be_those_by_scores():
    """The sigmoids move the boundary."""
    calibration = SigmoidCalibration(np.array([-1.0]), np.array([-50.0]))
    by_scores = Predictor(machine(1), "classes", LABELS[:2], calibration)
    assert set(by_scores.predict(ROWS)) == {"a", "b"}
    by_probabilities = Predictor(
        machine(1), "classes", LABELS[:2], calibration, labels_by_scores=False
    )
    assert set(by_probabilities.predict(ROWS)) == {"b"}
