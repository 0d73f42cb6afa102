"""What a fit shows while it runs: rows in use, gains, the time left, and that C is being chosen."""

from __future__ import annotations

import itertools
import re
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelet import ReducedSVC, SparseKernelRidge, SparseSVC
from kernelet.cli.progress import LineBar, watched
from kernelet.kernels import Gaussian
from kernelet.learners.direct.kernel_learning.choice import KernelTask
from kernelet.learners.direct.problems.ridge import RidgeProblem
from kernelet.learners.direct.search.learn import SearchStart, search_vectors
from kernelet.learners.direct.search.rows import RowsInMemory

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40_000, 4))
Y = (X[:, 0] * X[:, 1] > 0.0).astype(int)


def steps_of(max_iter):
    """Those of a search that begins on a sample, with the time of each."""
    seen = []
    targets = np.sin(X[:, :1]) + 0.3 * RNG.normal(size=(40_000, 1))
    search_vectors(
        RowsInMemory(X, np.ones(40_000), RidgeProblem(targets, np.ones(40_000))),
        KernelTask(Gaussian(0.2)),
        SearchStart(X[:8].copy()),
        max_iter=max_iter,
        tol=1e-4,
        on_step=lambda step: seen.append((step, time.perf_counter())),
    )
    return seen


@pytest.fixture(scope="module")
def steps():
    return steps_of(40)


class TestProgress:
    def test_rows_in_use_grow_to_all(self, steps):
        used = [step.n_used for step, _ in steps]
        assert used[0] == 10_000
        assert used == sorted(used)
        assert used[-1] == 40_000
        assert {step.n_rows for step, _ in steps} == {40_000}

    def test_gains_are_differences_of_w(self, steps):
        compared = 0
        for (before, _), (after, _) in itertools.pairwise(steps):
            assert after.gain >= 0.0
            if before.n_used == after.n_used:
                assert_allclose(after.gain, before.value - after.value, rtol=1e-6, atol=1e-9)
                compared += 1
        assert compared > 5

    def test_the_time_left_ends_at_nothing(self):
        seen = steps_of(8)
        assert [step.n_iter for step, _ in seen] == list(range(1, 9))
        assert seen[0][0].seconds_left > 0.0
        assert seen[-1][0].seconds_left == 0.0

    def test_the_time_left_counts_steps_on_all_rows(self, steps):
        """A quarter of the steps is for all rows, four times as many as in the sample."""
        step, now = steps[3]
        begun = steps[0][1] - steps[0][0].seconds
        assert (step.n_iter, step.n_used) == (4, 10_000)
        # 26 steps on the sample and 10 on all rows, at the pace of four; the first evaluation,
        # of which only the search knows the time, is not in it
        assert step.seconds_left <= (26 + 10 * 4) * (now - begun) / 4
        assert step.seconds_left > 36 * (now - steps[0][1]) / 4


class TestVerbose:
    def test_rows_gain_and_time_are_printed(self, capsys):
        SparseSVC(6, C=1.0, verbose=1, random_state=0).fit(X, Y)
        lines = capsys.readouterr().err.splitlines()
        assert "rows 10000 of 40000" in lines[0]
        assert re.search(r"rows 40000  ", lines[-1])
        for line in lines:
            assert re.search(r"gain \d\.\de[-+]\d\d .* at most \d+\.\d s left", line)

    @pytest.mark.parametrize("kind", [SparseSVC, SparseKernelRidge])
    def test_the_choice_of_the_cost_is_shown(self, kind, capsys, tmp_path):
        model = kind(4, verbose=1, random_state=0)
        if kind is SparseSVC:
            model.set_params(checkpoint=tmp_path / "fit.checkpoint")
        model.fit(X[:300], Y[:300])
        lines = capsys.readouterr().err.splitlines()
        chosen = lines.index(f"choosing C: {model.C_:g} is taken")
        assert chosen > 3
        assert all(line.startswith("choosing C: step ") for line in lines[:chosen])
        after = [int(line.split()[1]) for line in lines[chosen + 1 :]]
        assert after == list(range(1, model.n_iter_ + 1))

    def test_nothing_is_printed_without(self, capsys):
        SparseSVC(4, random_state=0).fit(X[:300], Y[:300])
        assert capsys.readouterr().err == ""


class Said:
    """A bar that remembers."""

    def __init__(self):
        self.texts, self.done = [], 0.0

    def say(self, text):
        self.texts.append(text)

    def advance(self, steps):
        self.done += steps


class TestBar:
    """With or without the callbacks of scikit-learn, which came with its version 1.9."""

    def test_it_says_what_goes_on(self):
        bar, model = Said(), SparseSVC(6, random_state=0)
        with watched(model, bar, "learning") as steps:
            model.fit(X, Y)
        assert bar.texts[0] == "learning: choosing C"
        said = r"W [\d.e+]+, gain \d+\.\d%, at most \d+ s left(, \d+ of \d+ rows in use)?"
        choosing = [text for text in bar.texts[1:] if "choosing" in text]
        own = bar.texts[len(choosing) + 1 :]
        assert choosing and all(re.fullmatch(f"learning: choosing C: {said}", t) for t in choosing)
        assert own and all(re.fullmatch(f"learning: {said}", text) for text in own)
        assert bar.done == len(own) == model.n_iter_
        assert "10000 of 40000 rows in use" in own[0]
        assert "rows in use" not in own[-1]
        assert steps[0].n_used == 40_000
        assert not hasattr(model, "_last_step")

    def test_a_cost_that_is_given_is_not_chosen(self):
        bar, model = Said(), SparseSVC(4, C=1.0, random_state=0)
        with watched(model, bar, "learning"):
            assert bar.texts == ["learning"]

    def test_nobody_watches_after_the_block(self):
        bar = Said()
        with pytest.raises(ValueError, match="NaN"), watched(SparseSVC(4), bar, "learning"):
            SparseSVC(4).fit(np.full((9, 2), np.nan), np.arange(9) % 2)
        n_texts = len(bar.texts)
        SparseSVC(4, C=1.0, random_state=0).fit(X[:300], Y[:300])
        assert len(bar.texts) == n_texts

    def test_the_plain_line_is_printed_before_the_first_step(self, capsys):
        line = LineBar("reading", "steps")
        with watched(SparseSVC(4), line, "learning"):
            assert "learning: choosing C" in capsys.readouterr().err

    def test_methods_without_steps_have_none(self):
        bar = Said()
        with watched(ReducedSVC(4), bar, "learning") as steps:
            ReducedSVC(4, random_state=0).fit(X[:60], Y[:60])
        assert steps == [] and bar.done == 0

    def test_a_step_in_words(self, steps):
        first = steps[0][0]
        assert f"W {first.value:.4g}" in first.brief
