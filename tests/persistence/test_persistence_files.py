"""Model files that are damaged, hostile, old or half written."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from safetensors.numpy import save as to_bytes

import kernelet
from kernelet.kernels import Gaussian, Linear, ProjectedFeatures
from kernelet.persistence import atomic, read_summary
from kernelet.persistence.record import Record
from kernelet.persistence.values import decode_labels, decode_value, encode_labels, encode_value

DATA = Path(__file__).parents[1] / "data"
EXPECTED = json.loads((DATA / "version_1.json").read_text(encoding="utf-8"))
MACHINE = kernelet.KernelMachine(Gaussian(0.5), [[0.0, 1.0], [2.0, 3.0]], [1.0, -1.0], 0.25)
METADATA = {"format": "kernelet", "format_version": "1", "kernelet_version": "0.1.0"}
TREE = {
    "kind": "KernelMachine",
    "fields": {"kernel": {"name": "rbf", "gamma": 0.5}},
    "parts": {},
}
ARRAYS = {
    "vectors": np.array([[0.0, 1.0], [2.0, 3.0]]),
    "coefficients": np.array([[1.0], [-1.0]]),
    "intercepts": np.array([0.25]),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.kernelet"


def file_of(tree=TREE, arrays=ARRAYS, **metadata):
    """The bytes of a file, by the safetensors package alone."""
    model = tree if isinstance(tree, str) else json.dumps(tree)
    return to_bytes(arrays, metadata={**METADATA, "model": model, **metadata})


def with_header(header):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


def refusal(data, path):
    """The reason for which load refuses a file; read_summary may see it too."""
    path.write_bytes(data)
    with pytest.raises(kernelet.ModelFileError) as caught:
        kernelet.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    try:
        read_summary(path)
    except kernelet.ModelFileError as error:
        assert str(error).startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


class TestVersionOne:
    def test_machine(self):
        machine = kernelet.load(DATA / "machine_1.kernelet")
        expected = EXPECTED["machine"]
        assert machine.dtype == np.float32
        rows = np.array(expected["rows"], dtype=np.float32)
        assert_allclose(machine.decision_function(rows), expected["decision_function"], rtol=1e-5)

    def test_pairs(self):
        model, expected = kernelet.load(DATA / "pairs_1.kernelet"), EXPECTED["pairs"]
        assert type(model).__name__ == "CompressedPairwiseClassifier"
        scores = model.decision_function(expected["rows"])
        assert_allclose(scores, expected["decision_function"], rtol=1e-10)
        assert model.predict(expected["rows"]).tolist() == expected["predict"]

    def test_table(self):
        model, expected = kernelet.load(DATA / "table_1.kernelet"), EXPECTED["table"]
        assert isinstance(model, kernelet.TableModel)
        assert type(model.estimator.estimator_) is kernelet.SparseSVC
        assert model.estimator.estimator_.class_weight == {0: 1.0, 1: 2.0, 2: 1.0}
        columns = expected["columns"]
        assert_allclose(model.decision_function(columns), expected["decision_function"], rtol=1e-10)
        assert_allclose(model.predict_proba(columns), expected["predict_proba"], rtol=1e-10)
        assert model.predict(columns).tolist() == expected["predict"]
        assert model.encoder.feature_names == expected["feature_names"]
        assert model.target == expected["target"]

    @pytest.mark.parametrize("name", ["machine", "pairs", "table"])
    def test_summaries(self, name):
        summary = read_summary(DATA / f"{name}_1.kernelet")
        assert summary["format_version"] == 1
        assert summary["n_vectors"] == {"machine": 5, "pairs": 6, "table": 4}[name]


def test_a_file_made_by_safetensors_alone_is_a_model(path):
    path.write_bytes(file_of())
    assert kernelet.load(path) == MACHINE


def changed(**fields):
    return {**TREE, "fields": {**TREE["fields"], **fields}}


def without(name):
    return {key: value for key, value in ARRAYS.items() if key != name}


ENTRY = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}
META = {"__metadata__": {**METADATA, "model": json.dumps(TREE)}}
nan = np.array([[np.nan], [1.0]])


def projected(matrix, array=None):
    """A file of a machine of two features whose kernel has a matrix."""
    kernel = {"name": "projected_features", "kernel": {"name": "linear"}, "matrix": matrix}
    arrays = ARRAYS if array is None else ARRAYS | {"kernel.matrix": np.array(array)}
    return file_of(changed(kernel=kernel), arrays)


BY_NAME = {"array": "kernel.matrix"}
REFUSED = {
    "no matrix": (projected(BY_NAME), "array 'kernel.matrix' of KernelMachine is missing"),
    "matrix of NaN": (projected(BY_NAME, [[1.0, np.nan]]), "'kernel.matrix' .* holds NaN"),
    "matrix in a row": (projected(BY_NAME, [1.0, 2.0]), "must hold 2 dimensions of float64"),
    "matrix of integers": (projected(BY_NAME, [[1, 2]]), "must hold 2 dimensions of float64"),
    "matrix without rows": (projected(BY_NAME, np.zeros((0, 2))), "a row and a column at least"),
    "matrix of three columns": (
        projected(BY_NAME, [[1.0, 2.0, 3.0]]),
        "the kernel is one of 3 features, the vectors have 2",
    ),
    "matrix too large": (
        projected(BY_NAME, [[1e308, 1e308]]),
        "vectors as large as 3e.00 cannot be multiplied by a matrix as large as 1e.308",
    ),
    "ragged matrix": (projected([[1.0, 2.0], [1.0]]), "must have the same length"),
    "matrix of texts": (projected([["a", "b"]]), "an entry of the matrix must be a finite number"),
    "matrix of objects": (projected({"array": 3}), "Unknown kernel name None"),
    "matrix of vectors": (projected({"array": "vectors"}), "the array 'vectors' .* is missing"),
    "matrix named twice": (
        file_of(
            changed(
                kernel={
                    "name": "sum",
                    "terms": [
                        {
                            "name": "projected_features",
                            "kernel": {"name": "linear"},
                            "matrix": BY_NAME,
                        }
                    ]
                    * 2,
                }
            ),
            ARRAYS | {"kernel.matrix": np.ones((1, 2))},
        ),
        "array 'kernel.matrix' of KernelMachine is missing",
    ),
    "empty": (b"", "the file is empty"),
    "five bytes": (b"hello", "not a model file, or one that was cut off"),
    "text": (b"a,b,c\n1,2,3\n4,5,6\n" * 10, "not a model file, or one that was cut off"),
    "pickle": (b"\x80\x04\x95" + b"\x00" * 40, "not a model file"),
    "header beyond the file": (struct.pack("<Q", 2**62) + b"{}", "not a model file, or one"),
    "not UTF-8": (with_header(b'{"\xff\xfe": 1}'), "not UTF-8"),
    "not JSON": (with_header(b"{'a': 1}"), "not JSON"),
    "a list": (with_header([]), "the header must be an object"),
    "deep": (with_header(b"[" * 5000), "not JSON"),
    "very deep": (with_header(b"[" * 10**6), "more values than a file of this size"),
    "many values": (with_header(b"[" + b"{}," * 10**5 + b"{}]"), "more values than a file"),
    "NaN in JSON": (with_header(b'{"a": NaN}'), "NaN is not JSON"),
    "a key twice": (with_header(b'{"a": 1, "a": 2}'), "a key appears twice"),
    "other safetensors": (to_bytes(ARRAYS), "a safetensors file, but not one of kernelet"),
    "other format": (file_of(format="pt"), "a safetensors file, but not one of kernelet"),
    "metadata not text": (
        with_header({"__metadata__": {**METADATA, "model": 1}}),
        "'model' in the metadata must be text",
    ),
    "no model": (to_bytes(ARRAYS, metadata=METADATA), "the metadata describe no model"),
    "newer": (
        file_of(format_version="4", kernelet_version="9.1"),
        r"written by a newer kernelet \(9.1, format version 4; this one reads up to 3\); upgrade",
    ),
    "version 0": (file_of(format_version="0"), "the format version is missing or not a number"),
    "version one": (file_of(format_version="one"), "the format version is missing"),
    "version of digits": (file_of(format_version="9" * 5000), "the format version is missing"),
    "cut off": (file_of()[:-1], "the file was cut off: 55 bytes of arrays instead of 56"),
    "too long": (file_of() + b"\x00", "is longer than it should be"),
    "size lie": (
        with_header(META | {"vectors": {**ENTRY, "shape": [2**40], "data_offsets": [0, 2**43]}}),
        "the file was cut off",
    ),
    "shape lie": (
        with_header(META | {"vectors": {**ENTRY, "shape": [2**40]}}) + b"\x00" * 8,
        "a shape that does not fit its size",
    ),
    "wide and empty": (
        with_header(META | {"vectors": {**ENTRY, "shape": [0, 2**40], "data_offsets": [0, 0]}}),
        "is empty but has a dimension above",
    ),
    "negative": (
        with_header(META | {"vectors": {**ENTRY, "shape": [-1]}}),
        "no proper shape or place",
    ),
    "no place": (
        with_header(META | {"vectors": {"dtype": "F64", "shape": [1]}}),
        "no proper shape or place",
    ),
    "many dimensions": (
        with_header(META | {"vectors": {**ENTRY, "shape": [1] * 40}}) + b"\x00" * 8,
        "no proper shape or place",
    ),
    "overlap": (
        with_header(META | {"a": ENTRY, "b": ENTRY}) + b"\x00" * 8,
        "'b' does not begin where the one before it ends",
    ),
    "unknown type": (
        with_header(META | {"vectors": {**ENTRY, "dtype": "F8_E4M3"}}),
        "must be one of F32, F64, I64, I32, I16, I8, U8, BOOL",
    ),
    "unknown kind": (
        file_of({**TREE, "kind": "Trojan"}),
        "the kind of model 'Trojan' is not known",
    ),
    "kind of Python": (file_of({**TREE, "kind": "os.system"}), "'os.system' is not known"),
    "model not an object": (file_of("[]"), "the model must be an object"),
    "model not JSON": (file_of("{"), "the description of the model is not JSON"),
    "no kind": (file_of({"fields": {}, "parts": {}}), "the value 'kind' of a model is missing"),
    "no kernel": (file_of({**TREE, "fields": {}}), "'kernel' of KernelMachine is missing"),
    "kernel of text": (file_of(changed(kernel="rbf")), "'kernel' of KernelMachine must be an obj"),
    "unknown kernel": (file_of(changed(kernel={"name": "x"})), "Unknown kernel name 'x'"),
    "negative gamma": (
        file_of(changed(kernel={"name": "rbf", "gamma": -1})),
        "gamma must be a finite number above 0",
    ),
    "infinite gamma": (
        file_of(json.dumps(TREE).replace("0.5", "1e999")),
        "gamma must be a finite number",
    ),
    "sum of a thousand": (
        file_of(changed(kernel={"name": "sum", "terms": [{"name": "rbf", "gamma": 1.0}] * 1000})),
        "the kernel is made of more than 100 kernels",
    ),
    "no vectors": (file_of(arrays=without("vectors")), "the array 'vectors' of KernelMachine is m"),
    "one array too many": (file_of(arrays=ARRAYS | {"x/more": nan}), "'x/more' belongs to nothing"),
    "NaN": (file_of(arrays=ARRAYS | {"coefficients": nan}), "'coefficients' .* holds NaN"),
    "infinity": (file_of(arrays=ARRAYS | {"intercepts": np.array([np.inf])}), "holds NaN or inf"),
    "integers": (
        file_of(arrays=ARRAYS | {"vectors": np.ones((2, 2), dtype=np.int64)}),
        "must hold 2 dimensions of float32 or float64, not 2 of int64",
    ),
    "mixed precision": (
        file_of(arrays=ARRAYS | {"coefficients": np.ones((2, 1), dtype=np.float32)}),
        "must hold 2 dimensions of float64",
    ),
    "more than true": (
        # the smallest type is the last in the file
        file_of(arrays=ARRAYS | {"flags": np.array([True])})[:-1] + b"\x02",
        "the array 'flags' holds a truth value that is neither 0 nor 1",
    ),
    "three coefficients": (
        file_of(arrays=ARRAYS | {"coefficients": np.ones((3, 1))}),
        "coefficients must have shape",
    ),
    "two intercepts": (file_of(arrays=ARRAYS | {"intercepts": np.ones(2)}), "one number for each"),
    "models in models": (
        file_of('{"kind":"TableModel","fields":{},"parts":{"estimator":' * 20 + "1" + "}}" * 20),
        "more than 8 levels deep",
    ),
}


def test_matrices_of_many_rows_take_no_more_memory_than_others(path):
    """1000 vectors of one feature would become 200 million numbers."""
    kernel = ProjectedFeatures(Gaussian(0.5), np.linspace(-1.0, 1.0, 200_000)[:, np.newaxis])
    machine = kernelet.KernelMachine(kernel, np.linspace(0.0, 1.0, 1000)[:, None], np.ones(1000))
    machine.save(path)
    kernelet.load(path)
    tracemalloc.start()
    try:
        kernelet.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * path.stat().st_size + 3 * 2**20


def test_sums_of_many_kernels_take_no_more_memory_than_others(path):
    """Each of 100 kernels has a copy of the vectors that it is evaluated with."""
    kernel = kernelet.kernels.Sum([Gaussian(1.0 + place) for place in range(98)])
    vectors = np.random.default_rng(0).normal(size=(500, 40))
    kernelet.KernelMachine(kernel, vectors, np.ones(500)).save(path)
    kernelet.load(path)
    tracemalloc.start()
    try:
        kernelet.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * path.stat().st_size + 3 * 2**20


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_reason(name, path):
    data, reason = REFUSED[name]
    message = refusal(data, path)
    assert re.search(reason, message), message


# part of a table model : field -> value, reason
MISFITS = {
    "classes": (
        "estimator/estimator:classes_",
        {"dtype": "int64", "values": [0, 1]},
        "the machine has 3 outputs, but this SparseSVC needs 1",
    ),
    "classes of another type": (
        "estimator/estimator:classes_",
        {"dtype": "int8", "values": [0, 1, 300]},
        "a label does not fit into int8",
    ),
    "one class": (
        "estimator/estimator:classes_",
        {"dtype": "int64", "values": [3]},
        "at least two classes",
    ),
    "twin classes": (
        "estimator/estimator:classes_",
        {"dtype": "object", "values": [1, "a", 1.0]},
        "the classes must be different",
    ),
    "no classes": (
        "estimator/estimator:classes_",
        {"dtype": "int64", "values": []},
        "at least two classes",
    ),
    "labels of no type": (
        "estimator/estimator:classes_",
        {"dtype": "object", "values": [0, 1, []]},
        "a label must be a number, a truth value or text",
    ),
    "other classes inside": (
        "estimator:classes_",
        {"dtype": "int64", "values": [0, 1, 5]},
        "the calibration is for other features or classes",
    ),
    "features": (
        "estimator/estimator:n_features_in_",
        7,
        "the machine is for another number of features",
    ),
    "features that are true": (
        "estimator/estimator:n_features_in_",
        True,
        "'n_features_in_' of SparseSVC must be an integer",
    ),
    "names": ("estimator:feature_names_in_", ["a"], "there must be a name for each feature"),
    "names of numbers": ("estimator:feature_names_in_", [1] * 6, "must be text"),
    "a new parameter": (
        "estimator/estimator:params",
        {"C": 1.0, "magic": 2},
        "SparseSVC has no parameter 'magic' here; upgrade kernelet",
    ),
    "a parameter of no type": (
        "estimator/estimator:params",
        {"C": {"pickle": "gASVAAAA"}},
        "a value has no known type",
    ),
    "an attribute of another type": (
        "estimator/estimator:fitted",
        {"n_iter_": "many"},
        "n_iter_ must be int, got str",
    ),
    "target": (":target", 3, "'target' of TableModel must be text"),
    "columns": ("encoder:columns", [], "there are more scales than columns of numbers"),
    "a column without a name": ("encoder:columns", [{"kind": "number"}], "has no name"),
    "a column twice": (
        "encoder:columns",
        [{"name": "a", "kind": "number"}] * 2,
        "the column 'a' appears twice",
    ),
    "too many columns": (
        "encoder:columns",
        [{"name": name, "kind": "number"} for name in "abc"],
        "there are fewer scales than columns of numbers",
    ),
    "categories": (
        "encoder:columns",
        [{"name": "c", "kind": "category", "categories": ["a", "a"], "has_missing": False}],
        "the column 'c' is not described as it should be",
    ),
    "training": (
        "estimator/estimator:training",
        {"n_rows": "all"},
        "'n_rows' of training must be an integer",
    ),
}


class TestEstimatorFiles:
    """Files of estimators and tables whose parts are right one by one, but not together."""

    @staticmethod
    def read(name):
        data = (DATA / f"{name}_1.kernelet").read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8 : 8 + length])
        arrays = {}
        for key, entry in header.items():
            if key != "__metadata__":
                begin, end = (8 + length + place for place in entry["data_offsets"])
                dtype = {"F64": "<f8", "F32": "<f4", "I64": "<i8"}[entry["dtype"]]
                arrays[key] = np.frombuffer(data[begin:end], dtype).reshape(entry["shape"])
        return json.loads(header["__metadata__"]["model"]), arrays

    @pytest.mark.parametrize("case", MISFITS)
    def test_refused_with_a_reason(self, case, path):
        tree, arrays = self.read("table")
        place, value, reason = MISFITS[case]
        parts, _, name = place.partition(":")
        node = tree
        for part in filter(None, parts.split("/")):
            node = node["parts"][part]
        node["fields"][name] = value
        assert reason in refusal(file_of(tree, arrays), path)

    def test_fewer_columns_than_the_estimator_has_features(self, path):
        tree, arrays = self.read("table")
        del tree["parts"]["encoder"]["fields"]["columns"][2]
        reason = refusal(file_of(tree, arrays), path)
        assert "fitted on 6 features, but the columns give 2" in reason

    @pytest.mark.parametrize("scale", [0.0, -1.0, 5e-324])
    def test_a_scale_that_is_none(self, scale, path):
        tree, arrays = self.read("table")
        arrays["encoder/scale"] = np.array([1.0, scale])
        assert "scale of a column" in refusal(file_of(tree, arrays), path)

    @pytest.mark.parametrize(
        ("slopes", "offsets", "reason"),
        [
            (3, 2, "as many slopes as offsets"),
            (0, 0, "as many slopes as offsets"),
            (2, 2, "the calibration is for another number of outputs than the machine's"),
        ],
    )
    def test_a_calibration_of_another_size(self, slopes, offsets, reason, path):
        tree, arrays = self.read("table")
        arrays["estimator/calibration/slopes"] = np.ones(slopes)
        arrays["estimator/calibration/offsets"] = np.ones(offsets)
        assert reason in refusal(file_of(tree, arrays), path)

    def test_sizes_that_are_no_integers(self, path):
        """An error of another kind, from NumPy, is a reason as well."""
        tree, arrays = self.read("table")
        assert arrays["estimator/estimator/_set_sizes"].tolist() == [4]
        arrays["estimator/estimator/_set_sizes"] = np.array([1.5, 2.5])
        assert refusal(file_of(tree, arrays), path)

    def test_a_machine_where_an_estimator_should_be(self, path):
        tree, arrays = self.read("table")
        inner = tree["parts"]["estimator"]["parts"]["estimator"]
        tree["parts"]["estimator"] = inner["parts"]["machine"]
        arrays = {
            name.replace("estimator/estimator/machine/", "estimator/"): array
            for name, array in arrays.items()
            if "machine" in name or "encoder" in name
        }
        assert "a KernelMachine where an estimator should be" in refusal(
            file_of(tree, arrays), path
        )

    def test_an_estimator_where_a_machine_should_be(self, path):
        tree, arrays = self.read("pairs")
        tree["parts"]["machine"]["kind"] = "SparseSVC"
        assert "a SparseSVC where another kind of model" in refusal(file_of(tree, arrays), path)

    def test_attributes_that_predictions_need(self, path):
        tree, arrays = self.read("pairs")
        del tree["fields"]["fitted"]["break_ties_"]
        assert "'break_ties_' of CompressedPairwiseClassifier is missing" in refusal(
            file_of(tree, arrays), path
        )

    def test_older_files_may_lack_other_attributes_and_new_parameters(self, path):
        tree, arrays = self.read("table")
        fields = tree["parts"]["estimator"]["parts"]["estimator"]["fields"]
        del fields["fitted"]["n_evaluations_"]
        del fields["params"]["tol"]
        path.write_bytes(file_of(tree, arrays))
        model = kernelet.load(path).estimator.estimator_
        assert model.tol == kernelet.SparseSVC().tol
        assert model.n_iter_ == 23


class TestValues:
    @pytest.mark.parametrize(
        "value",
        [None, True, 3, 0.1, float("inf"), "a", [1, [2.5]], (1, "b"), {1: 2.0, "c": None}],
        ids=str,
    )
    def test_round_trip_through_json(self, value):
        coded = json.loads(json.dumps(encode_value(value, "x", {}), allow_nan=False))
        found = decode_value(coded, Record("test"))
        assert found == value
        assert type(found) is type(value)

    @pytest.mark.parametrize(
        "labels",
        [np.array([0.1, 1 / 3]), np.array(["a", 1, 2.5, True], dtype=object), np.array([True])],
        ids=str,
    )
    def test_labels(self, labels):
        found = decode_labels(json.loads(json.dumps(encode_labels(labels))))
        assert found.dtype == labels.dtype
        assert found.tolist() == labels.tolist()

    @pytest.mark.parametrize(
        "value",
        [
            np.eye(2, dtype=dtype)
            for dtype in (np.int8, np.int32, np.uint16, np.float16, np.float32, bool, ">f8")
        ]
        + [np.array(["a", "bc"]), np.zeros((0, 3)), np.array(2.5)],
        ids=str,
    )
    def test_arrays(self, value):
        record = Record("test")
        coded = json.loads(json.dumps(encode_value(value, "x", record.arrays)))
        found = decode_value(coded, record)
        assert found.dtype.kind == value.dtype.kind or value.dtype.kind == "u"
        assert found.shape == value.shape
        assert_array_equal(found, value)

    @pytest.mark.parametrize(
        "value",
        [np.array([["a"]]), np.array([2**63], dtype=np.uint64), print, np.array([1j])],
        ids=str,
    )
    def test_what_files_cannot_hold(self, value):
        with pytest.raises((TypeError, ValueError)):
            encode_value(value, "x", {})

    def test_deep_values_are_refused(self):
        value = 1
        for _ in range(50):
            value = {"list": [value]}
        with pytest.raises(kernelet.ModelFileError, match="more than 20 levels"):
            decode_value(value, Record("test"))


class TestPlaces:
    def test_a_missing_file_stays_what_it_is(self, path):
        for reader in (kernelet.load, read_summary):
            with pytest.raises(FileNotFoundError):
                reader(path)

    def test_folders_and_pipes(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        for place, what in ((tmp_path, "a folder"), (tmp_path / "pipe", "not a regular file")):
            for reader in (kernelet.load, read_summary):
                with pytest.raises(kernelet.ModelFileError, match=what):
                    reader(place)

    def test_a_file_that_becomes_a_pipe_after_it_was_looked_at(self, tmp_path, monkeypatch):
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "file").write_bytes(b"x")
        earlier, look = os.stat(tmp_path / "file"), os.stat
        pipe = os.open(tmp_path / "pipe", os.O_RDWR)  # a reader that waits for a writer goes on
        with monkeypatch.context() as patch:
            patch.setattr(
                os,
                "stat",
                lambda path, **how: earlier if "pipe" in str(path) else look(path, **how),
            )
            for reader in (kernelet.load, read_summary):
                with pytest.raises(kernelet.ModelFileError, match="not a regular file"):
                    reader(tmp_path / "pipe")
        os.close(pipe)

    def test_a_socket(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)  # the names of sockets must be short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
            with pytest.raises(kernelet.ModelFileError, match="not a regular file"):
                kernelet.load("socket")

    def test_the_error_is_a_value_error(self):
        assert issubclass(kernelet.ModelFileError, ValueError)
        assert not issubclass(kernelet.ModelFileError, OSError)

    def test_saving_to_a_folder_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="no such folder to write in: '/"):
            MACHINE.save(tmp_path / "none" / "model.kernelet")

    def test_saving_over_a_folder_or_a_pipe(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        for place in (tmp_path, tmp_path / "pipe"):
            with pytest.raises(OSError, match="is not a regular file"):
                MACHINE.save(place)
        assert os.listdir(tmp_path) == ["pipe"]

    def test_saving_through_a_link(self, tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "model.kernelet")
        MACHINE.save(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert kernelet.load(tmp_path / "model.kernelet") == MACHINE

    def test_long_names(self, tmp_path):
        MACHINE.save(tmp_path / ("x" * 250))
        assert kernelet.load(tmp_path / ("x" * 250)) == MACHINE


SLOW_WRITER = """
import os, sys, time
import kernelet
from kernelet.kernels import Gaussian
from kernelet.persistence import atomic

def killed_before(*arguments):
    print("written", flush=True)
    time.sleep(60)

setattr(os, sys.argv[2], killed_before)
kernelet.KernelMachine(Gaussian(1.0), [[0.0]] * 1000, [1.0] * 1000).save(sys.argv[1])
"""


class TestAtomicWriting:
    @pytest.mark.parametrize("moment", ["fsync", "replace"])
    def test_a_kill_in_the_middle_leaves_the_old_file(self, moment, path):
        MACHINE.save(path)
        old = path.read_bytes()
        with subprocess.Popen(
            [sys.executable, "-c", SLOW_WRITER, str(path), moment], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout.readline() == b"written\n"
            writer.send_signal(signal.SIGKILL)
        assert writer.returncode == -signal.SIGKILL
        assert path.read_bytes() == old
        assert kernelet.load(path) == MACHINE
        # what is left next to it is hidden, and not named like a model file
        (left,) = set(os.listdir(path.parent)) - {path.name}
        assert left.startswith(".")
        assert left.endswith(".tmp")
        MACHINE.save(path)
        assert kernelet.load(path) == MACHINE

    def test_a_full_disk_leaves_the_old_file_and_nothing_else(self, path):
        """A limit on the size of files fails in the middle of a write, as a full disk does."""
        MACHINE.save(path)
        code = (
            "import resource, sys, kernelet\n"
            "from kernelet.kernels import Gaussian\n"
            "large = kernelet.KernelMachine(Gaussian(1.0), [[0.0]] * 10000, [1.0] * 10000)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
            "try:\n"
            "    large.save(sys.argv[1])\n"
            "except OSError as error:\n"
            "    print(type(error).__name__, error.errno)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True
        )
        assert done.stdout == f"OSError {errno.EFBIG}\n", done.stderr
        assert kernelet.load(path) == MACHINE
        assert os.listdir(path.parent) == [path.name]

    @pytest.mark.parametrize("step", ["fsync", "replace"])
    def test_every_step_that_fails_cleans_up(self, step, path, monkeypatch):
        MACHINE.save(path)

        def full(*arguments):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(atomic.os, step, full)
        with pytest.raises(OSError, match="No space left"):
            MACHINE.astype(np.float32).save(path)
        monkeypatch.undo()
        assert kernelet.load(path) == MACHINE
        assert os.listdir(path.parent) == [path.name]

    def test_somebody_elses_temporary_file_is_left_alone(self, path, monkeypatch):
        """Nor is a link followed that was put in its place."""
        other = path.with_name("other")
        path.with_name(".model.kernelet.0.tmp").symlink_to(other)
        monkeypatch.setattr(atomic.secrets, "token_hex", lambda n: "0")
        with pytest.raises(FileExistsError):
            MACHINE.save(path)
        assert not other.exists()
        assert path.with_name(".model.kernelet.0.tmp").is_symlink()

    def test_many_writers_at_once_leave_a_whole_file(self, path):
        code = (
            "import sys, kernelet\nfrom kernelet.kernels import Gaussian\n"
            "for i in range(30):\n"
            "    kernelet.KernelMachine(Gaussian(1.0), [[0.0]] * (i + 1), [1.0] * (i + 1))"
            ".save(sys.argv[1])\n"
        )
        writers = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]
        while any(writer.poll() is None for writer in writers):
            if path.exists():
                assert kernelet.load(path).n_features == 1
            time.sleep(0.001)
        assert [writer.returncode for writer in writers] == [0, 0]
        assert os.listdir(path.parent) == [path.name]


class TestNumbers:
    def test_arrays_are_bit_by_bit_what_was_saved(self, path):
        """Denormals, the largest numbers, negative zero."""
        values = np.array([[5e-324, -0.0, 1.7976931348623157e308], [2.0**-1022, 0.1, -1e-300]])
        machine = kernelet.KernelMachine(Linear(), values, [1.0, 1.0])
        machine.save(path)
        assert kernelet.load(path).vectors.tobytes() == values.tobytes()
        assert_array_equal(np.signbit(kernelet.load(path).vectors), np.signbit(values))
