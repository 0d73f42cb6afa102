"""save and load: what is written comes back, whatever kind of model it is."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_array_equal
from safetensors import safe_open
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import contributed
import kernelet
import references
from benchmarks.hardening import model_files
from documents import read, run_blocks
from kernelet.kernels import (
    CallableKernel,
    Gaussian,
    Linear,
    Matern52,
    Polynomial,
    ProjectedFeatures,
)
from kernelet.machine import CalibratedMachine, SigmoidCalibration, TemperatureCalibration
from kernelet.machine.columns import ColumnEncoder
from kernelet.persistence import (
    header,
    ranges,
    read_summary,
    register,
    registry,
    skops_trusted,
    vectors,
)
from tests.learners.test_estimators import FRAME, IRIS, MAKERS, SPECIES, model_of

rng = np.random.default_rng(0)
VECTORS, COEFFICIENTS = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
ROWS = rng.normal(size=(20, 3))
MACHINE = kernelet.KernelMachine(Gaussian(0.3), VECTORS, COEFFICIENTS, [0.5, -0.5])
COMBINED = np.random.default_rng(1).normal(size=(2, 3))
METHODS = ("decision_function", "predict", "predict_proba", "transform", "score_samples")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.kernelet"


def again(model, path):
    kernelet.save(model, path)
    return kernelet.load(path)


def assert_same(loaded, model, rows=FRAME):
    """The same class, and bit by bit the same answers of every kind."""
    assert type(loaded) is type(model)
    for name in METHODS:
        assert hasattr(loaded, name) == hasattr(model, name)
        if hasattr(model, name):
            assert_array_equal(getattr(loaded, name)(rows), getattr(model, name)(rows))


class TestMachines:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize(
        "kernel",
        [
            Gaussian(0.3),
            Linear(),
            0.5 * Gaussian(2.0) + Matern52(1.0) * Polynomial(1.0, 1.0, 2),
            ProjectedFeatures(Gaussian(0.3), [[0.1, 1 / 3, -2.0]]),
            # two matrices that are the same, and one inside of another
            0.5 * ProjectedFeatures(Matern52(1.0), COMBINED)
            + ProjectedFeatures(ProjectedFeatures(Linear(), COMBINED[:, :2]), COMBINED),
        ],
        ids=str,
    )
    def test_come_back(self, kernel, dtype, path):
        machine = kernelet.KernelMachine(kernel, VECTORS, COEFFICIENTS, [0.5, -0.5]).astype(dtype)
        loaded = again(machine, path)
        assert loaded == machine
        assert loaded.dtype == dtype
        assert_same(loaded, machine, ROWS)

    def test_without_vectors(self, path):
        machine = kernelet.KernelMachine(Gaussian(1.0), np.zeros((0, 3)), np.zeros((0, 2)), [1, 2])
        assert again(machine, path) == machine

    @pytest.mark.parametrize(
        "calibration",
        [
            SigmoidCalibration(np.array([-1.0, -2.0]), np.array([0.1, 0.2])),
            TemperatureCalibration(1.5),
        ],
        ids=lambda calibration: type(calibration).__name__,
    )
    def test_with_their_calibration(self, calibration, path):
        model = CalibratedMachine(MACHINE, calibration)
        model.save(path)
        assert_same(kernelet.load(path), model, ROWS)

    def test_save_themselves(self, path):
        MACHINE.save(path)
        assert kernelet.load(str(path)) == MACHINE

    def test_arrays_in_another_order_of_bytes_and_axes(self, path):
        vectors = np.asfortranarray(VECTORS).astype(">f8")
        machine = kernelet.KernelMachine(Gaussian(0.3), vectors, COEFFICIENTS, [0.5, -0.5])
        assert_array_equal(again(machine, path).vectors, VECTORS)

    def test_load_without_scikit_learn(self, path):
        """A machine can be used where nothing but NumPy and safetensors is installed."""
        MACHINE.save(path)
        code = (
            "import sys\n"
            "for name in ('sklearn', 'scipy', 'pandas', 'numba', 'highspy'):\n"
            "    sys.modules[name] = None\n"
            "import kernelet\n"
            f"print(kernelet.load({str(path)!r}).decision_function([[0.0, 0.0, 0.0]]).tolist())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert_array_equal(json.loads(done.stdout), MACHINE.decision_function(np.zeros((1, 3))))


class TestEstimators:
    @pytest.mark.parametrize("label", MAKERS)
    def test_all_come_back(self, label, path):
        model = model_of(label)
        model.save(path)
        loaded = kernelet.load(path)
        assert_same(loaded, model)
        assert loaded.machine_ == model.machine_
        assert loaded.n_features_in_ == 4
        assert list(loaded.feature_names_in_) == list("wxyz")
        assert loaded.get_params() == model.get_params()

    @pytest.mark.parametrize("label", MAKERS)
    def test_plain_fitted_attributes_come_back(self, label, path):
        """All numbers, texts and arrays that a user can see."""
        model = model_of(label)
        loaded = again(model, path)
        plain = (bool, int, float, str, np.ndarray)
        seen = {
            name: value
            for name, value in vars(model).items()
            if name.endswith("_") and not name.startswith("_") and isinstance(value, plain)
        }
        assert len(seen) >= 2
        for name, value in seen.items():
            found = getattr(loaded, name)
            assert type(found) is type(value), name
            assert_array_equal(found, value, err_msg=name)

    @pytest.mark.parametrize("label", MAKERS)
    def test_can_be_saved_again_and_refitted(self, label, path):
        loaded = again(model_of(label), path)
        first = path.read_bytes()
        twice = again(loaded, path)
        assert_same(twice, loaded)
        # but for the time of saving
        assert path.stat().st_size == len(first)
        if label not in ("calibrated",) and not label.startswith("compressed"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                refitted = clone(loaded).fit(FRAME, SPECIES)
            assert refitted.n_features_in_ == 4

    @pytest.mark.parametrize(
        "labels",
        [
            np.array([3, 7, -5]),
            np.array([3, 7, 250], dtype=np.uint8),
            np.array([3.0, 7.0, -5.0]),
            np.array([3, 7, 1e9], dtype=np.float32),
            np.array(["Äpfel", "pears", "日本 \n\t\"'"]),
            np.array(["a", "b", "c"], dtype=object),
            np.array([2**53 + 1, 2**63 - 1, 0]),
        ],
        ids=lambda labels: f"{labels.dtype}",
    )
    def test_labels_of_all_types(self, labels, path):
        model = kernelet.ReducedSVC(5, random_state=0).fit(IRIS, labels[SPECIES])
        loaded = again(model, path)
        assert loaded.classes_.dtype == model.classes_.dtype
        assert_array_equal(loaded.classes_, model.classes_)
        assert_array_equal(loaded.predict(IRIS), model.predict(IRIS))
        assert {type(label) for label in loaded.classes_.tolist()} == {type(labels.tolist()[0])}

    def test_labels_that_are_truth_values(self, path):
        model = kernelet.ReducedSVC(5, random_state=0).fit(IRIS, SPECIES == 1)
        loaded = again(model, path)
        assert loaded.classes_.dtype == np.bool_
        assert_array_equal(loaded.predict(IRIS), model.predict(IRIS))

    def test_labels_that_are_other_objects_are_refused(self, path):
        model = kernelet.ReducedSVC(5, random_state=0).fit(IRIS, SPECIES)
        model.classes_ = np.array([(1,), (2,), (3,), None], dtype=object)[:3]
        with pytest.raises(ValueError, match="labels that are numbers, truth values or texts"):
            model.save(path)

    @pytest.mark.parametrize(
        "params",
        [
            {"class_weight": {0: 1.0, 1: 2.5, 2: 0.5}},
            {"class_weight": "balanced", "C": np.float64(3.0)},
            {"init": IRIS[:5].copy(), "n_vectors": 5},
            {"kernel": Gaussian(0.3) + Linear()},
            {"kernel": ProjectedFeatures(Gaussian(0.3), np.ones((2, 4)) / 3.0)},
            {"gamma": 0.25, "n_vectors": np.int64(7), "random_state": 3},
        ],
        ids=str,
    )
    def test_parameters(self, params, path):
        model = kernelet.ReducedSVC(**params).fit(IRIS, SPECIES)
        loaded = again(model, path)
        for name, value in model.get_params().items():
            assert_array_equal(getattr(loaded, name), value, err_msg=name)
        assert_array_equal(loaded.predict(IRIS), model.predict(IRIS))

    def test_parameters_with_several_values(self, path):
        model = kernelet.SparseSVC((2, 3, 4), vectors="per_class", max_iter=2, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(IRIS, SPECIES)
        assert again(model, path).n_vectors == (2, 3, 4)

    @pytest.mark.parametrize("value", [np.random.RandomState(0), SVC().fit(IRIS, SPECIES)], ids=str)
    def test_a_parameter_that_is_an_object_is_left_out_with_a_warning(self, value, path):
        name = "random_state" if isinstance(value, np.random.RandomState) else "init"
        model = kernelet.ReducedSVC(5, **{name: value}).fit(IRIS, SPECIES)
        with pytest.warns(UserWarning, match=f"{type(value).__name__}.*default of {name}"):
            model.save(path)
        loaded = kernelet.load(path)
        assert getattr(loaded, name) == getattr(kernelet.ReducedSVC(), name)
        assert_array_equal(loaded.predict(IRIS), model.predict(IRIS))

    @pytest.mark.parametrize("vectors", ["shared", "per_class"])
    def test_warm_starts_go_on_after_loading(self, vectors, path):
        model = kernelet.SparseSVC(3, vectors=vectors, max_iter=2, random_state=0, warm_start=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(IRIS, SPECIES)
            loaded = again(model, path)
            assert loaded.fit(IRIS, SPECIES).machine_ == model.fit(IRIS, SPECIES).machine_

    def test_sparse_and_float32_rows(self, path):
        from scipy import sparse

        model = model_of("SparseSVC()")
        loaded = again(model, path)
        single = IRIS.astype(np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows without names
            rows = sparse.csr_array(IRIS)
            assert_array_equal(loaded.predict(rows), model.predict(rows))
            assert_array_equal(loaded.decision_function(single), model.decision_function(single))

    def test_names_are_checked_as_before(self, path):
        loaded = again(model_of("ReducedSVC()"), path)
        with pytest.raises(ValueError, match="feature names"):
            loaded.predict(FRAME[["x", "w", "y", "z"]])

    def test_what_it_was_trained_on(self, path):
        labels = np.array(["a", "b", "c"])[SPECIES]
        kernelet.ReducedSVC(5, random_state=0).fit(IRIS[20:], labels[20:]).save(path)
        training = read_summary(path)["training"]
        assert training["n_rows"] == 130
        assert training["class_counts"] == [30, 50, 50]
        assert training["kernelet_version"] == kernelet.__version__
        assert training["date"].endswith("+00:00")
        loaded = kernelet.load(path)
        loaded.save(path)
        assert read_summary(path)["training"] == training

    def test_a_compressed_model_keeps_what_its_original_was_trained_on(self, path):
        small = kernelet.compress(kernelet.ReducedSVC(9, random_state=0).fit(IRIS, SPECIES), 5)
        small.save(path)
        assert read_summary(path)["training"]["n_rows"] == 150
        kernelet.compress(again(small, path), 3).save(path)
        assert read_summary(path)["training"]["n_rows"] == 150

    @pytest.mark.parametrize(("learn_kernel", "n_scales"), [(False, 0), ("auto", 64)])
    def test_the_file_is_little_more_than_the_machine(self, learn_kernel, n_scales, path):
        model = kernelet.SparseSVC(40, learn_kernel=learn_kernel, max_iter=3, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(np.random.default_rng(0).normal(size=(200, 64)), np.arange(200) % 2)
        model.save(path)
        # a learned scale is 8 of nbytes, and written as a text of up to 23 characters and a comma
        assert path.stat().st_size < model.machine_.nbytes + 2500 + 16 * n_scales


class TestRefusals:
    def test_a_kernel_that_is_a_function(self, path):
        machine = kernelet.KernelMachine(CallableKernel(np.dot), VECTORS, COEFFICIENTS, [0, 0])
        with pytest.raises(ValueError, match="Python function, which cannot be written"):
            machine.save(path)
        assert not path.exists()

    def test_an_estimator_with_such_a_kernel(self, path):
        def overlap(X, Z):
            return np.minimum(X[:, None, :], Z[None, :, :]).sum(axis=2)

        model = kernelet.ReducedSVC(5, kernel=overlap, random_state=0).fit(IRIS, SPECIES)
        with pytest.raises(ValueError, match="Python function, which cannot be written"):
            model.save(path)

    def test_an_estimator_that_is_not_fitted(self, path):
        with pytest.raises(NotFittedError, match="not fitted"):
            kernelet.SparseSVC().save(path)

    @pytest.mark.parametrize(
        "model", [DummyClassifier().fit(IRIS, SPECIES), None, {}], ids=lambda m: type(m).__name__
    )
    def test_other_objects(self, model, path):
        with pytest.raises(TypeError, match=f"cannot hold {type(model).__name__} objects"):
            kernelet.save(model, path)

    @pytest.mark.parametrize("model", [SVC(), make_pipeline(StandardScaler(), SVC())])
    def test_a_model_of_scikit_learn_that_is_not_fitted(self, model, path):
        with pytest.raises(NotFittedError):
            kernelet.save(model, path)

    def test_a_class_derived_from_ours(self, path):
        class SparseSVC(kernelet.SparseSVC):
            pass

        model = SparseSVC(2, max_iter=1, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(IRIS, SPECIES)
        with pytest.raises(TypeError, match="cannot hold SparseSVC objects"):
            model.save(path)

    def test_numbers_that_are_none(self, path):
        machine = kernelet.KernelMachine(Gaussian(1.0), [[np.nan]], [1.0])
        with pytest.raises(ValueError, match="vectors of the machine hold NaN"):
            machine.save(path)

    def test_sums_of_very_many_kernels(self, path):
        kernel = sum((Gaussian(float(i)) for i in range(2, 102)), Gaussian(1.0))
        machine = kernelet.KernelMachine(kernel, VECTORS, COEFFICIENTS, [0, 0])
        with pytest.raises(ValueError, match="more than 100 kernels"):
            machine.save(path)

    def test_two_kinds_of_one_name(self):
        class KernelMachine:
            pass

        with pytest.raises(ValueError, match="'KernelMachine' already"):
            register(KernelMachine, None, None)


class TestSummary:
    def test_of_an_estimator(self, path):
        model = model_of("ReducedSVC()")
        model.save(path)
        summary = read_summary(path)
        assert summary["kind"] == summary["estimator"] == "ReducedSVC"
        assert summary["kernel"] == model.machine_.kernel.specification()
        assert summary["n_vectors"] == model.n_vectors_
        assert (summary["n_features"], summary["n_outputs"]) == (4, 3)
        assert summary["dtype"] == "float64"
        assert summary["machine_bytes"] == model.machine_.nbytes
        assert summary["file_bytes"] == path.stat().st_size
        assert summary["classes"] == [0, 1, 2]
        assert summary["feature_names"] == list("wxyz")
        assert summary["params"]["C"] == 1.0
        assert summary["format_version"] == 1
        assert summary["target"] is None
        json.dumps(summary)

    def test_summary_of_a_calibrated_model_describes_the_classifier(self, path):
        model_of("calibrated").save(path)
        summary = read_summary(path)
        assert (summary["kind"], summary["estimator"]) == ("CalibratedClassifier", "ReducedSVC")
        assert summary["n_vectors"] == model_of("calibrated").n_vectors_

    def test_of_a_machine_and_of_an_encoder(self, path):
        MACHINE.astype(np.float32).save(path)
        summary = read_summary(path)
        assert (summary["kind"], summary["dtype"], summary["n_vectors"]) == (
            "KernelMachine",
            "float32",
            4,
        )
        assert summary["classes"] is summary["params"] is summary["training"] is None
        encoder = ColumnEncoder.fit({"a": [1.0, 2.0], "b": ["x", "y"]})
        assert again(encoder, path) == encoder
        summary = read_summary(path)
        assert summary["n_vectors"] is None
        assert [column["name"] for column in summary["columns"]] == ["a", "b"]

    def test_of_a_projection_has_the_shape_of_the_matrix(self, path):
        kernel = 2.0 * ProjectedFeatures(Gaussian(0.3), COMBINED)
        kernelet.KernelMachine(kernel, VECTORS, COEFFICIENTS, [0.5, -0.5]).save(path)
        summary = read_summary(path)
        assert summary["kernel"]["kernel"]["matrix"] == {"shape": [2, 3]}
        json.dumps(summary)

    def test_reads_no_arrays(self, path):
        """All of them may be wrong as long as their sizes are right."""
        MACHINE.save(path)
        data = path.read_bytes()
        path.write_bytes(data[: -MACHINE.nbytes] + b"\xff" * MACHINE.nbytes)
        assert read_summary(path)["n_vectors"] == 4
        with pytest.raises(kernelet.ModelFileError, match="NaN"):
            kernelet.load(path)


def test_any_reader_of_safetensors_can_evaluate_the_machine(path):
    model = kernelet.ReducedSVC(6, gamma=0.3, random_state=0).fit(IRIS, SPECIES)
    model.save(path)
    with safe_open(path, framework="np") as file:
        description = json.loads(file.metadata()["model"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dict)
    machine = description["parts"]["machine"]
    assert machine["fields"]["kernel"] == {"name": "rbf", "gamma": 0.3}
    Z, beta = arrays["machine/vectors"], arrays["machine/coefficients"]
    for row in IRIS[::30]:
        kernel = [references.kernel_value(Gaussian(0.3), row, z) for z in Z]
        scores = np.array(kernel) @ beta + arrays["machine/intercepts"]
        np.testing.assert_allclose(model.decision_function([row])[0], scores, rtol=1e-12)
        label = description["fields"]["classes_"]["values"][int(scores.argmax())]
        assert model.predict([row])[0] == label


def test_a_large_matrix_of_short_numbers_is_held(path):
    """As JSON it would be more values than a file of its size may hold."""
    kernel = ProjectedFeatures(Gaussian(0.3), np.eye(100, 800))
    machine = kernelet.KernelMachine(kernel, np.zeros((1, 800)), [1.0])
    assert again(machine, path) == machine
    assert path.stat().st_size < 8 * 101 * 800 + 1000


class TestOtherWays:
    def test_a_projection(self):
        kernel = ProjectedFeatures(Gaussian(0.3), COMBINED)
        machine = kernelet.KernelMachine(kernel, VECTORS, COEFFICIENTS, [0.5, -0.5])
        data = skops.io.dumps(machine)
        for loaded in (
            pickle.loads(pickle.dumps(machine)),
            skops.io.loads(data, trusted=skops_trusted()),
        ):
            assert loaded == machine
            assert not loaded.kernel.matrix.flags.writeable
            assert_array_equal(loaded.decision_function(ROWS), machine.decision_function(ROWS))

    @pytest.mark.parametrize("label", MAKERS)
    def test_pickle(self, label):
        model = model_of(label)
        assert_same(pickle.loads(pickle.dumps(model)), model)

    @pytest.mark.parametrize("label", MAKERS)
    def test_skops(self, label):
        model = model_of(label)
        data = skops.io.dumps(model)
        assert set(skops.io.get_untrusted_types(data=data)) <= set(skops_trusted())
        assert_same(skops.io.loads(data, trusted=skops_trusted()), model)

    def test_a_table_model(self):
        frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": list("uvuv"), "y": list("pqpq")})
        model = kernelet.TableModel.fit(frame, "y", kernelet.ReducedSVC(2, random_state=0))
        for loaded in (
            pickle.loads(pickle.dumps(model)),
            skops.io.loads(skops.io.dumps(model), trusted=skops_trusted()),
        ):
            assert_array_equal(loaded.decision_function(frame), model.decision_function(frame))

    def test_what_is_trusted_exists_and_holds_no_function_of_others(self):
        for name in skops_trusted():
            module, _, member = name.rpartition(".")
            assert isinstance(getattr(sys.modules[module], member), type)
        assert not any("Callable" in name for name in skops_trusted())


def test_saving_follows_the_umask_and_keeps_the_mode_of_an_old_file(path):
    MACHINE.save(path)
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    path.chmod(0o640)
    MACHINE.save(path)
    assert path.stat().st_mode & 0o777 == 0o640


class TestDocuments:
    def test_the_example_prints_what_it_shows(self):
        module, shown = run_blocks("MODEL_FILE.md")
        assert len(shown) == 2
        for printed, on_the_page in shown:
            assert printed == on_the_page
        assert_array_equal(module.same.predict(module.table), module.model.predict(module.table))

    def test_every_kind_that_has_a_reader_of_its_own_is_in_the_table(self):
        rows = re.findall(r"^\| `(\w+)` \|", read("MODEL_FILE.md"), re.MULTILINE)
        own = {
            name
            for name, kind in registry._KINDS.items()
            if "model_file" not in kind.write.__module__
        }
        assert own <= set(rows)

    def test_the_limits_in_the_document_are_those_in_force(self):
        text = " ".join(read("MODEL_FILE.md").split())
        assert f"{model_files.MEMORY_FACTOR} times the size of the file" in text
        assert f"plus {model_files.MEMORY_CONSTANT >> 20} MB" in text
        assert f"at most {ranges.MAX_KERNELS} kernels" in text
        assert f"up to {vectors.MAX_GROWTH} times what is stored" in text
        types = re.search(r"Types are ([^.]*)\.", text)[1]
        assert set(re.split(r", | and ", types)) == set(header.DTYPES)

    def test_an_estimator_that_somebody_adds(self, path):
        """CONTRIBUTING.md: one line makes files hold it."""
        y = np.array(["no", "yes"])[(SPECIES == 1).astype(int)]
        model = contributed.MODULE.ReweightedSVC(20, kernel="rbf", C=10.0).fit(FRAME, y)
        loaded = again(model, path)
        assert_same(loaded, model)
        assert loaded.n_iter_ == model.n_iter_ and loaded.n_candidates == 20
        assert loaded.score(FRAME, y) > 0.9
