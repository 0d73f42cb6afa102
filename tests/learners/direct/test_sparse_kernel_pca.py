"""SparseKernelPCA: against scikit-learn's KernelPCA and plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from kernelet import load
from kernelet.kernels import Gaussian, Linear
from kernelet.learners import SparseKernelPCA
from kernelet.persistence import ModelFileError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)) * [2.0, 1.0, 0.5]
DIGITS = load_digits().data / 16.0


def covariance(model, rows, weights):
    scores = model.transform(rows)
    mean = np.average(scores, axis=0, weights=weights)
    return mean, (scores - mean).T @ ((weights / weights.sum())[:, None] * (scores - mean))


def test_components_are_orthonormal_centred_and_uncorrelated():
    weights = RNG.uniform(0.2, 3.0, 50)
    m = SparseKernelPCA(8, n_components=4, random_state=0).fit(X, sample_weight=weights)
    beta, Z = m.machine_.coefficients, m.vectors_
    assert_allclose(beta.T @ m.machine_.kernel(Z, Z) @ beta, np.eye(4), atol=1e-8)
    mean, C = covariance(m, X, weights)
    assert_allclose(mean, 0.0, atol=1e-9)
    assert_allclose(C, np.diag(m.explained_variance_), atol=1e-9)
    assert (np.diff(m.explained_variance_) <= 0.0).all()
    assert_allclose(-m.objective_, m.explained_variance_.sum())
    assert m.n_components_ == 4


@pytest.mark.parametrize("n_components", [1, 3, 6])
def test_all_rows_as_vectors_give_kernel_pca_back(n_components):
    m = SparseKernelPCA(50, n_components=n_components, gamma=0.3, init=X, tol=1e-6).fit(X)
    full = KernelPCA(n_components, kernel="rbf", gamma=0.3).fit(X)
    assert_allclose(m.explained_variance_, full.eigenvalues_ / 50, rtol=1e-6)
    assert_allclose(np.abs(m.transform(X)), np.abs(full.transform(X)), atol=1e-5)
    few = SparseKernelPCA(10, n_components=n_components, gamma=0.3, random_state=0).fit(X)
    kept, most = few.explained_variance_.sum(), full.eigenvalues_.sum() / 50
    assert 0.93 * most <= kept <= most * (1.0 + 1e-9)


def test_no_subspace_of_as_many_rows_keeps_as_much():
    m = SparseKernelPCA(5, n_components=2, gamma=0.3, random_state=0).fit(X)
    kernel, kept = Gaussian(0.3), []
    for _ in range(200):
        Z = X[RNG.choice(50, 5, replace=False)]
        Phi = kernel(X, Z) @ np.linalg.inv(np.linalg.cholesky(kernel(Z, Z))).T
        values = np.linalg.eigvalsh(np.cov(Phi.T, bias=True))
        kept.append(values[-2:].sum())
    assert -m.objective_ > max(kept)


def test_a_linear_kernel_is_pca():
    m = SparseKernelPCA(3, n_components=2, kernel=Linear(), random_state=0).fit(X)
    assert_allclose(np.abs(m.transform(X)), np.abs(PCA(2).fit_transform(X)), atol=1e-6)


def test_as_many_components_as_vectors_and_no_empty_ones():
    assert SparseKernelPCA(7, random_state=0).fit(X).n_components_ == 7
    # four points span three dimensions around their mean
    rows = np.repeat(X[:4], 5, axis=0)
    with pytest.warns(UserWarning, match="4 are used"):
        m = SparseKernelPCA(7).fit(rows)
    assert m.n_components_ == 3
    with pytest.warns(UserWarning, match="1 are used"):
        still = SparseKernelPCA(2).fit(np.ones((9, 2)))
    assert_allclose(still.transform(np.ones((3, 2))), 0.0, atol=1e-12)
    assert list(m.get_feature_names_out()) == [f"sparsekernelpca{i}" for i in range(3)]


def test_the_way_back(tmp_path):
    train, test = DIGITS[:600], DIGITS[600:900]
    m = SparseKernelPCA(
        20, n_components=8, fit_inverse_transform=True, random_state=0, tol=1e-2
    ).fit(train)
    back = m.inverse_transform(m.transform(test))
    assert back.shape == test.shape
    full = KernelPCA(8, kernel="rbf", fit_inverse_transform=True, alpha=0.1)
    full.set_params(gamma=m.machine_.kernel.gamma).fit(train)
    theirs = full.inverse_transform(full.transform(test))
    assert np.square(back - test).mean() <= 1.05 * np.square(theirs - test).mean()
    assert np.square(back - test).mean() < 0.5 * test.var(axis=0).mean()
    assert m.inverse_machine_.n_vectors == 20
    m.save(tmp_path / "m.kernelet")
    loaded = load(tmp_path / "m.kernelet")
    assert_array_equal(loaded.inverse_transform(m.transform(test)), back)
    with pytest.raises(ValueError, match="8 components"):
        m.inverse_transform(back)
    # a refit without it forgets it
    m.set_params(fit_inverse_transform=False, max_iter=400).fit(train[:100])
    assert m.inverse_machine_ is None
    with pytest.raises(AttributeError, match="inverse_transform"):
        m.inverse_transform(back)
    with pytest.raises(NotFittedError, match="fit again"):
        m.set_params(fit_inverse_transform=True).inverse_transform(back)


def test_a_file_whose_machines_do_not_fit_is_refused(tmp_path):
    m = SparseKernelPCA(4, n_components=2, fit_inverse_transform=True, random_state=0).fit(X)
    m._inverse_vectors = m._inverse_vectors[:, :1]
    m.save(tmp_path / "m.kernelet")
    with pytest.raises(ModelFileError, match="inverse_transform"):
        load(tmp_path / "m.kernelet")


def test_features_for_a_classifier_and_bad_parameters():
    labels = load_digits().target
    pipe = make_pipeline(
        SparseKernelPCA(40, n_components=30, random_state=0, tol=1e-2), LinearSVC()
    )
    assert pipe.fit(DIGITS[:900], labels[:900]).score(DIGITS[900:], labels[900:]) > 0.85
    with pytest.raises(ValueError, match="5 components need at least as many vectors"):
        SparseKernelPCA(4, n_components=5).fit(X)
    with pytest.raises(ValueError, match="n_components must"):
        SparseKernelPCA(4, n_components=0).fit(X)
