"""Cross-validation over numbers of vectors and of bits, for `kernelet frontier` and budgets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from kernelet.cli.arguments import FLOATS
from kernelet.cli.c_costs import own_dtype
from kernelet.cli.errors import CommandError, one_line
from kernelet.cli.model import Model
from kernelet.cli.output import Output
from kernelet.cli.progress import Bar, progress_bar
from kernelet.export.to_c.exporter import c_cost
from kernelet.machine import stored_bytes
from kernelet.selection import BudgetSearchCV
from kernelet.selection.budgets import Candidates

if TYPE_CHECKING:
    from kernelet.cli.training_data import TrainingTable
    from kernelet.machine.columns import ColumnEncoder

# Results of a search, and what they are called here; the error is 1 minus the score.
_RESULTS = ("mean_test_score", "standard_error_test_score", "mean_microseconds", "mean_bytes")
_FIGURES = ("error", "standard_error", "microseconds_per_row", "bytes")


@dataclass(frozen=True)
class ColumnBytes:
    """What exported C stores besides the machine: scales of columns, and texts.

    Attributes
    ----------
    of_bits : dict of int or None to int
        For each number of bits that vectors may have.
    """

    of_bits: dict[int | None, int]

    @classmethod
    def of(
        cls,
        estimator: Any,
        bits: list[int | None] | None,
        data: TrainingTable,
        encoder: ColumnEncoder | None,
    ) -> ColumnBytes:
        """Measured with one vector; the number of vectors makes no difference.

        Parameters
        ----------
        estimator : estimator
        bits : list of (int or None), or None
            None leaves those of the estimator alone.
        data : TrainingTable
        encoder : ColumnEncoder or None
        """
        known = estimator.get_params()
        # quick, and with all features, as each that is in use has its scale
        quick = {"n_vectors": 1, "max_iter": 1, "C": 1.0, "learn_kernel": False}
        rows, found = data.rows(encoder), {}
        for number in bits or [known.get("vector_bits")]:
            params = {**quick, "vector_bits": number}
            model = clone(estimator).set_params(**{k: v for k, v in params.items() if k in known})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(rows, data.labels)
            found[number] = bytes_around(model, encoder, data.target)
        return cls(found)

    @property
    def most(self) -> int:
        """Of all numbers of bits."""
        return max(self.of_bits.values())

    def add_to(self, search: Any) -> None:
        """Add these bytes to the results of a search, which has counted those of the machines."""
        results = search.cv_results_
        own = search.searched.get_params().get("vector_bits")
        bits = [params.get("vector_bits", own) for params in results["params"]]
        results["mean_bytes"] = results["mean_bytes"] + [self.of_bits[one] for one in bits]
        if search.reference_results_ is not None:
            search.reference_results_["mean_bytes"] += self.most


def bytes_around(model: Any, encoder: ColumnEncoder | None, target: str | None) -> int:
    """What exported C stores of a fitted model besides its machine."""
    machine = model.machine_
    n_labels = len(getattr(model, "classes_", ()))
    try:
        cost = c_cost(Model.of(model, encoder, target).content, own_dtype(machine))
    except (TypeError, ValueError) as error:
        raise CommandError(f"bytes are those of exported C: {one_line(error)}") from error
    return cost.flash_bytes - stored_bytes(machine, "c", n_labels=n_labels)


def most_vectors(n_rows: int, folds: int) -> int:
    """What the largest fold leaves to learn from."""
    return n_rows - -(-n_rows // folds)


def cross_validate(search: BudgetSearchCV, data: TrainingTable, rows: Any, output: Output) -> Any:
    """Fit a search, and move a bar with every model that is scored.

    Raises
    ------
    ValueError
        As of the search.
    """
    n_tried = len(Candidates.of(search.estimator, search.budgets, search.vector_bits))
    is_model = search.reference is not None
    folds = search.cv.get_n_splits()
    text = f"{n_tried} budgets on {folds} folds"
    n_models = folds * (n_tried + is_model)
    with output.hearing_warnings(), progress_bar(output, text, n_models, "models") as bar:
        if search.n_jobs is None:  # other processes cannot move the bar
            search.set_params(scoring=_counted(bar))
        return search.fit(rows, data.labels)


def _counted(bar: Bar) -> Any:
    """The model's own score as a scorer, which moves the bar with every model that is scored."""

    def score(model: Any, X: Any, y: Any) -> float:
        bar.advance(1)
        return float(model.score(X, y))

    return score


def entries_of(search: Any) -> list[dict[str, Any]]:
    """A dict for each budget, and one for the full SVM where there is one."""
    results = search.cv_results_
    entries = [
        _entry("small", params, {key: results[key][place] for key in _RESULTS})
        for place, params in enumerate(results["params"])
    ]
    entries[search.best_index_]["picked"] = True
    svm = search.reference_results_
    if svm is None:
        return entries
    return [*entries, _entry("svm", {"n_vectors": svm["mean_n_vectors"]}, svm)]


def _entry(model: str, params: dict[str, Any], results: Any) -> dict[str, Any]:
    score, *others = (float(results[key]) for key in _RESULTS)
    figures = dict(zip(_FIGURES, (1.0 - score, *others), strict=True))
    numbers = {"vectors": round(params["n_vectors"]), "vector_bits": params.get("vector_bits")}
    return {"model": model, **numbers, **figures, "picked": False}


def bits_text(bits: int | None) -> str:
    """Of vectors, in a column of a table."""
    return FLOATS if bits is None else str(bits)
