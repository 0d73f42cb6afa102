"""Estimators of the direct method whose number of vectors is chosen, or kept to bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernelet.learners.base.out_of_core import OutOfCoreData
from kernelet.learners.base.parameters import bits_or_none, choice, positive
from kernelet.learners.base.training_data import TrainingData
from kernelet.learners.direct.budgets.choice import USUAL, BudgetChoice, TimedChoice
from kernelet.learners.direct.budgets.shipping import Shipping
from kernelet.learners.direct.budgets.tried import COLUMNS, path_of, table
from kernelet.learners.direct.estimator import DirectEstimator
from kernelet.learners.direct.search.rows import SearchRows
from kernelet.machine import KernelMachine
from kernelet.machine.storage import TARGETS
from kernelet.persistence import ModelFileError

_AUTO = "auto"


class BudgetEstimator(DirectEstimator):
    """A `DirectEstimator` with ``n_vectors="auto"`` and the parameters ``max_bytes``, ``target``.

    To learn, it states the inner problems and calls `_machine_over`.
    """

    max_bytes: float | None
    target: str
    vector_bits: int | None

    @property
    def path_(self) -> dict[str, NDArray[Any]]:
        """What ``n_vectors="auto"`` chose from."""
        check_is_fitted(self)
        return path_of(getattr(self, "_path", table([])))

    def _machine_over(
        self,
        rows: Sequence[SearchRows],
        data: TrainingData | OutOfCoreData,
        whole: SearchRows | None = None,
    ) -> KernelMachine:
        """Search, set the fitted attributes, and return a machine that keeps to ``max_bytes``."""
        shipping = Shipping(
            bits_or_none("vector_bits", self.vector_bits),
            self._drops_constant,
            choice("target", self.target, TARGETS),
            data.n_classes,
            np.inf if self.max_bytes is None else positive("max_bytes", self.max_bytes),
        )
        budget = None
        if isinstance(self.n_vectors, str):
            self._check_can_choose()
            is_sample = isinstance(data, OutOfCoreData)
            has_limit = self.max_bytes is not None or self._timed is not None
            has_rank = getattr(self, "rank", None) is not None
            is_auto = getattr(self, "learn_kernel", None) == "auto" and not has_rank
            budget = BudgetChoice.over(
                data.at_hand, shipping, is_sample, has_limit and is_auto, self._timed
            )
        learned = self._search_vectors(rows, data.kernel, data.rng, whole, budget)
        rounded = None if budget is None else budget.rounded
        vars(self).pop("_path", None)
        if budget is not None:
            self._path = table(budget.tried)
        machine = self._store(learned, data.kernel, rounded)
        n_bytes = shipping.n_bytes(machine)
        if n_bytes > shipping.max_bytes:
            raise ValueError(
                f"max_bytes={shipping.max_bytes:g} is exceeded: the machine of "
                f"{machine.n_vectors} vectors takes {n_bytes} bytes. Lower n_vectors, give "
                'n_vectors="auto", or raise the limit.'
            )
        return machine

    def _check_can_choose(self) -> None:
        """Refuse what does not go with a number of vectors that is chosen."""
        if self.n_vectors != _AUTO:
            raise ValueError(
                f'n_vectors must be a whole number of at least 1, or "auto"; got '
                f"{self.n_vectors!r}."
            )
        text = 'n_vectors="auto" '
        if getattr(self, "vectors", "shared") != "shared":
            raise ValueError(
                f'{text}chooses one set of vectors for all classes; give vectors="shared", or '
                "numbers of vectors."
            )
        if getattr(self, "checkpoint", None) is not None:
            raise ValueError(
                f"{text}has many searches, and checkpoint= holds one; give n_vectors a number, "
                "or checkpoint=None."
            )
        if not isinstance(self.init, str):
            raise ValueError(f"{text}needs the name of an init, not vectors to start from.")

    def _budgets(self, n_searches: int) -> list[int]:
        return [USUAL] if self.n_vectors == _AUTO else super()._budgets(n_searches)

    def _recall_vectors(self) -> None:
        path = getattr(self, "_path", table([]))
        if path.ndim != 2 or path.shape[1] != len(COLUMNS) or not (path[:, 0] >= 1.0).all():
            raise ModelFileError("what n_vectors was chosen from is no table")
        super()._recall_vectors()


@contextmanager
def choosing_within(estimator: BudgetEstimator, seconds: float) -> Iterator[TimedChoice]:
    """Let fits in the block choose ``n_vectors="auto"``, C and the kernel in a number of seconds.

    With ``learn_kernel="auto"`` held-out rows then compare what can be learned of the kernel. When
    the time is over, what has done best until then is searched for on all rows. The first number
    of vectors may not have been tried in all folds by then: 20 are taken in that case. The last
    search has the time that it needs.
    """
    estimator._timed = TimedChoice(seconds)
    try:
        yield estimator._timed
    finally:
        del estimator._timed
