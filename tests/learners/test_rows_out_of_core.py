"""Models of rows in memory, in files, in chunks and on two workers: the same answers."""

from __future__ import annotations

import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import kernelet
from export_models import flowers
from kernelet import (
    CoreVectorSVC,
    KernelSubspace,
    MaxMarginDiscriminantAnalysis,
    SubspaceLPSVC,
)
from kernelet.datasets import make_twonorm
from kernelet.learners.base import out_of_core
from kernelet.rows import Chunks, LabelledBlocks, opening
from kernelet.rows.batches import BatchPieces

LENGTH = 400
ROWS, LABELS = make_twonorm(1500, random_state=0)
TEST, TRUTH = make_twonorm(10_000, random_state=1)
NAMES = np.array(["down", "up"])[LABELS]
WEIGHTS = np.random.default_rng(0).integers(0, 3, 1500).astype(float)
PARTS = [slice(start, start + LENGTH) for start in range(0, 1500, LENGTH)]
MODELS = {
    "CoreVectorSVC": CoreVectorSVC(tol=5e-5, random_state=0),
    "MaxMarginDiscriminantAnalysis": MaxMarginDiscriminantAnalysis(2, tol=5e-5, random_state=0),
    "KernelSubspace": KernelSubspace(100, n_landmarks=300, random_state=0),
    "SubspaceLPSVC": SubspaceLPSVC(30, landmarks=ROWS[:200], random_state=0),
}
WITH_WEIGHTS = ("CoreVectorSVC", "SubspaceLPSVC")
CORE_SETS = ("CoreVectorSVC", "MaxMarginDiscriminantAnalysis")
each_model = pytest.mark.parametrize("name", list(MODELS))


@pytest.fixture(scope="module")
def client():
    """Two workers, started once."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def in_file(tmp_path, monkeypatch):
    """A function from an array to the same rows in a file, in pieces of a given length."""
    monkeypatch.setattr(opening, "_PIECE", LENGTH * 20)

    def mapped(array):
        np.save(tmp_path / "rows.npy", array)
        return np.load(tmp_path / "rows.npy", mmap_mode="r")

    return mapped


def chunks(*columns):
    return [Chunks.of([column[part] for part in PARTS]) for column in columns]


def on_dask(*columns):
    return [da.from_array(column, chunks=(LENGTH, *column.shape[1:])) for column in columns]


def outputs(model, rows):
    """Scores or features."""
    return model.decision_function(rows) if hasattr(model, "predict") else model.transform(rows)


def error(model):
    """Of the model, or of a linear one on its features, as a share."""
    if hasattr(model, "predict"):
        return np.mean(model.predict(TEST) != TRUTH)
    linear = LogisticRegression(C=10.0).fit(model.transform(ROWS), LABELS)
    return np.mean(linear.predict(model.transform(TEST)) != TRUTH)


@pytest.mark.slow
@each_model
def test_the_same_answer_everywhere(name, in_file, client):
    model = MODELS[name]
    weights = WEIGHTS if name in WITH_WEIGHTS else None
    columns = [ROWS, LABELS] if weights is None else [ROWS, LABELS, weights]
    near = clone(model).fit(*columns)
    far = {
        "file": clone(model).fit(in_file(ROWS), *columns[1:]),
        "chunks": clone(model).fit(*chunks(*columns)),
        "threads": clone(model).fit(*on_dask(*columns)),
    }
    with client.as_current():
        far["workers"] = clone(model).fit(*on_dask(*columns))
        if name == "CoreVectorSVC":
            far["labels here"] = clone(model).fit(*on_dask(ROWS), *columns[1:])
    for other in far.values():
        assert other.machine_ == far["file"].machine_
        assert other.n_features_in_ == 20
    other = far["file"]
    assert_allclose(other.machine_.kernel.gamma, near.machine_.kernel.gamma, rtol=1e-10)
    assert abs(error(other) - error(near)) <= 0.002
    if name == "KernelSubspace":
        # how much of the rows is in the subspace
        kept = [np.mean(np.sum(m.transform(TEST) ** 2, axis=1)) for m in (near, other)]
        assert_allclose(*kept, rtol=0.01)
    else:
        assert_allclose(other.objective_, near.objective_, rtol=1e-4)
    if name in CORE_SETS:
        assert other.reach_ <= 1.001


@pytest.mark.slow
@each_model
def test_names_texts_and_weights_of_nothing(name, client):
    """Frames keep their names, partitions may be empty, and rows of weight zero do not count."""
    model = clone(MODELS[name])
    if name in CORE_SETS:
        model.set_params(tol=None, eps=1e-2)
    frame = pd.DataFrame(ROWS, columns=[f"c{k}" for k in range(20)])
    table = dd.from_pandas(frame.assign(label=NAMES, weight=WEIGHTS), npartitions=4)
    table = dd.concat([table[table.c0 > 100.0], table])
    inputs = table.drop(columns=["label", "weight"])
    with client.as_current():
        far = clone(model).fit(inputs, table.label, table.weight)
    assert list(far.feature_names_in_) == list(frame.columns)
    assert outputs(far, inputs).ndim == (1 if hasattr(far, "predict") else 2)
    kept = WEIGHTS > 0
    parts = np.flatnonzero(np.diff(np.arange(1500)[kept] // 375)) + 1
    alone = clone(model).fit(*(Chunks.of(np.split(c[kept], parts)) for c in (ROWS, NAMES, WEIGHTS)))
    assert_allclose(outputs(far, frame), outputs(alone, ROWS), atol=1e-6)
    if name != "KernelSubspace":
        assert_array_equal(far.classes_, ["down", "up"])
    if name in CORE_SETS:
        assert far.reach_ <= 1.01


@pytest.mark.parametrize("kind", [CoreVectorSVC, MaxMarginDiscriminantAnalysis])
def test_many_classes_sparse_rows_and_single_precision(kind, in_file):
    X, y = flowers()
    model = kind(random_state=0, class_weight={0: 2.0})
    near = clone(model).fit(X, y)
    csr = Chunks.of([sparse.csr_array(X[k::2]) for k in range(2)])
    single = Chunks.of([X[k::2].astype(np.float32) for k in range(2)])
    for rows in (csr, single):
        far = clone(model).fit(rows, Chunks.of([y[k::2] for k in range(2)]))
        assert_array_equal(far.classes_, near.classes_)
        assert far.reach_ <= 1.001
        assert_allclose(far.radii_, near.radii_, rtol=2e-3)
        assert far.machine_.dtype == np.float64


def test_a_class_of_weight_zero():
    X, y = flowers()
    model = CoreVectorSVC(random_state=0, class_weight={1: 0.0})
    far = clone(model).fit(*(Chunks.of(np.array_split(column, 3)) for column in (X, y)))
    assert_array_equal(far.classes_, [0, 1, 2])
    assert 1 not in far.predict(X)
    assert_allclose(far.radii_, model.fit(X, y).radii_, rtol=2e-3)


def test_a_kernel_without_a_constant_diagonal():
    near = CoreVectorSVC(kernel="linear", tol=1e-5).fit(ROWS, LABELS)
    far = CoreVectorSVC(kernel="linear", tol=1e-5).fit(*chunks(ROWS, LABELS))
    assert_allclose(far.objective_, near.objective_, rtol=2e-5)
    assert_allclose(far.radii_, near.radii_, rtol=1e-5)


@pytest.mark.slow
def test_ctrl_c_leaves_a_model_and_a_cluster(client, monkeypatch):
    from kernelet.solvers.enclosing_ball.labelled_rows import OutOfCoreLabelledRows

    def interrupted(self, function, name):
        raise KeyboardInterrupt

    monkeypatch.setattr(OutOfCoreLabelledRows, "total", interrupted)
    with (
        client.as_current(),
        pytest.warns(ConvergenceWarning, match="interrupted"),
    ):
        model = CoreVectorSVC(random_state=0).fit(*on_dask(ROWS, LABELS))
    assert model.interrupted_
    assert error(model) < 0.1
    assert client.submit(sum, [1, 2]).result() == 3


class TestSubspaceLP:
    @pytest.mark.parametrize("norm", [1, "inf"])
    def test_many_classes(self, norm):
        X, y = flowers()
        model = SubspaceLPSVC(10, landmarks=X[:50], norm=norm, class_weight="balanced")
        near = clone(model).fit(X, y)
        far = clone(model).fit(*(Chunks.of(np.array_split(column, 3)) for column in (X, y)))
        assert_allclose(far.objective_, near.objective_, rtol=1e-6)
        assert far.gap_ <= 1e-6
        assert far.weights_.shape == (10, 3)
        assert np.mean(far.predict(X) == near.predict(X)) > 0.98
        assert set(far.seconds_) == {"eigenvectors", "linear_programs", "compression"}

    def test_fewer_vectors(self):
        model = SubspaceLPSVC(20, n_landmarks=100, n_vectors=10, random_state=0)
        model.fit(*chunks(ROWS, LABELS))
        assert model.n_vectors_ == 10
        assert model.subspace_machine_.n_vectors == 100

    def test_ctrl_c_leaves_a_model(self, monkeypatch):
        def interrupted(self, function, name, single=False):
            raise KeyboardInterrupt

        monkeypatch.setattr(LabelledBlocks, "total", interrupted)
        model = SubspaceLPSVC(20, n_landmarks=100, random_state=0)
        with pytest.warns(ConvergenceWarning, match="Ctrl-C"):
            model.fit(*chunks(ROWS, LABELS))
        assert model.interrupted_
        assert error(model) < 0.1

    def test_what_needs_all_rows_is_named(self, in_file, monkeypatch):
        X, y = flowers()
        parts = [Chunks.of(np.array_split(column, 3)) for column in (X, y)]
        with pytest.raises(ValueError, match="strategy='direct' needs all rows in memory"):
            SubspaceLPSVC(5, strategy="direct").fit(*parts)
        with pytest.raises(ValueError, match="norm=None needs all rows in memory"):
            SubspaceLPSVC(5, norm=None).fit(*parts)
        # which a file can be brought into
        for options in ({"strategy": "direct"}, {"norm": None}):
            model = SubspaceLPSVC(5, n_landmarks=50, random_state=0, **options)
            assert clone(model).fit(in_file(X), y).machine_ == model.fit(X, y).machine_
        monkeypatch.setattr(out_of_core, "SAMPLE_ROWS", 100)
        monkeypatch.setattr(out_of_core.out_of_core_data, "__defaults__", (None, None, 100))
        with pytest.raises(ValueError, match="n_landmarks=400 points cannot be chosen"):
            SubspaceLPSVC(5, n_landmarks=400).fit(*chunks(ROWS, LABELS))


def test_what_goes_wrong_is_named():
    holes = ROWS.copy()
    holes[900, 3] = np.nan
    for kind in (CoreVectorSVC, MaxMarginDiscriminantAnalysis):
        with pytest.raises(ValueError, match=r"chunk 2 contains NaN"):
            kind().fit(*chunks(holes, LABELS))
        with pytest.raises(ValueError, match="y must be Chunks"):
            kind().fit(*chunks(ROWS), LABELS)
        with pytest.raises(ValueError, match="needs a positive definite kernel"):
            kind(kernel="sigmoid").fit(*chunks(ROWS, LABELS))
        with pytest.raises(ValueError, match="batch 1 has 19 columns"):
            kind().fit_batches([(ROWS[:9], LABELS[:9]), (ROWS[9:, 1:], LABELS[9:])])
        with pytest.raises(ValueError, match="hold no rows"):
            kind().fit_batches([])
    with pytest.raises(ValueError, match="needs all rows in memory"):
        MaxMarginDiscriminantAnalysis(solver="exact").fit(*chunks(ROWS, LABELS))
    with pytest.raises(ValueError, match=r"chunk 2 contains NaN"):
        KernelSubspace().fit(*chunks(holes))
    with pytest.raises(ValueError, match="n_landmarks must"):
        KernelSubspace(n_landmarks=-1).fit(*chunks(ROWS))


def test_batches_that_change_are_refused():
    class Changing:
        readings = 0

        def __iter__(self):
            self.readings += 1
            for n in [10, 5] if self.readings == 1 else self.later:
                yield ROWS[:n], LABELS[:n]

    for later in ([10], [10, 6], [10, 5, 2]):
        batches = Changing()
        batches.later = later
        pieces = BatchPieces(batches)
        assert list(pieces.map(lambda number, piece: len(piece.X), "length")) == [10, 5]
        assert pieces.n_pieces == 2
        with pytest.raises(ValueError, match="changed"):
            list(pieces.map(lambda number, piece: len(piece.X), "length"))


@pytest.mark.slow
def test_lazy_results_on_workers(client):
    """Also of a model that is fitted again before anybody computes."""
    X, y = flowers()
    species = np.array(["setosa", "versicolor", "virginica"])[y]
    model = kernelet.SparseSVC(5, random_state=0).fit(X, species)
    features = kernelet.KernelSubspace(3, random_state=0).fit(X)
    expected = [
        np.concatenate([function(X[k : k + 50]) for k in (0, 50, 100)])
        for function in (model.predict, model.decision_function, features.transform)
    ]
    rows = da.from_array(X, chunks=(50, 2))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    results = [
        model.predict(rows),
        model.decision_function(rows),
        features.transform(rows),
        model.predict(frame),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, np.roll(species, 1))
    features.fit(-X)
    with client.as_current():
        computed = [future.result() for future in client.compute(results)]
    for result, wanted in zip(computed, [*expected, expected[0]], strict=True):
        assert_array_equal(result, wanted)
