"""What was tried, by a search under a budget or without one, and what was chosen."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelet.cli.c_costs import own_dtype
from kernelet.cli.errors import CommandError
from kernelet.cli.output import Output, percent, size
from kernelet.cli.searching import bits_text, bytes_around, entries_of
from kernelet.export.to_c.exporter import c_cost
from kernelet.learners.direct.budgets.choice import N_FOLDS, USUAL, TimedChoice
from kernelet.learners.direct.kernel_learning.choice import LearnedPart
from kernelet.machine import KernelMachine
from kernelet.selection.cost import microseconds_per_row

if TYPE_CHECKING:
    from kernelet.cli.model import Model


# What is learned of a kernel, for a person.
_LEARNED = {
    LearnedPart.WIDTH: "one width",
    LearnedPart.FEATURES: "a scale for each feature",
    LearnedPart.PROJECTION: "combinations of features",
}


@dataclass(frozen=True, eq=False)
class BudgetReport:
    """Of a fit that keeps to a budget.

    Attributes
    ----------
    max_bytes : int or None
    max_microseconds : float or None
    n_folds : int
    error : str
        What a cross-validated error is called.
    entries : list of dict
        A number of vectors and of bits each, with its error and costs.
    flash_bytes : int or None
        Tables of the exported C of what was chosen, where bytes have a limit.
    dtype : str
        In which type.
    """

    max_bytes: int | None
    max_microseconds: float | None
    n_folds: int
    error: str
    entries: list[dict[str, Any]]
    flash_bytes: int | None
    dtype: str

    @classmethod
    def of(
        cls, arguments: argparse.Namespace, search: Any, model: Model, error: str
    ) -> BudgetReport:
        """From a fitted search, and the model that it has chosen."""
        dtype, limit = own_dtype(model.machine), arguments.max_bytes
        flash = None if limit is None else c_cost(model.content, dtype).flash_bytes
        times = (limit, arguments.max_microseconds, search.n_splits_)
        return cls(*times, error, entries_of(search), flash, dtype)

    @property
    def chosen(self) -> dict[str, Any]:
        """The entry that was chosen."""
        (entry,) = (entry for entry in self.entries if entry["picked"])
        return entry

    def keeps(self, entry: dict[str, Any]) -> bool:
        """Whether an entry keeps to the limits."""
        bytes_fit = self.max_bytes is None or entry["bytes"] <= self.max_bytes
        most = self.max_microseconds
        return bytes_fit and (most is None or entry["microseconds_per_row"] <= most)

    def shown(self) -> list[dict[str, Any]]:
        """For each number of vectors the best entry that keeps to the limits, or the cheapest."""
        best: dict[int, dict[str, Any]] = {}
        for entry in self.entries:
            own = best.setdefault(entry["vectors"], entry)
            if not own["picked"] and self._rank(entry) < self._rank(own):
                best[entry["vectors"]] = entry
        return [*best.values()]

    def _rank(self, entry: dict[str, Any]) -> tuple[bool, bool, float]:
        keeps = self.keeps(entry)
        return not entry["picked"], not keeps, entry["error"] if keeps else entry["bytes"]

    def print(self, output: Output) -> None:
        """The table, unless ``--quiet`` is given, and a warning if the limit is not kept."""
        by_bits = any(entry["vector_bits"] is not None for entry in self.entries)
        columns = ["vectors", *(["bits"] if by_bits else []), self.error, "+-"]
        columns += ["us/row", "size" if self.max_bytes is None else "bytes in C", ""]
        if not output.quiet:
            output.table(columns, [self._cells(entry, by_bits) for entry in self.shown()])
            output.text("")
        if self.flash_bytes is not None and self.max_bytes is not None:
            over = self.flash_bytes - self.max_bytes
            if over > 0:
                output.warn(
                    f"exported C takes {self.flash_bytes} bytes, {over} more than --max-bytes, "
                    "with the tables of probabilities; lower --max-bytes by as many"
                )

    def _cells(self, entry: dict[str, Any], by_bits: bool) -> list[str]:
        remark = "" if self.keeps(entry) else "too much"
        return [
            str(entry["vectors"]),
            *([bits_text(entry["vector_bits"])] if by_bits else []),
            percent(entry["error"]),
            percent(entry["standard_error"]),
            f"{entry['microseconds_per_row']:.2f}",
            size(round(entry["bytes"])) if self.max_bytes is None else f"{entry['bytes']:.0f}",
            "<- chosen" if entry["picked"] else remark,
        ]

    def facts(self) -> list[tuple[str, str]]:
        """Names and values for a person."""
        chosen = self.chosen
        error = f"{percent(chosen['error'])} +- {percent(chosen['standard_error'])}"
        facts = [("validation", f"{self.error} {error}, {self.n_folds} folds")]
        if self.flash_bytes is not None:
            facts.append(("in C", f"{self.flash_bytes} of {self.max_bytes} bytes, {self.dtype}"))
        if self.max_microseconds is not None:
            time = f"{chosen['microseconds_per_row']:.2f} of {self.max_microseconds:g} us per row"
            facts.append(("time", time))
        return facts

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "max_bytes": self.max_bytes,
            "max_microseconds": self.max_microseconds,
            "folds": self.n_folds,
            "flash_bytes": self.flash_bytes,
            "dtype": self.dtype,
            "chosen": self.chosen,
            "tried": self.entries,
        }


@dataclass(frozen=True, eq=False)
class ChoiceReport:
    """Of a fit that chooses the number of vectors by validation.

    Attributes
    ----------
    timed : TimedChoice
        Whether the time of ``--time`` ended it, and which kernels were compared.
    error : str
        What a validated error is called.
    cost : float
        The C that was chosen, or given.
    entries : list of dict
        A number of vectors each, with its error and costs.
    in_c : bool
        Whether bytes are those of exported C, columns included.
    """

    timed: TimedChoice
    error: str
    cost: float
    entries: list[dict[str, Any]]
    in_c: bool

    @classmethod
    def of(cls, model: Model, timed: TimedChoice, rows: Any, error: str) -> ChoiceReport:
        """From a model whose estimator has chosen; ``rows`` are some that it has learned from."""
        estimator, machine = model.estimator, model.machine
        path, around, in_c = estimator.path_, 0, True
        try:
            around = bytes_around(estimator, model.encoder, model.target)
        except CommandError:  # the kernel is none of C
            in_c = False
        names = ("n_vectors", "score", "standard_error", "bytes")
        entries = [
            {
                "vectors": int(m),
                "error": 1.0 - score,
                "standard_error": standard_error,
                "bytes": n_bytes + around,
                "microseconds_per_row": _microseconds(machine, int(m), rows),
                "picked": int(m) == estimator.n_vectors_,
            }
            for m, score, standard_error, n_bytes in zip(*map(path.get, names), strict=True)
        ]
        return cls(timed, error, estimator.C_, entries, in_c)

    def print(self, output: Output) -> None:
        """The table, unless ``--quiet`` is given, and a warning if there was no time for it."""
        n_bytes = "bytes in C" if self.in_c else "bytes"
        if self.entries and not output.quiet:
            columns = ["vectors", self.error, "+-", "us/row", n_bytes, ""]
            output.table(columns, [self._cells(entry) for entry in self.entries])
            output.text("")
        if self.timed.is_late and self.entries:
            most = max(entry["vectors"] for entry in self.entries)
            output.warn(
                f"--time {self.timed.seconds:g} was over after {most} vectors; more time tries more"
            )
        elif self.timed.is_late:
            output.warn(
                f"--time {self.timed.seconds:g} was over before any number of vectors had been "
                "tried, so the usual one is taken; take more time, or say --vectors"
            )

    def _cells(self, entry: dict[str, Any]) -> Sequence[str]:
        return [
            str(entry["vectors"]),
            percent(entry["error"]),
            percent(entry["standard_error"]),
            f"{entry['microseconds_per_row']:.2f}",
            f"{entry['bytes']:.0f}",
            "<- chosen" if entry["picked"] else "",
        ]

    def facts(self) -> list[tuple[str, str]]:
        """Names and values for a person."""
        facts = [("C", f"{self.cost:g}")]
        if self.timed.kernels:
            first, *others = sorted(self.timed.kernels, key=lambda one: not one.is_chosen)
            text = ", ".join(f"{_LEARNED[one.learn]} {percent(1.0 - one.score)}" for one in others)
            with_others = f" ({text})" if text else ""
            own = f"{_LEARNED[first.learn]}, {self.error} {percent(1.0 - first.score)}"
            facts.append(("kernel", f"{own} with {USUAL} vectors{with_others}"))
        for entry in self.entries:
            if entry["picked"]:
                error = f"{percent(entry['error'])} +- {percent(entry['standard_error'])}"
                facts.insert(0, ("validation", f"{self.error} {error}, {N_FOLDS} folds"))
        return facts

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "seconds": self.timed.seconds,
            "ran_out_of_time": self.timed.is_late,
            "folds": N_FOLDS,
            "cost": self.cost,
            "kernels": [
                {
                    "learned": _LEARNED[one.learn],
                    "error": 1.0 - one.score,
                    "standard_error": one.standard_error,
                    "picked": one.is_chosen,
                }
                for one in self.timed.kernels
            ],
            "chosen": next((entry for entry in self.entries if entry["picked"]), None),
            "tried": self.entries,
        }


def _microseconds(machine: KernelMachine, n_vectors: int, rows: Any) -> float:
    """Of a row, for as many vectors of this kind; which ones they are makes no difference."""
    some = np.arange(n_vectors) % machine.n_vectors
    sized = KernelMachine(
        machine.kernel,
        machine.vectors[some],
        machine.coefficients[some],
        machine.intercepts,
    )
    model = SimpleNamespace(machine_=sized, decision_function=sized.decision_function)
    return microseconds_per_row(model, rows)
