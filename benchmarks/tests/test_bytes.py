"""The frontier of bytes: what is counted, that integers predict, tuning, ledger and picture."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks import datasets, frontier_bytes, small
from benchmarks.datasets.splits import Split
from benchmarks.frontier_bytes_plot import OURS, published
from benchmarks.frontier_bytes_table import best, cells, render
from benchmarks.frontier_bytes_tuning import search, tuned
from benchmarks.results import Record, as_record, figures_of
from benchmarks.results_admitted import admitted
from benchmarks.small import (
    boosting,
    forest,
    linear,
    network,
    nystroem,
    protonn,
    protonn_bytes,
    tree,
)
from benchmarks.small.base import Task
from benchmarks.small.flat_trees import Columns, FlatTree
from benchmarks.small.integers import int8, layer
from kernelet.datasets import make_waveform
from kernelet.machine.storage import stored_bytes

TWO = Task(n_columns=5, n_classes=2, n_bytes=1000)
TEN = Task(n_columns=64, n_classes=10, n_bytes=2000)
CHEAP = {
    "sparse_svc_bytes": {"learn_kernel": True, "rank": None, "C": 1.0, "vector_bits": 5},
    "linear": {"loss": "logistic", "C": 1.0},
    "network": {"n_layers": 2, "standardise": True, "alpha": 0.1, "solver": "lbfgs"},
    "nystroem": {
        **{"gamma": 2.0, "C": 100.0, "jitter": 0.1},
        **{"landmarks": "k-means", "standardise": False},
    },
    "tree": {"criterion": "gini", "min_samples_leaf": 2, "ccp_alpha": 0.0},
    "forest": {"max_leaf_nodes": 8, "leaf": "share", "max_features": "sqrt", "kind": "forest"},
    "boosting": {"max_leaf_nodes": 4, "learning_rate": 0.3, "l2_regularization": 1.0},
    "protonn": {"rank": 4, "density": 0.25, "scale": 1.5, "value_bytes": 1},
}


def blobs(n: int = 240, n_classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centres = np.random.default_rng(7).normal(size=(n_classes, 5)) * 2.0
    return centres[y] + rng.normal(size=(n, 5)), y + 10


# ---------------------------------------------------------------- what is counted


def test_linear_bytes_by_hand() -> None:
    # 64 weights, a bias of 4 and a scale of 4 bytes for each of ten classes; ten labels
    assert linear.linear_bytes(TEN) == 10 * (64 + 4 + 4) + 10
    assert linear.linear_bytes(TWO) == 5 + 4 + 4 + 2


def test_network_bytes_by_hand() -> None:
    # 64-20-10: weights, biases and scales, labels
    assert network.network_bytes((20,), TEN) == 64 * 20 + 20 * 10 + 8 * (20 + 10) + 10
    assert network.network_bytes((6, 4), TWO) == 5 * 6 + 6 * 4 + 4 * 1 + 8 * (6 + 4 + 1) + 2
    for n_layers in (1, 2):
        (width, *_) = network.widest(n_layers, TEN)
        fits, more = ((width + extra,) * n_layers for extra in (0, 1))
        assert network.network_bytes(fits, TEN) <= 2000 < network.network_bytes(more, TEN)
    with pytest.raises(small.DoesNotFit, match="not even one unit"):
        network.widest(1, Task(784, 10, 500))


def tree_of(n_splits: int) -> FlatTree:
    """A chain: every left child is a leaf."""
    number = np.arange(n_splits)
    right = np.where(number + 1 < n_splits, number + 1, -n_splits - 1)
    return FlatTree(0 * number, number, -1 - number, right, np.zeros((n_splits + 1, 3)))


@pytest.mark.parametrize(
    ("n_splits", "n_columns", "expected"),
    [(100, 64, 5), (127, 256, 5), (128, 64, 7), (100, 784, 6), (128, 784, 8)],
)
def test_bytes_of_a_split_by_hand(n_splits: int, n_columns: int, expected: int) -> None:
    from benchmarks.small.flat_trees import splits_bytes

    one = tree_of(n_splits)
    assert splits_bytes([one], n_columns) == n_splits * expected
    assert splits_bytes([one, one], n_columns) == 2 * (n_splits * expected + 2)


def test_bytes_of_forests_and_boosted_trees_by_hand() -> None:
    trees = [tree_of(7), tree_of(3)]
    splits = 5 * 10 + 2 * 2
    assert forest.forest_bytes(trees, TEN, "vote") == splits + 10
    assert forest.forest_bytes(trees, TEN, "share") == splits + 10 * (8 + 4) + 10
    assert forest.forest_bytes(trees, TWO, "share") == splits + (8 + 4) + 2
    assert boosting.tree_bytes(3, 64) == 2 + 3 * 7
    assert boosting.overhead_bytes(TEN) == 10 + 4 * 10 + 4


def test_protonn_bytes_by_hand() -> None:
    # as the paper counts: W 10 x 64 dense, B 20 x 10, Z 20 x 10 in four bytes; gamma, labels
    assert protonn_bytes.protonn_bytes(10, 20, 640, TEN, 4) == 4 * (640 + 200 + 200) + 4 + 10
    # a fifth of W: value and index, four bytes each
    assert protonn_bytes.protonn_bytes(10, 20, 128, TEN, 4) == 8 * 128 + 4 * 400 + 4 + 10
    # in 8 bits: a byte each, a scale for each of three matrices
    assert protonn_bytes.protonn_bytes(10, 20, 640, TEN, 1) == 640 + 400 + 3 * 4 + 4 + 10
    assert protonn_bytes.matrix_bytes(7840, 1000, 784, 1) == 3 * 1000 + 4


def test_nystroem_bytes_by_hand() -> None:
    # 20 landmarks of 64 columns, a coefficient for each of ten classes; a bias and a scale for each
    # of them, the unit, gamma, labels
    assert nystroem.nystroem_bytes(20, 64, TEN, False) == 20 * (64 + 10) + 10 * 8 + 8 + 10
    # three columns never vary: a bit for each column says so; power of two and centre of the others
    assert nystroem.nystroem_bytes(20, 61, TEN, True) == 20 * 71 + 10 * 8 + 8 + 10 + 8 + 3 * 61
    assert nystroem.nystroem_bytes(7, 5, TWO, False) == 7 * (5 + 1) + 8 + 8 + 2


@pytest.mark.parametrize("name", sorted(CHEAP))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_keep_the_budget(name: str, n_classes: int) -> None:
    X, y = blobs(n_classes=n_classes)
    task = Task(5, n_classes, 300)
    fitted = small.get(name).fit(X, y, task, CHEAP[name], 0)
    assert 0 < fitted.n_bytes <= 300
    assert np.mean(fitted.predict(X) == y) > 0.75
    with pytest.raises(small.DoesNotFit):
        small.get(name).fit(X, y, Task(5, n_classes, n_classes + 1), CHEAP[name], 0)


def test_ours_is_counted_as_it_is_stored() -> None:
    X, y = blobs()
    fitted = small.get(OURS).fit(X, y, Task(5, 3, 400), CHEAP[OURS], 0)
    machine = fitted.predictor.machine_  # type: ignore[attr-defined]
    assert machine.compact is not None and machine.n_vectors == fitted.size
    assert fitted.n_bytes == stored_bytes(machine, "c", n_labels=3)
    assert fitted.n_bytes > 0.8 * 400


# ---------------------------------------------------------------- integers predict


def test_int8_is_the_nearest() -> None:
    values = np.array([[1.0, -0.02], [-2.0, 0.01]])
    rounded = int8(values)
    assert rounded.codes.dtype == np.int8
    assert_array_equal(rounded.codes, [[64, -127], [-127, 64]])
    assert_allclose(rounded.values, values, atol=0.5 * rounded.scales.max())
    assert_array_equal(int8(np.zeros((2, 2))).values, 0.0)
    assert int8(values, by_column=False).scales.size == 1


def test_networks_predict_with_their_integers() -> None:
    X, y = blobs()
    fitted = small.get("network").fit(X, y, Task(5, 3, 300), CHEAP["network"], 0)
    model = fitted.predictor
    assert isinstance(model, network.Network) and len(model.layers) == 3
    for row, answer in zip(X[:30], fitted.predict(X[:30]), strict=True):
        values = row
        for i, one in enumerate(model.layers):
            codes = one.weights.codes
            assert codes.dtype == np.int8 and np.abs(codes.astype(int)).max() == 127
            sums = [
                sum(int(c) * v for c, v in zip(column, values, strict=True)) for column in codes.T
            ]
            values = (np.array(sums) + one.biases) * one.weights.scales[0]
            values = values if i == 2 else np.maximum(values, 0.0)
        assert model.classes[np.argmax(values)] == answer
    n_codes = sum(one.weights.codes.size for one in model.layers)
    n_units = sum(one.biases.size for one in model.layers)
    assert n_codes + 8 * n_units + 3 == fitted.n_bytes


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("landmarks", ["k-means", "random"])
def test_nystroem_predicts_with_its_integers(landmarks: str, standardise: bool) -> None:
    X, y = blobs()
    X = np.column_stack([X * [1.0, 1.0, 1.0, 1.0, 0.1] + 3.0, np.full(len(X), 7.0)])
    chosen = CHEAP["nystroem"] | {"landmarks": landmarks, "standardise": standardise}
    fitted = small.get("nystroem").fit(X, y, Task(6, 3, 300), chosen, 0)
    model = fitted.predictor
    assert isinstance(model, nystroem.Nystroem)
    codes, weights = model.landmarks.codes, model.layer.weights.codes
    assert codes.dtype == weights.dtype == np.int8 and codes.shape == (fitted.size, 5)
    assert_array_equal(model.landmarks.used, np.arange(5))
    units, centres = model.landmarks.units, model.landmarks.centres
    if standardise:
        # powers of two times one unit
        assert_array_equal(np.log2(units / units[0]) % 1, 0.0)
        assert centres.dtype == np.int16 and centres.any()
    else:
        assert (units == units[0]).all() and not centres.any()
    for row, answer in zip(X[:30], fitted.predict(X[:30]), strict=True):
        away = [(row[:5] - (code + centres) * units) / units for code in codes.astype(int)]
        values = [np.exp(-model.gamma * (one @ one)) for one in away]
        scores = (values @ weights + model.layer.biases) * model.layer.weights.scales[0]
        assert model.classes[np.argmax(scores)] == answer
    assert np.mean(fitted.predict(X) == y) > 0.8
    counted = codes.size + weights.size + 3 * 8 + 2 * 4 + 3 + 1 + 15 * standardise
    assert fitted.n_bytes == counted


def test_coefficients_make_good_for_the_rounding_of_others() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, size=(60, 2))
    values = np.exp(-0.5 * np.square(points[:, np.newaxis] - points[:20]).sum(axis=-1))
    weights, biases = 50.0 * rng.normal(size=(20, 3)), np.array([0.5, 0.0, -1.0])
    found = nystroem.rounded_layer(values, weights, biases)
    plain = layer(weights, biases)
    assert found.weights.codes.dtype == np.int8
    assert_array_equal(found.weights.scales, plain.weights.scales)
    exact = values @ weights + biases
    lost, lost_plain = (np.square(one(values) - exact).sum() for one in (found, plain))
    assert lost < 0.5 * lost_plain


def test_a_layer_is_rounded_in_its_units() -> None:
    found = layer(np.array([[1.27, 0.0], [-0.5, 2.54]]), np.array([0.3, -0.7]))
    assert_allclose(found.weights.scales, [[0.01, 0.02]])
    assert_array_equal(found.biases * 256, [0.3 * 25600, -0.7 * 12800])
    assert_allclose(found(np.array([[1.0, 1.0]])), [[1.07, 1.84]])


def test_a_bias_beside_tiny_weights_fits_into_32_bits() -> None:
    # a hidden unit that regularisation has switched off
    found = layer(np.array([[1e-30, 0.5], [0.0, 0.0]]), np.array([0.3, -0.7]))
    assert_allclose(found(np.array([[1.0, 1.0]])), [[0.3, -0.2]], rtol=1e-2)


def walk(tree: FlatTree, row: np.ndarray) -> int:
    at = 0
    while at >= 0:
        goes_left = int(row[tree.features[at]]) <= int(tree.thresholds[at])
        at = int(tree.left[at] if goes_left else tree.right[at])
    return -1 - at


@pytest.mark.parametrize("name", ["tree", "forest", "boosting"])
def test_trees_predict_with_their_integers(name: str) -> None:
    X, y = make_waveform(150, random_state=0)
    n_classes = len(np.unique(y))
    fitted = small.get(name).fit(X, y, Task(21, n_classes, 400), CHEAP[name], 0)
    model = fitted.predictor
    integers = model.columns(X)  # type: ignore[attr-defined]
    assert integers.dtype == np.int16
    rounds = {"tree": "tree", "forest": "trees", "boosting": "rounds"}
    trees = np.ravel(getattr(model, rounds[name])).tolist()
    for one in trees:
        assert one.features.dtype == one.thresholds.dtype == one.left.dtype == np.int16
        assert one.leaves.dtype.kind == "i"
    for row, answer in zip(integers[:40], fitted.predict(X[:40]), strict=True):
        values = [one.leaves[walk(one, row)] for one in trees]
        if name == "tree":
            code = values[0]
        elif name == "forest":
            code = np.argmax(sum(values))
        else:
            baseline = model.baseline  # type: ignore[attr-defined]
            code = np.argmax(baseline + np.reshape(values, (-1, n_classes)).sum(axis=0))
        assert model.classes[code] == answer  # type: ignore[attr-defined]


def test_boosting_that_diverges_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs()

    def largest() -> float:
        fitted = small.get("boosting").fit(X, y, Task(5, 3, 300), CHEAP["boosting"], 0)
        leaves = [one.leaves for trees in fitted.predictor.rounds for one in trees]  # type: ignore[attr-defined]
        scores = fitted.predictor.scores(X)  # type: ignore[attr-defined]
        assert np.abs(np.concatenate(leaves)).max() == boosting.LARGEST_VALUE
        return float(np.ptp(scores))

    plain = largest()
    fits = []
    fit_once = boosting.HistGradientBoostingClassifier.fit
    monkeypatch.setattr(
        boosting.HistGradientBoostingClassifier,
        "fit",
        lambda self, *rows: fits.append(self.l2_regularization) or fit_once(self, *rows),
    )
    monkeypatch.setattr(boosting, "LARGEST_LEAF", 0.3)
    assert largest() != plain
    assert len(fits) > 1 and fits[:2] == [1.0, 10.0]


def test_flat_trees_agree_with_scikit_learn() -> None:
    from sklearn.tree import DecisionTreeClassifier

    X, y = blobs()
    columns = Columns.of(X)
    assert_array_equal(columns(np.full((1, 5), 1e9)), 32767)
    fitted = small.get("tree").fit(X, y, Task(5, 3, 100), CHEAP["tree"], 0)
    n_splits = tree.most_splits(Task(5, 3, 100))
    reference = DecisionTreeClassifier(
        max_leaf_nodes=n_splits + 1, random_state=0, **CHEAP["tree"]
    ).fit(columns(X), y)
    assert_array_equal(fitted.predict(X), reference.predict(columns(X)))
    assert fitted.n_bytes == 5 * (reference.get_n_leaves() - 1) + 3


# ---------------------------------------------------------------- ProtoNN


def prototypes(seed: int = 0) -> protonn.Prototypes:
    rng = np.random.default_rng(seed)
    return protonn.Prototypes(
        rng.normal(size=(2, 5)), rng.normal(size=(4, 2)), rng.normal(size=(4, 3)), 0.6
    )


def test_scores_of_protonn_by_its_formula() -> None:
    model, X = prototypes(), np.random.default_rng(1).normal(size=(6, 5))
    for row, found in zip(X, model.scores(X), strict=True):
        expected = sum(
            z * np.exp(-(0.6**2) * np.sum((model.projection @ row - b) ** 2))
            for b, z in zip(model.prototypes, model.labels, strict=True)
        )
        assert_allclose(found, expected)


def test_the_gradient_of_protonn_by_central_differences() -> None:
    rng = np.random.default_rng(1)
    X, Y, model = rng.normal(size=(7, 5)), rng.normal(size=(7, 3)), prototypes()
    parts = [model.projection, model.prototypes, model.labels]
    loss, gradient = protonn.loss_and_gradient(model, X, Y)
    assert_allclose(loss, np.square(model.scores(X) - Y).sum() / 7)
    for part, slope in zip(parts, gradient, strict=True):
        for index in np.ndindex(part.shape):
            values = []
            for step in (1e-6, -1e-6):
                part[index] += step
                values.append(protonn.loss_and_gradient(model, X, Y)[0])
                part[index] -= step
            assert_allclose(slope[index], (values[0] - values[1]) / 2e-6, rtol=1e-5, atol=1e-8)


def test_hard_thresholding_keeps_the_largest() -> None:
    values = np.array([[3.0, -5.0, 0.1], [0.2, 4.0, -1.0]])
    kept = protonn.hard_threshold(values, 3)
    assert_array_equal(kept, [[3.0, -5.0, 0.0], [0.0, 4.0, 0.0]])
    assert protonn.hard_threshold(values, 6) is values
    rng = np.random.default_rng(0)
    for n_kept in (1, 17, 50):
        assert np.count_nonzero(protonn.hard_threshold(rng.normal(size=(10, 9)), n_kept)) == n_kept


def test_a_trained_projection_is_as_sparse_as_it_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protonn, "N_STEPS", 200)
    X, y = blobs()
    codes = y - 10
    start = protonn.initial(X, y, 4, 9, 1.5, 0)
    model = protonn.train(start, X, np.eye(3)[codes], 8, 0)
    assert np.count_nonzero(model.projection) == 8
    before, after = (
        protonn.loss_and_gradient(m, X, np.eye(3)[codes])[0]
        for m in (protonn.Prototypes(start.projection, *start_rest(start)), model)
    )
    assert after < before
    rounded = protonn_bytes.rounded(model)
    for part in (rounded.projection, rounded.prototypes, rounded.labels):
        codes = part / np.abs(part).max() * 127
        assert_allclose(codes, np.rint(codes), atol=1e-9)


def start_rest(start: protonn.Prototypes) -> tuple[np.ndarray, np.ndarray, float]:
    return start.prototypes, start.labels, start.gamma


# ---------------------------------------------------------------- tuning, ledger, picture


def test_the_search_goes_along_the_axes() -> None:
    errors = {(1, 1): 5.0, (2, 1): 3.0, (3, 1): np.inf, (2, 2): 4.0, (2, 3): 2.0}
    axes = (({"a": 1}, {"a": 2}, {"a": 3}), ({"b": 1}, {"b": 2}, {"b": 3}))
    found = search(axes, lambda p: errors[p["a"], p["b"]])
    assert found == ({"a": 2, "b": 3}, 2.0)
    with pytest.raises(small.DoesNotFit, match="no candidate fits"):
        search(axes, lambda p: np.inf)


@pytest.mark.parametrize("n_rows", [240, 4000])
def test_each_quarter_is_held_out_where_rows_are_few(n_rows: int) -> None:
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    split = Split(X, np.arange(n_rows) % 2, X, np.zeros(n_rows))
    fitted: list[np.ndarray] = []

    class Odd:
        def predict(self, rows: np.ndarray) -> np.ndarray:
            return (rows[:, 0] / 2 % 4 == 1).astype(int)  # half of the odd rows

    def fit(X: np.ndarray, y: np.ndarray, *args: object) -> small.Small:
        fitted.append(X[:, 0])
        return small.Small(Odd(), 1, 1)

    method = small.SmallMethod("odd", "", "", fit, lambda task: ())
    parameters, error = tuned(method, split, frontier_bytes.task_of(split, 1))
    assert parameters == {}
    if n_rows == 240:
        held = [np.setdiff1d(X[:, 0], kept) for kept in fitted]
        assert len(held) == 4
        assert_array_equal(np.sort(np.concatenate(held)), X[:, 0])
        assert error == 25.0
    else:
        assert len(fitted) == 1 and len(fitted[0]) == 1500


@pytest.mark.parametrize("few_rows", [False, True])
@pytest.mark.parametrize("name", small.names())
def test_methods_are_tuned_with_about_as_many_candidates(name: str, few_rows: bool) -> None:
    axes = small.get(name).axes(Task(64, 10, 8000, few_rows=few_rows))
    assert 7 <= 1 + sum(len(axis) - 1 for axis in axes) <= 12
    for axis in axes:
        assert len({tuple(alternative) for alternative in axis}) <= 2


def test_less_than_the_budget_is_tried_where_rows_are_few() -> None:
    X, y = blobs()
    whole, part = (
        small.get(OURS).fit(X, y, Task(5, 3, 1000, few_rows=True), CHEAP[OURS] | share, 0)
        for share in ({}, {"share": 0.1})
    )
    assert part.n_bytes <= 100 < whole.n_bytes <= 1000


def test_sparser_projections_are_tried_where_others_do_not_fit() -> None:
    (roomy, *_), (tight, *_) = (protonn_bytes.axes(Task(256, 10, n)) for n in (8000, 2000))
    assert {entry["density"] for entry in roomy} == {1.0, 0.25}
    assert {entry["density"] for entry in tight} == {0.25, 0.1, 0.04}


def line(method: str, budget: int, unit: int, error: float, n_bytes: int) -> Record:
    labels = {"dataset": "d", "method": method, "budget": budget, "unit": unit}
    return as_record(labels, {"error": error, "n_bytes": n_bytes})


def test_the_table_names_the_best() -> None:
    lines = [
        *(line("tree", 1, 0, 6.0, 900), line("tree", 1, 1, 8.0, 1000)),
        *(line("linear", 1, 0, 9.0, 500), line("tree", 2, 0, 5.0, 2000)),
        line(OURS, 2, 0, 4.0, 1900),
    ]
    table = cells(lines)
    assert table["tree"][1] == (7.0, 1.0, 950.0)
    # it has one size
    assert table["linear"][2] == table["linear"][1]
    assert (best(table, 1), best(table, 2)) == ("tree", OURS)
    printed = render("d", lines)
    assert "7.00 ± 1.00*" in printed and "4.00 ± 0.00*" in printed and "9.00 ± 0.00\n" in printed


def test_published_points_have_a_source() -> None:
    for name in ("usps", "letter", "mnist"):
        assert published(name)
        for point in published(name):
            assert point["source"] and 0 < point["error"] < 10 and 1000 < point["bytes"] < 1e6
    assert published("satimage") == []


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    X, y = blobs(150)
    X_test, y_test = blobs(90, seed=1)
    np.savez(tmp_path / "toy.npz", X_train=X, y_train=y, X_test=X_test, y_test=y_test)
    from benchmarks.datasets.pool import Pool, checksum

    digest = checksum(Pool(np.concatenate([X, X_test]), np.concatenate([y, y_test]), n_train=150))
    (tmp_path / "toy.toml").write_text(
        f'name = "toy"\ntitle = "toy"\nreference = ""\nsha256 = "{digest}"\n'
        "shape = { train = 150, test = 90, columns = 5, classes = 3 }\n"
        'split = { kind = "official" }\n[[source]]\nkind = "folder"\nfile = "toy.npz"\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("KERNELET_DATA", str(tmp_path))
    datasets.describe.cache_clear()
    return tmp_path


@pytest.mark.slow
def test_a_toy_frontier_is_run_once_and_drawn(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["linear", "tree", OURS]
    assert frontier_bytes.run_frontier_bytes("toy", chosen, (1, 2), folder=toy)
    with (toy / "bytes_toy.csv").open() as file:
        lines = list(csv.DictReader(file))
    # a linear machine is measured at the least budget only, every point with three seeds
    assert len(lines) == 3 * 5
    assert {(r["method"], r["budget"]) for r in lines if r["method"] == "linear"} == {
        ("linear", "1")
    }
    for record in lines:
        assert float(record["n_bytes"]) <= 1000 * int(record["budget"])
        assert record["commit"] and record["parameters"] and float(record["n_vectors"]) >= 1
    before = (toy / "bytes_toy.csv").read_bytes()
    capsys.readouterr()
    assert frontier_bytes.run_frontier_bytes("toy", chosen, (1, 2), folder=toy)
    assert capsys.readouterr().out.count("0 to run") == 2
    assert (toy / "bytes_toy.csv").read_bytes() == before
    drawn = importlib.util.find_spec("matplotlib") is not None
    assert (toy / "bytes_toy.png").is_file() == drawn
    # killed before the last seed: it is measured with the parameters that the others have
    rows = before.splitlines(keepends=True)
    (toy / "bytes_toy.csv").write_bytes(b"".join(rows[:-1]))
    tuning = "benchmarks.frontier_bytes.tuned"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, lambda *_: pytest.fail("tuned again"))
        assert frontier_bytes.run_frontier_bytes("toy", chosen, (1, 2), folder=toy)
    with (toy / "bytes_toy.csv").open() as file:
        again = list(csv.DictReader(file))
    timed = "seconds"
    assert [r | {timed: ""} for r in again] == [r | {timed: ""} for r in lines]


def test_a_budget_that_is_too_small_leaves_no_line(
    toy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(frontier_bytes, "KILOBYTE", 10)
    assert frontier_bytes.run_frontier_bytes("toy", ["network"], (1,), folder=toy)
    assert "toy network 1 kB: no candidate fits into the budget" in capsys.readouterr().out
    assert not (toy / "bytes_toy.csv").is_file() or not (toy / "bytes_toy.csv").read_text().count(
        "network"
    )


def test_a_budget_admits_what_smaller_ones_do():
    def line(budget, validation, error):
        figures = {"error": error, "validation": validation}
        return as_record({"method": "tree", "budget": budget, "unit": 0}, figures)

    lines = [line(4, 9.0, 8.0), line(1, 5.0, 6.0), line(2, 3.0, 4.0), line(0.5, 7.0, 1.0)]
    lines.append({**line(8, 1.0, 2.0), "method": "forest"})
    found = {(r["method"], r["budget"]): figures_of(r)["error"] for r in admitted(lines)}
    errors = {"0.5": 1.0, "1": 6.0, "2": 4.0, "4": 4.0, "8": 4.0}
    assert found == {("tree", b): e for b, e in errors.items()} | {("forest", "8"): 2.0}
