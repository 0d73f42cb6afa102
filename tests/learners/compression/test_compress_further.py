"""compress from kernel PCA and from Gaussian processes: first the same function, then fewer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from kernelet import load
from kernelet.learners import KernelFisherDiscriminant, KernelSubspace, compress
from kernelet.learners.compression.sklearn_adapters import adapt

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=60) + 5.0
NEW = RNG.normal(size=(40, 3))


class TestKernelPCA:
    @pytest.mark.parametrize(
        "options",
        [
            {"kernel": "rbf", "gamma": 0.4},
            {"kernel": "rbf"},
            {"kernel": "poly", "degree": 2, "coef0": 0.5},
            {"kernel": "linear"},
            {"kernel": lambda a, b: float(np.exp(-np.sum((a - b) ** 2)))},
        ],
    )
    def test_the_machine_is_the_same_function(self, options):
        pca = KernelPCA(3, **options).fit(X)
        adapted = adapt(pca)
        assert adapted.reading == "features"
        assert_allclose(adapted.machine.decision_function(NEW), pca.transform(NEW), atol=1e-10)

    def test_components_without_variance(self):
        pca = KernelPCA(5, kernel="linear", remove_zero_eig=False).fit(X[:, :2])
        machine = adapt(pca).machine
        assert machine.n_outputs == pca.eigenvalues_.size
        assert_allclose(machine.decision_function(NEW[:, :2]), pca.transform(NEW[:, :2]), atol=1e-7)

    def test_compressed(self, tmp_path):
        pca = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X)
        small = compress(pca, 12)
        assert small.n_vectors_ == 12
        features = small.transform(NEW)
        assert features.shape == (40, 2)
        assert_allclose(features, pca.transform(NEW), atol=0.05)
        assert list(small.get_feature_names_out()) == [
            "compressedtransformer0",
            "compressedtransformer1",
        ]
        small.save(tmp_path / "m.kernelet")
        assert_array_equal(load(tmp_path / "m.kernelet").transform(NEW), features)
        assert compress(small, 6).n_vectors_ == 6

    def test_transformers_of_this_package(self):
        labels = (X[:, 0] > 0).astype(int)
        for model in (
            KernelSubspace(3, n_landmarks=30, random_state=0).fit(X),
            KernelFisherDiscriminant(mu=1.0).fit(X, labels),
        ):
            small = compress(model, 10)
            assert small.transform(NEW).shape == model.transform(NEW).shape
            assert small.relative_error_ < 0.7


KERNELS = {
    "rbf": RBF(1.3),
    "a width for each feature": RBF([1.0, 2.0, 3.0]),
    "matern, a width for each": Matern([1.0, 0.5, 3.0], nu=1.5) + RBF(1.0),
    "scaled, noise": ConstantKernel(2.0) * RBF(1.3) + WhiteKernel(0.1),
    "matern 1/2": Matern(1.5, nu=0.5),
    "matern 3/2": Matern(1.5, nu=1.5),
    "matern 5/2": Matern(1.5, nu=2.5),
    "matern inf": Matern(1.5, nu=np.inf),
    "rational quadratic": RationalQuadratic(1.2, 0.7),
    "dot product": DotProduct(1.7) + WhiteKernel(0.5),
    "constant": ConstantKernel(3.0) + RBF(1.3),
    "product of sums": (ConstantKernel(0.5) + RBF(1.3)) * (ConstantKernel(2.0) + DotProduct(1.0)),
    "power": (RBF(2.0) + ConstantKernel(0.3)) ** 2,
}


def process(kernel, **options):
    return GaussianProcessRegressor(kernel, **{"alpha": 1e-3, "optimizer": None, **options})


class TestGaussianProcess:
    @pytest.mark.parametrize("label", KERNELS)
    @pytest.mark.parametrize("normalize_y", [False, True])
    def test_the_machine_is_the_mean(self, label, normalize_y):
        for target in (y, np.column_stack([y, -3.0 * y**2])):
            gp = process(KERNELS[label], normalize_y=normalize_y).fit(X, target)
            found = adapt(gp).machine.decision_function(NEW)
            expected = gp.predict(NEW)
            assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())

    def test_compressed(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            gp = GaussianProcessRegressor(
                ConstantKernel() * RBF() + WhiteKernel(), normalize_y=True, random_state=0
            ).fit(X, y)
        small = compress(gp, 15)
        assert small.n_vectors_ == 15
        assert small.score(NEW, gp.predict(NEW)) > 0.8

    @pytest.mark.parametrize(
        ("kernel", "words"),
        [
            (Matern(nu=2.0), "nu=2.0"),
            (ExpSineSquared(), "cannot be converted"),
            (RBF() ** 0.5, "whole ones"),
            (ConstantKernel(2.0) + WhiteKernel(), "constant"),
        ],
    )
    def test_an_error_names_what_cannot_be_converted(self, kernel, words):
        gp = process(kernel, alpha=10.0).fit(X, y)
        with pytest.raises(ValueError, match=words):
            compress(gp, 5)
