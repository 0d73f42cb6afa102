"""Norm machines and relevance vectors in other units, in several threads, and interrupted."""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from kernelet import NormKernelRidge, NormSVC, NormSVR, RelevanceVectorClassifier
from kernelet.datasets import make_banana
from kernelet.learners.arbitrary_norm import learn as norm_machine
from kernelet.learners.arbitrary_norm import losses as norm_losses
from kernelet.learners.arbitrary_norm.change_of_variables import KernelRegularizer
from kernelet.learners.arbitrary_norm.kept_candidates import KeptGram
from kernelet.learners.arbitrary_norm.losses import HingeLoss, LinearFit
from kernelet.learners.arbitrary_norm.penalties import PowerPenalty
from kernelet.learners.arbitrary_norm.reweighting import NormProblem, reweight
from kernelet.learners.relevance import search as relevance_search
from kernelet.solvers.hinge import interval as interval_ridge

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 2))
CORNERS = (ROWS[:, 0] * ROWS[:, 1] > 0).astype(int)
WAVES = np.sin(2.0 * ROWS[:, 0])
X, y = make_banana(80, random_state=0)


class TestUnits:
    @pytest.mark.parametrize("p", [1, "inf"])
    @pytest.mark.parametrize("factor", [1e-5, 1e-3, 1e2, 1e4, 1e8])
    def test_rows_in_other_units_are_the_same_problem(self, p, factor):
        """With a cubic kernel all terms of the objective have the factor^-6."""

        def fitted(factor):
            options = {"kernel": "poly", "gamma": 1.0, "degree": 3, "C": factor**-6.0}
            return NormSVC(p, C_norm=0.1, **options).fit(factor * ROWS, CORNERS)

        plain, other = fitted(1.0), fitted(factor)
        assert other.n_vectors_ == plain.n_vectors_
        assert_allclose(other.objective_ * factor**6.0, plain.objective_, rtol=1e-3)

    @pytest.mark.parametrize("unit", [1e-60, 1e-24, 1e24, 1e60])
    def test_targets_in_other_units_are_the_same_problem(self, unit):
        plain = NormKernelRidge(1, C_norm=0.1).fit(ROWS, WAVES)
        other = NormKernelRidge(1, C_norm=0.1 * unit).fit(ROWS, unit * WAVES)
        assert other.n_vectors_ == plain.n_vectors_ < 30
        assert_allclose(other.predict(ROWS) / unit, plain.predict(ROWS), atol=1e-4)

    @pytest.mark.parametrize("kind", [NormSVR, NormKernelRidge])
    def test_targets_beyond_all_units(self, kind):
        with pytest.raises(ValueError, match=r"divide y by their size, 1e\+160"):
            kind().fit(ROWS, 1e160 * WAVES)

    @pytest.mark.parametrize(
        ("rows", "options"),
        [
            (1e2 * ROWS, {"p": 1, "kernel": "poly", "gamma": 1.0, "coef0": 1.0}),
            (ROWS, {"p": 2, "C": 1e16}),
        ],
        ids=["rows", "costs"],
    )
    def test_ridges_below_rounding(self, rows, options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = NormKernelRidge(**options).fit(rows, WAVES)
        assert model.score(rows, WAVES) > 0.5

    @pytest.mark.parametrize("kind", [NormKernelRidge, NormSVR])
    @pytest.mark.parametrize("size", [1e3, 1e4, 1e5, 1e8])
    def test_where_no_digits_are_left_a_constant_is_the_worst(self, kind, size):
        """k(x, x) up to 1e48: what there are digits for differs from processor to processor."""
        rows = size * ROWS
        model = kind(1, kernel="poly", gamma=1.0, coef0=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows, WAVES)
        constant = WAVES.mean() if kind is NormKernelRidge else np.median(WAVES)
        power = 2 if kind is NormKernelRidge else 1
        loss = np.mean(np.abs(WAVES - model.predict(rows)) ** power)
        assert loss <= 1.01 * np.mean(np.abs(WAVES - constant) ** power)

    def test_gram_matrices_in_any_order(self):
        gram = np.exp(-np.square(ROWS[:, :1] - ROWS[:, 0]))
        for order in "CF":
            R = np.asarray(gram, order=order)
            space = KernelRegularizer().space(KeptGram(R), np.ones(60), np.full(60, 0.5))
            assert_allclose(space.L @ space.L.T, gram + 0.5 * np.eye(60), atol=1e-12)

    @pytest.mark.parametrize("tol", [1.0, 5.0])
    def test_tol_that_drops_all(self, tol):
        with pytest.raises(ValueError, match="tol must be below 1"):
            NormSVC(tol=tol).fit(X, y)


def test_a_class_without_weight_among_many_rows():
    rows, labels = RNG.normal(size=(300, 2)), np.arange(300) % 3
    model = NormSVC(gamma=1.0).fit(rows, labels, sample_weight=(labels != 2) * 1.0)
    assert not (model.predict(rows) == 2).any()
    assert_allclose(
        model.decision_function(rows),
        NormSVC(gamma=1.0, class_weight={2: 0.0}).fit(rows, labels).decision_function(rows),
    )


class TestUnsolved:
    """Problems beyond double precision end early, and those without a question at once."""

    @pytest.mark.parametrize("level", [0.0, 1e6, -3e-9])
    def test_targets_that_are_all_the_same(self, level, monkeypatch):
        """A constant is exact, whatever C is; nothing is searched for."""

        def unneeded(*arguments, **options):
            raise AssertionError("an interior point was started")

        monkeypatch.setattr(interval_ridge, "ridge_point", unneeded)
        options = {"C": 1e8, "epsilon": 1e-12, "C_norm": 1e-8, "n_vectors": 20}
        model = NormSVR(**options, kernel="linear").fit(1e6 * ROWS, np.full(60, level))
        assert model.n_vectors_ == 0
        assert_allclose(model.predict(ROWS), level, rtol=1e-12)
        assert model.objective_ == 0.0

    def test_a_sequence_of_problems_without_solutions_ends(self):
        """Weights made of rounding errors never come to rest."""
        rng, solved = np.random.default_rng(0), []

        def failing(rows, start):
            solved.append(rows.shape)
            is_rough = len(solved) != 5  # one success among the failures
            weights = rng.normal(size=rows.shape[1])
            return LinearFit(weights, 0.0, 1.0, 1.0 if is_rough else 1e-9)

        gram = np.exp(-(np.subtract.outer(ROWS[:, 0], ROWS[:, 0]) ** 2))
        *_, last = reweight(NormProblem(gram, gram), failing, PowerPenalty(2.0 - 1e-9, 1.0))
        assert last.unsolved and not last.converged
        assert last.n_iter == len(solved) == 5 + 10

    def test_the_warning_names_what_to_try(self, monkeypatch):
        def hopeless(*arguments):
            for step in reweight(*arguments):
                yield replace(step, converged=False, unsolved=True)

        monkeypatch.setattr(norm_machine, "reweight", hopeless)
        with pytest.warns(ConvergenceWarning, match="cannot be solved .* Scale the data, or lower"):
            NormSVR().fit(ROWS, WAVES)


class TestTime:
    def interrupt_first_step(self, monkeypatch, number):
        original, seen = HingeLoss.__call__, []

        def solve(self, rows, start):
            if start is None:
                seen.append(1)
                if len(seen) == number:
                    raise KeyboardInterrupt
            return original(self, rows, start)

        monkeypatch.setattr(HingeLoss, "__call__", solve)
        return seen

    @pytest.mark.parametrize("number", [2, 3])
    def test_ctrl_c_at_the_start_of_a_later_try(self, number, monkeypatch):
        seen = self.interrupt_first_step(monkeypatch, number)
        with pytest.warns(ConvergenceWarning, match="search for C_norm was interrupted"):
            model = NormSVC(C_norm=1.0, gamma=0.5, n_vectors=12).fit(X, y)
        assert len(seen) == number
        assert 0 < model.n_vectors_ <= 12

    def test_ctrl_c_before_there_is_anything(self, monkeypatch):
        self.interrupt_first_step(monkeypatch, 1)
        with pytest.raises(KeyboardInterrupt):
            NormSVC(n_vectors=12).fit(X, y)

    @pytest.mark.parametrize("place", ["value", "scale"])
    def test_ctrl_c_anywhere_in_a_step(self, place, monkeypatch):
        original, seen = getattr(PowerPenalty, place), []

        def interrupted(self, alpha):
            seen.append(1)
            if len(seen) == 4:
                raise KeyboardInterrupt
            return original(self, alpha)

        monkeypatch.setattr(PowerPenalty, place, interrupted)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model = NormSVC(gamma=0.5, C_norm=0.2).fit(X, y)
        assert model.n_iter_ == 3
        assert model.score(X, y) > 0.7

    def test_a_budget_that_was_not_reached_is_named(self, monkeypatch):
        original, seen = HingeLoss.__call__, []

        def solve(self, rows, start):
            seen.append(1)
            if len(seen) == 2:
                raise KeyboardInterrupt
            return original(self, rows, start)

        monkeypatch.setattr(HingeLoss, "__call__", solve)
        with pytest.warns(ConvergenceWarning, match="vectors, not n_vectors=5 as asked"):
            NormSVC(gamma=0.5, C_norm=1e-3, n_vectors=5).fit(X, y)

    def test_relevance_vectors_before_any_was_looked_at(self, monkeypatch):
        def interrupted(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(relevance_search, "candidates", interrupted)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            RelevanceVectorClassifier(gamma=1.0).fit(X, y)
        assert "interrupted, before all rows were looked at" in str(caught[0].message)
        assert "the same for all rows" in str(caught[1].message)
        assert len(caught) == 2

    def test_what_relevance_vectors_would_still_gain(self):
        rows, labels = make_banana(120, random_state=0)
        with pytest.warns(ConvergenceWarning, match="still rise by") as caught:
            early = RelevanceVectorClassifier(gamma=1.0, max_iter=3).fit(rows, labels)
        named = float(str(caught[0].message).split("rise by ")[1].split()[0])
        whole = RelevanceVectorClassifier(gamma=1.0).fit(rows, labels)
        assert 0.0 < named <= whole.objective_ - early.objective_


def test_threads_do_not_silence_each_other(monkeypatch):
    """LIBSVM runs out of its steps here; nobody may filter the warnings of all threads for that."""
    monkeypatch.setattr(norm_losses, "_PATIENCE", 1e-4)
    rows, labels = make_banana(200, random_state=0)
    before = list(warnings.filters)
    models = [NormSVC(gamma=1.0, C_norm=C_norm) for C_norm in (0.1, 0.2)]
    threads = [threading.Thread(target=model.fit, args=(rows, labels)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        models[0].fit(rows, labels)
    assert not [w for w in caught if "terminated early" in str(w.message)]
