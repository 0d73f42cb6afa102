"""Ctrl-C where it went unnoticed: the model was a rough one, and nothing said so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from interrupts import ctrl_c_in, watch_evaluations
from kernelet import SparseKernelPCA, SparseSVC, SubspaceLPSVC, compress
from kernelet.learners.base import progress
from kernelet.learners.direct.search.marginal_objective import MarginalObjective

IRIS, SPECIES = load_iris(return_X_y=True)


def n_evaluations(patch, fit):
    """How many a fit takes, before it is interrupted."""
    seen = watch_evaluations(patch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit()
    patch.undo()
    return len(seen)


class TestCompress:
    @pytest.fixture
    def svm(self):
        return SVC(C=10.0).fit(IRIS, SPECIES)

    @pytest.mark.parametrize(("refit", "share"), [("none", 0.3), ("direct", 0.2), ("direct", 0.9)])
    def test_the_best_vectors_so_far(self, svm, refit, share, monkeypatch):
        def small():
            return compress(svm, 4, IRIS, SPECIES, refit=refit)

        n = n_evaluations(monkeypatch, small)
        seen = ctrl_c_in(monkeypatch, int(share * n))
        with pytest.warns(ConvergenceWarning, match="compress was interrupted"):
            model = small()
        assert len(seen) < n
        assert model.score(IRIS, SPECIES) > 0.8

    def test_the_fewest_vectors(self, svm, monkeypatch):
        def small():
            return compress(svm, "auto", IRIS, max_error=0.1)

        n = n_evaluations(monkeypatch, small)
        whole = small()
        ctrl_c_in(monkeypatch, 3)  # before anything keeps the error
        with pytest.raises(KeyboardInterrupt):
            small()
        monkeypatch.undo()
        ctrl_c_in(monkeypatch, n - 1)  # in a search for fewer vectors than are enough
        with pytest.warns(ConvergenceWarning, match="compress was interrupted"):
            model = small()
        assert model.score_error_ <= 0.1
        assert model.n_vectors_ >= whole.n_vectors_


def test_the_way_back_from_components(monkeypatch):
    def model():
        return SparseKernelPCA(
            n_components=2, n_vectors=4, max_iter=8, fit_inverse_transform=True, random_state=0
        )

    n = n_evaluations(
        monkeypatch, lambda: model().set_params(fit_inverse_transform=False).fit(IRIS)
    )
    # only the way back is learned by this objective
    ctrl_c_in(monkeypatch, n + 8)
    with pytest.warns(ConvergenceWarning, match="inverse_transform of .* interrupted"):
        found = model().fit(IRIS)
    assert found.interrupted_
    assert np.isfinite(found.inverse_transform(found.transform(IRIS))).all()


def test_fewer_vectors_for_a_linear_program(monkeypatch):
    def model():
        return SubspaceLPSVC(n_components=15, n_vectors=5, random_state=0)

    n = n_evaluations(monkeypatch, lambda: model().fit(IRIS, SPECIES))
    seen = ctrl_c_in(monkeypatch, n // 2)
    with pytest.warns(ConvergenceWarning, match="the search for 5 vectors ended early"):
        found = model().fit(IRIS, SPECIES)
    assert len(seen) < n
    assert found.interrupted_
    assert found.score(IRIS, SPECIES) > 0.8


def test_vectors_that_are_rounded(monkeypatch):
    from kernelet.learners.direct.search import on_grid

    class Interrupted(MarginalObjective):
        def __call__(self, *arguments, **options):
            raise KeyboardInterrupt

    monkeypatch.setattr(on_grid, "MarginalObjective", Interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted while it rounded"):
        model = SparseSVC(4, C=10.0, vector_bits=3, random_state=0).fit(IRIS, SPECIES)
    assert model.interrupted_


def test_searches_in_threads_that_were_all_done(monkeypatch):
    """Ctrl-C reaches the thread that waits for them when there is nothing to end any more."""

    def late(*arguments):
        map_in_threads(*arguments)
        raise KeyboardInterrupt

    map_in_threads = progress.map_in_threads
    monkeypatch.setattr(progress, "map_in_threads", late)
    model = SparseSVC(3, C=1.0, vectors="per_class", n_jobs=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(IRIS, SPECIES)
    assert model.interrupted_
