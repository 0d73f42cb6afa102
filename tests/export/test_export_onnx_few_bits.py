"""Machines in few bits as ONNX: small integers in the file, and the same scores as Python's."""

from __future__ import annotations

import warnings

import numpy as np
import onnx as onnx_package
import onnxruntime
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import compact_machines
import kernelet
from compact_machines import BITS, compact_machine, fitted, machine_of, random_machine, rows_for
from export_bounds import KERNELS, bound, expected, far_from_ties
from kernelet import KernelMachine, kernels
from kernelet.export import onnx, register_skl2onnx
from kernelet.export.compact import compact_form
from kernelet.export.rounding import rounding_units
from kernelet.export.to_onnx.exporter import onnx_model
from references import for_features

DTYPES = ["float32", "float64"]
# Runtimes rewrite graphs; neither that nor the graph as it is may cost digits.
LEVELS = [
    onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
]


def run(proto, rows, dtype, level=LEVELS[-1]):
    """Outputs by name."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    given = {"X": rows}
    if isinstance(rows, dict):
        given = {put.name: rows[put.name].reshape(-1, 1) for put in session.get_inputs()}
    texts = {put.name for put in session.get_inputs() if put.type == "tensor(string)"}
    feeds = {
        name: np.array(column.astype(str), dtype=object) if name in texts else column.astype(dtype)
        for name, column in given.items()
    }
    values = session.run(None, feeds)
    return dict(zip((output.name for output in session.get_outputs()), values, strict=True))


def limit_of(machine, X, dtype):
    """The bound that the docstring of `onnx` states."""
    has_matrix = "ProjectedFeatures" in repr(machine.kernel)
    constant = (5 if has_matrix else 1) * machine.n_features + machine.n_vectors + 64
    return bound(machine, X, unit=constant * float(np.finfo(dtype).eps) / 2)


def types(proto):
    """Shape -> type of element, of the constants of a graph."""
    names = onnx_package.TensorProto.DataType.Name
    return {tuple(c.dims): names(c.data_type) for c in proto.graph.initializer}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bits", BITS)
def test_every_kernel(bits, dtype):
    n_compact = 0
    for place, kernel in enumerate(KERNELS):
        shape = [(1, 3, 1), (6, 4, 3), (30, 9, 1), (2, 3, 2)][(place + bits) % 4]
        machine, X = random_machine(for_features(kernel, shape[1]), shape, bits, 50 * place + bits)
        X = X.astype(dtype).astype(float)
        proto = onnx_model(machine, dtype)
        onnx_package.checker.check_model(proto, full_check=True)
        assert proto.opset_import[0].version == 17
        limit = limit_of(machine, X, dtype)
        if dtype == "float64":
            limit = np.minimum(limit, bound(machine, X, unit=1e-12))
        for level in LEVELS:
            values = run(proto, X, dtype, level)["variable"]
            assert values.dtype == dtype
            assert (np.abs(values - expected(machine, X)) <= limit).all()
            ours = machine.decision_function(X).reshape(values.shape)
            assert (np.abs(values - ours) <= limit).all()
        n_compact += compact_form(machine) is not None
    # all but a product with a matrix in one of its factors
    assert n_compact == len(KERNELS) - 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_without_vectors(dtype):
    machine, X = random_machine(kernels.Gaussian(0.5), (0, 3, 2), 5, seed=0)
    values = run(onnx_model(machine, dtype), X, dtype)["variable"]
    assert_array_equal(values, np.tile(machine.intercepts.astype(dtype), (len(X), 1)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_kernel_that_uses_no_feature(dtype):
    kernel = kernels.ScaledFeatures(kernels.Gaussian(0.5), [0.0, 0.0, 0.0])
    machine, X = random_machine(kernel, (4, 3, 2), 5, seed=1)
    for level in LEVELS:
        values = run(onnx_model(machine, dtype), X, dtype, level)["variable"]
        moved = np.abs(values - machine.decision_function(X))
        assert (moved <= limit_of(machine, X, dtype)).all()


@pytest.mark.parametrize("bits", BITS)
def test_integers_are_as_short_as_they_can_be(bits):
    rng = np.random.default_rng(bits)
    Z = rng.uniform(size=(40, 70))
    machine = compact_machine(
        kernels.ScaledFeatures(kernels.Gaussian(0.1), rng.uniform(0.5, 2.0, size=70)),
        Z,
        rng.normal(size=(40, 3)),
        np.zeros(3),
        bits,
    )
    for dtype in DTYPES:
        proto = onnx_model(machine, dtype)
        found = types(proto)
        assert found[70, 40] == ("INT8" if bits <= 8 else "INT16")
        assert found[40, 3] == ("INT8" if BITS[bits] <= 8 else "INT16")
        # else there is nothing that has a number for each feature of each vector
        assert sum(np.prod(shape) >= 40 * 70 for shape in found) == 1
        assert "DequantizeLinear" not in {node.op_type for node in proto.graph.node}


def _pictures(kernel, drops):
    """Vectors that differ in 40 of 600 features; rows differ in all."""
    rng = np.random.default_rng(0)
    Z = np.tile(rng.uniform(size=600), (20, 1))
    Z[:, 100:140] = rng.uniform(size=(20, 40))
    droppable = np.arange(600) < (100 if drops else 0)
    machine = compact_machine(kernel, Z, rng.normal(size=(20, 2)), np.ones(2), 5, droppable)
    return machine, rng.uniform(size=(9, 600))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize(
    "kernel",
    [kernels.Gaussian(0.01), kernels.Laplacian(0.01), kernels.Linear() + kernels.Gaussian(0.01)],
    ids=lambda kernel: kernel.name,
)
def test_features_in_which_vectors_do_not_differ_are_not_stored(kernel, drops, dtype):
    machine, X = _pictures(kernel, drops)
    proto = onnx_model(machine, dtype)
    assert types(proto)[40, 20] == "INT8"
    X = X.astype(dtype).astype(float)
    for level in LEVELS:
        values = run(proto, X, dtype, level)["variable"]
        limit = limit_of(machine, X, dtype)
        assert (np.abs(values - machine.decision_function(X)) <= limit).all()
    per_feature = 2 * 4 + 3 * 2  # centres and scales, and where the feature is
    if dtype == "float32":
        assert len(proto.SerializeToString()) < 20 * 40 + 600 * per_feature + 3000


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [1, 4])
def test_all_vectors_the_same(m, dtype):
    """No entry of any vector is stored, but where a vector stands."""
    rng = np.random.default_rng(1)
    Z = np.tile(rng.normal(size=500), (m, 1))
    machine = compact_machine(kernels.Gaussian(0.01), Z, rng.normal(size=(m, 2)), np.ones(2), 4)
    X = (Z[0] + 0.1 * rng.normal(size=(5, 500))).astype(dtype).astype(float)
    for level in LEVELS:
        values = run(onnx_model(machine, dtype), X, dtype, level)["variable"]
        assert (np.abs(values - expected(machine, X)) <= limit_of(machine, X, dtype)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_digits_are_kept_far_from_the_origin(dtype):
    """Distances are measured from the centres of the grid, not from 0: in the squares of 1000 there
    is no digit left of them."""
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(7, 4)) + 1e3
    machine = compact_machine(kernels.Gaussian(0.3), Z, rng.normal(size=(7, 2)), np.zeros(2), 6)
    X = (machine.vectors + 0.25).astype(np.float32).astype(float)
    proto = onnx_model(machine, dtype)
    values = run(proto, X, dtype)["variable"]
    # a matrix product, not a difference for each feature of each vector
    assert "Unsqueeze" not in {node.op_type for node in proto.graph.node}
    # the centres are rounded, and with them all distances, by half a unit of their last place
    unit = float(np.finfo(dtype).eps) / 2
    slope = np.sqrt(2.0 * 0.3) * np.exp(-0.5)  # the largest of the kernel, in any direction
    moved = 1003.0 * unit * np.sqrt(4) * slope + 100 * unit
    limit = 2.0 * moved * np.abs(machine.coefficients).sum(axis=0)
    assert (np.abs(values - machine.decision_function(X)) <= limit).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_missing_numbers_in_any_feature(dtype):
    model = fitted("three classes")
    machine, rows = model.machine_, rows_for(model)[:8].astype(dtype).astype(float)
    assert machine.compact.grid.used.size < machine.n_features
    for f in range(6):
        rows[f, f] = np.nan
    for level in LEVELS:
        scores = run(onnx_model(model, dtype), rows, dtype, level)["scores"]
        assert np.isnan(scores[:6]).all()
        limit = limit_of(machine, rows[6:], dtype)
        assert (np.abs(scores[6:] - expected(machine, rows[6:])) <= limit).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", compact_machines.MODELS)
def test_every_model(name, dtype):
    model = fitted(name)
    rows = rows_for(model)
    if not isinstance(rows, dict):
        rows = rows.astype(dtype).astype(float)
    machine, X = machine_of(model, rows)
    unit = float(np.finfo(dtype).eps) / 2
    # scaled rows are larger before their mean is taken off, by no more than this
    larger = np.abs(X) + 10.0 * (X is not rows)
    units = rounding_units(machine, is_scaled=X is not rows) + machine.n_features + 64
    limit = bound(machine, larger, unit=units * unit).max(axis=1)
    is_classifier = hasattr(model, "classes_")
    scores = model.decision_function(rows) if is_classifier else machine.decision_function(X)
    for level in LEVELS:
        found = run(onnx_model(model, dtype), rows, dtype, level)
        values = found["scores" if "scores" in found else "variable"]
        moved = np.abs(values - scores.reshape(values.shape)).max(axis=1)
        if name == "pairs":  # a share follows the scores of two pairs, by a third of what they do
            moved[~_same_votes(machine, X, limit)] = 0.0
        assert (moved <= limit).all()
        if "label" in found:
            sure = far_from_ties(scores, 2.0 * limit)
            assert sure.mean() > 0.8
            assert_array_equal(found["label"][sure], model.predict(rows)[sure])
        assert ("probabilities" in found) == ("calibrated" in name)
        if "probabilities" in found:
            expected_shares = model.predict_proba(rows)
            atol = 1e-12 if dtype == "float64" else 1e-4
            assert_allclose(found["probabilities"], expected_shares, atol=atol)


def _same_votes(machine, X, limit):
    """Rows of which no pair's score is near 0."""
    return (np.abs(machine.decision_function(X)) > limit[:, None]).all(axis=1)


def test_skl2onnx():
    from skl2onnx import to_onnx

    register_skl2onnx()
    model = fitted("pipeline")
    rows = rows_for(model)
    made = to_onnx(model, rows[:1])
    kinds = {c.data_type for c in made.graph.initializer}
    assert onnx_package.TensorProto.INT8 in kinds
    session = onnxruntime.InferenceSession(made.SerializeToString())
    label, scores = session.run(["label", "scores"], {"X": rows})
    assert_allclose(scores, model.decision_function(rows), atol=1e-10)
    assert_array_equal(label, model.predict(rows))


def test_size_of_digits(tmp_path):
    """A byte an entry, and the rest."""
    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = kernelet.SparseSVC(20, C=10.0, vector_bits=5, max_iter=5, random_state=0)
        model.fit(X[:1000] / 16, y[:1000])
    onnx(model, tmp_path / "digits.onnx")
    size = (tmp_path / "digits.onnx").stat().st_size
    form = model.machine_.compact
    n_used = form.grid.used.size
    assert n_used < 64
    entries = form.grid.codes.size + form.coefficients.size
    # scale, step and centre of a feature; scale and length of a vector; label and intercept
    beside = 13 * n_used + 8 * 20 + 12 * 10
    assert size - entries - beside < 1500  # the nodes and the names of outputs
    machine = model.machine_
    plain = KernelMachine(machine.kernel, machine.vectors, machine.coefficients, machine.intercepts)
    assert len(onnx_model(plain).SerializeToString()) > 1.8 * size
