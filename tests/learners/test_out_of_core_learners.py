"""Learners on out-of-core rows: the same models as from memory."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import kernelet
from interrupts import watch_evaluations
from kernelet import KernelFisherClassifier, ModelFileError, NormSVC, ReducedSVC, SparseSVC
from kernelet.kernels import Gaussian, ScaledFeatures
from kernelet.learners.direct.search.joint_objective import JointObjective
from kernelet.learners.direct.search.marginal_objective import MarginalObjective
from kernelet.learners.direct.search.objective import JointEvaluation
from kernelet.learners.direct.search.out_of_core_objective import BlockObjective
from kernelet.persistence import Record
from kernelet.persistence.container import read_record, write_record
from kernelet.rows import opening
from tests.rows.test_rows import cut

DIGITS, LABELS = load_digits(n_class=4, return_X_y=True)
X, X_TEST, Y, Y_TEST = train_test_split(DIGITS / 16.0, LABELS.astype(str), random_state=0)
LENGTHS = [200, 200, len(Y) - 400]

# Tight tolerances, so that a search takes the same steps wherever its rows are.
LEARNERS = [
    ReducedSVC(20, C=10.0, init="kmeans", tol=1e-9, random_state=0),
    ReducedSVC(20, C=10.0, regularizer="ridge", tol=1e-9, random_state=0),
    SparseSVC(8, C=10.0, tol=1e-8, max_iter=12, random_state=0),
    SparseSVC(8, C=10.0, tol=1e-8, max_iter=12, learn_kernel=False, random_state=0),
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
        # the sample is in another order, and a search that solves its inner problems roughly and is
        # broken off multiplies the difference in rounding
        rtol = 1e-2 if isinstance(model, SparseSVC) else 1e-4
        assert_allclose(chunked.objective_, here.objective_, rtol=rtol)
        errors = [1.0 - found.score(X_TEST, Y_TEST) for found in (here, chunked)]
        assert abs(errors[0] - errors[1]) <= 0.01

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
        model = SparseSVC(8, C=10.0, gamma=1e-3, learn_kernel=True, random_state=0)
        found = quietly(model, cut(X, LENGTHS), cut(Y, LENGTHS))
        assert found.kernel_gain_ > 0.1
        assert found.machine_.kernel.gamma > 2e-3

    def test_progress(self, capsys):
        model = SparseSVC(4, C=10.0, loss="hinge", verbose=1, random_state=0)
        found = quietly(model, cut(X, LENGTHS), cut(Y, LENGTHS))
        lines = capsys.readouterr().err.splitlines()
        assert all("evaluations" in line for line in lines)
        # steps on a sample in memory first, then on all rows; they are counted as one search
        assert [int(line.split()[1]) for line in lines] == list(range(1, found.n_iter_ + 1))
        out_of_core = [line.endswith(" rows/s") for line in lines]
        assert out_of_core == sorted(out_of_core)
        assert 3 <= sum(out_of_core) < len(lines)
        quietly(model, X, Y)
        assert "rows/s" not in capsys.readouterr().err
        # all steps of a smooth loss are in memory
        quietly(model.set_params(loss="squared_hinge"), cut(X, LENGTHS), cut(Y, LENGTHS))
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
            SparseSVC(loss="misspelt").fit(cut(X, LENGTHS), cut(Y, LENGTHS))


class Stop(Exception):
    """Something breaks in the middle of a fit."""


EVERYWHERE = (JointObjective, MarginalObjective, BlockObjective)


def counted_fit(model, rows, monkeypatch, broken_at=None):
    """A fit, which may break off at an evaluation of W, and the evaluations that it made."""

    def before(number):
        if number == broken_at:
            raise Stop

    with monkeypatch.context() as patch:
        seen = watch_evaluations(patch, before, EVERYWHERE)
        if broken_at is None:
            return quietly(model, *rows), seen
        with pytest.raises(Stop):
            quietly(model, *rows)
        return None, seen


class TestCheckpoint:
    @pytest.mark.parametrize(
        "model",
        [
            SparseSVC(8, C=10.0, random_state=0),
            SparseSVC(8, C=10.0, learn_kernel=True, tol=1e-3, random_state=0),
            SparseSVC(8, C=10.0, loss="hinge", random_state=0),
            SparseSVC(8, C=10.0, loss="hinge", learn_kernel=False, random_state=0),
            SparseSVC(2, C=10.0, vectors="per_class", random_state=0),
            KernelFisherClassifier(8, tol=1e-4, random_state=0),
        ],
        ids=["shared", "width", "hinge", "fixed_kernel", "per_class", "fisher"],
    )
    @pytest.mark.parametrize("is_distant", [False, True])
    @pytest.mark.parametrize("share", [0.4, 0.95])
    def test_a_fit_goes_on(self, model, is_distant, share, tmp_path, monkeypatch):
        rows = (cut(X, LENGTHS), cut(Y, LENGTHS)) if is_distant else (X, Y)
        whole, seen = counted_fit(model, rows, monkeypatch)
        path = tmp_path / "fit.checkpoint"
        model = clone(model).set_params(checkpoint=path)
        counted_fit(model, rows, monkeypatch, broken_at=int(share * len(seen)))
        assert path.exists()
        resumed, after = counted_fit(model, rows, monkeypatch)
        assert not path.exists()
        assert_allclose(resumed.objective_, whole.objective_, rtol=0.03)
        assert resumed.score(X_TEST, Y_TEST) >= whole.score(X_TEST, Y_TEST) - 0.01
        assert type(resumed.machine_.kernel) is type(whole.machine_.kernel)
        if hasattr(whole, "kernel_gain_"):
            assert_allclose(resumed.kernel_gain_, whole.kernel_gain_, atol=0.1)
        # it does not begin anew
        assert len(after) < len(seen)

    def test_steps_before_count(self, tmp_path, monkeypatch, capsys):
        path = tmp_path / "fit.checkpoint"
        model = SparseSVC(8, C=10.0, tol=1e-6, max_iter=20, verbose=1, random_state=0)
        model.set_params(checkpoint=path)
        counted_fit(model, (X, Y), monkeypatch, broken_at=12)
        done = len(capsys.readouterr().err.splitlines())
        assert done >= 5
        resumed, _ = counted_fit(model, (X, Y), monkeypatch)
        assert resumed.n_iter_ == 20
        lines = capsys.readouterr().err.splitlines()
        assert [int(line.split()[1]) for line in lines] == list(range(done + 1, 21))

    @pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
    def test_the_cost_is_chosen_once(self, loss, tmp_path, monkeypatch):
        path = tmp_path / "fit.checkpoint"
        model = SparseSVC(8, loss=loss, random_state=0)
        whole, seen = counted_fit(model, (X, Y), monkeypatch)
        model.set_params(checkpoint=path)
        # the last five evaluations are of the search at the cost that was chosen
        counted_fit(model, (X, Y), monkeypatch, broken_at=len(seen) - 4)
        resumed, after = counted_fit(model, (X, Y), monkeypatch)
        assert resumed.C_ == whole.C_ != 1.0
        assert_allclose(resumed.objective_, whole.objective_, rtol=0.03)
        assert len(after) < 0.5 * len(seen)

    def test_the_search_that_counts_goes_on(self, tmp_path, monkeypatch):
        """A fit that broke off after the preliminary search does not go back to it."""
        path = tmp_path / "fit.checkpoint"
        model = SparseSVC(8, C=10.0, loss="hinge", tol=1e-3, random_state=0, checkpoint=path)
        seen = []
        with monkeypatch.context() as patch:

            def before(number):
                if len(seen) == 4:
                    raise Stop

            seen = watch_evaluations(patch, before, (MarginalObjective,))
            with pytest.raises(Stop):
                quietly(model, X, Y)
        resumed, after = counted_fit(model, (X, Y), monkeypatch)
        assert after[-1].value <= seen[-1].value
        # one evaluation with the kernel found
        assert sum(isinstance(at, JointEvaluation) for at in after) == 1
        assert resumed.kernel_gain_ > 0.1

    def test_it_is_of_one_fit_only(self, tmp_path, monkeypatch):
        path = tmp_path / "fit.checkpoint"
        kernel = ScaledFeatures(Gaussian(0.1), np.linspace(0.5, 1.0, 64))
        model = SparseSVC(8, C=10.0, kernel=kernel, random_state=0, checkpoint=path)
        counted_fit(model, (X, Y), monkeypatch, broken_at=5)
        with pytest.raises(ValueError, match=r"another fit \(rows there: 540; here: 500\)"):
            model.fit(X[:500], Y[:500])
        with pytest.raises(ValueError, match="columns there: 64; here: 63"):
            model.fit(X[:, :63], Y)
        with pytest.raises(ValueError, match=r"parameters there: .*here: "):
            clone(model).set_params(C=1.0).fit(X, Y)
        # a number that the repr of the kernel leaves out
        other = ScaledFeatures(Gaussian(0.1), np.linspace(0.5, 1.1, 64))
        with pytest.raises(ValueError, match=r"parameters there: .*here: "):
            clone(model).set_params(kernel=other).fit(X, Y)
        with pytest.raises(ValueError, match="estimator there: SparseSVC; here: KernelFisher"):
            KernelFisherClassifier(8, checkpoint=path).fit(X, Y)
        # it is left as it was
        assert path.exists()

    @pytest.mark.parametrize(
        ("damage", "reason"),
        [
            (lambda fields: fields.pop("kernels"), "'kernels' of Checkpoint is missing"),
            (lambda fields: fields.update(kernels=[]), "'kernels' of Checkpoint must be an object"),
            (lambda fields: fields["kernels"].update(vectors_0={}), "Unknown kernel name None"),
            (lambda fields: fields["kernels"].update(vectors_0=3), "must be a mapping"),
            (
                lambda fields: fields["kernels"]["vectors_0"].pop("scales"),
                "takes the parameters",
            ),
            (
                lambda fields: fields["kernels"]["vectors_0"]["scales"].pop(),
                "'vectors_0' is not of this fit",
            ),
            (
                lambda fields: fields["kernels"]["vectors_0"].update(scales=["one"] * 64),
                "a scale must be a finite number",
            ),
            (lambda fields: fields.update(cost="ten"), "'cost' of Checkpoint must be a number"),
            (lambda fields: fields.update(cost=True), "'cost' of Checkpoint must be a number"),
            (lambda fields: fields.update(cost=-1.0), "the cost is -1, not a number above 0"),
            (lambda fields: fields.pop("steps"), "'steps' of Checkpoint is missing"),
            (lambda fields: fields.update(steps={"vectors_0": -1}), "is not of this fit"),
            (lambda fields: fields.update(steps={"vectors_0": "1"}), "must be an integer"),
            (lambda fields: fields.update(steps={"vectors_1": 3}), "'vectors_1' .* is missing"),
            (lambda fields: fields.update(is_preliminary={}), "must be true or false"),
            (lambda fields: fields.pop("rows_in_use"), "'rows_in_use' of Checkpoint is missing"),
            (lambda fields: fields.update(rows_in_use={}), "the rows of 'vectors_0'"),
            (lambda fields: fields.update(rows_in_use={"vectors_0": 0}), "is not of this fit"),
            (lambda fields: fields.pop("units"), "'units' of Checkpoint is missing"),
            (lambda fields: fields.update(units={"vectors_0": None}), "must be a number"),
            (lambda fields: fields.update(units={"vectors_0": -1.0}), "not a number above 0"),
        ],
    )
    def test_damaged_fields(self, damage, reason, tmp_path, monkeypatch):
        path = tmp_path / "fit.checkpoint"
        model = SparseSVC(8, C=10.0, random_state=0, checkpoint=path)
        counted_fit(model, (X, Y), monkeypatch, broken_at=8)
        record = read_record(path)
        damage(record.fields)
        write_record(record, path)
        with pytest.raises(ModelFileError, match=reason) as caught:
            model.fit(X, Y)
        assert str(path) in str(caught.value)
        assert "Delete the file" in str(caught.value)

    def test_a_damaged_machine(self, tmp_path, monkeypatch):
        path = tmp_path / "fit.checkpoint"
        model = SparseSVC(8, C=10.0, random_state=0, checkpoint=path)
        counted_fit(model, (X, Y), monkeypatch, broken_at=8)
        record = read_record(path)
        good = dict(record.arrays)
        record.arrays["vectors_0.coefficients"] = good["vectors_0.coefficients"][1:]
        write_record(record, path)
        with pytest.raises(ModelFileError, match="the machine of 'vectors_0' is not of this fit"):
            model.fit(X, Y)
        # of fewer classes: the vectors can be gone on from
        record.arrays["vectors_0.coefficients"] = good["vectors_0.coefficients"][:, :3]
        record.arrays["vectors_0.intercepts"] = good["vectors_0.intercepts"][:3]
        write_record(record, path)
        assert quietly(model, X, Y).score(X_TEST, Y_TEST) > 0.95

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

    @pytest.mark.parametrize("share", [0.4, 0.97])
    def test_ctrl_c_leaves_a_model_and_the_file(self, share, tmp_path, monkeypatch):
        rows = cut(X, LENGTHS), cut(Y, LENGTHS)
        path = tmp_path / "fit.checkpoint"
        model = SparseSVC(8, C=10.0, random_state=0)
        _, seen = counted_fit(model, rows, monkeypatch)

        def before(number):
            if number == int(share * len(seen)):
                raise KeyboardInterrupt

        watch_evaluations(monkeypatch, before, EVERYWHERE)
        model.set_params(checkpoint=path)
        with pytest.warns(UserWarning, match="interrupted"):
            model.fit(*rows)
        assert model.interrupted_
        assert model.score(X_TEST, Y_TEST) > 0.5
        assert path.exists()
