"""Kernels that do not distinguish rows, columns with outliers, and costs beyond all measure."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, make_classification, make_friedman1
from sklearn.preprocessing import QuantileTransformer

from kernelet import SparseKernelRidge, SparseSVC, SparseSVR
from kernelet.learners.direct.kernel_learning.reach import warn_of_outliers

X, Y = make_classification(800, 6, n_informative=4, n_redundant=0, class_sep=1.2, random_state=0)
F, VALUES = make_friedman1(800, 6, noise=0.3, random_state=0)
KEPT, HELD = slice(500), slice(500, None)
CASES = [
    (SparseSVC, X, Y),
    (SparseKernelRidge, F, VALUES),
]


@pytest.fixture(params=CASES, ids=lambda case: case[0].__name__)
def case(request):
    return request.param


class TestGamma:
    @pytest.mark.parametrize(
        ("gamma", "words"), [(1e6, "too large"), (100.0, "too large"), (1e-6, "too small")]
    )
    def test_a_gamma_that_is_far_off_is_named(self, case, gamma, words):
        kind, rows, targets = case
        with pytest.warns(UserWarning, match=re.escape(f"gamma = {gamma:.3g} is {words}")):
            kind(10, gamma=gamma, random_state=0).fit(rows[KEPT], targets[KEPT])

    @pytest.mark.parametrize("gamma", ["scale", 1.0, 0.05])
    def test_others_are_not(self, case, gamma):
        kind, rows, targets = case
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            model = kind(10, gamma=gamma, random_state=0).fit(rows[KEPT], targets[KEPT])
        assert model.score(rows[HELD], targets[HELD]) > 0.85

    def test_a_kernel_that_learns_to_be_flat_is_none_of_them(self):
        """A linear function is best followed by a wide kernel, and that is no mistake."""
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(300, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            model = SparseKernelRidge(4, random_state=0).fit(rows, rows @ [1.0, 2.0, -1.0])
        assert model.score(rows, rows @ [1.0, 2.0, -1.0]) > 0.98

    def test_sets_per_class_are_looked_at_together(self):
        with pytest.warns(UserWarning, match="gamma = 1e\\+06 is too large"):
            SparseSVC(3, gamma=1e6, vectors="per_class", random_state=0).fit(X[KEPT], Y[KEPT])


class TestOutliers:
    def with_outlier(self, rows, value=1e6):
        changed = rows[KEPT].copy()
        changed[17, 2] = value
        return changed

    def test_the_column_is_named_and_the_remedies_help(self, case):
        kind, rows, targets = case
        spoilt = self.with_outlier(rows)
        with pytest.warns(UserWarning, match=r"column 2, up to 1e\+06.*Clip the column"):
            kind(10, random_state=0).fit(spoilt, targets[KEPT])
        usual = kind(10, random_state=0).fit(rows[KEPT], targets[KEPT])
        limit = usual.score(rows[HELD], targets[HELD]) - 0.04
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            clipped = np.clip(spoilt, *np.quantile(spoilt, [0.01, 0.99], axis=0))
            model = kind(10, random_state=0).fit(clipped, targets[KEPT])
            assert model.score(rows[HELD], targets[HELD]) > limit
            even = QuantileTransformer(n_quantiles=100, random_state=0).fit(spoilt)
            model = kind(10, random_state=0).fit(even.transform(spoilt), targets[KEPT])
            assert model.score(even.transform(rows[HELD]), targets[HELD]) > limit

    def test_a_data_frame_names_its_column(self):
        frame = pd.DataFrame(self.with_outlier(X), columns=list("abcdef"))
        with pytest.warns(UserWarning, match="column 'c'"):
            SparseSVC(5, random_state=0).fit(frame, Y[KEPT])

    @pytest.mark.parametrize(
        "rows",
        [
            load_digits().data,
            np.eye(400)[:, :20],
            np.random.default_rng(0).lognormal(size=(20_000, 3)),
            np.random.default_rng(0).standard_t(3, size=(20_000, 3)),
            np.ones((50, 2)),
            np.random.default_rng(0).normal(size=(2, 2)),
        ],
        ids=["digits", "indicators", "lognormal", "heavy tails", "constant", "two rows"],
    )
    def test_usual_columns_have_none(self, rows):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_of_outliers(SparseSVC(), rows)

    def test_many_columns(self):
        rows = np.random.default_rng(0).normal(size=(3000, 200))
        rows[5, 150], rows[6, 199], rows[7, 199] = 1e8, -1e9, 1e9
        with pytest.warns(UserWarning, match=r"column 150 \(and 1 more\), up to 1e\+08"):
            warn_of_outliers(SparseSVC(), rows)


class TestCosts:
    @pytest.mark.parametrize("kind", [SparseSVC, SparseKernelRidge, SparseSVR])
    @pytest.mark.parametrize("C", [1e31, 1e300])
    def test_too_large_a_cost_is_an_error(self, kind, C):
        with pytest.raises(ValueError, match=r"C must be at most 1e\+30.*between 1e-3 and 1e5"):
            kind(5, C=C).fit(X[KEPT], Y[KEPT])

    @pytest.mark.parametrize("C", [1e-100, 1e30])
    def test_what_is_allowed_does_not_overflow(self, case, C):
        kind, rows, targets = case
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", UserWarning)
            kind(5, C=C, random_state=0).fit(rows[KEPT], targets[KEPT])

    def test_without_noise_the_cost_stays_in_bounds(self):
        """Each higher cost lowers a risk that is nothing by the same share."""
        x = np.random.default_rng(0).permutation(np.linspace(-3.0, 3.0, 600))[:, None]
        y = np.sin(2.0 * x[:, 0])
        svr = SparseSVR(10, loss="squared_epsilon_insensitive", C="auto", random_state=0)
        svr.fit(x[:400], y[:400])
        assert svr.C_ <= 1e3
        assert svr.score(x[400:], y[400:]) > 0.985
