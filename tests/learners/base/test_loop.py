"""Loop: what verbosity, callbacks and Ctrl-C do to steps that know nothing of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from kernelet.cli.progress import watched
from kernelet.datasets import make_banana
from kernelet.learners import MinimalKernelSVC, NormSVC, ReducedSVC, RelevanceVectorClassifier
from kernelet.learners.base.progress import HAS_CALLBACKS, Loop


@dataclass(frozen=True)
class Count:
    """A step that is a number."""

    n: int

    @property
    def line(self):
        return f"step {self.n}"

    @property
    def brief(self):
        return str(self.n)


def watching(verbose=0):
    return Loop(ReducedSVC(), None, verbose)


def counting(n=5, interrupts=(), begun=None):
    """``begin`` of a run with n steps; Ctrl-C comes before some, the first time they are taken."""
    left = set(interrupts)

    def begin():
        if begun is not None:
            begun.append(1)
        for k in range(1, n + 1):
            if k in left:
                left.remove(k)
                raise KeyboardInterrupt
            yield Count(k)

    return begin


class StopAt:
    """A callback that asks to stop, and keeps what it saw."""

    def __init__(self, number):
        self.number, self.steps = number, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name != "step":
            return False
        self.steps.append(estimator._last_step.n)
        return self.steps[-1] == self.number


class TestRun:
    def test_to_its_end(self):
        with watching() as loop:
            run = loop.run(counting())
        assert run.last == Count(5)
        assert not run.was_ended and not loop.interrupted

    def test_no_step_leaves_the_start(self):
        with watching() as loop:
            run = loop.run(counting(0), start=Count(0))
        assert run.last == Count(0) and not run.was_ended

    def test_a_callback_ends_it(self):
        if not HAS_CALLBACKS:
            assert not hasattr(ReducedSVC(), "set_callbacks")
            return
        callback = StopAt(3)
        with Loop(ReducedSVC().set_callbacks(callback), 5) as loop:
            run = loop.run(counting())
        assert run.last == Count(3)
        assert run.stopped and not run.interrupted
        assert callback.steps == [1, 2, 3]

    def test_interrupt_leaves_the_last_step(self):
        with watching() as loop:
            run = loop.run(counting(interrupts=[4]), start=Count(0))
        assert run.last == Count(3)
        assert run.interrupted and loop.interrupted

    def test_interrupt_in_the_first_step_takes_it_again(self):
        begun = []
        with watching() as loop:
            run = loop.run(counting(interrupts=[1], begun=begun))
        assert run.last == Count(1) and run.interrupted
        assert len(begun) == 2

    def test_interrupt_in_the_first_step_leaves_the_start(self):
        begun = []
        with watching() as loop:
            run = loop.run(counting(interrupts=[1], begun=begun), start=Count(0))
        assert run.last == Count(0) and run.interrupted
        assert len(begun) == 1

    def test_interrupt_is_passed_on_where_nothing_is_needed(self):
        with watching() as loop:
            with pytest.raises(KeyboardInterrupt):
                loop.run(counting(interrupts=[1]), is_needed=False)
            # and before a run begins
            with pytest.raises(KeyboardInterrupt):
                loop.run(counting(), is_needed=False)

    def test_a_second_interrupt_is_passed_on(self):
        with watching() as loop:
            loop.interrupt()
            with pytest.raises(KeyboardInterrupt):
                loop.run(counting(interrupts=[1]))

    @pytest.mark.parametrize(("n_hurried", "last"), [(0, 0), (1, 1), (3, 3), (9, 5)])
    def test_interrupted_before_it_begins(self, n_hurried, last):
        with watching() as loop:
            loop.interrupt()
            run = loop.run(counting(), start=Count(0), n_hurried=n_hurried)
        assert run.last == Count(last)
        assert run.interrupted == (n_hurried <= 5)

    def test_what_is_printed(self, capsys):
        with watching(3) as loop:
            loop.run(counting())
            loop.run(counting(), n_before=5)
        assert capsys.readouterr().err == "step 3\nstep 1\nstep 4\n"


class Said:
    """A bar that remembers."""

    def __init__(self):
        self.texts = []

    def say(self, text):
        self.texts.append(text)

    def advance(self, steps):
        pass


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (NormSVC, r"fit: output 0, \d+ vectors, objective [\d.e+-]+"),
        (RelevanceVectorClassifier, r"fit: output 0, \d+ vectors, log evidence -[\d.e+-]+"),
        (MinimalKernelSVC, r"fit: machine 1, \d+ vectors, value [\d.e+-]+"),
    ],
)
def test_what_a_progress_bar_says(kind, words):
    bar, model = Said(), kind(gamma=1.0)
    with watched(model, bar, "fit"):
        model.fit(*make_banana(60, random_state=0))
    assert bar.texts[0] == "fit" and len(bar.texts) > 1
    assert all(re.fullmatch(words, text) for text in bar.texts[1:])


class TestLastOf:
    def test_the_last(self):
        with watching() as loop:
            assert loop.last_of(iter([3, None])) is None
        assert not loop.interrupted

    def test_interrupt_leaves_the_one_before(self):
        with watching() as loop:
            assert loop.last_of(counting(interrupts=[3])()) == Count(2)
        assert loop.interrupted

    def test_interrupt_is_passed_on_without_one(self):
        with watching() as loop, pytest.raises(KeyboardInterrupt):
            loop.last_of(counting(interrupts=[1])())
