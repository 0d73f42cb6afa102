"""Features that a kernel leaves out: neither stored nor shipped, and predictions stay the same."""

from __future__ import annotations

import json as standard_json
import subprocess
import sys

import jsonschema
import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelet
from kernelet import KernelMachine, ModelFileError, SparseSVC, load
from kernelet.export import c, javascript, json, json_schema, onnx, read_json
from kernelet.export.to_json.reader import model_of
from kernelet.kernels import (
    CallableKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Polynomial,
    ProjectedFeatures,
    ScaledFeatures,
)
from kernelet.kernels.used_features import restricted, used_features
from kernelet.persistence import read_summary
from kernelet.persistence.registry import from_record, to_record
from kernelet.persistence.vectors import stored_vectors
from kernelet.selection.cost import model_bytes
from run_c import compiled
from run_node import numbers, run_modules

D, USED = 40, [3, 7, 8, 20, 39]
SCALES = np.zeros(D)
SCALES[USED] = [0.5, 1.0, 2.0, 0.7, 1.3]
MATRIX = np.zeros((2, D))
MATRIX[:, USED] = np.random.default_rng(5).normal(size=(2, 5)) / 2.0
WIDE = np.ones(D)
KERNELS = {
    "scales": ScaledFeatures(Gaussian(0.3), SCALES),
    "matrix": ProjectedFeatures(Gaussian(0.3), MATRIX),
    "scales in a sum": 2.0 * ScaledFeatures(Laplacian(0.2), SCALES)
    + ScaledFeatures(Matern32(0.2) * Linear(), SCALES),
    "scales of scales": ScaledFeatures(
        ScaledFeatures(Polynomial(0.1, coef0=1.0, degree=2), WIDE), SCALES
    ),
    "a matrix of scales": ScaledFeatures(ProjectedFeatures(Gaussian(0.2), WIDE[None] / 4), SCALES),
    "a matrix and scales": ProjectedFeatures(Gaussian(0.1), MATRIX)
    * ScaledFeatures(Matern32(0.1), SCALES),
}


def machine_of(kernel, m=12, offset=0.0):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(m, D)) + offset
    Z[:, SCALES == 0.0] = rng.normal(size=D)[SCALES == 0.0]
    return KernelMachine(kernel, Z, rng.normal(size=(m, 2)), [0.3, -0.1])


def wild_rows(n=6):
    """Rows whose features that are left out hold numbers beyond all measure."""
    rows = np.random.default_rng(1).normal(size=(n, D)).astype(np.float32).astype(np.float64)
    rows[::2, SCALES == 0.0] = np.float32(1e30)
    rows[1::2, SCALES == 0.0] = np.float32(-1e30)
    return rows


def tame(rows):
    return np.where(SCALES > 0.0, rows, 0.0)


@pytest.fixture(scope="module", params=list(KERNELS))
def machine(request):
    return machine_of(KERNELS[request.param])


class TestUsedFeatures:
    @pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
    def test_others_change_nothing(self, kernel):
        features = used_features(kernel, D)
        assert features.tolist() == USED
        X, Z = np.random.default_rng(2).normal(size=(2, 7, D))
        small = restricted(kernel, features)
        assert_allclose(small(X[:, features], Z[:, features]), kernel(X, Z), rtol=1e-12)

    @pytest.mark.parametrize(
        "kernel",
        [
            Gaussian(0.5),
            ScaledFeatures(Gaussian(0.5), SCALES) + Linear(),
            ScaledFeatures(CallableKernel(lambda X, Z: X @ Z.T / X.shape[1]), SCALES),
        ],
        ids=["no scales", "a part without", "a function"],
    )
    def test_all_are_used(self, kernel):
        assert used_features(kernel, D).size == D

    def test_combinations_that_are_left_out_use_nothing(self):
        kernel = ProjectedFeatures(ScaledFeatures(Gaussian(), [0.0, 1.0]), [[1.0, 1.0], [1.0, 0.0]])
        assert used_features(kernel, 2).tolist() == [0]

    def test_of_a_constant_one_feature_stays(self):
        kernel = ScaledFeatures(Gaussian(), np.zeros(3))
        assert used_features(kernel, 3).tolist() == [0]
        machine = KernelMachine(kernel, np.zeros((2, 3)), [1.0, 2.0])
        assert from_record(to_record(machine)) == machine


class TestSizes:
    def test_bytes_are_of_what_is_used(self):
        plain = machine_of(KERNELS["scales"])
        assert plain.nbytes == 8 * (12 * 5 + 12 * 2 + 2)
        assert machine_of(KERNELS["matrix"]).nbytes == 8 * (2 * 5 + 12 * 2 + 12 * 2 + 2)

    def test_every_file_is_smaller(self, tmp_path):
        """By nine tenths of the vectors at least, against a kernel that uses all features."""
        some = machine_of(KERNELS["scales"], m=50)
        every = machine_of(ScaledFeatures(Gaussian(0.3), SCALES + 0.5), m=50)
        writers = {
            "kernelet": kernelet.save,
            "json": json,
            "onnx": onnx,
            "mjs": lambda model, path: javascript(model, path),
            "c": c,
        }
        for suffix, write in writers.items():
            sizes = []
            for place, model in enumerate((some, every)):
                path = tmp_path / f"model_{place}.{suffix}"
                write(model, path)
                sizes.append(path.stat().st_size)
            number = 4 if suffix == "onnx" else 8
            assert sizes[0] < sizes[1] - 0.8 * number * 50 * (D - 5), suffix

    def test_costs_in_c_count_what_is_shipped(self):
        from kernelet.export.to_c.exporter import c_cost

        some, every = (
            machine_of(ScaledFeatures(Gaussian(0.3), scales), m=50)
            for scales in (SCALES, SCALES + 0.5)
        )
        for dtype, number in (("float32", 4), ("float64", 8), ("q15", 2)):
            less = c_cost(every, dtype).flash_bytes - c_cost(some, dtype).flash_bytes
            # a table of five places of two bytes is what the choice costs
            assert less >= number * 50 * (D - 5) - 10, dtype
            assert c_cost(some, dtype).arithmetic < 0.4 * c_cost(every, dtype).arithmetic

    def test_frontiers_count_it(self):
        X, y = make_classification(200, 20, n_informative=3, n_redundant=0, random_state=0)
        X[:, 5:] = 1.0
        model = SparseSVC(4, random_state=0).fit(X, y)
        n_used = used_features(model.machine_.kernel, 20).size
        assert n_used <= 5
        assert model.vectors_.shape == (4, 20)
        assert model_bytes(model) == 8 * (4 * n_used + 4 + 1)


class TestModelFile:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_it_is_the_same_again(self, machine, dtype, tmp_path):
        machine = machine.astype(dtype)
        path = tmp_path / "machine.kernelet"
        machine.save(path)
        again = load(path)
        assert again == machine
        assert again.dtype == dtype
        assert_array_equal(
            again.decision_function(wild_rows()), machine.decision_function(wild_rows())
        )
        summary = read_summary(path)
        assert (summary["n_features"], summary["n_vectors"]) == (D, 12)
        assert summary["format_version"] == 2

    def test_older_readers_are_not_misled(self, tmp_path):
        """What they can read is as it was, and the rest says that it is newer."""
        path = tmp_path / "machine.kernelet"
        machine_of(Gaussian(0.5)).save(path)
        assert read_summary(path)["format_version"] == 1

    def test_vectors_that_differ_are_kept(self):
        rng = np.random.default_rng(0)
        machine = KernelMachine(KERNELS["scales"], rng.normal(size=(4, D)), np.ones(4))
        assert stored_vectors(machine) is None
        Z = machine.vectors.copy()
        Z[:, 10:] = 0.0
        Z[1, 10] = -0.0
        machine = KernelMachine(KERNELS["scales"], Z, np.ones(4))
        again = from_record(to_record(machine))
        assert_array_equal(np.signbit(again.vectors), np.signbit(Z))

    @pytest.mark.parametrize(
        ("name", "array", "message"),
        [
            ("vector_features", np.array([3, 7, 8, 20]), "an integer for each"),
            ("vector_features", np.array([3.0, 7, 8, 20, 39]), "an integer for each"),
            ("vector_features", np.array([3, 7, 7, 20, 39]), "in order"),
            ("vector_features", np.array([3, 7, 8, 20, 40]), "in order"),
            ("vector_features", np.array([-1, 7, 8, 20, 39]), "in order"),
            ("vector_features", np.array([2**62, 2**63 - 1, -(2**63), -(2**62), 39]), "in order"),
            ("left_out", np.zeros(3), "the vectors have 8"),
            ("left_out", np.full(D - 5, np.nan), "NaN or infinity"),
            ("left_out", np.zeros(10**6), "too much memory"),
        ],
    )
    def test_wrong_files_say_so(self, name, array, message):
        record = to_record(machine_of(KERNELS["scales"], m=2000))
        if name == "left_out" and array.size < D:
            record.arrays["vector_features"] = np.arange(5)
        record.arrays[name] = array
        with pytest.raises(ValueError, match=message):
            from_record(record)

    def test_a_feature_list_is_needed(self):
        record = to_record(machine_of(KERNELS["scales"]))
        del record.arrays["vector_features"]
        with pytest.raises(ModelFileError, match="vector_features"):
            from_record(record)

    def test_what_would_grow_too_much_is_stored_in_full(self):
        d, m = 30_000, 400
        scales = np.zeros(d)
        scales[0] = 1.0
        machine = KernelMachine(ScaledFeatures(Linear(), scales), np.zeros((m, d)), np.ones(m))
        assert stored_vectors(machine) is None
        assert stored_vectors(replace_vectors(machine, 100)) is not None


def replace_vectors(machine, m):
    return KernelMachine(machine.kernel, machine.vectors[:m], machine.coefficients[:m])


class TestJson:
    def test_it_is_the_same_again(self, machine, tmp_path):
        path = tmp_path / "machine.json"
        json(machine, path)
        document = standard_json.loads(path.read_text())
        jsonschema.validate(document, json_schema())
        assert document["vector_features"] == USED
        assert len(document["vectors"][0]) == len(USED)
        assert read_json(path) == machine

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"format_version": 1}, "must hold 40 numbers"),
            ({"vector_features": [3, 7, 8, 20]}, "all features together"),
            ({"vector_features": [3, 7, 8, 20, 40]}, "all features together"),
            ({"vector_features": [3, 7, 8, 39, 20]}, "in order"),
            ({"vector_features": [3, 7, 8, 20, 39.0]}, "a feature must be an integer"),
            ({"left_out": [0.0]}, "all features together"),
            ({"left_out": None}, "must be a list"),
        ],
    )
    def test_wrong_documents_say_so(self, change, message, tmp_path):
        path = tmp_path / "machine.json"
        json(machine_of(KERNELS["scales"]), path)
        document = {**standard_json.loads(path.read_text()), **change}
        with pytest.raises(ValueError, match=message):
            model_of(document)
        if "format_version" in change:
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(document, json_schema())


class TestExports:
    """Each runs where it is meant to run, on rows that are wild where the kernel does not look."""

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_c(self, machine, dtype, tmp_path):
        library = compiled([(machine, dtype)], tmp_path)[0]
        rtol = 2e-4 if dtype == "float32" else 1e-9
        expected = machine.decision_function(tame(wild_rows()))
        assert_allclose(library.decision_function(wild_rows()), expected, rtol=rtol, atol=rtol)
        assert library.constant("FEATURES") == D
        assert library.constant("USED_FEATURES") == len(USED)
        assert np.isnan(library.decision_function(row_with(np.nan))).all()
        zero = library.decision_function(row_with(0.0))
        assert_array_equal(library.decision_function(row_with(np.inf)), zero)

    @pytest.mark.parametrize("name", ["scales", "matrix"])
    @pytest.mark.parametrize("offset", [0.0, 50.0])
    def test_c_in_integers(self, name, offset, tmp_path):
        machine = machine_of(KERNELS[name], offset=offset)
        library = compiled([(machine, "q15")], tmp_path)[0]
        rows = wild_rows()
        rows[:, USED] += offset
        expected = machine.decision_function(tame(rows))
        assert_allclose(library.decision_function(rows), expected, atol=0.02)
        assert (library.quantize(rows)[1] == 0).all()
        assert (library.quantize(row_with(np.nan))[1] > 0).all()
        assert_allclose(
            library.decision_function(row_with(np.nan)), [machine.intercepts], atol=1e-3
        )

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_javascript(self, machine, dtype, tmp_path):
        tasks = [
            (machine, rows, ["decisionFunction"], dtype)
            for rows in (wild_rows(), *map(row_with, (np.nan, np.inf, 0.0)))
        ]
        wild, refused, endless, zero = run_modules(tasks, tmp_path)
        rtol = 1e-5 if dtype == "float32" else 1e-9
        expected = machine.decision_function(tame(wild_rows()))
        assert_allclose(numbers(wild["decisionFunction"]), expected, rtol=rtol, atol=rtol)
        assert wild["metadata"]["usedFeatures"] == USED
        assert wild["metadata"]["nFeatures"] == D
        assert np.isnan(numbers(refused["decisionFunction"])).all()
        assert endless["decisionFunction"] == zero["decisionFunction"]

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_onnx(self, machine, dtype, tmp_path):
        path = tmp_path / "machine.onnx"
        onnx(machine, path, dtype=dtype)
        session = onnxruntime.InferenceSession(path)

        def values(rows):
            return session.run(None, {"X": rows.astype(dtype)})[0]

        rtol = 2e-4 if dtype == "float32" else 1e-9
        expected = machine.decision_function(tame(wild_rows()))
        assert_allclose(values(wild_rows()), expected, rtol=rtol, atol=rtol)
        assert np.isnan(values(row_with(np.nan))).all()
        assert_array_equal(values(row_with(np.inf)), values(row_with(0.0)))


def row_with(value):
    """A row that holds the value in a feature that the kernel leaves out."""
    row = np.zeros((1, D))
    row[0, 12] = value
    return row


def noisy_table():
    """Two columns that matter, a number and a category that do not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    colours = np.array(["red", "green", "blue"], dtype=object)[rng.integers(3, size=300)]
    return {
        "a": X[:, 0],
        "noise": X[:, 1],
        "colour": colours,
        "b": X[:, 2],
        "label": np.where(X[:, 0] * X[:, 2] > 0.0, "yes", "no"),
    }


class TestEstimators:
    @pytest.fixture
    def pipeline(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 6)) + 3.0
        X[:, 4] = 7.0
        y = ((X[:, 0] - 3.0) * (X[:, 2] - 3.0) > 0.0).astype(int)
        kernel = ScaledFeatures(Gaussian(0.5), [1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        scaler, svc = StandardScaler(), SparseSVC(6, kernel=kernel, random_state=0)
        return make_pipeline(scaler, svc).fit(X, y), X

    def test_scalers_go_along(self, pipeline, tmp_path):
        model, X = pipeline
        rows = X[:20].astype(np.float32).astype(np.float64)
        rows[:, [1, 3, 5]] = np.float32(1e25)
        scores = model.decision_function(np.where([1, 0, 1, 0, 1, 0], rows, 3.0))
        for dtype in ("float32", "float64", "q15"):
            library = compiled([(model, dtype)], tmp_path / dtype)[0]
            found = library.decision_function(rows)[:, 0]
            assert_allclose(found, scores, rtol=2e-3, atol=0.02)
        answer = run_modules([(model, rows, ["decisionFunction"], None)], tmp_path)[0]
        assert_allclose(numbers(answer["decisionFunction"]), scores, atol=1e-9)
        onnx(model, tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
        values = session.run(["scores"], {"X": rows.astype(np.float32)})[0]
        assert_allclose(values[:, 0], scores, atol=1e-3)

    def test_tables_go_along(self, tmp_path):
        table = noisy_table()
        kernel = ScaledFeatures(Gaussian(0.5), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        svc = SparseSVC(6, kernel=kernel, random_state=0)
        model = kernelet.TableModel.fit(table, "label", svc)
        assert used_features(model.estimator.machine_.kernel, 6).tolist() == [0, 5]
        rows = {name: column[:20] for name, column in table.items()}
        rows["noise"] = np.full(20, 1e30)
        expected = model.decision_function({**rows, "noise": np.zeros(20)})
        numbers_of = np.column_stack(
            [rows["a"], rows["noise"], np.arange(20) % 3, rows["b"]]
        ).astype(np.float32)
        for dtype in ("float32", "q15"):
            library = compiled([(model, dtype)], tmp_path / dtype)[0]
            found = library.decision_function(numbers_of)[:, 0]
            assert_allclose(found, expected, rtol=2e-3, atol=0.02)
        path = tmp_path / "table.kernelet"
        model.save(path)
        assert_array_equal(load(path).decision_function(rows), model.decision_function(rows))

    def test_what_a_search_leaves_out_is_not_shipped(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 30)).astype(np.float32).astype(np.float64)
        X[:, 20:] = 5.0
        y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
        model = SparseSVC(8, random_state=0).fit(X, y)
        used = used_features(model.machine_.kernel, 30)
        assert used.size <= 20
        rows = X[:50].copy()
        left_out = np.setdiff1d(np.arange(30), used)
        rows[:, left_out] = np.float32(1e30)
        library = compiled([(model, "float32")], tmp_path)[0]
        assert_array_equal(model.classes_[library.predict(rows)], model.predict(X[:50]))
        assert_array_equal(model.predict(rows), model.predict(X[:50]))
        rows[0, left_out[0]] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            model.predict(rows)
        path = tmp_path / "model.kernelet"
        model.save(path)
        again = load(path)
        assert_array_equal(again.vectors_, model.vectors_)
        assert_array_equal(again.predict(X), model.predict(X))


def test_info_says_what_is_in_use(tmp_path):
    path = tmp_path / "machine.kernelet"
    machine = machine_of(KERNELS["scales"])
    machine.save(path)
    command = [sys.executable, "-m", "kernelet", "info", str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "12 of 40 features (5 in use)" in said
    assert "on 5 of 40 features scaled by 0.5 to 2" in said
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    document = standard_json.loads(done.stdout)
    assert (document["n_features"], document["n_used_features"]) == (40, 5)
    assert document["machine_bytes"] == machine.nbytes
