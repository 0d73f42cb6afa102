"""Threads of BLAS: one where problems are small, all where they are large, and all given back."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from kernelet import NormSVC, RelevanceVectorClassifier
from kernelet.datasets import make_banana
from kernelet.kernels import Gaussian
from kernelet.learners.arbitrary_norm.losses import HingeLoss
from kernelet.learners.arbitrary_norm.penalties import norm_penalty
from kernelet.learners.arbitrary_norm.reweighting import NormProblem, reweight
from kernelet.learners.base.progress import Loop
from kernelet.learners.relevance import learn as relevance_learn
from kernelet.learners.relevance import search as relevance_search
from kernelet.learners.relevance.likelihoods import GaussianLikelihood
from kernelet.solvers.enclosing_ball.exact_margin import exact_margin, newton_multipliers
from kernelet.solvers.parallel import map_in_threads, one_thread_but, one_thread_if_small

TWO = 2
BLAS = ThreadpoolController().select(user_api="blas")


def n_threads() -> set[int]:
    return {library["num_threads"] for library in BLAS.info()}


@pytest.fixture(autouse=True)
def two_threads():
    """The tests themselves run on one thread each."""
    with BLAS.limit(limits=TWO):
        if n_threads() != {TWO}:
            pytest.fail("the number of threads of this BLAS cannot be set")
        yield
        assert n_threads() == {TWO}


def test_small_products_are_for_one_thread():
    with one_thread_if_small(1000):
        assert n_threads() == {1}
    with one_thread_if_small(10**10):
        assert n_threads() == {TWO}


def test_exceptions_have_the_threads_that_were_there():
    with one_thread_but() as all_threads:
        assert n_threads() == {1}
        with all_threads():
            assert n_threads() == {TWO}
        assert n_threads() == {1}
        with one_thread_but() as still_one, still_one():
            assert n_threads() == {1}


@pytest.mark.parametrize("kind", [NormSVC, RelevanceVectorClassifier])
def test_fits_that_overlap_give_all_threads_back(kind):
    rows, labels = make_banana(150, random_state=0)
    begun = threading.Barrier(TWO)

    def fit():
        with one_thread_if_small(1):
            begun.wait()
            kind(gamma=1.0).fit(rows, labels)

    threads = [threading.Thread(target=fit) for _ in range(TWO)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert n_threads() == {TWO}


def test_one_of_two_does_not_wake_the_threads_of_both():
    with one_thread_but() as all_threads, one_thread_if_small(1), all_threads():
        assert n_threads() == {1}


def test_libraries_may_have_different_numbers_of_threads():
    one, *others = BLAS.lib_controllers
    one.set_num_threads(1)
    with one_thread_but() as all_threads:
        assert n_threads() == {1}
        with all_threads():
            assert one.get_num_threads() == 1
            assert all(other.get_num_threads() == TWO for other in others)
    one.set_num_threads(TWO)


def test_threads_are_given_back_after_an_error():
    with pytest.raises(KeyboardInterrupt), one_thread_but():
        raise KeyboardInterrupt
    assert n_threads() == {TWO}


@pytest.mark.parametrize(("is_large", "expected"), [(False, {1}), (True, {TWO})])
def test_relevance_vectors_use_one_but_for_products_with_many_columns(
    is_large, expected, monkeypatch
):
    seen, steps, original = [], [], relevance_search.candidates

    def watched(Phi, squares, state, threads):
        with threads():
            seen.append(n_threads())
        return original(Phi, squares, state, threads)

    monkeypatch.setattr(relevance_search, "candidates", watched)
    monkeypatch.setattr(relevance_learn, "_MANY_NUMBERS", 1 if is_large else 10**9)
    monkeypatch.setattr(Loop, "report", lambda *_: bool(steps.append(n_threads())))
    Phi = np.column_stack([np.ones(30), np.random.default_rng(0).normal(size=(30, 5))])
    target = Phi[:, 2] - Phi[:, 4]
    likelihood = GaussianLikelihood(target, np.ones(30), 0.01, 1e-6)
    with Loop(RelevanceVectorClassifier()) as loop:
        (found,) = relevance_learn.learn_relevance(Phi, [likelihood], list, loop)
    assert set(found.state.index) == {0, 2, 4}
    assert seen and all(threads == expected for threads in seen)
    assert steps and all(threads == {1} for threads in steps)


def test_reweighting_and_exact_margins_use_one_for_few_rows(monkeypatch):
    seen = []
    gram = np.eye(6) + 0.5
    y = np.array([1.0, -1.0] * 3)

    class Watched(HingeLoss):
        def __call__(self, rows, start):
            seen.append(n_threads())
            return super().__call__(rows, start)

    list(reweight(NormProblem(gram, gram), Watched(y, np.ones(6)), norm_penalty(0, 0.1)))

    def watched(*arguments):
        seen.append(n_threads())
        return newton_multipliers(*arguments)

    monkeypatch.setattr("kernelet.solvers.enclosing_ball.exact_margin.newton_multipliers", watched)
    X = np.random.default_rng(0).normal(size=(6, 2))
    exact_margin(X, y, np.ones(6), Gaussian(1.0))
    assert len(seen) > 1 and all(threads == {1} for threads in seen)


def test_an_error_while_threads_are_started_leaves_none_at_work(monkeypatch):
    """An executor does not wait for a thread whose start was interrupted."""
    start, started, begun, heard = threading.Thread.start, [], [], []

    def interrupted(thread):
        start(thread)
        started.append(thread)
        time.sleep(0.05)  # until it has taken its item
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            map_in_threads(begun.append, range(3), 2, lambda: heard.append(True))
    assert heard == [True]
    for thread in started:
        thread.join(60)
    assert len(started) == 1
    assert begun == []


def test_ctrl_c_waits_until_threads_are_started(monkeypatch):
    """Within the locks of a thread it would leave one that never begins."""
    start, started, before = threading.Thread.start, [], signal.getsignal(signal.SIGINT)

    def pressed(thread):
        signal.raise_signal(signal.SIGINT)
        start(thread)
        started.append(thread)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", pressed)
        with pytest.raises(KeyboardInterrupt):
            map_in_threads(lambda item: item, range(3), 2)
    assert len(started) == 2
    for thread in started:
        thread.join(60)
        assert not thread.is_alive()
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_start_threads():
    """Signals reach the main thread only, and handlers are its own."""
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(map_in_threads, abs, range(-3, 0), 2).result() == [3, 2, 1]
