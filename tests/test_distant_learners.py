"""Learners on rows that are elsewhere: the same models as from memory."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import kernelet
from kernelet import KernelFisherClassifier, ModelFileError, NormSVC, ReducedSVC, SparseSVC
from kernelet.persistence import Record
from kernelet.persistence.container import write_record
from kernelet.rows import opening
from tests.test_rows import cut

DIGITS, LABELS = load_digits(n_class=4, return_X_y=True)
X, X_TEST, Y, Y_TEST = train_test_split(DIGITS / 16.0, LABELS.astype(str), random_state=0)
LENGTHS = [200, 200, len(Y) - 400]

# Tight tolerances, so that a search takes the same steps wherever its rows are.
LEARNERS = [
    ReducedSVC(20, C=10.0, init="kmeans", tol=1e-9, random_state=0),
    ReducedSVC(20, C=10.0, regularizer="ridge", tol=1e-9, random_state=0),
    SparseSVC(8, C=10.0, tol=1e-8, max_iter=12, random_state=0),
    SparseSVC(8, C=10.0, tol=1e-8, max_iter=12, loss="squared_hinge", random_state=0),
    SparseSVC(4, C=10.0, tol=1e-8, max_iter=5, vectors="per_class", random_state=0),
    SparseSVC(8, C=10.0, tol=1e-8, max_iter=6, class_weight="balanced", random_state=0),
    KernelFisherClassifier(8, tol=1e-8, max_iter=15, random_state=0),
]


def quietly(model, *rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(*rows)


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "X.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


class TestSameAnswer:
    @pytest.mark.parametrize("model", LEARNERS, ids=lambda model: repr(model)[:60])
    def test_in_memory_in_chunks_and_on_disk(self, model, mapped, monkeypatch):
        monkeypatch.setattr(opening, "_PIECE", 200 * X.shape[1])
        here = quietly(model, X, Y)
        chunked = quietly(model, cut(X, LENGTHS), cut(Y, LENGTHS))
        on_disk = quietly(model, mapped, Y)
        # equal blocks: equal to the last bit
        assert chunked.machine_ == on_disk.machine_
        assert_array_equal(chunked.classes_, here.classes_)
        assert chunked.n_features_in_ == 64
        assert_allclose(chunked.objective_, here.objective_, rtol=1e-4)
        errors = [1.0 - found.score(X_TEST, Y_TEST) for found in (here, chunked)]
        assert abs(errors[0] - errors[1]) <= 0.002

    def test_threads_change_nothing(self, monkeypatch):
        model = SparseSVC(8, C=10.0, max_iter=5, random_state=0)
        rows = cut(X, LENGTHS), cut(Y, LENGTHS)
        machines = []
        for n_threads in ("1", "3"):
            monkeypatch.setenv("OMP_NUM_THREADS", n_threads)
            machines.append(quietly(model, *rows).machine_)
        assert machines[0] == machines[1]

    def test_weights_equal_repetition(self):
        weights = np.random.default_rng(0).integers(0, 3, size=len(Y)).astype(float)
        again = np.repeat(np.arange(len(Y)), weights.astype(int))
        model = ReducedSVC(X[:20], C=10.0, tol=1e-10)
        model = ReducedSVC(20, init=X[:20], C=10.0, tol=1e-10)
        one = model.fit(*(cut(a, LENGTHS) for a in (X, Y, weights)))
        expected = one.decision_function(X_TEST)
        halves = [again.size // 2, again.size - again.size // 2]
        two = model.fit(cut(X[again], halves), cut(Y[again], halves))
        assert_allclose(two.decision_function(X_TEST), expected, atol=1e-6)

    def test_the_kernel_is_learned_on_a_sample(self):
        model = SparseSVC(8, C=10.0, gamma=1e-3, max_iter=5, learn_kernel=True, random_state=0)
        found = quietly(model, cut(X, LENGTHS), cut(Y, LENGTHS))
        assert found.kernel_gain_ > 0.1
        assert found.machine_.kernel.gamma > 2e-3

    def test_progress(self, capsys):
        model = SparseSVC(4, max_iter=3, verbose=1, random_state=0)
        quietly(model, cut(X, LENGTHS), cut(Y, LENGTHS))
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 3
        assert all("evaluations" in line and line.endswith(" rows/s") for line in lines)
        quietly(model, X, Y)
        assert "rows/s" not in capsys.readouterr().err

    def test_saving_and_names(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=[f"pixel {j}" for j in range(64)])
        model = quietly(ReducedSVC(10, random_state=0), cut(frame, LENGTHS), cut(Y, LENGTHS))
        assert model.feature_names_in_[3] == "pixel 3"
        model.save(tmp_path / "model.kernelet")
        loaded = kernelet.load(tmp_path / "model.kernelet")
        assert_array_equal(loaded.predict(frame), model.predict(frame))


class TestErrors:
    def test_a_method_that_needs_its_rows(self, mapped):
        with pytest.raises(TypeError, match="NormSVC needs its rows in memory; SparseSVC"):
            NormSVC().fit(cut(X, LENGTHS), cut(Y, LENGTHS))
        # a file can be read into memory
        part = mapped[:300]
        assert isinstance(part, np.memmap)
        assert NormSVC().fit(part, Y[:300]).score(X_TEST, Y_TEST) > 0.7

    def test_all_rows_as_vectors(self):
        with pytest.raises(ValueError, match="n_vectors=None makes a vector of every row"):
            KernelFisherClassifier().fit(cut(X, LENGTHS), cut(Y, LENGTHS))

    def test_one_class(self):
        with pytest.raises(ValueError, match="at least two classes"):
            ReducedSVC().fit(cut(X, LENGTHS), cut(np.full(len(Y), "a"), LENGTHS))

    def test_a_chunk_with_nan(self):
        spoilt = X.copy()
        spoilt[300, 3] = np.nan
        with pytest.raises(ValueError, match="chunk 1 contains NaN"):
            SparseSVC().fit(cut(spoilt, LENGTHS), cut(Y, LENGTHS))

    def test_parameters_are_checked(self):
        with pytest.raises(ValueError, match="C must be"):
            SparseSVC(C=-1.0).fit(cut(X, LENGTHS), cut(Y, LENGTHS))
        with pytest.raises(ValueError, match="loss"):
            SparseSVC(loss="logistic").fit(cut(X, LENGTHS), cut(Y, LENGTHS))


class Stop(Exception):
    """Something breaks in the middle of a fit."""


@pytest.fixture
def breaking(monkeypatch):
    """A fit breaks off at a given evaluation."""

    def at(number, kind):
        calls = []
        original = kind.__call__

        def counted(self, *arguments):
            calls.append(1)
            if len(calls) == number:
                raise Stop
            return original(self, *arguments)

        monkeypatch.setattr(kind, "__call__", counted)

    return at


class TestCheckpoint:
    @pytest.mark.parametrize(
        "model",
        [
            SparseSVC(8, C=10.0, tol=1e-4, max_iter=60, random_state=0),
            SparseSVC(2, C=10.0, tol=1e-3, max_iter=12, vectors="per_class", random_state=0),
            KernelFisherClassifier(8, tol=1e-4, max_iter=60, random_state=0),
        ],
        ids=["shared", "per_class", "fisher"],
    )
    @pytest.mark.parametrize("is_distant", [False, True])
    def test_a_fit_goes_on(self, model, is_distant, tmp_path, breaking, monkeypatch):
        from kernelet.learners.block_objective import BlockObjective
        from kernelet.learners.marginal import MarginalObjective

        rows = (cut(X, LENGTHS), cut(Y, LENGTHS)) if is_distant else (X, Y)
        whole = quietly(model, *rows)
        path = tmp_path / "fit.checkpoint"
        model = clone(model).set_params(checkpoint=path)
        breaking(12, BlockObjective if is_distant else MarginalObjective)
        with pytest.raises(Stop):
            quietly(model, *rows)
        assert path.exists()
        monkeypatch.undo()
        resumed = quietly(model, *rows)
        assert not path.exists()
        assert resumed.n_iter_ >= 5
        assert_allclose(resumed.objective_, whole.objective_, rtol=0.02)
        # steps before it was broken off count
        n_searches = 4 if getattr(model, "vectors", "shared") == "per_class" else 1
        assert resumed.n_iter_ <= model.max_iter * n_searches

    def test_it_is_of_one_fit_only(self, tmp_path, breaking):
        from kernelet.learners.marginal import MarginalObjective

        path = tmp_path / "fit.checkpoint"
        model = SparseSVC(8, C=10.0, random_state=0, checkpoint=path)
        breaking(5, MarginalObjective)
        with pytest.raises(Stop):
            quietly(model, X, Y)
        with pytest.raises(ValueError, match=r"another fit \(rows there: 540; here: 500\)"):
            model.fit(X[:500], Y[:500])
        with pytest.raises(ValueError, match="columns there: 64; here: 63"):
            model.fit(X[:, :63], Y)
        with pytest.raises(ValueError, match=r"parameters there: .*here: "):
            clone(model).set_params(C=1.0).fit(X, Y)
        with pytest.raises(ValueError, match="estimator there: SparseSVC; here: KernelFisher"):
            KernelFisherClassifier(8, checkpoint=path).fit(X, Y)
        # it is left as it was
        assert path.exists()

    def test_damaged_files(self, tmp_path):
        path = tmp_path / "fit.checkpoint"
        path.write_bytes(b"nonsense")
        with pytest.raises(ModelFileError):
            SparseSVC(8, checkpoint=path).fit(X, Y)
        write_record(Record("Something", arrays={"a": np.zeros(1)}), path)
        with pytest.raises(ValueError, match="holds a Something"):
            SparseSVC(8, checkpoint=path).fit(X, Y)

    def test_one_start_only(self, tmp_path):
        with pytest.raises(ValueError, match="n_init=1"):
            SparseSVC(8, n_init=2, checkpoint=tmp_path / "a").fit(X, Y)

    def test_ctrl_c_leaves_a_model_and_the_file(self, tmp_path, monkeypatch):
        from kernelet.learners.block_objective import BlockObjective

        calls, original = [], BlockObjective.__call__

        def counted(self, *arguments):
            calls.append(1)
            if len(calls) == 8:
                raise KeyboardInterrupt
            return original(self, *arguments)

        monkeypatch.setattr(BlockObjective, "__call__", counted)
        path = tmp_path / "fit.checkpoint"
        model = SparseSVC(8, C=10.0, random_state=0, checkpoint=path)
        with pytest.warns(UserWarning, match="interrupted"):
            model.fit(cut(X, LENGTHS), cut(Y, LENGTHS))
        assert model.interrupted_
        assert model.score(X_TEST, Y_TEST) > 0.5
        assert path.exists()
