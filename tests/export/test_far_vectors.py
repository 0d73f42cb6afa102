"""One vector that lies far from all others takes no digits from them, wherever the model runs."""

import json as standard_json
import warnings

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from export_bounds import expected
from kernelet import KernelMachine, NormSVC, export, kernels
from kernelet.export.model import exported_model
from kernelet.export.to_c.fixed_point import fixed_point
from kernelet.export.to_json.exporter import json_text
from kernelet.export.to_json.reader import model_of
from kernelet.export.to_onnx.exporter import onnx_model
from run_c import compiled

FAR = [1e5, 1e8]
FLOATS = ("float32", "float64")
TOLERANCE = {"float32": 3e-6, "float64": 1e-13}  # of the sum of |beta|, a few roundings of kernels
RADIAL = [
    kernels.Gaussian(1.0),
    kernels.Matern32(1.0),
    kernels.Matern52(1.0),
    kernels.RationalQuadratic(1.0, alpha=0.7),
    kernels.Exponential(1.0),
    kernels.Laplacian(1.0),
    kernels.Gaussian(1.0) + 0.5 * kernels.Gaussian(1e-13) * kernels.Matern32(0.3),
    kernels.ScaledFeatures(kernels.Gaussian(4.0), [0.5, 2.0]),
]


def moons(far):
    """Rows that are exact in 32 bits, the first one far away."""
    X, y = make_moons(200, noise=0.15, random_state=0)
    X = X.astype(np.float32).astype(float)
    X[0] = far
    return X, y


@pytest.fixture(scope="module", params=FAR)
def fitted(request):
    """A model, its rows, and its scores by the definition."""
    X, y = moons(request.param)
    model = NormSVC(gamma=1.0).fit(X, y)
    scores = expected(model.machine_, X)[:, 0]
    assert model.score(X, y) > 0.9
    assert_array_equal(model.predict(X), (scores > 0).astype(int))
    return model, X, scores


def check(model, found, scores, dtype):
    size = np.abs(model.machine_.coefficients).sum()
    assert_allclose(np.asarray(found).reshape(-1), scores, atol=TOLERANCE[dtype] * size)


@pytest.mark.parametrize("dtype", FLOATS)
def test_python_and_json(fitted, dtype):
    model, X, scores = fitted
    machine, rows = model.machine_.astype(dtype), X.astype(dtype)
    check(model, machine.decision_function(rows), scores, dtype)
    alone = [machine.decision_function(row[np.newaxis])[0] for row in rows]
    check(model, alone, scores, dtype)
    read = model_of(standard_json.loads(json_text(model, dtype)))
    check(model, read.decision_function(X), scores, dtype)


def run(model, X, dtype):
    session = onnxruntime.InferenceSession(onnx_model(model, dtype).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X.astype(dtype)}), strict=True))


@pytest.mark.parametrize("dtype", FLOATS)
def test_onnx(fitted, dtype):
    model, X, scores = fitted
    found = run(model, X, dtype)
    check(model, found["scores"], scores, dtype)
    sure = np.abs(scores) > 1e-3
    assert sure.mean() > 0.9
    assert_array_equal(found["label"][sure], model.predict(X)[sure])


def test_c(fitted, tmp_path):
    model, X, scores = fitted
    for dtype, library in zip(
        FLOATS, compiled([(model, d) for d in FLOATS], tmp_path), strict=True
    ):
        check(model, library.decision_function(X), scores, dtype)


@pytest.mark.parametrize("far", [3e3, *FAR, 1e12])
def test_16_bits_are_refused_where_they_are_too_few(far):
    X, _ = moons(far)
    machine = KernelMachine(kernels.Gaussian(1.0), X[:20], np.ones(20), 0.0)
    with pytest.raises(ValueError, match=r"q15.*; use float32"):
        fixed_point(exported_model(machine))


@pytest.mark.parametrize("far", [2.0, 30.0, 300.0])
def test_16_bits_are_as_exact_as_stated(far, tmp_path):
    X, _ = moons(far)
    beta = np.random.default_rng(0).normal(size=20)
    machine = KernelMachine(kernels.Gaussian(1.0), X[:20], beta, 0.25)
    (library,) = compiled([(machine, "q15")], tmp_path)
    fixed = fixed_point(exported_model(machine))
    # a coefficient is rounded by half a unit of 1 / 32767 of the largest
    limit = (fixed.kernel_error + fixed.moved) * np.abs(beta).sum() + 20 * np.abs(
        beta
    ).max() / 65534
    error = np.abs(library.decision_function(X)[:, 0] - expected(machine, X)[:, 0])
    assert error.max() <= limit
    assert f"by {fixed.moved:.1e} at most" in library.written.header


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("origin", [0.0, 1000.0])
@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_near_and_far_vectors_in_any_order(kernel, origin, dtype):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(9, 2))
    Z[[2, 5, 6]] += [[3e4, 0.0], [0.0, -7e6], [3e4, 0.0]]
    Z = (Z + origin).astype(np.float32).astype(float)
    X = np.concatenate([Z, Z[[0, 1, 3, 4, 7, 8]] + 0.25])
    machine = KernelMachine(kernel, Z, rng.normal(size=(9, 2)), [0.5, -0.5])
    found = run(machine, X, dtype)["variable"]
    size = np.abs(machine.coefficients).sum(axis=0) * max(1.0, float(kernel(Z[:1], Z[:1])[0, 0]))
    # an expansion keeps three quarters of the digits, differences keep all
    limit = np.finfo(dtype).eps ** 0.75 * 4.0
    assert (np.abs(found - expected(machine, X)) <= limit * size).all()


@pytest.mark.parametrize("write", [export.c, export.onnx, export.json, export.javascript])
def test_digits_that_32_bits_do_not_hold_are_warned_of(write, tmp_path):
    """All rows far from 0, and a kernel as narrow as what is lost."""
    Z = 1e8 + np.random.default_rng(0).normal(size=(9, 2))
    machine = KernelMachine(kernels.Gaussian(1.0), Z, np.ones(9))
    scattered = KernelMachine(kernels.Gaussian(1.0), Z * np.arange(9)[:, None], np.ones(9))
    near = KernelMachine(kernels.Gaussian(1.0), Z - 1e8, np.ones(9))
    path = tmp_path / "machine.c"
    with pytest.warns(UserWarning, match=r"float32.*too few digits of the vectors.*use float64"):
        write(scattered, path, dtype="float32")
    if write is not export.javascript:  # which stores differences from the middle
        with pytest.warns(UserWarning, match="too few digits"):
            write(machine, path, dtype="float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(machine, path, dtype="float64")
        write(near, path, dtype="float32")
        if write is export.javascript:
            write(machine, path, dtype="float32")


def test_one_far_vector_costs_one_difference():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    Z[7] = 1e6
    machine = KernelMachine(kernels.Gaussian(1.0), Z, np.ones(50))
    for vectors, n_far in ((machine.vectors, 1), (np.delete(Z, 7, axis=0), 0)):
        one = KernelMachine(machine.kernel, vectors, np.ones(len(vectors)))
        tensors = [tuple(c.dims) for c in onnx_model(one).graph.initializer if len(c.dims) == 3]
        assert tensors == [(1, n_far, 3)] * n_far
