"""Eigenvalues, also of what LAPACK's first choice fails on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelet.subspace import eigenpairs as module
from kernelet.subspace.eigenpairs import eigenpairs

A = np.random.default_rng(0).normal(size=(12, 12))
S = A @ A.T


original = module.eigh


def failing(*arguments, driver="evr", **options):
    if driver == "evr":
        raise np.linalg.LinAlgError("Internal Error.")
    return original(*arguments, driver=driver, **options)


def finding_none(*arguments, driver="evr", **options):
    values, vectors = original(*arguments, driver=driver, **options)
    return (values[:0], vectors[:, :0]) if driver == "evr" else (values, vectors)


@pytest.mark.parametrize("first", [original, failing, finding_none])
@pytest.mark.parametrize("n", [None, 1, 5, 12])
def test_the_largest(n, first, monkeypatch):
    monkeypatch.setattr(module, "eigh", first)
    values, vectors = eigenpairs(S, n)
    n = n or 12
    assert values.shape == (n,) and vectors.shape == (12, n)
    expected = np.sort(np.linalg.svd(S, compute_uv=False))[12 - n :]
    assert_allclose(values, expected, rtol=1e-9)
    assert_allclose(S @ vectors, vectors * values, atol=1e-9 * values[-1])
    assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="infs or NaNs"):
        eigenpairs(np.full((3, 3), np.inf))
