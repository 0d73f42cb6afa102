"""What holds for all that `kernelet.learners` exports, and for the learner of CONTRIBUTING.md.

New code is tested by being exported.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils import get_tags

import contributed
from estimator_checks import MADE_BY_FUNCTIONS, VARIANTS, classes, instances
from kernelet import learners
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.progress import HAS_CALLBACKS, Loop
from kernelet.learners.compression import compressed_models as compressed
from kernelet.learners.direct.reduced_set import learn_reduced_set
from kernelet.learners.direct.search.learn import learn_direct
from kernelet.learners.direct.search.vector_exchange import best_rows, removals
from kernelet.machine import CalibratedMachine, SigmoidCalibration, TemperatureCalibration

IRIS, SPECIES = load_iris(return_X_y=True)
FRAME = pd.DataFrame(IRIS, columns=list("wxyz"))
ESTIMATORS = instances()
CLASSES = sorted(
    {type(estimator) for estimator in ESTIMATORS.values()}, key=lambda kind: kind.__name__
)

# How many checks scikit-learn has for a classifier and for a transformer, by its version; a
# regressor has four fewer than a classifier.
N_CHECKS = {(1, 6): (62, 54), (1, 7): (63, 55), (1, 8): (63, 55), (1, 9): (64, 56)}


def run_checks(*labels):
    """What came of scikit-learn's checks on some of our estimators."""
    program = Path(__file__).parents[1] / "estimator_checks.py"
    done = subprocess.run(
        [sys.executable, str(program), *labels],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_all_passed(checks, estimator):
    """And that there are as many as scikit-learn has."""
    assert [check for check in checks if check["status"] != "passed"] == []
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    wanted = N_CHECKS.get(version, N_CHECKS[max(N_CHECKS)])
    n_checks = wanted[0] if is_classifier(estimator) else wanted[1]
    if is_regressor(estimator):
        n_checks = wanted[0] - 4
    if is_outlier_detector(estimator):
        n_checks = wanted[1] - 1
    # one is for estimators that need labels
    n_checks -= not get_tags(estimator).target_tags.required
    n_checks += get_tags(estimator).target_tags.multi_output
    if version in N_CHECKS:
        assert len(checks) == n_checks
    else:
        assert len(checks) >= n_checks


# The first estimator that people try, and the first that they add.
FIRST = ["SparseSVC()", *(f"{name}()" for name in contributed.LEARNERS)]


@pytest.mark.parametrize("label", FIRST)
def test_scikit_learn_checks_of_the_first_estimators(label):
    results = run_checks(label)
    assert_all_passed(results[label], ESTIMATORS[label])


@pytest.mark.slow
class TestScikitLearnChecks:
    @pytest.fixture(scope="class")
    @staticmethod
    def results():
        # two processes: some estimators take far longer than others, and so each has every second
        labels = list(ESTIMATORS)
        with ThreadPoolExecutor(2) as both:
            first, second = both.map(lambda half: run_checks(*half), (labels[::2], labels[1::2]))
        return first | second

    @pytest.mark.parametrize("label", ESTIMATORS)
    def test_all_pass_and_none_is_left_out(self, results, label):
        assert_all_passed(results[label], ESTIMATORS[label])

    def test_every_estimator_is_there(self, results):
        exported = {*classes()}
        assert exported > {*contributed.LEARNERS}
        assert {kind.__name__ for kind in CLASSES} == exported - MADE_BY_FUNCTIONS
        assert set(results) == set(ESTIMATORS)
        assert exported >= set(VARIANTS)
        # each with its defaults
        assert {f"{name}()" for name in exported - MADE_BY_FUNCTIONS} <= set(results)


MAKERS = {
    **{
        label: lambda estimator=estimator: clone(estimator).fit(FRAME, SPECIES)
        for label, estimator in ESTIMATORS.items()
    },
    "calibrated": lambda: learners.calibrate(model_of("ReducedSVC()"), FRAME, SPECIES),
    "compressed, pairs": lambda: learners.compress(SVC().fit(FRAME, SPECIES), 5),
    "compressed, two classes": lambda: learners.compress(SVC().fit(FRAME, SPECIES > 0), 5),
    "compressed regression": lambda: learners.compress(SVR().fit(FRAME, IRIS[:, 0]), 5),
    "compressed features": lambda: learners.compress(model_of("KernelSubspace()"), 5),
    "compressed outliers": lambda: learners.compress(OneClassSVM().fit(FRAME), 5),
}


@cache
def model_of(label):
    """A fitted model of each kind that there is, on rows with names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKERS[label]()


def sections(documentation):
    """Headings of a numpydoc text and what stands below each."""
    parts = re.split(r"\n([A-Z][\w ]+)\n-{3,}\n", inspect.cleandoc(documentation))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(section):
    """name -> type line of a Parameters or Attributes section."""
    found = {}
    for line in section.splitlines():
        match = re.match(r"(\S[^:]*?) : (.*)", line)
        if match:
            for name in match.group(1).split(", "):
                found[name] = match.group(2)
    return found


def documented(kind):
    """Attributes that the docstrings of a class and of its bases name."""
    names = set()
    for base in kind.__mro__:
        names |= set(entries(sections(base.__doc__ or "").get("Attributes", "")))
    return names


class TestFittedAttributes:
    @pytest.mark.parametrize("label", MAKERS)
    def test_all_are_documented_and_all_documented_are_there(self, label):
        model = model_of(label)
        kind = type(model)
        own = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
        own |= {
            name
            for name, value in inspect.getmembers(kind)
            if isinstance(value, property) and name.endswith("_") and not name.startswith("_")
        }
        assert own >= {"machine_", "n_features_in_", "feature_names_in_"}
        assert own - documented(kind) == set()
        assert [name for name in documented(kind) if not hasattr(model, name)] == []

    @pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
    def test_an_estimator_documents_its_own(self, kind):
        """A reader of one class need not look up its bases."""
        names = set(entries(sections(kind.__doc__)["Attributes"]))
        assert names >= {"machine_", "n_features_in_"}
        if get_tags(kind()).target_tags.required:
            assert names >= {"objective_", "n_iter_"}
            assert ("classes_" in names) != is_regressor(kind())

    @pytest.mark.parametrize("label", MAKERS)
    def test_classifiers_have_the_common_ones(self, label):
        model = model_of(label)
        if not isinstance(model, KernelClassifier):
            assert model.machine_.n_vectors >= 1
            return
        assert model.n_vectors_ == model.machine_.n_vectors == len(model.vectors_)
        assert isinstance(model.n_vectors_, int)
        assert isinstance(model.n_iter_, int)
        assert model.n_iter_ >= 1
        assert isinstance(model.objective_, float)
        assert list(model.classes_) == [0, 1, 2]
        assert model.vectors_.shape[1] == model.n_features_in_ == 4
        assert list(model.feature_names_in_) == list("wxyz")

    @pytest.mark.parametrize("label", MAKERS)
    def test_vectors_cannot_be_written_to(self, label):
        assert not model_of(label).machine_.vectors.flags.writeable


FUNCTIONS = [
    learners.calibrate,
    learners.compress,
    learners.register_loss,
    learn_reduced_set,
    learn_direct,
    best_rows,
    removals,
]
PUBLIC = {
    **{kind.__name__: kind for kind in CLASSES},
    **{function.__name__: function for function in FUNCTIONS},
    **{
        f"{kind.__name__}.{name}": method
        for kind in [*CLASSES, learners.CalibratedClassifier, *compressed.READINGS.values()]
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and method.__module__.startswith("kernelet")
    },
    **{
        kind.__name__: kind
        for kind in (
            CalibratedMachine,
            SigmoidCalibration,
            TemperatureCalibration,
            learners.MarginLoss,
            learners.SmoothLoss,
        )
    },
}


class TestDocstrings:
    def test_all_that_is_exported_is_looked_at(self):
        missing = set(learners.__all__) - set(PUBLIC) - MADE_BY_FUNCTIONS
        assert missing == set()

    @pytest.mark.parametrize("name", PUBLIC)
    def test_there_is_one(self, name):
        assert inspect.getdoc(PUBLIC[name])

    @pytest.mark.parametrize("name", PUBLIC)
    def test_parameters_and_defaults_equal_the_signature(self, name):
        thing = PUBLIC[name]
        found = sections(inspect.getdoc(thing))
        if "Parameters" not in found:
            # a line is enough where the arguments are those of every estimator or of no user
            arguments = [p for p in inspect.signature(thing).parameters if p != "self"]
            assert arguments in (["X"], []) or name.endswith((".fit", "best_rows", "removals"))
            return
        documented = entries(found["Parameters"])
        signature = {
            parameter.name: parameter
            for parameter in inspect.signature(thing).parameters.values()
            if parameter.name != "self"
        }
        assert list(documented) == list(signature)
        for parameter_name, line in documented.items():
            default = signature[parameter_name].default
            stated = re.search(r"default=(.*)$", line)
            if default is inspect.Parameter.empty:
                assert stated is None, parameter_name
            else:
                assert stated is not None, parameter_name
                assert ast.literal_eval(stated.group(1)) == default, parameter_name

    @pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
    def test_every_parameter_has_a_default_and_all_but_one_are_named(self, kind):
        parameters = list(inspect.signature(kind).parameters.values())
        assert all(p.default is not inspect.Parameter.empty for p in parameters)
        assert all(p.kind is p.KEYWORD_ONLY for p in parameters[1:])

    @pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
    def test_documented_choices_are_those_that_are_accepted(self, kind):
        """{"a", "b"} in a parameter's line: each is accepted, and a word that is not is refused."""
        documented = entries(sections(inspect.getdoc(kind))["Parameters"])
        few = {"n_vectors": 3, "n_components": 2, "random_state": 0}
        base = {name: value for name, value in few.items() if name in documented}
        for name, line in documented.items():
            braces = re.match(r"\{([^}]*)\}", line)
            if braces is None:
                continue
            for choice in ast.literal_eval(f"[{braces.group(1)}]"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    kind(**{**base, name: choice}).fit(IRIS[::3], SPECIES[::3])
            with pytest.raises(ValueError, match="nonsense"):
                kind(**{**base, name: "nonsense"}).fit(IRIS, SPECIES)


@pytest.mark.parametrize("label", ESTIMATORS)
def test_fit_leaves_the_parameters_and_the_data_alone(label):
    estimator = clone(ESTIMATORS[label])
    before = estimator.get_params()
    rows, labels, weights = IRIS.copy(), SPECIES.copy(), np.ones(150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(rows, labels, sample_weight=weights)
    after = estimator.get_params()
    assert all(after[name] is before[name] for name in before)
    np.testing.assert_array_equal(rows, IRIS)
    np.testing.assert_array_equal(labels, SPECIES)
    np.testing.assert_array_equal(weights, 1.0)


class Recorder:
    """A callback of scikit-learn, where there are any (1.9 and newer)."""

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.events.append(f"end {context.task_name}")


@pytest.mark.parametrize("label", ESTIMATORS)
def test_callbacks_see_the_fit_begin_and_end(label):
    estimator, recorder = clone(ESTIMATORS[label]), Recorder()
    assert hasattr(estimator, "set_callbacks") == HAS_CALLBACKS
    if HAS_CALLBACKS:
        estimator.set_callbacks(recorder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(IRIS, SPECIES)
    outer = [event for event in recorder.events if "step" not in event]
    assert outer == (["setup", "begin fit", "end fit", "teardown"] if HAS_CALLBACKS else [])


@pytest.mark.parametrize("label", ESTIMATORS)
def test_ctrl_c_after_a_step_leaves_a_model(label, monkeypatch):
    """Pressed while the second step is reported, if there are two."""
    estimator, report, steps = clone(ESTIMATORS[label]), Loop.report, []

    def pressed(self, step, *arguments, **options):
        steps.append(step)
        if len(steps) == 2:
            raise KeyboardInterrupt
        return report(self, step, *arguments, **options)

    monkeypatch.setattr(Loop, "report", pressed)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        estimator.fit(IRIS, SPECIES)
    if len(steps) >= 2:
        assert re.search("interrupted|Ctrl-C", " ".join(str(one.message) for one in heard))
    assert np.isfinite(estimator.machine_.decision_function(IRIS)).all()
    assert not vars(estimator).keys() & {"_last_step"}


@pytest.mark.skipif(not HAS_CALLBACKS, reason="this version of scikit-learn has no callbacks")
@pytest.mark.parametrize("kind", contributed.LEARNERS.values(), ids=contributed.LEARNERS)
def test_a_contributed_learner_shows_its_steps_and_stops_when_asked(kind):
    class Stop(Recorder):
        def on_fit_task_end(self, estimator, context):
            super().on_fit_task_end(estimator, context)
            return context.task_name == "step" and self.events.count("end step") == 3

    stop = Stop()
    with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
        model = kind().set_callbacks(stop).fit(IRIS, SPECIES)
    assert stop.events.count("begin step") == stop.events.count("end step") == 3 == model.n_iter_
    assert model.score(IRIS, SPECIES) > 0.9
