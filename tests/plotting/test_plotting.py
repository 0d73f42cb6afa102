"""The displays: what is drawn, by the data of the artists, and what is refused."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

matplotlib.use("Agg")
from matplotlib import pyplot as plt

import kernelet
from documents import ROOT
from kernelet import (
    BudgetSearchCV,
    FrontierDisplay,
    KernelMachine,
    MachineDisplay,
    ReducedSVC,
    SparseSVC,
    SparsityPathDisplay,
    VectorsDisplay,
    plotting,
)
from kernelet.datasets import make_ripley
from kernelet.kernels import Gaussian
from kernelet.plotting.canvas import COLOURS, axes_for
from tests.learners.test_estimators import entries, sections

X, y = make_ripley(100, random_state=0)
IRIS = load_iris()
DISPLAYS = [getattr(plotting, name) for name in plotting.__all__]


@pytest.fixture(autouse=True)
def closed_figures():
    # nothing that matplotlib warns of, such as a layout that does not fit
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module="matplotlib")
        yield
        for number in plt.get_fignums()[-1:]:
            plt.figure(number).canvas.draw()
    plt.close("all")


@pytest.fixture(scope="module")
def search():
    model = ReducedSVC(init="kmeans", random_state=0)
    return BudgetSearchCV(model, (2, 4, 16), cv=3, reference=SVC()).fit(X, y)


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestAllDisplays:
    @pytest.mark.parametrize("kind", DISPLAYS)
    def test_public_and_documented(self, kind):
        assert getattr(kernelet, kind.__name__) is kind
        methods = [
            method
            for name, method in inspect.getmembers(kind)
            if callable(method) and not name.startswith("_")
        ]
        assert kind.plot in methods and len(methods) >= 2
        for thing in (kind, *methods):
            documented = entries(sections(inspect.getdoc(thing))["Parameters"])
            parameters = inspect.signature(thing).parameters
            names = [name.lstrip("*") for name in documented]
            assert names == [name for name in parameters if name != "self"]
            for name, line in documented.items():
                default = parameters[name.lstrip("*")].default
                text = line.partition("default=")[2]
                if default is not inspect.Parameter.empty:
                    assert ast.literal_eval(text) == default, (thing, name)

    def test_without_matplotlib(self):
        code = (
            "import sys; sys.modules['matplotlib.pyplot'] = None\n"
            "from kernelet import SparsityPathDisplay\n"
            "SparsityPathDisplay.from_results({'n_vectors': [1], 'objective': [1.0]})"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "SparsityPathDisplay draws with matplotlib" in done.stderr
        assert "pip install 'kernelet[plot]'" in done.stderr

    def test_axes_that_are_given_are_used(self, search):
        _, axes = plt.subplots(2, 2)
        model = search.best_estimator_
        path = {"n_vectors": [3, 3], "objective": [2.0, 1.0]}
        shown = [
            FrontierDisplay.from_estimator(search, ax=axes[0, 0]),
            MachineDisplay.from_estimator(model, X, y, ax=axes[0, 1]),
            VectorsDisplay.from_estimator(model, ax=axes[1, 0]),
            SparsityPathDisplay.from_results(path, ax=axes[1, 1]),
        ]
        for display, ax in zip(shown, axes.flat, strict=True):
            assert display.ax_ is ax and display.figure_ is ax.figure
            assert display.plot(ax=ax) is display
        assert plt.get_fignums() == [1]
        assert axes_for(shown[0], None) is not axes[0, 0]


class TestFrontier:
    def test_of_a_search(self, search):
        display = FrontierDisplay.from_estimator(search)
        results = search.cv_results_
        assert_array_equal(display.line_.get_xdata(), [2, 4, 16])
        assert_allclose(display.line_.get_ydata(), 100 * (1 - results["mean_test_score"]))
        (bars,) = display.ax_.containers[0].lines[2]
        heights = [abs(np.diff(segment[:, 1])[0]) for segment in bars.get_segments()]
        assert_allclose(heights, 200 * results["standard_error_test_score"])
        assert_allclose(display.reference_line_.get_ydata(), 100 * (1 - search.reference_score_))
        chosen = search.best_index_
        assert_allclose(display.chosen_.get_xydata(), [display.line_.get_xydata()[chosen]])
        assert display.ax_.get_xscale() == "log"
        assert display.ax_.get_xlabel() == "vectors"
        assert display.ax_.get_ylabel() == "error (%)"
        assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["2", "4", "16"]
        svm = search.reference_results_["mean_n_vectors"]
        shown = texts(display.ax_)
        assert shown[0] == "ReducedSVC"
        assert shown[1].startswith(f"SVC: {svm:.3g} vectors, ")
        assert shown[2].startswith(f"chosen: {search.budgets_[chosen]} vectors, ")

    @pytest.mark.parametrize(
        ("x", "column", "label"),
        [
            ("bytes", "mean_bytes", "bytes"),
            ("microseconds", "mean_microseconds", "microseconds per row"),
        ],
    )
    def test_other_costs(self, search, x, column, label):
        display = FrontierDisplay.from_estimator(search, x=x)
        assert_array_equal(display.line_.get_xdata(), search.cv_results_[column])
        assert display.ax_.get_xlabel() == label
        assert_allclose(
            display.chosen_.get_xdata(), [search.cv_results_[column][search.best_index_]]
        )

    def test_a_curve_for_each_number_of_bits(self):
        model = ReducedSVC(init="kmeans", random_state=0)
        options = {"cv": 3, "target": "c", "vector_bits": (None, 4, 7), "max_bytes": 80}
        search = BudgetSearchCV(model, (2, 4, 16), **options).fit(X, y)
        results, chosen = search.cv_results_, search.best_index_
        for display in (
            FrontierDisplay.from_estimator(search, x="bytes", name="ours"),
            FrontierDisplay.from_results(results, x="bytes", chosen=chosen, name="ours"),
            FrontierDisplay.from_results(
                pd.DataFrame(results), x="bytes", chosen=chosen, name="ours"
            ),
        ):
            assert list(display.lines_) == ["ours, 4 bits", "ours, 7 bits", "ours, not rounded"]
            for number, line in enumerate(display.lines_.values()):
                assert_array_equal(line.get_xdata(), results["mean_bytes"][number::3])
                errors = 100 * (1 - results["mean_test_score"][number::3])
                assert_allclose(line.get_ydata(), errors)
            place = results["mean_bytes"][chosen], 100 * (1 - results["mean_test_score"][chosen])
            assert_allclose(display.chosen_.get_xydata(), [place])
        assert FrontierDisplay.from_results(results).chosen_ is None

    def test_of_a_model(self):
        model = make_pipeline(StandardScaler(), ReducedSVC(init="kmeans", random_state=0))
        display = FrontierDisplay.from_estimator(
            model, X, y, budgets=[8, 2], cv=2, reference=0.9, scoring="f1", name="ours"
        )
        assert_array_equal(display.line_.get_xdata(), [2, 8])
        assert_allclose(display.reference_line_.get_ydata(), 10.0)
        assert list(display.lines_) == ["ours"]
        assert display.ax_.get_ylabel() == "1 - f1 (%)"
        assert texts(display.ax_)[1] == "reference: 10.0 %"
        unfitted = BudgetSearchCV(ReducedSVC(random_state=0), (2, 3), cv=2)
        assert_array_equal(FrontierDisplay.from_estimator(unfitted, X, y).line_.get_xdata(), [2, 3])
        assert not hasattr(unfitted, "cv_results_")
        with pytest.raises(ValueError, match="X and y are needed"):
            FrontierDisplay.from_estimator(unfitted)

    def test_of_results(self, search):
        frame = pd.DataFrame(search.cv_results_)
        for results in (search.cv_results_, frame):
            display = FrontierDisplay.from_results(results, chosen=0, reference=5.0, name="mine")
            assert_array_equal(display.line_.get_xdata(), [2, 4, 16])
            assert_allclose(display.reference_line_.get_ydata(), 5.0)
            assert_allclose(display.chosen_.get_xdata(), 2)
            assert texts(display.ax_)[0] == "mine"
        display = FrontierDisplay.from_results(search.cv_results_)
        assert display.reference_line_ is None and display.chosen_ is None
        with pytest.raises(ValueError, match="columns of cv_results_"):
            FrontierDisplay.from_results({"score": [1.0]})
        with pytest.raises(ValueError, match="x must be one of 'bytes', 'microseconds', 'vectors'"):
            FrontierDisplay.from_results(search.cv_results_, x="hours")

    @pytest.mark.parametrize("name", ["sparse_svc", "SparseSVC", "compress"])
    def test_ours_is_in_front(self, name):
        methods = [name, "tree", *(f"m{number}" for number in range(9))]
        columns = ("method", "budget", "error", "n_vectors", "predict_us", "n_bytes")
        rows = [(m, b, 30.0 / b, b, 1.0, 8 * b) for m in methods for b in (2, 4)]
        table = pd.DataFrame(rows, columns=columns)
        display = FrontierDisplay.from_results(table, chosen=0)
        ours = display.lines_[name]
        others = [line for label, line in display.lines_.items() if label != name]
        assert len(others) == 10
        assert display.ax_.get_lines().index(ours) > max(map(display.ax_.get_lines().index, others))
        assert max(line.get_zorder() for line in others) < ours.get_zorder()
        assert max(line.get_linewidth() for line in others) < ours.get_linewidth()
        assert ours.get_color() not in {line.get_color() for line in others}
        assert display.chosen_.get_zorder() > ours.get_zorder()
        looks = {(line.get_color(), line.get_marker()) for line in others}
        assert len(looks) == 10
        assert texts(display.ax_)[:11] == sorted(methods) == list(display.lines_)

    def test_ours_by_name(self):
        columns = ("method", "budget", "error", "n_vectors", "predict_us", "n_bytes")
        rows = [(m, b, 30.0 / b, b, 1.0, 8 * b) for m in ("sparse_svc", "x", "y") for b in (2, 4)]
        table = pd.DataFrame(rows, columns=columns)
        for ours in ("x", ["y", "x"]):
            lines = FrontierDisplay.from_results(table, ours=ours).lines_
            widths = {name: line.get_linewidth() for name, line in lines.items()}
            thick = {name for name in lines if widths[name] > widths["sparse_svc"]}
            assert thick == set(ours)
        lines = FrontierDisplay.from_results(table, ours=[]).lines_
        assert len({line.get_linewidth() for line in lines.values()}) == 1
        with pytest.raises(ValueError, match="ours must be one of 'sparse_svc', 'x', 'y'"):
            FrontierDisplay.from_results(table, ours="z")

    def test_of_a_table(self, tmp_path):
        rows = [
            ("a", "20", 4.0, 20, 0.2, 200),
            ("a", "5", 10.0, 5, 0.1, 50),
            ("a", "5", 14.0, 5, 0.3, 50),
            ("svm", "", 3.0, 700, 9.0, 7000),
            ("tree", "", 9.0, 0, 0.01, 900),
        ]
        columns = ["method", "budget", "error", "n_vectors", "predict_us", "n_bytes"]
        frame = pd.DataFrame(rows, columns=columns)
        path = tmp_path / "frontier.csv"
        frame.to_csv(path, index=False)
        for table in (frame, path, str(path), frame.to_dict("list")):
            display = FrontierDisplay.from_results(table, reference="svm")
            # a tree has no vectors: it has no place on this axis
            assert list(display.lines_) == ["a"]
            assert_allclose(display.line_.get_xydata(), [[5, 12], [20, 4]])
            assert_allclose(display.reference_line_.get_ydata(), 3.0)
            assert_allclose(
                display.curves["a"].standard_errors, [np.std([10, 14], ddof=1) / 2**0.5, 0.0]
            )
        display = FrontierDisplay.from_results(frame, x="microseconds")
        assert_allclose(display.line_.get_xydata(), [[0.2, 12], [0.2, 4]])
        assert list(display.lines_) == ["a", "svm", "tree"]
        with pytest.raises(ValueError, match="reference must be one of 'a', 'svm'; got 'b'"):
            FrontierDisplay.from_results(frame, reference="b")

    def test_of_a_benchmark(self):
        path = ROOT / "benchmarks" / "results" / "frontier_usps.csv"
        display = FrontierDisplay.from_results(path, reference="svc_ovr", x="bytes")
        table = pd.read_csv(path)
        kmeans = table[table["method"] == "nystroem_kmeans"].groupby("budget")
        wanted = kmeans[["n_bytes", "error"]].mean().to_numpy()
        assert_allclose(display.lines_["nystroem_kmeans"].get_xydata(), wanted)


def polygons(contours):
    """Points on the lines of a contour set."""
    return np.concatenate([path.vertices for path in contours.get_paths()])


class TestMachine:
    def test_of_two_classes(self):
        model = SparseSVC(4, random_state=0).fit(X, np.where(y == 1, "yes", "no"))
        display = MachineDisplay.from_estimator(
            model, X, np.where(y == 1, "yes", "no"), grid_resolution=150
        )
        assert_allclose(model.decision_function(polygons(display.boundaries_[0])), 0, atol=0.02)
        on_margins = np.abs(model.decision_function(polygons(display.margins_[0])))
        assert_allclose(on_margins, 1.0, atol=0.02)
        assert_array_equal(display.data_[0].get_offsets(), X[y == 0])
        assert_array_equal(display.data_[1].get_offsets(), X[y == 1])
        positive = model.machine_.coefficients[:, 0] > 0
        assert_array_equal(display.vectors_[0].get_offsets(), model.vectors_[~positive])
        assert_array_equal(display.vectors_[1].get_offsets(), model.vectors_[positive])
        sizes = np.concatenate([marks.get_sizes() for marks in display.vectors_])
        weights = np.abs(model.machine_.coefficients[:, 0])
        assert_array_equal(
            np.argsort(sizes), np.argsort(np.concatenate([weights[~positive], weights[positive]]))
        )
        assert texts(display.ax_) == ["no", "yes", "4 vectors", "f = +1, -1"]
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x1", "x2")
        low, high = display.ax_.get_xlim()
        assert low < X[:, 0].min() and high > X[:, 0].max()

    def test_of_three_classes(self):
        petals = IRIS.data[:, 2:]
        frame = pd.DataFrame(petals, columns=["length", "width"])
        model = SparseSVC(5, C=10.0, random_state=0).fit(frame, IRIS.target)
        display = MachineDisplay.from_estimator(model, frame, IRIS.target)
        assert len(display.boundaries_) == len(display.margins_) == 3
        for k, (boundary, margin) in enumerate(
            zip(display.boundaries_, display.margins_, strict=True)
        ):
            scores = model.machine_.decision_function(polygons(boundary))
            others = np.delete(scores, k, axis=1).max(axis=1)
            assert_allclose(scores[:, k], others, atol=0.05)
            on_margin = model.machine_.decision_function(polygons(margin))[:, k]
            assert_allclose(on_margin, 1.0, atol=0.05)
        assert sum(len(marks.get_offsets()) for marks in display.vectors_) == 5
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")
        with pytest.warns(UserWarning, match="valid feature names"):
            bare = MachineDisplay.from_estimator(model, petals, IRIS.target)
        assert_array_equal(bare.scores, display.scores)

    def test_colours_tell_for_whom_a_vector_speaks(self):
        beta = [[2.0, -1.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 0.5, 1.0]]
        vectors = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
        machine = KernelMachine(Gaussian(1.0), vectors, beta, [0.0, 0.1, 0.0])
        display = MachineDisplay.from_estimator(machine, vectors)
        first, second, third = display.vectors_
        assert_array_equal(first.get_offsets(), vectors[:2])
        assert len(second.get_offsets()) == 0
        assert_array_equal(third.get_offsets(), vectors[2:])
        # the second is against its class: white
        own = matplotlib.colors.to_rgba(COLOURS[0])
        assert_allclose(first.get_facecolors(), [own, (1.0, 1.0, 1.0, 1.0)])
        assert display.data_ == []

    def test_of_others(self, search):
        svc = SVC(gamma=2.0).fit(X, y)
        display = MachineDisplay.from_estimator(svc, X, y)
        shown = np.concatenate([marks.get_offsets() for marks in display.vectors_])
        assert_array_equal(shown, svc.support_vectors_)
        assert_array_equal(
            display.vectors_[1].get_offsets(), svc.support_vectors_[svc.dual_coef_[0] > 0]
        )
        assert_allclose(svc.decision_function(polygons(display.boundaries_[0])), 0, atol=0.02)
        blobs, labels = make_blobs(90, random_state=0)
        many = MachineDisplay.from_estimator(SVC().fit(blobs, labels), blobs, labels)
        # the votes of pairs have no margins
        assert len(many.boundaries_) == 3 and many.margins_ == []
        assert MachineDisplay.from_estimator(search, X, y).vectors_
        scaled = make_pipeline(StandardScaler(), SparseSVC(3, random_state=0)).fit(X, y)
        behind = MachineDisplay.from_estimator(scaled, X, y)
        back = scaled[0].inverse_transform(scaled[1].vectors_)
        shown = np.concatenate([marks.get_offsets() for marks in behind.vectors_])
        assert_allclose(np.sort(shown, axis=0), np.sort(back, axis=0))

    def test_what_is_refused(self):
        model = SparseSVC(2, random_state=0).fit(IRIS.data, IRIS.target)
        with pytest.raises(ValueError, match=r"two features; X has shape \(150, 4\)"):
            MachineDisplay.from_estimator(model, IRIS.data, IRIS.target)
        flat = SparseSVC(2, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match="labels that the model does not know"):
            MachineDisplay.from_estimator(flat, X, y + 1)
        with pytest.raises(ValueError, match="LogisticRegression has no vectors"):
            MachineDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
        lost = make_pipeline(Normalizer(), SparseSVC(2, random_state=0)).fit(X, y)
        with pytest.raises(ValueError, match="no inverse_transform"):
            MachineDisplay.from_estimator(lost, X, y)
        blobs, labels = make_blobs(90, centers=4, random_state=0)
        pairs = SVC(decision_function_shape="ovo").fit(blobs, labels)
        with pytest.raises(ValueError, match="each pair of classes"):
            MachineDisplay.from_estimator(pairs, blobs, labels)


class TestVectors:
    def test_pictures(self):
        vectors = np.arange(48.0).reshape(3, 16)
        display = VectorsDisplay.from_vectors(vectors, labels=["a", "b", "c"])
        assert display.shape == (4, 4)
        mosaic = display.image_.get_array().filled(np.nan)
        # each picture is found as it is, and there is nothing else
        found = [
            mosaic[i : i + 4, j : j + 4]
            for i in range(mosaic.shape[0] - 3)
            for j in range(mosaic.shape[1] - 3)
            if np.isfinite(mosaic[i : i + 4, j : j + 4]).all()
        ]
        assert_array_equal([part.ravel() for part in found], vectors)
        assert np.isfinite(mosaic).sum() == 48
        assert [text.get_text() for text in display.texts_] == ["a", "b", "c"]

    def test_shapes(self):
        vectors = np.arange(12.0).reshape(2, 6)
        assert VectorsDisplay.from_vectors(vectors, shape=(2, 3)).shape == (2, 3)
        assert VectorsDisplay.from_vectors(vectors).shape is None
        assert VectorsDisplay.from_vectors(np.ones((2, 9)), kind="images").shape == (3, 3)
        assert VectorsDisplay.from_vectors(np.ones((2, 9))).shape is None
        assert VectorsDisplay.from_vectors(np.ones((2, 16)), kind="table").shape is None
        names = [f"f{number}" for number in range(16)]
        assert VectorsDisplay.from_vectors(np.ones((2, 16)), feature_names=names).shape is None
        for parameters, message in (
            ({"shape": (2, 2)}, "4 pixels, the vectors 6"),
            ({"kind": "images"}, "6 features make no square picture"),
            ({"kind": "film"}, "kind must be one of 'auto', 'images', 'table'"),
            ({"labels": ["a"]}, "1 names for 2 vectors"),
            ({"feature_names": ["a"]}, "1 names for 6 features"),
        ):
            with pytest.raises(ValueError, match=message):
                VectorsDisplay.from_vectors(vectors, **parameters)
        with pytest.raises(ValueError, match="at least one vector"):
            VectorsDisplay.from_vectors(np.empty((0, 4)))

    def test_those_of_a_class_together_and_the_weightiest_first(self):
        beta = [1.0, -2.0, 3.0, -4.0]
        machine = KernelMachine(Gaussian(1.0), np.arange(8.0).reshape(4, 2), beta)
        display = VectorsDisplay.from_estimator(machine)
        assert_array_equal(display.vectors, [[6, 7], [2, 3], [4, 5], [0, 1]])
        assert display.labels == ["0  (4)", "0  (2)", "1  (3)", "1  (1)"]
        fewer = VectorsDisplay.from_estimator(machine, max_vectors=2)
        assert fewer.labels == ["0  (4)", "1  (3)"]

    def test_a_table_in_the_units_of_the_data(self):
        wine = load_wine(as_frame=True)
        model = make_pipeline(StandardScaler(), SparseSVC(4, random_state=0))
        model.fit(wine.data, wine.target)
        display = VectorsDisplay.from_estimator(model)
        assert_allclose(
            np.sort(display.vectors, axis=0),
            np.sort(model[0].inverse_transform(model[1].vectors_), axis=0),
        )
        ax = display.ax_
        assert [tick.get_text() for tick in ax.get_xticklabels()] == list(wine.data.columns)
        assert [tick.get_text() for tick in ax.get_yticklabels()] == display.labels
        assert len(display.texts_) == 4 * 13
        shown = np.array([float(text.get_text()) for text in display.texts_]).reshape(4, 13)
        assert_allclose(shown, display.vectors, rtol=6e-3)
        colours = display.image_.get_array()
        assert_allclose(colours.mean(axis=0), 0.0, atol=1e-12)
        assert_allclose(colours.std(axis=0), 1.0)

    def test_a_long_table_has_colours_only(self):
        display = VectorsDisplay.from_vectors(np.eye(21, 10))
        assert display.texts_ == []
        assert [tick.get_text() for tick in display.ax_.get_xticklabels()][:2] == ["x1", "x2"]


class TestSparsityPath:
    def test_a_history(self):
        model = SparseSVC(4, random_state=0).fit(X, y)
        display = SparsityPathDisplay.from_estimator(model)
        assert_array_equal(display.lines_[0].get_ydata(), model.history_[0])
        assert_array_equal(display.lines_[0].get_xdata(), np.arange(len(model.history_[0])))
        assert display.vectors_ax_ is None and display.vectors_lines_ == []
        assert display.ax_.get_title() == "4 vectors"
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("step", "objective")
        assert display.ax_.get_yscale() == "log"

    def test_a_history_for_each_class(self):
        model = SparseSVC(2, vectors="per_class", random_state=0).fit(IRIS.data, IRIS.target)
        display = SparsityPathDisplay.from_estimator(make_pipeline(model))
        assert len(display.lines_) == 3
        assert texts(display.ax_) == ["0", "1", "2"]
        assert display.ax_.get_title() == "6 vectors"

    def test_models(self):
        models = SparseSVC(random_state=0).fit_path(X, y, [1, 2, 4])
        display = SparsityPathDisplay.from_results(models)
        assert_array_equal(display.lines_[0].get_ydata(), [m.objective_ for m in models])
        assert_array_equal(display.vectors_lines_[0].get_xydata(), [[1, 1], [2, 2], [3, 4]])
        assert display.vectors_ax_.get_xlabel() == "model"

    def test_numbers(self):
        n_vectors, objective = [9, 5, 5, 2], [-1.0, -2.0, -2.5, -2.6]
        pairs = np.column_stack([n_vectors, objective])
        structured = np.array(
            list(zip(n_vectors, objective, strict=True)),
            dtype=[("n_vectors", int), ("objective", float)],
        )
        as_dict = {"n_vectors": n_vectors, "objective": objective}
        for results in (pairs, structured, as_dict, [pairs], (pairs, structured, as_dict)):
            display = SparsityPathDisplay.from_results(results, step_name="linear program")
            for line, vectors in zip(display.lines_, display.vectors_lines_, strict=True):
                assert_array_equal(line.get_ydata(), objective)
                assert_array_equal(vectors.get_ydata(), n_vectors)
            assert display.ax_.get_yscale() == "linear"
            assert display.vectors_ax_.get_xlabel() == "linear program"
            assert display.ax_ is not display.bounding_ax_
        assert len(display.lines_) == 3

    def test_a_path_of_an_estimator(self):
        model = SparseSVC(2, random_state=0).fit(X, y)
        model.sparsity_path_ = [np.array([[7.0, 2.0], [3.0, 1.5]])]
        display = SparsityPathDisplay.from_estimator(model)
        assert_array_equal(display.vectors_lines_[0].get_ydata(), [7, 3])

    @pytest.mark.parametrize(
        ("results", "message"),
        [
            ({"n_vectors": [1, 2], "objective": [1.0]}, "the same length"),
            ({"n_vectors": [], "objective": []}, "no steps"),
            (np.ones(3), "a path must have n_vectors and objective"),
            ([], "a path must have"),
            ("history", "got str"),
        ],
    )
    def test_what_is_refused(self, results, message):
        with pytest.raises(ValueError, match=message):
            SparsityPathDisplay.from_results(results)

    def test_models_without_a_path(self):
        with pytest.raises(ValueError, match="SVC has neither sparsity_path_ nor history_"):
            SparsityPathDisplay.from_estimator(SVC().fit(X, y))
