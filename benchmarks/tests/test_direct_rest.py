"""The benchmark of the direct method beyond classification, and what its csv bears out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.direct_rest import limits, run
from benchmarks.direct_rest.data import Split, surface
from benchmarks.direct_rest.families import FAMILIES, feature_figures, fit
from benchmarks.direct_rest.plot import curve
from benchmarks.results import figures_of
from kernelet.kernels import Gaussian

RECORDS = run.LEDGER.read()
MEASURED = sorted({(r["method"].rpartition("_")[0], r["dataset"]) for r in RECORDS})
POINTS = [(*pair, budget) for pair in MEASURED for budget in run.BUDGETS]

# On these five splits ten centres of k-means predict better than the full method does, and than the
# direct method, which is as near to the full one as it should be. On 35 others they do not: see
# `benchmarks.direct_rest.limits`.
EXCEPTIONS = {("svr", "diabetes", 10)}


def lines(family, dataset, form, budget):
    wanted = (dataset, f"{family}_{form}", str(budget))
    return [r for r in RECORDS if (r["dataset"], r["method"], r["budget"]) == wanted]


class TestEvidence:
    @pytest.mark.parametrize(("family", "dataset", "budget"), POINTS)
    def test_the_objective_is_never_above_that_of_nystroem(self, family, dataset, budget):
        for record in lines(family, dataset, "direct", budget):
            figures = figures_of(record)
            # six digits are written down
            assert figures["objective"] <= figures["start"] + 2e-6 * abs(figures["start"])

    @pytest.mark.parametrize(("family", "dataset", "budget"), POINTS)
    def test_no_worse_than_nystroem_by_more_than_a_standard_error(self, family, dataset, budget):
        row = run.BUDGETS.index(budget)
        direct, nystroem = (
            curve(RECORDS, dataset, f"{family}_{form}")[row] for form in ("direct", "nystroem")
        )
        better_or_near = direct[1] <= nystroem[1] + np.hypot(direct[2], nystroem[2])
        assert better_or_near == ((family, dataset, budget) not in EXCEPTIONS)

    def test_the_exception_is_that_of_its_splits(self):
        others = next(
            line
            for line in limits.LEDGER.read()
            if (line["set"], line["setting"]) == ("svr_diabetes_others", "difference")
        )
        assert float(others["error"]) <= float(others["standard_error"])

    # classification has frontiers of its own, and is here for what is learned of its kernel
    @pytest.mark.parametrize(("family", "dataset"), [p for p in MEASURED if p[0] != "svc"])
    def test_fifty_vectors_are_nearly_as_good_as_all_rows(self, family, dataset):
        full, few = (
            curve(RECORDS, dataset, f"{family}_{form}")[-1, 1] for form in ("full", "direct")
        )
        if family == "one_class":  # the score is an area under the curve
            assert 100.0 - few >= 0.95 * (100.0 - full)
        else:
            assert few <= 1.05 * full

    @pytest.mark.parametrize("family", ["ridge", "svr", "svc"])
    def test_one_width_per_feature_helps_where_features_are_noise(self, family):
        def ratio(dataset):
            features, one = (
                curve(RECORDS, dataset, f"{family}_{form}")[1, 1]
                for form in ("features", "learned")
            )
            return features / one

        assert ratio("noisy_banana" if family == "svc" else "friedman1") < 0.85
        assert 0.97 < ratio("digits" if family == "svc" else "diabetes") < 1.1

    def test_the_width_of_one_class_is_found(self):
        learned = curve(RECORDS, "digits", "one_class_learned")
        tuned = curve(RECORDS, "digits", "one_class_direct")
        assert (learned[:, 1] <= tuned[:, 1] + np.hypot(learned[:, 2], tuned[:, 2])).all()

    def test_everything_was_measured(self):
        expected = {(family, data) for family in FAMILIES for data in FAMILIES[family].data}
        assert set(MEASURED) == expected
        known = {f"{name}_{form}" for name in FAMILIES for form in run.FORMS}
        assert {r["method"] for r in RECORDS} <= known
        for name, dataset in MEASURED:
            family = FAMILIES[name]
            for form in run.forms_of(family, dataset):
                for budget in ("",) if form == "full" else run.BUDGETS:
                    assert len(lines(name, dataset, form, budget)) == family.n_units


def test_a_point_is_measured(monkeypatch):
    few = {"surface": lambda unit: few_rows(surface(unit))}
    family = replace(
        FAMILIES["ridge"], data=few, n_units=2, grid={"gamma": (0.3, 3.0), "C": (10.0,)}
    )
    monkeypatch.setitem(FAMILIES, "ridge", family)
    errors = {}
    for form in run.FORMS:
        records = run.measure("ridge", "surface", form, None if form == "full" else 8)
        assert len(records) == 2
        figures = [figures_of(record) for record in records]
        errors[form] = np.mean([f["error"] for f in figures])
        assert figures[0]["n_vectors"] == (120 if form == "full" else 8)
    assert errors["direct"] < errors["nystroem"]
    assert figures[0]["gain"] >= 0.0


def few_rows(split):
    return Split(split.X_train[:120], split.y_train[:120], split.X_test[:200], split.y_test[:200])


def test_nystroem_is_where_the_direct_method_starts():
    split = few_rows(surface(0))
    family, parameters = FAMILIES["ridge"], {"gamma": 1.0, "C": 10.0}
    start = fit(family, "nystroem", 6, parameters, split)
    direct = fit(family, "direct", 6, parameters, split)
    beta, Z = start.machine_.coefficients[:, 0], start.machine_.vectors
    deviation = split.y_train - start.predict(split.X_train)
    value = 0.5 * beta @ Gaussian(1.0)(Z, Z) @ beta + 5.0 * deviation @ deviation
    assert_allclose(direct.history_[0][0], value, rtol=1e-9)


def test_the_variance_that_components_miss():
    """For a handful of rows, by the Gram matrix of all."""
    rng = np.random.default_rng(0)
    split = Split(rng.normal(size=(30, 3)), None, rng.normal(size=(10, 3)), None)
    model = FAMILIES["pca"].full({"gamma": 0.3}).set_params(n_components=4).fit(split.X_train)
    found = feature_figures(model, split)["error"]
    kernel = Gaussian(0.3)
    missed = total = 0.0
    for x in split.X_test:
        k = kernel(x[None], split.X_train)[0]
        variance = 1.0 - 2.0 * k.mean() + kernel(split.X_train, split.X_train).mean()
        total += variance
        missed += variance - np.sum(model.transform(x[None]) ** 2)
    assert_allclose(found, 100.0 * missed / total, rtol=1e-9)
