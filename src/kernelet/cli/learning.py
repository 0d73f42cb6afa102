"""The fit of `kernelet fit`: a given number of vectors, or one that is chosen by validation."""

from __future__ import annotations

import argparse
import time
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelet.cli import methods
from kernelet.cli.budget import chooses_vectors, has_budget, in_few_bits, learn_within
from kernelet.cli.budget_report import ChoiceReport
from kernelet.cli.errors import CommandError, Interrupted, UsageError, one_line
from kernelet.cli.labels import training_labels
from kernelet.cli.model import Model
from kernelet.cli.output import Output
from kernelet.cli.progress import hearing_interrupts, progress_bar, watched
from kernelet.learners import calibrate, compress
from kernelet.learners.base.model_file import remember_training
from kernelet.learners.direct.budgets.estimator import choosing_within

if TYPE_CHECKING:
    from kernelet.cli.metrics import Figures
    from kernelet.cli.training_data import TrainingTable
    from kernelet.learners.direct.budgets.choice import TimedChoice
    from kernelet.machine.columns import ColumnEncoder


@dataclass
class Learned:
    """A fitted estimator, the encoder of its columns, and how the fit went.

    Attributes
    ----------
    estimator : estimator
    encoder : ColumnEncoder or None
    interrupted : bool
        Whether Ctrl-C ended it.
    timed : TimedChoice or None
        What it has chosen, if anything.
    """

    estimator: Any
    encoder: ColumnEncoder | None
    interrupted: bool = False
    timed: TimedChoice | None = None

    def model(self, target: str | None, path: str = "") -> Model:
        """As it is applied to tables."""
        return Model.of(self.estimator, self.encoder, target, path)


@dataclass
class Fit:
    """What came of a fit, for its report.

    Attributes
    ----------
    learned : Learned
    rows : TrainingTable
        What it has learned from.
    test : TrainingTable or None
        What its error is measured on; None for the rows themselves.
    seconds : float
    search : BudgetSearchCV or None
        Under a budget.
    choice : ChoiceReport or None
        Of the number of vectors.
    figures : Figures or None
        The error.
    is_again : bool
        Whether all rows were learned from once the error was known.
    """

    learned: Learned
    rows: TrainingTable
    test: TrainingTable | None
    seconds: float = 0.0
    search: Any = None
    choice: ChoiceReport | None = None
    figures: Figures | None = None
    is_again: bool = False

    def measure(self, output: Output) -> None:
        """Measure the error."""
        data = self.rows if self.test is None else self.test
        model = self.learned.model(data.target)
        with output.hearing_warnings():
            self.figures = data.task.measured(model, data.labelled, data.target)
        self.figures.warn(data.target, output)


def learn_as_asked(
    arguments: argparse.Namespace,
    rows: TrainingTable,
    test: TrainingTable | None,
    seconds: float,
    output: Output,
) -> Fit:
    """Learn under a budget, with a given number of vectors, or with one chosen in some seconds."""
    if has_budget(arguments):
        encoder = rows.encoder(arguments.scaling, rounded=in_few_bits(arguments))
        start = time.perf_counter()
        search, interrupted = learn_within(arguments, rows, encoder, output)
        rows.remark_on_rows(time.perf_counter() - start, [], output)
        return Fit(Learned(search.best_estimator_, encoder, interrupted), rows, test, search=search)
    if not chooses_vectors(arguments):
        return Fit(learn(arguments, rows, output), rows, test)
    learned = learn_and_choose(arguments, rows, seconds, output)
    assert learned.timed is not None
    some = rows.rows(learned.encoder)
    choice = ChoiceReport.of(learned.model(rows.target), learned.timed, some, rows.task.error)
    return Fit(learned, rows, test, choice=choice)


def learn(arguments: argparse.Namespace, data: TrainingTable, output: Output) -> Learned:
    """A fit with the number of vectors that is asked for, or with the usual one."""
    budget = arguments.vectors
    wanted = budget or methods.DEFAULT_VECTORS
    estimator = methods.make_estimator(arguments, wanted)
    _set_bits(arguments, estimator)
    encoder = data.encoder(arguments.scaling, rounded=in_few_bits(arguments))
    rows = data.rows(encoder)
    n_rows = rows.shape[0]
    if methods.has_budget(estimator) and wanted > n_rows:
        if budget is not None:
            raise UsageError(f"--vectors {budget} is more than the {n_rows} rows; take fewer")
        estimator.set_params(n_vectors=n_rows)
    interrupted = _fit(estimator, rows, data, output, f"learning from {n_rows} rows")
    estimator = _within_budget(estimator, budget, rows, data.labels)
    return Learned(estimator, encoder, interrupted)


def learn_and_choose(
    arguments: argparse.Namespace, data: TrainingTable, seconds: float, output: Output
) -> Learned:
    """A fit that chooses the number of vectors, C and the kernel within some seconds."""
    estimator = methods.make_estimator(arguments, "auto")
    _set_bits(arguments, estimator)
    encoder = data.encoder(arguments.scaling, rounded=in_few_bits(arguments))
    rows = data.rows(encoder)
    text = f"{rows.shape[0]} rows"
    with choosing_within(estimator, seconds) as timed:
        interrupted = _fit(estimator, rows, data, output, text, is_choice=True)
    return Learned(estimator, encoder, interrupted, timed)


def learn_again(
    fit: Fit, arguments: argparse.Namespace, data: TrainingTable, output: Output
) -> None:
    """Fit what has been chosen on more rows; the search goes on from the vectors found."""
    estimator = copy(fit.learned.estimator)
    encoder = data.encoder(arguments.scaling, rounded=in_few_bits(arguments))
    estimator.set_params(n_vectors=estimator.n_vectors_, C=estimator.C_, warm_start=True)
    timed = fit.learned.timed
    for kernel in [] if timed is None else timed.kernels:
        if kernel.is_chosen:
            estimator.set_params(learn_kernel=kernel.parameter)
    rows = data.rows(encoder)
    text = f"learning from all {rows.shape[0]} rows"
    try:
        interrupted = _fit(estimator, rows, data, output, text, is_again=True)
    except Interrupted:  # what has been learned from some rows is left
        fit.learned.interrupted = True
        return
    fit.learned = Learned(estimator.set_params(warm_start=False), encoder, interrupted)
    fit.rows, fit.is_again = data, True


def _set_bits(arguments: argparse.Namespace, estimator: Any) -> None:
    if arguments.bits is not None:  # a single number
        estimator.set_params(vector_bits=arguments.bits[0])


def _fit(
    estimator: Any,
    rows: Any,
    data: TrainingTable,
    output: Output,
    text: str,
    is_choice: bool = False,
    is_again: bool = False,
) -> bool:
    """Fit, with a bar on a terminal; returns whether Ctrl-C ended it."""
    most = estimator.get_params().get("max_iter", 0)
    counts = most > 0 and not is_choice
    doing, start = "choosing" if is_choice else "learning", time.perf_counter()
    with (
        output.hearing_warnings() as caught,
        progress_bar(output, text, *((most, "steps") if counts else (None, ""))) as bar,
        hearing_interrupts() as interrupts,
        watched(estimator, bar, doing) as steps,  # short, for narrow terminals
    ):
        try:
            estimator.fit(rows, data.labels)
        except KeyboardInterrupt:
            raise Interrupted("interrupted before there was a machine; nothing is saved") from None
        except ValueError as error:
            raise CommandError(one_line(error)) from error
        if interrupts:  # which is why the fit has not converged
            caught[:] = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
    if is_again:  # the rows in use have been said
        return bool(interrupts)
    # the last of several fits says nothing of the others
    data.remark_on_rows(time.perf_counter() - start, [] if is_choice else steps, output)
    return bool(interrupts)


def _within_budget(estimator: Any, budget: int | None, rows: Any, labels: Any) -> Any:
    """The estimator, compressed if it has more vectors than the budget and no parameter for it."""
    if hasattr(estimator, "support_vectors_"):  # an SVC, which model files cannot hold
        small = compress(estimator, budget or len(estimator.support_))
        remember_training(small, len(labels), np.unique(labels, return_counts=True)[1])
        return small
    if budget is not None and not methods.has_budget(estimator) and estimator.n_vectors_ > budget:
        refit = "margin" if hasattr(estimator, "classes_") else "none"
        return compress(estimator, budget, rows, labels, refit=refit)
    return estimator


def calibrated(learned: Learned, test: TrainingTable) -> Learned:
    """With the probabilities that rows of their own ask for."""
    rows = learned.model(test.target).rows(test.table)
    try:
        estimator = calibrate(learned.estimator, rows, training_labels(test.labelled, test.target))
    except (TypeError, ValueError) as error:
        raise CommandError(f"--probabilities: {one_line(error)}") from error
    return Learned(estimator, learned.encoder, learned.interrupted)
