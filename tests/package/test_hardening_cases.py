"""What `python -m benchmarks.hardening fits` found, one small case for each defect."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from kernelet import (
    BudgetSearchCV,
    CoreVectorSVC,
    KernelFisherClassifier,
    KernelFisherDiscriminant,
    MaxMarginDiscriminantAnalysis,
    MinimalKernelSVC,
    NormKernelRidge,
    NormSVC,
    NormSVR,
    ReducedSVC,
    SparseKernelRidge,
    SparseSVC,
    SubspaceLPSVC,
    compress,
)
from kernelet.kernels import resolve_kernel
from kernelet.kernels.numerics.deviations import mean_squared_deviations

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize("bits", [2, 16])
def test_a_constant_is_compressed_to_few_bits(bits):
    model = NormSVR().fit(ROWS, np.full(40, 3.0))
    assert model.n_vectors_ == 0
    with pytest.warns(UserWarning, match="the model has 0 vectors"):
        small = compress(model, 4, vector_bits=bits)
    assert_allclose(small.predict(ROWS), 3.0)


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
@pytest.mark.parametrize("limits", [{}, {"max_bytes": 1e6}])
@pytest.mark.parametrize("rule", ["best", "one_standard_error"])
def test_a_search_without_any_score(rule, limits):
    """R2 of one row is not a number; without limits the first budget was taken."""
    search = BudgetSearchCV(SparseKernelRidge(C=1.0), (1, 2), cv=4, rule=rule, **limits)
    with pytest.raises(ValueError, match=r"No budget has a finite score in every fold.*cv"):
        search.fit(ROWS[:4], ROWS[:4, 0])


@pytest.mark.parametrize("kind", [SparseSVC, KernelFisherClassifier])
def test_kernels_with_negative_values_of_a_point_with_itself(kind):
    rows = RNG.normal(size=(49, 5))
    labels = (rows[:, 0] > 0).astype(int)
    model = kind(8, C=10.0, kernel="sigmoid", gamma=0.2, coef0=-1.0, random_state=0)
    assert model.fit(rows, labels).score(rows, labels) > 0.7


LARGE = [
    (CoreVectorSVC, "C"),
    (KernelFisherClassifier, "C"),
    (KernelFisherClassifier, "mu"),
    (KernelFisherDiscriminant, "mu"),
    (MaxMarginDiscriminantAnalysis, "C"),
    (MinimalKernelSVC, "C"),
    (MinimalKernelSVC, "alpha"),
    (MinimalKernelSVC, "mu"),
    (NormKernelRidge, "C"),
    (NormSVC, "C"),
    (NormSVC, "C_norm"),
    (NormSVR, "C"),
    (ReducedSVC, "C"),
    (SubspaceLPSVC, "C"),
]


@pytest.mark.parametrize(
    ("kind", "name"), LARGE, ids=lambda value: getattr(value, "__name__", value)
)
def test_weights_of_sums_that_overflow(kind, name):
    with pytest.raises(ValueError, match=rf"^{name} must be at most 1e\+30"):
        kind(**{name: 1e308}).fit(ROWS, LABELS)


@pytest.mark.filterwarnings("ignore:.*(16 bits are too few|the same for all rows)")
@pytest.mark.parametrize("n_vectors", [1, 2])
def test_kernel_values_that_hardly_differ_in_few_bits(n_vectors):
    """Of products of values of 1e17 that differ by 1e8, centring leaves nothing but rounding."""
    rows = np.random.default_rng(0).normal(size=(40, 7)) + 1e8
    model = ReducedSVC(
        n_vectors, kernel="linear", regularizer="ridge", vector_bits=2, random_state=0
    )
    model.fit(rows, LABELS)
    assert np.isfinite(model.decision_function(rows)).all()


@pytest.mark.parametrize("refit", ["margin", "direct"])
@pytest.mark.parametrize("bits", [None, 4])
@pytest.mark.filterwarnings("ignore:MinimalKernelSVC. the scores are the same")
def test_a_constant_has_nothing_to_learn_again(refit, bits):
    model = MinimalKernelSVC(C=1e-6).fit(ROWS, LABELS)
    assert model.n_vectors_ == 0
    with pytest.warns(UserWarning, match="the model has 0 vectors"):
        small = compress(model, 3, ROWS, LABELS, refit=refit, vector_bits=bits)
    assert_allclose(small.decision_function(ROWS), model.decision_function(ROWS))


@pytest.mark.parametrize("gamma", ["scale", "mean_distance"])
@pytest.mark.parametrize("weights", [None, np.arange(40) % 4])
def test_sparse_rows_far_from_the_origin_have_the_width_of_dense_ones(gamma, weights):
    """The mean of squares minus the square of the mean was negative, and so was gamma."""
    rows = ROWS + 1e9
    rows[:, 2] *= RNG.random(40) < 0.5
    models = [
        CoreVectorSVC(gamma=gamma, random_state=0).fit(given, LABELS, sample_weight=weights)
        for given in (rows[:, :2], csr_array(rows[:, :2]), rows, csr_array(rows))
    ]
    gammas = [model.machine_.kernel.gamma for model in models]
    assert_allclose(gammas[::2], gammas[1::2], rtol=1e-6)
    if gamma == "scale" and weights is None:
        assert_allclose(resolve_kernel("rbf", csr_array(rows[:, :2])).gamma, gammas[0], rtol=1e-6)


def test_rows_without_a_share_make_no_column_less_full():
    """Shares that add up to a little less than 1, times the square of 1e9, counted."""
    rows, shares = 1e9 + RNG.normal(size=(8, 1)), np.append(np.full(7, 1 / 7), 0.0)
    stored = csr_array(rows * (shares > 0)[:, None])
    centre = shares @ rows[:, 0]
    stored.eliminate_zeros()
    found = mean_squared_deviations(stored, centre, shares)
    assert_allclose(found, shares @ np.square(rows - centre), rtol=1e-6)


def test_coordinates_too_large_for_their_file():
    """Numbers of the kernel are doubles, the file holds floats: they became infinite."""
    model = SubspaceLPSVC(1, kernel="poly", degree=9, gamma=1.0, coef0=1.0, random_state=0)
    with pytest.raises(ValueError, match=r"coordinates of up to .* scale X, or lower gamma"):
        model.fit_batches([(1e6 * ROWS[:20], LABELS[:20]), (1e6 * ROWS[20:], LABELS[20:])])
