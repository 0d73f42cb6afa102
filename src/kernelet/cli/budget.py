"""A budget in bytes or microseconds: which numbers of vectors and bits `kernelet fit` tries.

All pairs are cross-validated, and the best of those that keep to the budget is fitted on all rows.
This is `BudgetSearchCV` rather than ``n_vectors="auto"`` of the estimator, because it compares
numbers of bits on the same folds, from one search for each number of vectors, and because it
measures microseconds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernelet.cli import methods
from kernelet.cli.arguments import bits, count, n_bytes, positive
from kernelet.cli.errors import Check, CommandError, Interrupted, UsageError, one_line
from kernelet.cli.output import Output
from kernelet.cli.progress import hearing_interrupts

if TYPE_CHECKING:
    from kernelet.cli.searching import ColumnBytes
    from kernelet.cli.training_data import TrainingTable
    from kernelet.machine.columns import ColumnEncoder
    from kernelet.selection.rules import LimitError

# Each about twice the one before, as for n_vectors="auto", but from a single vector on: the
# smallest machine there is says whether a budget can be met at all.
_BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200)
# Without --bits: docs/howto/microcontroller.md has what they take and miss on handwritten digits. C
# reads 4 and 8 bits fastest.
_BITS = (4, 5, 8)
# What a machine in few bits usually takes: bytes of a feature (centre, step, scale), of a class
# (intercept, label) and of a vector (its length), and bits of a coefficient.
_FEATURE_BYTES, _CLASS_BYTES, _LENGTH_BYTES, _COEFFICIENT_BITS = 3, 3, 2, 6
_FLOAT_BITS = 32


def add_budget_options(parser: argparse.ArgumentParser) -> None:
    """``--max-bytes``, ``--max-microseconds``, and what is tried."""
    group = parser.add_argument_group("a budget in bytes or time, kept by cross-validation")
    add = group.add_argument
    text = "tables of exported C take at most this: 4096, 4k or 4kB (4000)"
    add("--max-bytes", type=n_bytes, metavar="BYTES", help=text)
    text = "a row takes at most this here, on one thread in batches of 1000"
    add("--max-microseconds", type=positive, metavar="TIME", help=text)
    text = (
        "bits of the numbers of vectors: those to try with a budget "
        f"(default with --max-bytes: {','.join(map(str, _BITS))}), otherwise one number"
    )
    add("--bits", type=bits, metavar="N,N", help=text)
    add("--folds", type=count, default=5, help="of cross-validation (default: 5)")


_BUDGET = ("max_bytes", "max_microseconds")


def budget_checks(arguments: argparse.Namespace) -> list[Check]:
    """What cannot be asked for, by the command line alone."""
    return [
        (("bits", "method"), lambda: _check_rounding(arguments)),
        (("bits", *_BUDGET), lambda: _check_bits(arguments)),
        (("folds", *_BUDGET), lambda: _check_folds(arguments)),
        (("method", *_BUDGET), lambda: _check_method(arguments)),
    ]


def _check_rounding(arguments: argparse.Namespace) -> None:
    if arguments.bits is not None:
        methods.require_bits(arguments.method)


def _check_bits(arguments: argparse.Namespace) -> None:
    if not has_budget(arguments) and arguments.bits is not None and len(arguments.bits) > 1:
        raise UsageError(
            "--bits takes one number unless there is a budget to choose by: --max-bytes"
        )


def _check_folds(arguments: argparse.Namespace) -> None:
    if has_budget(arguments) and arguments.folds < 2:
        raise UsageError("--folds must be at least 2")


def _check_method(arguments: argparse.Namespace) -> None:
    if not has_budget(arguments):
        return
    option = "--max-microseconds" if arguments.max_bytes is None else "--max-bytes"
    method = methods.METHODS[arguments.method]
    if method.task.with_budget is None:
        raise UsageError(
            f"{option}: --method {method.name} has no labels to cross-validate with; choose with "
            "--vectors and --bits"
        )
    if "n_vectors" not in methods.parameters(method.name):
        raise UsageError(
            f"{option}: --method {method.name} chooses its number of vectors itself; take "
            f"--method {method.task.with_budget}, or `kernelet compress` what it has learned"
        )


def has_budget(arguments: argparse.Namespace) -> bool:
    """Whether there is anything to keep to but a number of vectors."""
    return arguments.max_bytes is not None or arguments.max_microseconds is not None


def in_few_bits(arguments: argparse.Namespace) -> bool:
    """Whether vectors may be rounded, so that what is stored around them counts."""
    return arguments.max_bytes is not None or arguments.bits is not None


def chooses_vectors(arguments: argparse.Namespace) -> bool:
    """Whether the number of vectors is chosen by validation, as nothing else says what it is."""
    is_given = arguments.vectors is not None or has_budget(arguments)
    return not is_given and methods.can_choose_vectors(arguments)


def learn_within(
    arguments: argparse.Namespace,
    data: TrainingTable,
    encoder: ColumnEncoder | None,
    output: Output,
) -> tuple[Any, bool]:
    """A fitted search, and whether Ctrl-C cut it short."""
    from kernelet.cli.searching import ColumnBytes, cross_validate
    from kernelet.selection.rules import LimitError

    estimator, rows = methods.make_estimator(arguments, None), data.rows(encoder)
    tried, around = _bits_to_try(arguments, estimator), None
    cv = data.task.folds(data.labels, arguments.folds, arguments.seed, output)
    with hearing_interrupts() as interrupts:
        try:
            if arguments.max_bytes is not None:
                around = ColumnBytes.of(estimator, tried, data, encoder)
                if interrupts:  # which the fit of it has caught
                    raise KeyboardInterrupt
            search = _search(arguments, estimator, data, (rows, cv), (tried, around))
            cross_validate(search, data, rows, output)
        except KeyboardInterrupt:
            raise Interrupted("interrupted before there was a machine; nothing is saved") from None
        except ValueError as error:
            text = one_line(error)
            if isinstance(error, LimitError):
                text = _unmet(arguments, error, estimator, (rows, data.labels), around)
            raise CommandError(text) from error
    if around is not None:
        around.add_to(search)
    return search, bool(interrupts)


def _search(
    arguments: argparse.Namespace,
    estimator: Any,
    data: TrainingTable,
    split: tuple[Any, Any],
    forms: tuple[list[int | None], ColumnBytes | None],
) -> Any:
    """The search, not fitted; ``split`` is rows and folds, ``forms`` bits and bytes beside them."""
    from kernelet.cli.searching import most_vectors
    from kernelet.selection import BudgetSearchCV

    (rows, cv), (tried, around) = split, forms
    n_rows, n_features = rows.shape
    most = min(most_vectors(n_rows, cv.get_n_splits()), arguments.vectors or _BUDGETS[-1])
    limit, rooms = None, []
    if around is not None:
        # nothing is as small as a byte: where columns take all there is, the search says so
        limit = max(1, arguments.max_bytes - around.most)
        n_classes = len(set(data.labels.tolist())) if data.task.has_probabilities else 1
        n_outputs = n_classes if n_classes > 2 else 1
        rooms = [room(limit, number, n_features, n_outputs) for number in tried]
    return BudgetSearchCV(
        estimator,
        budgets_to_try(rooms, most, asked=arguments.vectors),
        cv=cv,
        rule="best",
        max_microseconds=arguments.max_microseconds,
        max_bytes=limit,
        target=None if around is None else "c",
        vector_bits=None if tried == [None] else tried,
        n_jobs=arguments.n_jobs,
        error_score="raise",
    )


def _bits_to_try(arguments: argparse.Namespace, estimator: Any) -> list[int | None]:
    """Those of ``--bits``, or of ``--param``, or the usual ones where C has integers for them."""
    if arguments.bits is not None:
        return list(arguments.bits)
    params = estimator.get_params()
    own = params.get("vector_bits")
    rounds = "vector_bits" in params and params["kernel"] == "rbf"
    usual = own is None and arguments.max_bytes is not None and rounds
    return [*_BITS] if usual else [own]


def room(max_bytes: int, number: int | None, n_features: int, n_outputs: int) -> int:
    """About how many vectors fit.

    Examples
    --------
    >>> room(1000, 4, n_features=10, n_outputs=1), room(1000, None, n_features=10, n_outputs=1)
    (124, 21)
    """
    if number is None:
        bits = _FLOAT_BITS * (n_features + n_outputs)
    else:
        bits = number * n_features + 8 * _LENGTH_BYTES + _COEFFICIENT_BITS * n_outputs
    fixed = _FEATURE_BYTES * n_features + _CLASS_BYTES * n_outputs
    return max(0, 8 * (max_bytes - fixed) // bits)


def budgets_to_try(rooms: Sequence[int], most: int, asked: int | None = None) -> list[int]:
    """Numbers of vectors, for what fits with each number of bits.

    The usual ones, up to the first above what fits: the search may drop features, whose bytes are
    then free. What fits itself, and what ``--vectors`` asks for.

    Examples
    --------
    >>> budgets_to_try([34, 17], most=200)
    [1, 2, 5, 10, 17, 20, 34, 50]
    >>> budgets_to_try([34, 17], most=8, asked=8)
    [1, 2, 5, 8]
    """
    largest = max(rooms, default=most)
    usual = [
        budget
        for place, budget in enumerate(_BUDGETS)
        if place == 0 or _BUDGETS[place - 1] < largest
    ]
    wanted = {*usual, *rooms, *([] if asked is None else [asked])}
    return sorted(budget for budget in wanted if 1 <= budget <= most)


def _unmet(
    arguments: argparse.Namespace,
    error: LimitError,
    estimator: Any,
    rows: tuple[Any, Any],
    around: ColumnBytes | None,
) -> str:
    """That a budget cannot be met, and the smallest that can."""
    from sklearn.base import clone

    from kernelet.selection.cost import model_bytes

    vectors = number_text(error.params)
    if around is None or error.parameter == "max_microseconds":
        return (
            f"--max-microseconds {arguments.max_microseconds:g} cannot be met: the fastest machine "
            f"tried, {vectors}, takes {error.least:.2g} us a row; raise the limit"
        )
    # on all rows a machine may take more than those of the folds
    model = clone(estimator).set_params(**error.params).fit(*rows)
    least = math.ceil(max(error.least, model_bytes(model, "c"))) + around.most
    return (
        f"--max-bytes {arguments.max_bytes} cannot be met: the smallest machine tried, {vectors}, "
        f"takes {least} bytes, {around.most} of them for columns and texts; say "
        f"--max-bytes {least}, or leave columns out with --drop"
    )


def number_text(params: Mapping[str, Any]) -> str:
    """A number of vectors and of bits, for a sentence.

    Examples
    --------
    >>> number_text({"n_vectors": 1, "vector_bits": 4}), number_text({"n_vectors": 5})
    ('1 vector of 4 bits', '5 vectors')
    """
    m, number = params["n_vectors"], params.get("vector_bits")
    vectors = f"{m} vector{'' if m == 1 else 's'}"
    return vectors if number is None else f"{vectors} of {number} bits"
