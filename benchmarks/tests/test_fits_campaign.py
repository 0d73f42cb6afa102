"""The campaign of fits finds models that are wrong, properties that fail, and unclear errors."""

import dataclasses
import warnings

import numpy as np
import pytest

from benchmarks.hardening import fits
from benchmarks.hardening.estimators import DETECTORS, GROUPS, LEARNERS, draw, fit
from benchmarks.hardening.oracles import Defect, check
from benchmarks.hardening.problems import problem
from benchmarks.hardening.properties import PROPERTIES, Fit
from kernelet import ReducedSVC, SparseKernelRidge, SparseOneClassSVM


def plain(has_labels, n=40):
    """A problem that is not ugly at all."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 2))
    codes = (rows[:, 0] > 0).astype(int)
    drawn = dataclasses.replace(problem(rng, has_labels), rows=rows, X=rows, codes=codes)
    values = rows[:, 0] + 10.0
    return dataclasses.replace(
        drawn, values=values, weights=None, y=codes if has_labels else values
    )


def worse(model, **parts):
    """The same model with other numbers in its machine."""
    machine = model.machine_
    given = {name: getattr(machine, name) for name in ("coefficients", "intercepts")}
    model.machine_ = type(machine)(machine.kernel, machine.vectors, **{**given, **parts})
    return model


def test_models_worse_than_a_constant():
    given = plain(has_labels=True)
    model = ReducedSVC(5, random_state=0).fit(given.X, given.y)
    check("ReducedSVC", {}, model, given, False)
    with pytest.raises(Defect, match="the loss of output 0 is"):
        large = worse(model, coefficients=-1e3 * np.ones(5), intercepts=1e3)
        check("ReducedSVC", {}, large, given, False)
    with pytest.raises(Defect, match="of the labels are wrong"):
        check("ReducedSVC", {}, worse(model, coefficients=np.zeros(5)), _flipped(given), False)
    with pytest.raises(Defect, match="not finite"):
        check("ReducedSVC", {}, _nan(model), given, False)


def _flipped(given):
    """Labels of which the model predicts the rare one."""
    y = np.where(np.arange(40) < 30, 0, 1)
    return dataclasses.replace(given, y=y, codes=y)


def _nan(model):
    model.decision_function = lambda X: np.full(len(X), np.nan)
    return model


def test_regressors_and_detectors_worse_than_a_constant():
    given = plain(has_labels=False)
    model = SparseKernelRidge(3, C=1.0, random_state=0).fit(given.X, given.y)
    check("SparseKernelRidge", {"C": 1.0}, model, given, False)
    with pytest.raises(Defect, match="the loss is"):
        moved = worse(model, intercepts=model.machine_.intercepts + 2.0)
        check("SparseKernelRidge", {"C": 1.0}, moved, given, False)
    detector = SparseOneClassSVM(3, nu=0.1, random_state=0).fit(given.X)
    (name,) = DETECTORS
    check(name, {"nu": 0.1}, detector, given, False)
    with pytest.raises(Defect, match="lie outside"):
        check(name, {"nu": 0.1}, worse(detector, intercepts=-1e3), given, False)


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_of_a_plain_problem_hold(name):
    kind = "SparseKernelRidge" if name == "units of targets" else "ReducedSVC"
    given = plain(has_labels=kind == "ReducedSVC")
    parameters = {"n_vectors": 3, "C": 2.0, "random_state": 0}
    fitted = Fit(kind, parameters, given, fit(kind, parameters, given.X, given.y))
    # C has to be compiled: the draw takes another way out
    assert PROPERTIES[name](fitted, np.random.default_rng(0)) in (True, name != "exports")


# Each of a machine that was changed after the fit, which only a second way to it shows.
SEEN = ["equal refits", "row order", "units of features", "label names", "weights as cost"]


@pytest.mark.parametrize("name", SEEN)
def test_properties_that_fail_are_seen(name, monkeypatch):
    given, parameters = plain(has_labels=True), {"n_vectors": 3, "random_state": 0}
    fitted = Fit("ReducedSVC", parameters, given, fit("ReducedSVC", parameters, given.X, given.y))
    rng = np.random.default_rng(1)

    class Unsteady(ReducedSVC):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.objective_ = rng.random() * 1e6
            return worse(self, intercepts=rng.random())

    monkeypatch.setitem(LEARNERS, "ReducedSVC", Unsteady)
    with pytest.raises(Defect, match="decision_function differs by"):
        PROPERTIES[name](fitted, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("error", "is_clear"),
    [
        (ValueError("n_vectors must be at least 1"), True),
        (ValueError("slice step cannot be zero"), False),
        (ZeroDivisionError("y is zero"), False),
        (np.linalg.LinAlgError("X is singular"), False),
    ],
)
def test_errors_that_say_nothing_are_seen(error, is_clear, monkeypatch):
    def failing(self, X, y, sample_weight=None):
        raise error

    monkeypatch.setattr(fits, "_SOURCES", (__file__,))
    monkeypatch.setattr(LEARNERS["ReducedSVC"], "fit", failing)
    outcome = fits.case(GROUPS.index("ReducedSVC"))
    assert outcome.is_defect != is_clear
    assert is_clear or outcome.result == "an unclear error"


def test_warnings_of_other_packages_are_seen(monkeypatch):
    fitted = LEARNERS["ReducedSVC"].fit

    def overflowing(self, X, y, sample_weight=None):
        warnings.warn("overflow encountered", RuntimeWarning, stacklevel=2)
        return fitted(self, X, y, sample_weight)

    monkeypatch.setattr(LEARNERS["ReducedSVC"], "fit", overflowing)
    assert fits.case(GROUPS.index("ReducedSVC")).result == "a warning of another package"


def test_cases_follow_from_their_numbers_and_all_estimators_are_drawn():
    assert {fits.group_of(number) for number in range(len(GROUPS))} == set(GROUPS)
    for number in (3, 40, 41):
        drawn = [
            (given.ugly, draw(fits.group_of(number), rng, True, given))
            for rng in (np.random.default_rng(number), np.random.default_rng(number))
            for given in [problem(rng, True)]
        ]
        assert repr(drawn[0]) == repr(drawn[1])
