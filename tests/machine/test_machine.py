"""KernelMachine: the function it computes, in any block, type, order and number of threads."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
import subprocess
import sys
import textwrap
import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import SVC

import references
from benchmarks.speed import prediction
from kernelet import KernelMachine
from kernelet.kernels import (
    CallableKernel,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    ProjectedFeatures,
    RationalQuadratic,
    ScaledFeatures,
    Sigmoid,
)
from kernelet.kernels.numerics import blocks


def _own(X, Z):
    return np.tanh((X @ Z.T) / 3.0)


KERNELS = [
    Gaussian(0.4),
    Exponential(0.4),
    Matern32(0.4),
    Matern52(0.4),
    RationalQuadratic(0.4, 2.0),
    Laplacian(0.4),
    Linear(),
    Polynomial(0.4, 1.0, 3),
    Sigmoid(0.4, 0.1),
    0.5 * Gaussian(0.4) + Gaussian(0.1) * Linear(),
    ScaledFeatures(Gaussian(0.4), [1.5, 0.0, 0.3]) + ScaledFeatures(Matern52(0.4), [0.5, 1.0, 2.0]),
    ProjectedFeatures(Gaussian(0.4), [[1.0, -0.5, 0.3], [0.2, 0.8, 1.0]]),
    ProjectedFeatures(Linear(), [[1.0, -0.5, 0.3]]) + Matern32(0.4),
    CallableKernel(_own),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)


def machine_and_rows(kernel, n=9, m=6, d=4, outputs=1, dtype=np.float64, offset=0.0):
    rng = np.random.default_rng(0)
    Z = (offset + rng.normal(size=(m, d))).astype(dtype)
    beta = rng.normal(size=m if outputs == 1 else (m, outputs)).astype(dtype)
    b = rng.normal(size=outputs).astype(dtype)
    X = (offset + rng.normal(size=(n, d))).astype(dtype)
    return KernelMachine(references.for_features(kernel, d), Z, beta, b), X


def reference(machine, X):
    values = references.expansion(
        machine.kernel, machine.vectors, machine.coefficients, machine.intercepts, X
    )
    return values[:, 0] if machine.n_outputs == 1 else values


@each_kernel
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_equal_the_double_loop(kernel, outputs, dtype):
    machine, X = machine_and_rows(kernel, outputs=outputs, dtype=dtype)
    f = machine.decision_function(X)
    assert f.dtype == machine.dtype == dtype
    assert f.shape == ((9,) if outputs == 1 else (9, 3))
    expected = reference(machine, X)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    assert_allclose(f, expected, rtol=0, atol=tolerance * (1.0 + np.abs(expected).max()))


@each_kernel
@pytest.mark.parametrize(
    ("machine_dtype", "rows_dtype"),
    [*itertools.permutations([np.float32, np.float64]), (np.float32, int), (np.float64, np.int8)],
)
def test_rows_of_another_type_give_the_type_of_the_machine(kernel, machine_dtype, rows_dtype):
    machine, X = machine_and_rows(kernel, dtype=machine_dtype, outputs=2)
    X = (3.0 * X).astype(rows_dtype)
    f = machine.decision_function(X)
    assert f.dtype == machine_dtype
    expected = reference(machine, X)
    tolerance = 1e-11 if machine_dtype == np.float64 else 2e-5
    assert_allclose(f, expected, rtol=0, atol=tolerance * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize(
    "kernel",
    [k for k in KERNELS if k.has_constant_diagonal],
    ids=lambda kernel: kernel.name,
)
@pytest.mark.parametrize("rows_dtype", [np.float32, np.float64])
def test_single_precision_far_from_the_origin(kernel, rows_dtype):
    machine, X = machine_and_rows(kernel, n=30, offset=300.0, dtype=np.float32)
    X = X.astype(rows_dtype)
    X[:6] = machine.vectors
    size = np.abs(machine.coefficients).sum()
    assert_allclose(machine.decision_function(X), reference(machine, X), atol=1e-5 * size)


@each_kernel
def test_block_boundaries(kernel, monkeypatch):
    monkeypatch.setattr("kernelet.machine.machine.block_length", lambda *_: 8)
    machine, X = machine_and_rows(kernel, n=25, outputs=2)
    expected = reference(machine, X)
    for n in (0, 1, 7, 8, 9, 15, 16, 17, 25):
        for n_threads in (None, 1, 3):
            f = machine.decision_function(X[:n], n_threads=n_threads)
            assert f.shape == (n, 2)
            assert_allclose(f, expected[:n], rtol=1e-11, atol=1e-12)


def test_real_block_boundaries():
    machine, _ = machine_and_rows(Gaussian(0.1), m=50, d=20)
    block = machine._block_length
    X = np.random.default_rng(1).normal(size=(2 * block + 1, 20))
    expected = Gaussian(0.1)(X, machine.vectors) @ machine.coefficients[:, 0] + machine.intercepts
    for n in (block - 1, block, block + 1, 2 * block, 2 * block + 1):
        assert_allclose(machine.decision_function(X[:n]), expected[:n], rtol=1e-11, atol=1e-12)


@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_threads_change_nothing(kernel, dtype, container, monkeypatch):
    if isinstance(kernel, CallableKernel) and container is sparse.csr_matrix:
        kernel = CallableKernel(lambda X, Z: np.tanh(X @ Z.T))
    monkeypatch.setattr("kernelet.machine.machine.block_length", lambda *_: 64)
    machine, X = machine_and_rows(kernel, n=1000, dtype=dtype)
    rows = container(X)
    one = machine.decision_function(rows, n_threads=1)
    for n_threads in (2, 5, 100):
        assert_array_equal(machine.decision_function(rows, n_threads=n_threads), one)
    assert_allclose(one, machine.decision_function(X), rtol=1e-4, atol=1e-4)


def test_large_batches_use_threads_and_small_ones_do_not(monkeypatch):
    started = []

    class Pool(blocks.ThreadPoolExecutor):
        def __init__(self, n_threads):
            started.append(n_threads)
            super().__init__(n_threads)

    monkeypatch.setattr(blocks, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(blocks, "available_threads", lambda: 2)
    machine, X = machine_and_rows(Gaussian(0.1), n=100, m=50, d=20)
    machine.decision_function(X)
    assert started == []
    X = np.tile(X, (400, 1))
    machine.decision_function(X)
    assert started == [2]
    # Without threadpoolctl, BLAS would start threads below each of ours.
    monkeypatch.setattr(blocks, "_thread_controller", lambda: None)
    machine.decision_function(X)
    assert started == [2]


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    def fails_late(X, Z):
        if X[0, 0] > 0.5:
            raise ZeroDivisionError("late")
        return np.ones((len(X), len(Z)))

    monkeypatch.setattr("kernelet.machine.machine.block_length", lambda *_: 10)
    machine = KernelMachine(CallableKernel(fails_late), np.ones((2, 1)), np.ones(2))
    with pytest.raises(ZeroDivisionError, match="late"):
        machine.decision_function(np.linspace(0.0, 1.0, 100)[:, np.newaxis], n_threads=3)


class Blas:
    """A BLAS of four threads, whatever the environment of the tests says."""

    def __init__(self):
        self.num_threads, self.interrupted_at = 4, 0

    def select(self, user_api):
        return SimpleNamespace(lib_controllers=[self] if user_api == "blas" else [])

    def set_num_threads(self, n_threads):
        self.interrupted_at -= 1
        if self.interrupted_at == 0:
            raise KeyboardInterrupt
        self.num_threads = n_threads


@pytest.fixture
def blas(monkeypatch):
    blas = Blas()
    monkeypatch.setattr(blocks, "_thread_controller", lambda: blas)
    return blas


class OpenMP:
    """An OpenMP of four threads, which sets a number for the thread that calls it only."""

    def __init__(self):
        self.of_thread = threading.local()

    @property
    def num_threads(self):
        return getattr(self.of_thread, "number", 4)

    def set_num_threads(self, n_threads):
        self.of_thread.number = n_threads

    def select(self, user_api):
        return SimpleNamespace(lib_controllers=[self] if user_api == "openmp" else [])


def test_openmp_has_its_threads_back_in_each_thread(monkeypatch):
    openmp = OpenMP()
    monkeypatch.setattr(blocks, "_thread_controller", lambda: openmp)
    first, second = threading.Event(), threading.Event()
    found = []

    def overlapping():
        first.wait()
        with blocks.one_openmp_thread():
            found.append(openmp.num_threads)
            second.set()
        found.append(openmp.num_threads)

    thread = threading.Thread(target=overlapping)
    thread.start()
    with blocks.one_openmp_thread():
        first.set()
        second.wait()
        found.append(openmp.num_threads)
    thread.join()
    assert sorted(found) == [1, 1, 4]
    assert openmp.num_threads == 4


def test_blas_gets_its_threads_back_after_overlapping_calls(blas):
    first, second = blocks.one_blas_thread(), blocks.one_blas_thread()
    first.__enter__()
    second.__enter__()
    assert blas.num_threads == 1
    first.__exit__(None, None, None)
    assert blas.num_threads == 1
    second.__exit__(None, None, None)
    assert blas.num_threads == 4


@pytest.mark.parametrize("number", [1, 2], ids=["when the limit is set", "when it is lifted"])
def test_blas_gets_its_threads_back_after_ctrl_c(blas, number):
    blas.interrupted_at = number
    with pytest.raises(KeyboardInterrupt), blocks.threads_as_before(), blocks.one_blas_thread():
        pass
    assert blas.num_threads == 4
    # and without that context, by whoever is next
    blas.interrupted_at = number
    with pytest.raises(KeyboardInterrupt), blocks.one_blas_thread():
        pass
    with blocks.one_blas_thread():
        assert blas.num_threads == 1
    assert blas.num_threads == 4


def test_blas_gets_its_threads_back_from_a_context_that_was_left_open(blas):
    """As if Ctrl-C had come on the way into the end of the context."""
    with blocks.one_blas_thread():
        with blocks.threads_as_before():
            left_open = blocks.one_blas_thread()
            left_open.__enter__()
        assert blas.num_threads == 1
    assert blas.num_threads == 4


def test_blas_of_numpy_is_held_to_one_thread():
    with blocks.one_blas_thread():
        libraries = [lib for lib in blocks._thread_controller().info() if lib["user_api"] == "blas"]
    assert libraries
    assert all(library["num_threads"] == 1 for library in libraries)


@pytest.mark.parametrize("limit", ["1", "3", "", "many", "0", "-2"])
def test_threads_that_may_be_used(limit, monkeypatch):
    monkeypatch.setattr(blocks.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert blocks.available_threads() == {"1": 1, "3": 3}.get(limit, 8)
    monkeypatch.delattr(blocks.os, "sched_getaffinity")
    monkeypatch.setattr(blocks.os, "cpu_count", lambda: None)
    assert blocks.available_threads() == 1


def peak_bytes(function):
    function()  # imports and caches do not count
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@each_kernel
@pytest.mark.parametrize("n_threads", [1, 2])
def test_memory_does_not_grow_with_the_rows(kernel, n_threads):
    machine, X = machine_and_rows(kernel, n=40_000, m=40, d=10)
    result = 40_000 * 8
    K = 40_000 * 40 * 8
    peak = peak_bytes(lambda: machine.decision_function(X, n_threads=n_threads))
    # About one mebibyte of scratch per thread, plus the temporary arrays of a block.
    assert peak < result + n_threads * 3 * 2**20
    assert peak < K


LAYOUTS = {
    "C": lambda X: X,
    "Fortran": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "float32": lambda X: X.astype(np.float32),
    "int64": lambda X: np.rint(X).astype(np.int64),
    "sparse": sparse.csr_matrix,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", [Gaussian(0.4), Laplacian(0.4), Polynomial()], ids=repr)
@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_rows_are_not_copied(kernel, layout, offset):
    machine, X = machine_and_rows(kernel, n=20_000, m=3, d=100, offset=offset)
    rows = LAYOUTS[layout](X)
    before = rows.copy()
    f = machine.decision_function(rows)
    assert abs(rows - before).max() == 0.0
    dense = rows.toarray() if sparse.issparse(rows) else rows.astype(float)
    expected = kernel(np.ascontiguousarray(dense), machine.vectors) @ machine.coefficients
    assert_allclose(f, expected[:, 0] + machine.intercepts, rtol=1e-9, atol=1e-10)
    assert peak_bytes(lambda: machine.decision_function(rows, n_threads=1)) < dense.nbytes / 3


@each_kernel
def test_sparse_rows(kernel):
    if isinstance(kernel, CallableKernel):
        kernel = CallableKernel(lambda X, Z: np.asarray(X @ Z.T))
    machine, X = machine_and_rows(kernel, n=30, outputs=2)
    X[np.random.default_rng(2).random(X.shape) < 0.6] = 0.0
    expected = machine.decision_function(X)
    for rows in (sparse.csr_matrix(X), sparse.csr_array(X), sparse.coo_matrix(X)):
        assert_allclose(machine.decision_function(rows), expected, rtol=1e-11, atol=1e-12)


@each_kernel
@pytest.mark.parametrize("outputs", [1, 2])
def test_a_machine_without_vectors_is_constant(kernel, outputs):
    machine, X = machine_and_rows(kernel, m=0, outputs=outputs)
    f = machine.decision_function(X)
    expected = np.tile(machine.intercepts, (9, 1))
    assert_array_equal(f, expected[:, 0] if outputs == 1 else expected)


@each_kernel
def test_one_row_and_one_vector(kernel):
    machine, X = machine_and_rows(kernel, n=1, m=1, d=1)
    assert_allclose(machine.decision_function(X), reference(machine, X), rtol=1e-13)


def test_same_function_as_svc():
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    svc = SVC(gamma=0.5, C=10.0).fit(X, y)
    machine = KernelMachine(
        Gaussian(0.5), svc.support_vectors_, svc.dual_coef_[0], svc.intercept_[0]
    )
    assert_allclose(machine.decision_function(X), svc.decision_function(X), rtol=1e-10, atol=1e-12)


def test_nan_stays_in_its_row():
    machine, X = machine_and_rows(Gaussian(0.4))
    expected = machine.decision_function(X)
    X[4, 2] = np.nan
    f = machine.decision_function(X)
    assert np.isnan(f[4])
    assert_allclose(np.delete(f, 4), np.delete(expected, 4), rtol=1e-13)


def test_bytes_of_a_projection_are_those_that_a_prediction_needs():
    kernel = 2.0 * ProjectedFeatures(Gaussian(0.5), np.ones((2, 30)))
    machine = KernelMachine(kernel, np.zeros((5, 30)), np.zeros((5, 3)), np.zeros(3))
    assert machine.nbytes == 8 * (2 * 30 + 5 * 2 + 5 * 3 + 3)
    assert machine.astype("float32").nbytes == machine.nbytes / 2


def test_attributes():
    machine = KernelMachine(Gaussian(0.5), np.zeros((5, 3)), np.zeros((5, 2)), [1, 2])
    assert (machine.n_vectors, machine.n_features, machine.n_outputs) == (5, 3, 2)
    assert machine.nbytes == 8 * (15 + 10 + 2)
    assert machine.astype("float32").nbytes == 4 * (15 + 10 + 2)

    assert machine.intercepts.dtype == np.float64
    assert repr(machine) == (
        "KernelMachine(Gaussian(gamma=0.5), n_vectors=5, n_features=3, n_outputs=2, dtype=float64)"
    )
    single = KernelMachine(Gaussian(0.5), np.zeros((5, 3)), np.zeros(5))
    assert single.coefficients.shape == (5, 1)
    assert_array_equal(single.intercepts, [0.0])


def test_nothing_can_be_changed():
    Z, beta, b = np.ones((2, 3)), np.ones(2), np.ones(1)
    machine = KernelMachine(Gaussian(0.5), Z, beta, b)
    before = machine.decision_function(np.zeros((1, 3)))
    Z[:], beta[:], b[:] = 7.0, 7.0, 7.0
    assert_array_equal(machine.decision_function(np.zeros((1, 3))), before)
    for array in (machine.vectors, machine.coefficients, machine.intercepts):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        machine.kernel = Linear()


def test_astype():
    machine, X = machine_and_rows(Gaussian(0.4), outputs=2)
    single = machine.astype("float32")
    assert single.dtype == np.float32
    assert single.coefficients.dtype == single.intercepts.dtype == np.float32
    assert_allclose(single.decision_function(X), machine.decision_function(X), atol=1e-5)
    assert machine.astype(np.float64) is machine
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got float16"):
        machine.astype(np.float16)


@each_kernel
def test_pickle_and_copy(kernel):
    machine, X = machine_and_rows(kernel, outputs=2)
    for other in (pickle.loads(pickle.dumps(machine)), copy.deepcopy(machine), copy.copy(machine)):
        assert other == machine
        assert hash(other) == hash(machine)
        assert_array_equal(other.decision_function(X), machine.decision_function(X))
        assert not other.vectors.flags.writeable


def test_equality_is_exact():
    Z, beta = np.ones((2, 3)), np.ones(2)
    machine = KernelMachine(Gaussian(0.5), Z, beta, 1.0)
    assert machine == KernelMachine(Gaussian(0.5), Z.tolist(), beta[:, np.newaxis], [1.0])
    for other in (
        KernelMachine(Gaussian(0.6), Z, beta, 1.0),
        KernelMachine(Gaussian(0.5), Z + 1e-15, beta, 1.0),
        KernelMachine(Gaussian(0.5), Z, -beta, 1.0),
        KernelMachine(Gaussian(0.5), Z, beta, 2.0),
        machine.astype(np.float32),
        "machine",
    ):
        assert machine != other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rbf", np.ones((2, 3)), np.ones(2)), "kernel must be a kernel object"),
        ((Linear(), np.ones(3), np.ones(1)), "Z must be two-dimensional"),
        ((Linear(), np.ones((2, 3)), np.ones(3)), r"coefficients must have shape \(2,\) or"),
        ((Linear(), np.ones((2, 3)), np.ones((1, 2))), "for 2 vectors, got shape"),
        ((Linear(), np.ones((2, 3)), np.ones((2, 1, 1))), "coefficients must have shape"),
        ((Linear(), np.ones((2, 3)), np.ones((2, 0))), "coefficients must have shape"),
        ((Linear(), np.ones((2, 3)), 1.0), "coefficients must have shape"),
        ((Linear(), np.ones((2, 3)), np.ones((2, 2)), 1.0), "for each of the 2 outputs"),
        ((Linear(), np.ones((2, 3)), np.ones(2), [1.0, 2.0]), "for each of the 1 outputs"),
        ((Linear(), np.ones((2, 3)), np.ones(2), [[1.0]]), "intercepts must hold"),
        ((Linear(), sparse.csr_matrix(np.ones((2, 3))), np.ones(2)), "Z must be dense"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        KernelMachine(*arguments)


def test_wrong_rows_are_refused():
    machine, X = machine_and_rows(Gaussian(0.4))
    with pytest.raises(ValueError, match=r"two-dimensional.*use X.reshape\(1, -1\)"):
        machine.decision_function(X[0])
    with pytest.raises(ValueError, match="X has 3 columns, but the vectors have 4"):
        machine.decision_function(X[:, :3])
    with pytest.raises(ValueError, match="X has 3 columns, but the vectors have 4"):
        machine.decision_function(sparse.csr_matrix(X[:, :3]))


NUMPY_ALONE = """
    import sys

    BLOCKED = {"scipy", "sklearn", "numba", "threadpoolctl", "highspy", "safetensors", "joblib"}

    class Blocker:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in BLOCKED:
                raise ImportError(f"{name} is blocked")

    sys.meta_path.insert(0, Blocker())
    import pickle
    import numpy as np
    import kernelet
    from kernelet import KernelMachine, kernels

    machines = pickle.loads(bytes.fromhex(sys.stdin.readline()))
    for X, machine, expected in machines:
        np.testing.assert_allclose(machine.decision_function(X), expected, rtol=1e-12)
        np.testing.assert_allclose(machine.decision_function(X, n_threads=2), expected, rtol=1e-12)
        specification = machine.kernel.specification()
        assert kernels.kernel_from_specification(specification) == machine.kernel
        same = KernelMachine(machine.kernel, machine.vectors, machine.coefficients, 0.0)
        assert same.decision_function(X[:1]).shape == (1,)
    assert kernels.resolve_kernel("rbf", X).gamma > 0.0
    large = np.tile(X, (20000, 1))
    assert np.isfinite(machine.decision_function(large)).all()
    loaded = BLOCKED & {name.partition(".")[0] for name in sys.modules}
    assert not loaded, loaded
    print(len(machines), "machines")
"""


def test_numpy_alone_is_enough():
    machines = []
    for kernel in KERNELS:
        if not isinstance(kernel, CallableKernel):
            machine, X = machine_and_rows(kernel)
            machines.append((X, machine, machine.decision_function(X)))
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(NUMPY_ALONE)],
        input=pickle.dumps(machines).hex(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == f"{len(KERNELS) - 1} machines"


def test_the_benchmark_runs_and_compares_equal_functions():
    table = prediction.rows(n_rows=300, repetitions=1)
    assert len(table) == 3 * 2 * len(prediction.SHAPES)
    assert all({"what", "ratio", "limit", "holds"} <= set(row) for row in table)
