"""The reduced set by the fixed-point iteration alone, against what can be computed by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from benchmarks.methods import get
from benchmarks.methods.rs_fixed_point import fit_binary, fixed_point, one_run
from kernelet.kernels import Gaussian

SIGNS = np.array([-1.0, 1.0])


def moons(seed: int) -> tuple[np.ndarray, np.ndarray, SVC]:
    X, labels = make_moons(120, noise=0.25, random_state=seed)
    y = SIGNS[labels]
    return X, y, SVC(C=10.0, gamma=1.0).fit(X, y)


def distance(svm: SVC, Z: np.ndarray, beta: np.ndarray) -> float:
    """||w - w'||^2 (4) by a double loop over the vectors of both machines."""
    vectors = np.concatenate([svm.support_vectors_, Z])
    weights = np.concatenate([svm.dual_coef_[0], -beta])
    total = 0.0
    for one, a in zip(vectors, weights, strict=True):
        for other, b in zip(vectors, weights, strict=True):
            total += a * b * np.exp(-svm.gamma * np.square(one - other).sum())
    return total


def test_the_fixed_point_of_one_vector_and_of_two() -> None:
    kernel, one = Gaussian(1.0), np.array([[0.4, -0.2]])
    assert_allclose(fixed_point(one[0] + 0.3, one, np.array([-2.0]), kernel), one[0], atol=1e-9)
    near = np.array([[-0.3, 0.0], [0.3, 0.0]])
    # by symmetry the nearest vector is halfway
    found = fixed_point(near[0], near, np.array([1.0, 1.0]), kernel)
    assert_allclose(found, [0.0, 0.0], atol=1e-4)
    # equal weights of opposite signs cancel halfway
    assert fixed_point(np.zeros(2), near, np.array([1.0, -1.0]), kernel) is None


@pytest.mark.parametrize("seed", range(2))
def test_the_best_of_ten_runs(seed: int) -> None:
    X, y, svm = moons(seed)
    kernel = Gaussian(1.0)
    rng = np.random.default_rng(seed)
    runs = [one_run(svm.support_vectors_, svm.dual_coef_[0], kernel, 5, rng) for _ in range(10)]
    distances = [distance(svm, Z, beta) for _, Z, beta in runs]
    norm = distance(svm, np.empty((0, 2)), np.empty(0))
    assert_allclose([norm + run[0] for run in runs], distances, atol=1e-6 * norm)
    assert max(distances) > 1.05 * min(distances)
    machine = fit_binary(X, y, svm, 5, {}, seed)
    assert machine.n_vectors == 5
    found = distance(svm, machine.vectors, machine.coefficients[:, 0])
    assert_allclose(found, min(distances), rtol=1e-6)
    assert found < norm


@pytest.mark.parametrize("seed", range(2))
def test_margin_starts_have_no_higher_objective_than_the_vectors_of_the_reduced_set(
    seed: int,
) -> None:
    X, y, svm = moons(seed)
    values = []
    for name in ("mrs_margin_starts", "mrs"):
        fit = get(name).fit  # type: ignore[attr-defined]
        model = fit(X, y, {"C": 10.0, "gamma": 1.0, "ratio": 0.1}, seed)
        (machine,) = model.machines
        gram = machine.kernel(machine.vectors, machine.vectors)
        beta = machine.coefficients[:, 0]
        slack = np.maximum(0.0, 1.0 - y * machine.decision_function(X).ravel())
        values.append(0.5 * beta @ gram @ beta + 10.0 * slack.sum())
    assert values[0] <= values[1] * (1.0 + 1e-4)
    assert model.machines[0].n_vectors == round(0.1 * len(svm.support_))
