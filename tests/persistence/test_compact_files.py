"""Machines in few bits in model files: small, exact, and not trusted."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import re
import struct
import tempfile
import tracemalloc
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import skops.io
from hypothesis import example, given
from numpy.testing import assert_allclose, assert_array_equal
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC

import kernelet
from benchmarks.hardening import model_files
from integer_machines import compact_form, compact_machine, machines, scores
from kernelet import KernelMachine, ModelFileError
from kernelet.kernels import Gaussian, ProjectedFeatures
from kernelet.machine import CalibratedMachine, TemperatureCalibration, stored_bytes
from kernelet.machine.powers import Powers
from kernelet.persistence import read_summary, skops_trusted
from kernelet.persistence.compact_forms import ALWAYS, CompactSizes
from kernelet.persistence.vectors import MAX_GROWTH
from random_examples import examples

DATA = Path(__file__).parents[1] / "data"
IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.kernelet"


def again(model, path):
    kernelet.save(model, path)
    return kernelet.load(path)


def split(data):
    """The bytes of a file as its description, its arrays and its other texts."""
    length = struct.unpack("<Q", data[:8])[0]
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    return json.loads(metadata.pop("model")), dict(from_bytes(data)), metadata


def array_bytes(path):
    """Of all arrays in a file."""
    data = path.read_bytes()
    return len(data) - 8 - struct.unpack("<Q", data[:8])[0]


class TestMachines:
    @examples(150)
    @given(machines())
    @example(compact_machine(m=0, d=3, k=1))
    @example(compact_machine(d=1, bits=2, coefficient_bits=4))
    @example(compact_machine(d=5, rank=5, bits=16, coefficient_bits=16))
    @example(compact_machine(used=[1, 4], flat=(0, 1), bits=9))
    def test_come_back_equal(self, machine):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.kernelet"
            loaded = again(machine, path)
            first = path.stat().st_size
            assert loaded == machine  # kernel, type, integers and every number
            assert loaded.compact == machine.compact
            for old, new in zip(fields_of(machine.compact), fields_of(loaded.compact), strict=True):
                assert new.dtype == old.dtype
            assert again(loaded, path) == machine
            assert path.stat().st_size == first
            summary = read_summary(path)
        assert summary["format_version"] == 3
        assert summary["stored_bytes"] == stored_bytes(machine)
        assert summary["vector_bits"] == machine.compact.grid.bits
        assert summary["coefficient_bits"] == machine.compact.coefficient_bits
        assert (summary["n_vectors"], summary["n_features"]) == machine.vectors.shape
        assert (summary["n_outputs"], summary["dtype"]) == (machine.n_outputs, str(machine.dtype))

    @pytest.mark.parametrize("rank", [0, 3])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_predict_what_their_integers_say(self, rank, dtype, path):
        parameters = {"d": 5, "used": [0, 1, 3], "has_scales": True, "rank": rank, "bits": 4}
        machine = compact_machine(dtype, kernel=Gaussian(0.02), **parameters)
        loaded = again(machine, path)
        assert loaded.dtype == dtype
        rows = np.random.default_rng(1).normal(size=(20, 5)).astype(dtype)
        # as large as the numbers of the machine
        rows *= np.abs(machine.vectors).max(axis=0) / 2.0
        expected = [scores(machine.compact, row) for row in rows]
        tolerance = 1e-9 if dtype == np.float64 else 1e-2
        assert_allclose(loaded.decision_function(rows), expected, atol=tolerance)
        assert_array_equal(loaded.decision_function(rows), machine.decision_function(rows))

    def test_a_kernel_with_a_matrix_of_its_own(self, path):
        inner = 0.5 * ProjectedFeatures(Gaussian(0.3), np.ones((2, 6)) / 3.0) + Gaussian(1.0)
        machine = compact_machine(kernel=inner, used=[0, 2, 3], d=6)
        assert again(machine, path) == machine

    def test_a_kernel_that_uses_no_feature(self, path):
        """One is kept, with a scale of 0."""
        form = compact_form(used=[0], d=3, has_scales=True)
        grid = dataclasses.replace(form.grid, scales=Powers(0.0, np.array([9], dtype=np.uint8)))
        machine = KernelMachine.from_compact(dataclasses.replace(form, grid=grid))
        assert again(machine, path) == machine
        assert_array_equal(machine.vectors, np.zeros((4, 3)))

    @pytest.mark.parametrize("size", [1e-300, 1e300])
    def test_numbers_of_any_size(self, size, path):
        form = compact_form()
        scales = dataclasses.replace(form.scales, base=size)
        machine = KernelMachine.from_compact(dataclasses.replace(form, scales=scales))
        assert again(machine, path) == machine

    def test_with_a_calibration(self, path):
        model = CalibratedMachine(compact_machine(), TemperatureCalibration(1.5))
        loaded = again(model, path)
        assert loaded.machine == model.machine
        rows = np.random.default_rng(0).normal(size=(5, 6))
        assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))

    def test_other_machines_keep_their_version(self, path):
        compact_machine().save(path)
        assert read_summary(path)["format_version"] == 3
        machine = compact_machine()
        plain = KernelMachine(
            Gaussian(0.3), machine.vectors, machine.coefficients, machine.intercepts
        )
        plain.save(path)
        summary = read_summary(path)
        assert summary["format_version"] == 1
        assert summary["vector_bits"] is summary["stored_bytes"] is None


def fields_of(form):
    """All arrays of a form."""
    grid = form.grid
    powers = [p for p in (grid.steps, grid.scales, form.scales) if p is not None]
    yield from (grid.used, grid.codes, grid.centres, form.coefficients, form.intercepts)
    yield from (each.codes for each in powers)
    if grid.matrix is not None:
        yield from (grid.matrix.codes, grid.matrix.steps.codes)


class TestSizes:
    @pytest.mark.parametrize("rank", [0, 4])
    @pytest.mark.parametrize("bits", [2, 3, 5, 8, 12])
    def test_arrays_take_no_more_than_is_counted(self, bits, rank, path):
        parameters = {"m": 30, "d": 50, "k": 4, "used": list(range(3, 40)), "has_scales": True}
        machine = compact_machine(bits=bits, rank=rank, flat=(1,), **parameters)
        machine.save(path)
        # the lengths of the vectors are not in the file, scales of their coefficients are
        grid = machine.compact.grid
        matrix_mask = -(-50 // 8)
        assert array_bytes(path) <= stored_bytes(machine) + matrix_mask
        assert grid.codes.size * bits // 8 * 0.9 < array_bytes(path)
        assert read_summary(path)["machine_bytes"] == array_bytes(path)

    def test_the_header_repeats_nothing(self, path):
        """A machine of 2000 features has the header of one of 20, but for the digits of sizes."""
        headers = []
        for d in (20, 2000):
            compact_machine(m=20, d=d, has_scales=True).save(path)
            headers.append(path.stat().st_size - array_bytes(path))
        assert headers[1] - headers[0] <= 64
        assert headers[0] < 1200

    def test_of_digits(self, path):
        X, y = load_digits(return_X_y=True)
        model = kernelet.SparseSVC(20, vector_bits=5, max_iter=3, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        model.machine_.save(path)
        assert array_bytes(path) <= stored_bytes(model.machine_)
        assert path.stat().st_size < stored_bytes(model.machine_) + 1200
        model.save(path)
        assert path.stat().st_size < stored_bytes(model.machine_) + 3500


@cache
def fitted(name):
    """Estimators of every kind that rounds, and what is made of them."""
    X, y = IRIS, np.array(["a", "b", "c"])[SPECIES]
    few = {"n_vectors": 4, "vector_bits": 4, "random_state": 0}
    models = {
        "SparseSVC": lambda: kernelet.SparseSVC(**few).fit(X, y),
        "two classes": lambda: kernelet.SparseSVC(**few).fit(X, y == "b"),
        "per class": lambda: kernelet.SparseSVC(**few, vectors="per_class").fit(X, y),
        "projection": lambda: kernelet.SparseSVC(**few, learn_kernel="projection").fit(X, y),
        "one width": lambda: kernelet.SparseSVC(**few, learn_kernel=True).fit(X, y),
        "SparseSVR": lambda: kernelet.SparseSVR(**few).fit(X, X[:, 0]),
        "SparseKernelRidge": lambda: kernelet.SparseKernelRidge(**few).fit(X, X[:, :2]),
        "SparseOneClassSVM": lambda: kernelet.SparseOneClassSVM(**few).fit(X),
        "ReducedSVC": lambda: kernelet.ReducedSVC(**few).fit(X, y),
        "KernelFisherClassifier": lambda: kernelet.KernelFisherClassifier(**few).fit(X, y),
        "compressed": lambda: kernelet.compress(SVC().fit(X, y), 6, vector_bits=6, random_state=0),
        "calibrated": lambda: kernelet.calibrate(fitted("SparseSVC"), X, y),
        "table": lambda: kernelet.TableModel.fit(TABLE, "y", kernelet.SparseSVC(**few)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return models[name]()


TABLE = {
    "width": IRIS[:, 0],
    "colour": np.array(["red", "blue", "green"])[np.arange(150) % 3],
    "constant": np.ones(150),
    "length": IRIS[:, 2],
    "y": SPECIES,
}
SEARCHED = ["SparseSVC", "two classes", "per class", "projection", "one width", "SparseSVR"]
SEARCHED += ["SparseKernelRidge", "SparseOneClassSVM", "ReducedSVC", "KernelFisherClassifier"]
MADE = ["compressed", "calibrated", "table"]


def machine_of(model):
    inner = getattr(model, "estimator", model)
    return getattr(inner, "machine_", None) or inner.calibrated_machine_.machine


class TestEstimators:
    @pytest.mark.parametrize("name", SEARCHED + MADE)
    def test_come_back(self, name, path):
        model = fitted(name)
        assert machine_of(model).compact is not None
        model.save(path)
        loaded = kernelet.load(path)
        assert type(loaded) is type(model)
        assert machine_of(loaded) == machine_of(model)
        rows = TABLE if name == "table" else IRIS
        for method in ("decision_function", "predict", "predict_proba"):
            inner = getattr(model, "estimator", model)
            assert hasattr(loaded, method) == hasattr(model, method)
            if hasattr(inner, method):
                assert_array_equal(getattr(loaded, method)(rows), getattr(model, method)(rows))
        summary = read_summary(path)
        assert summary["format_version"] == 3
        assert summary["stored_bytes"] == stored_bytes(machine_of(model))

    @pytest.mark.parametrize("name", SEARCHED)
    def test_can_be_saved_and_fitted_again(self, name, path):
        model = fitted(name)
        loaded = again(model, path)
        size = path.stat().st_size
        assert machine_of(again(loaded, path)) == machine_of(model)
        assert path.stat().st_size == size
        for attribute, value in vars(model).items():
            if attribute.endswith("_") and isinstance(value, bool | int | float | np.ndarray):
                assert_array_equal(getattr(loaded, attribute), value, err_msg=attribute)
        targets = {"two classes": SPECIES == 1, "SparseKernelRidge": IRIS[:, :2]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            refitted = clone(loaded).fit(IRIS, targets.get(name, SPECIES))
        assert refitted.machine_.compact.grid.bits == 4

    @pytest.mark.parametrize("vectors", ["shared", "per_class"])
    def test_warm_starts_go_on_from_the_rounded_vectors(self, vectors, path):
        model = kernelet.SparseSVC(
            3, vectors=vectors, vector_bits=4, max_iter=2, random_state=0, warm_start=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(IRIS, SPECIES)
            loaded = again(model, path)
            sets = np.concatenate(loaded._vector_sets)
            assert_array_equal(sets, model.machine_.vectors)
            assert [len(own) for own in loaded._vector_sets] == [
                len(own) for own in model._vector_sets
            ]
            model._vector_sets = loaded._vector_sets
            model._kernel_before = loaded.machine_.kernel
            assert loaded.fit(IRIS, SPECIES).machine_ == model.fit(IRIS, SPECIES).machine_


def described(model, path):
    """The description, arrays and texts of a saved model."""
    kernelet.save(model, path)
    return split(path.read_bytes())


def refusal(tree, arrays, metadata, path):
    """The reason for which a file is refused; a summary must not fail in another way."""
    path.write_bytes(to_bytes(arrays, metadata={**metadata, "model": json.dumps(tree)}))
    with pytest.raises(ModelFileError) as caught:
        kernelet.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    try:
        read_summary(path)
    except ModelFileError as error:
        assert str(error).startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


# 4 vectors of 6 features, of which 4 are in use, 5 bits; coefficients of 6 bits for 2 outputs
SMALL = {"used": [0, 2, 3, 5], "has_scales": True}
PROJECTED = {**SMALL, "rank": 3}
U8, I16 = np.uint8, np.int16
# parameters of the machine, changes of "compact", changes of arrays, the reason
REFUSED = {
    "a bit": (SMALL, {"vector_bits": 1}, {}, "the codes of vectors have 2 to 16 bits, not 1"),
    "17 bits": (SMALL, {"vector_bits": 17}, {}, "have 2 to 16 bits, not 17"),
    "very many bits": (SMALL, {"vector_bits": 10**30}, {}, "have 2 to 16 bits"),
    "text for bits": (SMALL, {"vector_bits": "5"}, {}, "'vector_bits' .* must be an integer"),
    "other bits": (SMALL, {"vector_bits": 6}, {}, r"'codes' must hold 12 bytes, not \(10,\)"),
    "7 bits": (SMALL, {"coefficient_bits": 7}, {}, "one of 4, 5, 6, 8, 16 bits, not 7"),
    "dtype": (SMALL, {"dtype": "float16"}, {}, "must be float32 or float64"),
    "no dtype": (SMALL, {"dtype": None}, {}, "'dtype' of the compact machine must be text"),
    "no features": (SMALL, {"n_features": 0}, {}, "must have a feature and an output at least"),
    "no outputs": (SMALL, {"n_outputs": 0}, {}, "must have a feature and an output at least"),
    "negative": (SMALL, {"n_vectors": -4}, {}, "must have a feature and an output at least"),
    "negative rank": (SMALL, {"n_combinations": -1}, {}, "must have a feature and an output"),
    "true": (SMALL, {"n_vectors": True}, {}, "'n_vectors' of the compact machine must be an int"),
    "vectors by the billion": (SMALL, {"n_vectors": 2**31}, {}, "too much memory for a file"),
    "features by the billion": (SMALL, {"n_features": 2**40}, {}, "too much memory for a file"),
    "outputs by the billion": (SMALL, {"n_outputs": 2**62}, {}, "too much memory for a file"),
    "outputs of nothing": (
        {"m": 0, "d": 2, "k": 1},
        {"n_outputs": 2**34},
        {},
        "too much memory for a file",
    ),
    "a large matrix": (PROJECTED, {"n_combinations": 2**40}, {}, "too much memory for a file"),
    "five vectors": (SMALL, {"n_vectors": 5}, {}, "'codes' must hold 13 bytes"),
    "six features": (SMALL, {"n_features": 9}, {}, r"'used' must hold 2 bytes, not \(1,\)"),
    "three outputs": (SMALL, {"n_outputs": 3}, {}, "'coefficients' must hold 9 bytes"),
    "four combinations": (PROJECTED, {"n_combinations": 4}, {}, "'codes' must hold 10 bytes"),
    "no bases": (SMALL, {"bases": {}}, {}, "the value 'steps' of the bases is missing"),
    "list of bases": (SMALL, {"bases": [1.0]}, {}, "'bases' .* must be an object"),
    **{
        f"{base} as a base of {name}": (
            PROJECTED if name == "matrix_steps" else SMALL,
            {
                "bases": {**{n: 1.0 for n in ("steps", "scales", "matrix_steps")}, name: base}
                | ({} if name == "coefficient_scales" else {"coefficient_scales": 1.0})
            },
            {},
            f"the base of the {what} must be positive and finite",
        )
        for base in (0.0, -1.0, 5e-324)
        for name, what in (
            ("steps", "steps"),
            ("scales", "scales"),
            ("matrix_steps", "steps of the matrix"),
            ("coefficient_scales", "scales of the coefficients"),
        )
    },
    "no codes": (SMALL, {}, {"codes": None}, "the array 'codes' of the compact machine is missing"),
    "no centres": (SMALL, {}, {"centres": None}, "the array 'centres' .* is missing"),
    "no steps": (SMALL, {}, {"steps": None}, "the array 'steps' .* is missing"),
    "no matrix": (PROJECTED, {}, {"matrix": None}, "the array 'matrix' .* is missing"),
    "scales and a matrix": (
        PROJECTED,
        {"bases": dict.fromkeys(("steps", "scales", "matrix_steps", "coefficient_scales"), 1.0)},
        {"scales": np.zeros(4, U8)},
        "there are scales and a matrix, of which one is enough",
    ),
    "bits behind the codes": (
        {**SMALL, "bits": 3, "m": 1},
        {},
        {"codes": np.array([0, 0x10], U8)},
        "the array 'codes' has bits behind its last number",
    ),
    "bits behind the features": (
        SMALL,
        {},
        {"used": np.array([0b01101101], U8)},
        "the array 'used' has bits behind its last number",
    ),
    "no feature in use": (
        SMALL,
        {},
        {"used": np.zeros(1, U8), "centres": np.zeros(0, np.int8)}
        | {name: np.zeros(0, U8) for name in ("codes", "steps", "scales")},
        "there must be an output and a feature in use",
    ),
    "more features in use": (
        SMALL,
        {},
        {"used": np.array([0b101111], U8)},
        "'codes' must hold 13 bytes|'centres' must hold",
    ),
    "codes of words": (SMALL, {}, {"codes": np.zeros(5, np.int16)}, "'codes' must hold 10 bytes"),
    "codes in rows": (SMALL, {}, {"codes": np.zeros((2, 5), U8)}, r"10 bytes, not \(2, 5\)"),
    "codes of floats": (
        SMALL,
        {},
        {"codes": np.zeros(10)},
        "must hold 10 bytes, not .* of float64",
    ),
    "a code of ten bits": (
        {**SMALL, "bits": 9, "m": 1},
        {},
        {"codes": np.array([0, 0, 0, 2, 0, 0, 0, 0], U8)},
        "the array 'codes' holds a number of more than 9 bits",
    ),
    "an entry of ten bits": (
        {**PROJECTED, "bits": 9},
        {},
        {"matrix": np.array([0, 2] + [0, 1] * 11, U8)},
        "the array 'matrix' holds a number of more than 9 bits",
    ),
    "a coefficient without its opposite": (
        SMALL,
        {},
        {"coefficients": np.zeros(6, U8)},
        "the coefficients must be from -31 to 31",
    ),
    "an entry without its opposite": (
        PROJECTED,
        {},
        {"matrix": np.zeros(8, U8)},
        "the codes of the matrix must be from -15 to 15",
    ),
    "an intercept without its opposite": (
        SMALL,
        {},
        {"intercepts": np.array([0, -(2**31)], np.int32)},
        "the intercepts must be from -2147483647 to 2147483647",
    ),
    "a centre without its opposite": (
        SMALL,
        {},
        {"centres": np.array([0, 1, 2, -(2**31)], np.int32)},
        "the centres must be from -2147483647 to 2147483647",
    ),
    "one intercept": (SMALL, {}, {"intercepts": np.zeros(1, I16)}, "must hold 2 numbers of int8"),
    "long intercepts": (
        SMALL,
        {},
        {"intercepts": np.zeros(2, np.int64)},
        "'intercepts' must hold 2 numbers of int8 or int16 or int32, not .* of int64",
    ),
    "three centres": (SMALL, {}, {"centres": np.zeros(3, I16)}, "must hold one or 4 numbers"),
    "steps with signs": (SMALL, {}, {"steps": np.zeros(4, np.int8)}, "one or 4 numbers of uint8"),
    "five scales": (SMALL, {}, {"scales": np.zeros(5, U8)}, "'scales' must hold one or 4 numbers"),
    "vectors that overflow": (
        SMALL,
        {"bases": {"steps": 1e308, "scales": 1e-290, "coefficient_scales": 1.0}},
        {},
        "the vectors of the machine hold NaN or infinity",
    ),
    "kernel values that overflow": (
        {**SMALL, "kernel": 0.5 * Gaussian(1e300)},
        {"bases": {"steps": 1e200, "scales": 1.0, "coefficient_scales": 1.0}},
        {},
        "vectors as large as .* cannot be squared and multiplied",
    ),
    "scores that overflow": (
        SMALL,
        {"bases": {"steps": 1.0, "scales": 1.0, "coefficient_scales": 1.7e308}},
        {},
        "the (coefficients|intercepts) of the machine hold NaN or infinity",
    ),
    "float32 that overflows": (
        SMALL,
        {
            "dtype": "float32",
            "bases": {"steps": 1e38, "scales": 1e-5, "coefficient_scales": 1.0},
        },
        {},
        "the vectors of the machine hold NaN or infinity",
    ),
}


class TestNotTrusted:
    @pytest.mark.parametrize("case", REFUSED)
    def test_refused_with_a_reason(self, case, path):
        parameters, fields, replaced, reason = REFUSED[case]
        tree, arrays, metadata = described(compact_machine(**parameters), path)
        tree["fields"]["compact"].update(fields)
        for name, array in replaced.items():
            arrays[name] = array
        arrays = {name: array for name, array in arrays.items() if array is not None}
        message = refusal(tree, arrays, metadata, path)
        assert re.search(reason, message), message

    @pytest.mark.parametrize("name", ["n_features", "vector_bits", "bases", "dtype"])
    def test_every_field_is_needed(self, name, path):
        tree, arrays, metadata = described(compact_machine(), path)
        del tree["fields"]["compact"][name]
        message = refusal(tree, arrays, metadata, path)
        assert f"the value {name!r} of the compact machine is missing" in message

    def test_compact_that_is_none(self, path):
        tree, arrays, metadata = described(compact_machine(), path)
        tree["fields"]["compact"] = None
        assert "'compact' of KernelMachine must be an object" in refusal(
            tree, arrays, metadata, path
        )

    def test_kernels_by_the_hundred(self, path):
        tree, arrays, metadata = described(compact_machine(), path)
        terms = [{"name": "rbf", "gamma": 1.0}] * 101
        tree["fields"]["kernel"] = {"name": "sum", "terms": terms}
        assert "more than 100 kernels" in refusal(tree, arrays, metadata, path)

    @pytest.mark.parametrize("size", ["n_vectors", "n_features", "n_outputs", "n_combinations"])
    @pytest.mark.parametrize("parameters", [SMALL, PROJECTED, {"m": 0, "d": 3, "k": 1}], ids=str)
    def test_sizes_are_looked_at_before_memory_is_taken(self, size, parameters, path):
        tree, arrays, metadata = described(compact_machine(**parameters), path)
        for number in (10**5, 10**7, 10**9, 2**63):
            tree["fields"]["compact"][size] = number
            tracemalloc.start()
            try:
                refusal(tree, arrays, metadata, path)
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
            assert peak < 3 * 2**20

    def test_a_matrix_that_takes_long_to_invert(self, path):
        tree, arrays, metadata = described(compact_machine(m=1, d=3000, rank=2, bits=2), path)
        tree["fields"]["compact"]["n_combinations"] = 3000
        arrays |= {
            "codes": np.full(750, 0xFF, U8),
            "centres": np.zeros(1, np.int8),
            "steps": np.zeros(1, U8),
            "matrix": np.full(3000 * 750, 0xFF, U8),
        }
        arrays.pop("varying", None)
        reason = refusal(tree, arrays, metadata, path)
        assert "a matrix of 3000 x 3000 numbers takes too long; lower its rank" in reason


def in_full(machine):
    return CompactSizes.of(machine, machine.compact).in_full


LARGE = {
    "two bits": {"m": 1000, "d": 600, "bits": 2, "coefficient_bits": 4},
    "sixteen bits": {"m": 1000, "d": 300, "bits": 16, "coefficient_bits": 16},
    "few features": {"m": 100, "d": 20_000, "used": [3, 500, 9000], "has_scales": True},
    "few columns that vary": {"m": 500, "d": 500, "bits": 3, "flat": tuple(range(2, 500))},
    "a matrix": {"m": 1000, "d": 500, "rank": 10, "bits": 4},
    "a square matrix": {"m": 20, "d": 600, "rank": 600, "bits": 2},
    "many outputs": {"m": 5000, "d": 2, "k": 100, "coefficient_bits": 4},
    "no vectors": {"m": 0, "d": 100_000, "used": [7]},
    "one vector": {"m": 1, "d": 200_000, "bits": 2},
}


class TestMemory:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("case", LARGE)
    def test_is_what_the_document_says(self, case, dtype, path):
        machine = compact_machine(dtype, **LARGE[case])
        machine.save(path)
        n_bytes, full = path.stat().st_size, in_full(machine)
        assert full <= MAX_GROWTH * n_bytes + ALWAYS
        kernelet.load(path)
        tracemalloc.start()
        try:
            loaded = kernelet.load(path)
            retained, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert loaded == machine
        constant = model_files.MEMORY_CONSTANT
        assert retained < full + n_bytes + constant
        assert peak < model_files.MEMORY_FACTOR * n_bytes + constant + 5 * full

    @pytest.mark.parametrize("case", ["few features", "few columns that vary", "no vectors"])
    def test_padding_is_not_left_out(self, case, path):
        machine = compact_machine(**LARGE[case])
        tree, arrays, metadata = described(machine, path)
        assert not arrays["padding"].any()
        others = sum(array.nbytes for array in arrays.values()) - arrays["padding"].nbytes
        assert MAX_GROWTH * others + ALWAYS < in_full(machine)
        arrays["padding"] = arrays["padding"][:-1]
        reason = refusal(tree, arrays, metadata, path)
        assert "the machine takes too much memory for a file of this size" in reason

    def test_small_machines_need_none(self, path):
        _, arrays, _ = described(compact_machine(m=20, d=784, used=list(range(0, 784, 5))), path)
        assert "padding" not in arrays


UNFIT = {
    "coefficients": (
        lambda form: dataclasses.replace(form, coefficients=form.coefficients * 0 - 32),
        "the coefficients must be from -31 to 31",
    ),
    "bits": (
        lambda form: dataclasses.replace(form, coefficient_bits=7),
        "coefficients have one of 4, 5, 6, 8, 16 bits, not 7",
    ),
    "codes": (
        lambda form: dataclasses.replace(
            form, grid=dataclasses.replace(form.grid, codes=form.grid.codes + np.uint16(32))
        ),
        "the codes of the vectors must be from 0 to 31",
    ),
    "base": (
        lambda form: dataclasses.replace(
            form, scales=dataclasses.replace(form.scales, base=5e-324)
        ),
        "the base of the scales of the coefficients must be positive .* it is 4.94066e-324",
    ),
}


@pytest.mark.parametrize("case", UNFIT)
def test_what_could_not_be_read_again_is_not_written(case, path):
    change, reason = UNFIT[case]
    machine = KernelMachine.from_compact(change(compact_form(**SMALL)))
    with pytest.raises(ValueError, match=reason) as caught:
        machine.save(path)
    assert not isinstance(caught.value, ModelFileError)
    assert not path.exists()


class TestOtherWays:
    @pytest.mark.parametrize("parameters", [SMALL, PROJECTED, {"m": 0}], ids=str)
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_machines(self, dtype, parameters):
        machine = compact_machine(dtype, **parameters)
        rows = np.random.default_rng(0).normal(size=(5, 6))
        machine.decision_function(rows)  # what is prepared for it is not kept
        data = skops.io.dumps(machine)
        assert set(skops.io.get_untrusted_types(data=data)) <= set(skops_trusted())
        for same in (
            pickle.loads(pickle.dumps(machine)),
            copy.copy(machine),
            copy.deepcopy(machine),
            skops.io.loads(data, trusted=skops_trusted()),
        ):
            assert same == machine
            assert same.compact == machine.compact
            assert not same.vectors.flags.writeable
            assert_array_equal(same.decision_function(rows), machine.decision_function(rows))
        other = KernelMachine(
            machine.kernel, machine.vectors, machine.coefficients, machine.intercepts
        )
        assert other != machine and machine != other

    @pytest.mark.parametrize("name", SEARCHED + MADE)
    def test_estimators(self, name):
        model = fitted(name)
        data = skops.io.dumps(model)
        assert set(skops.io.get_untrusted_types(data=data)) <= set(skops_trusted())
        for same in (
            pickle.loads(pickle.dumps(model)),
            copy.deepcopy(model),
            skops.io.loads(data, trusted=skops_trusted()),
        ):
            assert machine_of(same) == machine_of(model)


def stream(data, bits, n):
    """Packed integers, taken from one large number; of more than 8 bits, from words."""
    width = bits if bits <= 8 else 16
    whole = int.from_bytes(data.tobytes(), "little")
    assert whole >> (n * width) == 0
    return [whole >> (i * width) & (2**width - 1) for i in range(n)]


def by_the_document(fields, arrays, gamma, row):
    """f of a row, by MODEL_FILE.md and nothing else."""
    m, d, k, r = (
        fields[f"n_{what}"] for what in ("vectors", "features", "outputs", "combinations")
    )
    bits, half = fields["vector_bits"], 2 ** (fields["vector_bits"] - 1)
    coefficient_bits = fields["coefficient_bits"]

    def mask(name, n):
        return stream(arrays[name], 1, n) if name in arrays else [1] * n

    def each(name, n):
        return arrays[name].tolist() * (n if arrays[name].size == 1 else 1)

    def powers(name, n):
        return [fields["bases"][name] * 2.0 ** (-code / 8) for code in each(name, n)]

    x = [value for value, is_used in zip(row.tolist(), mask("used", d), strict=True) if is_used]
    if r:
        columns = [a * v for a, v in zip(powers("matrix_steps", len(x)), x, strict=True)]
        entries = stream(arrays["matrix"], bits, r * len(x))
        rows = [entries[i * len(x) : (i + 1) * len(x)] for i in range(r)]
        x = [sum((e - half) * v for e, v in zip(line, columns, strict=True)) for line in rows]
    elif "scales" in arrays:
        x = [s * v for s, v in zip(powers("scales", len(x)), x, strict=True)]
    varying = mask("varying", len(x))
    codes = iter(stream(arrays["codes"], bits, m * sum(varying)))
    lattice = list(zip(varying, powers("steps", len(x)), each("centres", len(x)), x, strict=True))
    coefficients = iter(stream(arrays["coefficients"], coefficient_bits, m * k))
    unit = fields["bases"]["coefficient_scales"] / 256
    totals = [unit * number for number in arrays["intercepts"].tolist()]
    for scale in powers("coefficient_scales", m):
        square = sum(
            (v - a * (o + (next(codes) if is_stored else half) - half)) ** 2
            for is_stored, a, o, v in lattice
        )
        for output in range(k):
            b = next(coefficients) - 2 ** (coefficient_bits - 1)
            totals[output] += scale * b * np.exp(-gamma * square)
    return totals


@pytest.mark.parametrize("bits", [2, 5, 8, 11])
@pytest.mark.parametrize(
    "parameters",
    [{"has_scales": True, "flat": (1, 2)}, {"rank": 3, "flat": (0,)}, {"same": True}, {"m": 0}],
    ids=str,
)
def test_the_document_is_enough_to_read_a_file(bits, parameters, path):
    machine = compact_machine(
        d=9, used=[1, 2, 3, 6, 8], bits=bits, kernel=Gaussian(0.02), **parameters
    )
    tree, arrays, _ = described(machine, path)
    rows = np.random.default_rng(0).normal(size=(10, 9)) * 3.0
    found = [by_the_document(tree["fields"]["compact"], arrays, 0.02, row) for row in rows]
    assert_allclose(machine.decision_function(rows), found, atol=1e-9)


class TestVersionThree:
    """A file that an earlier kernelet has written."""

    EXPECTED = DATA / "version_3.json"

    def test_machine(self):
        machine = kernelet.load(DATA / "compact_3.kernelet")
        expected = json.loads(self.EXPECTED.read_text(encoding="utf-8"))
        form, grid = machine.compact, machine.compact.grid
        assert machine.dtype == np.float32
        assert grid.codes.tolist() == expected["codes"]
        assert grid.used.tolist() == expected["used"]
        assert grid.centres.tolist() == expected["centres"]
        assert form.coefficients.tolist() == expected["coefficients"]
        assert form.intercepts.tolist() == expected["intercepts"]
        assert (grid.bits, form.coefficient_bits) == (3, 5)
        rows = np.array(expected["rows"], dtype=np.float32)
        assert_allclose(machine.decision_function(rows), expected["decision_function"], rtol=1e-4)
        for row, values in zip(rows, expected["decision_function"], strict=True):
            assert_allclose(scores(form, row), values, rtol=1e-6)

    def test_summary(self):
        summary = read_summary(DATA / "compact_3.kernelet")
        assert summary["format_version"] == 3
        assert (summary["vector_bits"], summary["coefficient_bits"]) == (3, 5)
        assert (summary["n_vectors"], summary["n_features"], summary["n_outputs"]) == (4, 7, 2)
        assert summary["stored_bytes"] == stored_bytes(kernelet.load(DATA / "compact_3.kernelet"))
        assert summary["kernel"] == {
            "name": "scaled_features",
            "kernel": {"name": "rbf", "gamma": 0.3},
            "scales": {"shape": [7]},
        }
