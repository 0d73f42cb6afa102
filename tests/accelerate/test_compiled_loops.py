"""Loops that numba compiles: the same answers as their NumPy twins, with a cache and without.

All of it is about numba itself, of the extra `fast`; `test_without_numba.py` is about the rest.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kernelet
from kernelet.kernels import Gaussian
from kernelet.solvers.interior_point import complementarity, newton, primal_dual
from kernelet.solvers.interior_point.primal_dual import Limits, interior_point
from kernelet.solvers.interior_point.regularizers import Ridge
from kernelet.subspace import WhitenedMap

pytest.importorskip("numba")
from kernelet._accelerate import accelerated, products
from kernelet._accelerate import hinge_ridge as compiled

TINY = float(np.finfo(np.float64).tiny)
TWINS = (complementarity, newton, primal_dual)
SHARED = """
AHEAD AIM BACK_OFF CIRCLING CORRECTORS LARGEST LONGER LONG_PATIENCE LONG_STEP NEAR PATIENCE
PIVOT_FLOOR RECENTRING SMALLEST
"""


def test_the_loops_are_found():
    assert accelerated("hinge_ridge") is compiled


def noisy(n=100, m=6, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    return Phi, np.where(Phi @ rng.normal(size=m) + noise * rng.normal(size=n) > 0.2, 1.0, -1.0)


def kernel_features():
    """Whitened features of a Gaussian kernel, and labels that need a curved boundary."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(np.sin(3 * X[:, 0]) + 0.7 * X[:, 1] + 0.3 * rng.normal(size=200) > 0, 1.0, -1.0)
    return WhitenedMap.from_vectors(Gaussian(1.0), X[:25]).features(X), y


def prepared(Phi, y):
    return np.ascontiguousarray(np.c_[(Phi - Phi.mean(axis=0)) * y[:, None], y])


@pytest.mark.parametrize("C", [0.1, 10.0, 316.0])
def test_compiled_loop_equals_its_twin(C):
    rng = np.random.default_rng(7)
    for Phi, y in (noisy(), noisy(n=13, m=1), kernel_features(), noisy(n=10, m=15)):
        A, u = prepared(Phi, y), C * rng.uniform(0.5, 2.0, y.size)
        linear = 0.01 * C * rng.normal(size=A.shape[1])
        margins = rng.normal(size=y.size)
        for n_steps, margin in itertools.product((1, 2, 5, 200), (None, margins)):
            r = np.ones(y.size) if margin is None else margin
            v, a, n_iter, gap = compiled.interior_point(A, linear, u, 1e-9, n_steps, 3.0, TINY, r)
            twin = interior_point(
                A,
                linear,
                u,
                Ridge(),
                Limits(1e-9, n_steps, constant=3.0, unit=TINY),
                margin=margin,
            )
            assert n_iter == twin.n_iter
            # the order of the sums is all that differs; the conditioning grows with the steps
            tolerance = 1e-12 if n_steps < 200 else 1e-8
            assert_allclose(v, twin.variables, atol=tolerance * np.abs(v).max())
            assert_allclose(a, twin.multipliers, atol=tolerance * u.max())
            assert_allclose(gap, twin.gap, rtol=1e-2, atol=1e-11)


def test_constants_are_those_of_the_twin():
    mine = vars(products) | vars(compiled)
    for name in SHARED.split():
        (value,) = {vars(module)[name] for module in TWINS if name in vars(module)}
        assert mine[name] == value, name


@pytest.mark.parametrize("k", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("n", [1, 3, 4, 9])
def test_compiled_products(n, k):
    rng = np.random.default_rng(0)
    A, theta, v = rng.normal(size=(n, k)), rng.uniform(size=n), rng.normal(size=k)
    expected = A.T @ np.diag(theta) @ A + np.diag(np.arange(k) < k - 1)
    M, L, factor = np.empty((k, k)), np.zeros((k, k)), np.zeros((k, k))
    products.gram(A, theta, M)
    assert_allclose(np.tril(M), np.tril(expected), atol=1e-14)
    assert products.cholesky(M, L)
    assert_allclose(L @ L.T, expected, atol=1e-14)
    assert products.triangle(A, theta, factor)
    assert_allclose(factor @ factor.T, expected, atol=1e-14)
    x = v.copy()
    products.solve(factor, x)
    assert_allclose(expected @ x, v, atol=1e-10)
    out = np.empty(n)
    products.times(A, v, out)
    assert_allclose(out, A @ v, atol=1e-14)
    sums = v.copy()
    products.add_sums(A, theta, sums)
    assert_allclose(sums, v + theta @ A, atol=1e-14)


def test_cholesky_reports_pivots_that_lost_ten_digits():
    L = np.zeros((2, 2))
    assert products.cholesky(np.array([[4.0, 2.0], [2.0, 1.0 + 1e-9]]), L)
    assert not products.cholesky(np.array([[4.0, 2.0], [2.0, 1.0 + 1e-11]]), L)
    assert not products.cholesky(np.array([[4.0, 2.0], [2.0, -1.0]]), L)


def compiled_direction(A, theta, r, rho):
    n, k = A.shape
    L, dv = np.zeros((k, k)), np.empty(k)
    assert products.triangle(A, theta, L)
    rows = np.ones((compiled.N_LINES, n))
    rows[[compiled.AIM_S, compiled.AIM_XI]] = 0.0
    rows[compiled.THETA], rows[compiled.RESIDUAL] = theta, rho
    compiled._direction(A, L, True, rows, -r, dv, compiled.ONE)
    return dv, rows[compiled.ONE]


def test_a_direction_keeps_what_is_small_beside_what_is_large():
    # three rows of weight 1e10: next to them H = I is known to only six digits
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 6))
    theta = np.where(np.arange(12) < 3, 1e10, 1e-6)
    H = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    r, rho = rng.normal(size=6), rng.normal(size=12)
    dv, da = compiled_direction(A, theta, r, rho)
    assert_allclose(A @ dv + da / theta, rho, atol=1e-14)
    assert np.abs(H @ dv - A.T @ da - r).max() < 1e-9


# ------------------------------------------------------------------------------------ the cache

SOLVE = """
import kernelet
from kernelet._accelerate import accelerated
from kernelet.solvers import hinge_ridge
solution = hinge_ridge([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], C=10.0)
loop = accelerated("hinge_ridge").interior_point
print(kernelet.__file__, len(loop.signatures), round(solution.intercept, 6), sep="\\n")
"""


@pytest.mark.slow  # it compiles
@pytest.mark.parametrize("writable", [True, False], ids=["writable", "unwritable"])
def test_loops_compile_wherever_kernelet_is(tmp_path, writable):
    """Folders that numba would keep code in are files here, which not even root can write into."""
    package = tmp_path / "kernelet"
    source = Path(kernelet.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "file"
    file.touch()
    if not writable:
        (package / "_accelerate" / "__pycache__").touch()
    homes = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA", "USERPROFILE")
    done = subprocess.run(
        [sys.executable, "-c", SOLVE],
        env={**os.environ, **dict.fromkeys(homes, str(file)), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    where, n_compiled, intercept = done.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert (int(n_compiled), float(intercept)) == (1, -2.0)
    assert bool(list(tmp_path.rglob("*.nbc"))) == writable
