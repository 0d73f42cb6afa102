"""Search for the smallest number of vectors that is good enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import MetadataRouter, process_routing
from sklearn.utils.validation import check_is_fitted

from kernelet.learners.base.fit_method import fit_method
from kernelet.learners.base.parameters import choice, positive
from kernelet.learners.base.progress import CallbackSupportMixin
from kernelet.machine.storage import TARGETS
from kernelet.selection.budgets import Candidates
from kernelet.selection.callbacks import reporting
from kernelet.selection.cost import model_bytes
from kernelet.selection.cross_validation import run_folds
from kernelet.selection.delegation import ChosenModel
from kernelet.selection.folds import Fold, FoldTask, Scorer, checked_targets, splits_of
from kernelet.selection.results import check_failures, reference_results, tabulate
from kernelet.selection.routing import make_router, route, routing_enabled
from kernelet.selection.rules import Choice, LimitError, check_rule, target_of, within_limits


class BudgetSearchCV(CallbackSupportMixin, MetaEstimatorMixin, ChosenModel):
    r"""Choose the smallest number of vectors, or of bytes, that is good enough by cross-validation.

    Every fold fits all budgets :math:`m_1 < m_2 < \dots`. If the estimator has a path (`SparseSVC`,
    also as last step of a Pipeline), each fit starts from the one before. With the mean score
    :math:`s_j` over the folds and its standard error :math:`e_j`, the choice is

    .. math:: \min\{m_j : s_j \ge s_* - e_*\}, \qquad s_* = \max_j s_j,

    or with ``rule="match"`` the score and standard error of a reference model instead of the best.

    Parameters
    ----------
    estimator : estimator, default=None
        A model with the parameter ``n_vectors``, or a Pipeline with a step that has it; None means
        ``SparseSVC(random_state=0)``.
    budgets : sequence of int, default=(5, 10, 20, 50, 100)
        Numbers of vectors to try, in any order.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn's searches.
    scoring : str or callable, default=None
        What to maximise; None means the ``score`` of the model.
    rule : {"one_standard_error", "best", "match"} or callable, default="one_standard_error"
        The cheapest budget within one standard error of the best; the best; the cheapest within one
        standard error of the reference; or a function of ``cv_results_`` that returns the index.
        Cheap means few vectors, and then few bits; with a ``target``, few bytes.
    reference : estimator or float, default=None
        A model (cloned, and scored on the same folds) or a score to compare with.
    max_microseconds : float, default=None
        Choose among budgets that predict a row in this time, measured on one thread in batches of
        1000 rows.
    max_bytes : float, default=None
        Choose among budgets whose vectors, coefficients and intercepts take at most this many
        bytes; with a ``target``, those of the export.
    target : {"c"} or None, default=None
        Count in ``mean_bytes`` and ``max_bytes`` what exported C stores, labels included
        (`kernelet.machine.stored_bytes`): integers if the model has ``vector_bits``, otherwise
        float32. The cheapest is then the one with the fewest bytes, and the model that is fitted on
        all rows keeps to ``max_bytes`` too: if it does not, the next choice is fitted. None counts
        the float64 numbers of the machine.
    vector_bits : int, None or sequence of these, default=None
        Numbers of bits to try with each budget, if the model has this parameter; None in a sequence
        means vectors that are not rounded. A model with a path needs no further search for them.
        None alone leaves the parameter as it is.
    refit : bool, default=True
        Whether to fit the chosen budget on all rows.
    n_jobs : int, default=None
        Processes for the folds; None means 1, -1 all cores.
    verbose : int, default=0
        1 prints a line for each fold to standard error, 2 one for each model.
    error_score : "raise" or float, default=nan
        The score of a model that cannot be fitted or scored; "raise" raises its error.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        One entry for each of ``budgets_``, or for each pair of budget and ``vector_bits``:
        ``param_n_vectors`` (or the name in the Pipeline), ``param_vector_bits``, ``params``,
        ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``, ``standard_error_test_score``, ``mean_fit_time`` (from the budget
        before), ``mean_score_time``, ``mean_n_vectors`` (really used), ``mean_microseconds`` (for
        a row), ``mean_bytes``.
    budgets_ : ndarray of int
        The budgets, ascending, each once.
    best_index_ : int
        The index of the chosen entry.
    best_params_ : dict
        The parameters that set it.
    best_score_ : float
        Its mean score.
    best_estimator_ : estimator
        The model of that budget fitted on all rows, with ``refit=True``.
    refit_time_ : float
        Seconds that fitting it took.
    machine_ : KernelMachine
        The machine of that model, if it has one.
    n_vectors_ : int
        Its number of vectors.
    reference_score_ : float or None
        The score of the reference, if there is one.
    reference_results_ : dict or None
        Its mean score, standard error, times and costs, if it is a model.
    n_splits_ : int
        The number of folds; after Ctrl-C, of finished folds.
    scorer_ : callable
        The function that scored.
    classes_ : ndarray of shape (n_classes,)
        The labels of the chosen model.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, if X had any.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and regression trees" (1984),
    section 3.4.3: the rule of one standard error.

    Examples
    --------
    >>> from kernelet import BudgetSearchCV, SparseSVC
    >>> from kernelet.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> search = BudgetSearchCV(SparseSVC(random_state=0), budgets=[1, 2, 4, 8]).fit(X, y)
    >>> search.best_params_
    {'n_vectors': 4}
    >>> search.cv_results_["mean_test_score"].round(2)
    array([0.87, 0.88, 0.91, 0.9 ])
    """

    def __init__(
        self,
        estimator: Any = None,
        budgets: Iterable[int] = (5, 10, 20, 50, 100),
        *,
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        rule: str | Callable[[Mapping[str, Any]], int] = "one_standard_error",
        reference: Any = None,
        max_microseconds: float | None = None,
        max_bytes: float | None = None,
        target: str | None = None,
        vector_bits: int | Iterable[int | None] | None = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        error_score: float | str = np.nan,
    ) -> None:
        self.estimator = estimator
        self.budgets = budgets
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.reference = reference
        self.max_microseconds = max_microseconds
        self.max_bytes = max_bytes
        self.target = target
        self.vector_bits = vector_bits
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.error_score = error_score

    @fit_method
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Score all budgets on every fold, choose one, and fit it on all rows.

        Ctrl-C ends the folds, not the fit: the choice is then made from the finished folds, with a
        warning. A second Ctrl-C ends the last fit in the same way.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in training and in scoring; in a Pipeline, the last step gets them.
        **params : dict
            ``groups`` for the splitter, and further arguments of the estimator's ``fit``. With
            metadata routing enabled, whatever is requested.

        Returns
        -------
        self : object
            The fitted search.
        """
        estimator = self.searched
        candidates, limits = self._check_parameters(estimator)
        X, y = indexable(X, checked_targets(estimator, y))
        if sample_weight is not None:
            X, sample_weight = indexable(X, sample_weight)
        scorer = self._scorer(estimator)
        routed = route(self, estimator, self.reference, scorer, sample_weight, params)
        task = FoldTask(
            estimator,
            candidates,
            scorer,
            None if isinstance(self.reference, Real) else self.reference,
            routed,
            self.error_score,
            self.verbose,
            self.target,
        )
        splits = splits_of(self.cv, X, y, is_classifier(estimator), routed.split)
        with reporting(self, len(splits) + bool(self.refit), X=X, y=y) as report:
            folds = run_folds(task, X, y, splits, self.n_jobs, report)
            chosen = self._choose(task, folds, limits)
            self.scorer_ = scorer
            # from an earlier fit: no model may be left if this one has refit=False, or fails
            self.__dict__.pop("best_estimator_", None)
            if self.refit:
                start = time.perf_counter()
                rows = (X,) if y is None else (X, y)
                self.best_estimator_ = self._refitted(task, chosen, rows)
                self.refit_time_ = time.perf_counter() - start
                report("refit")
        return self

    def _choose(self, task: FoldTask, folds: list[Fold], limits: dict[str, float]) -> Choice:
        """Tabulate the folds, and choose a budget."""
        check_failures(folds)
        candidates = task.candidates.some(0, len(folds[0].outcomes))
        results = tabulate(folds, candidates)
        has_reference = all(fold.reference is not None for fold in folds)
        self.reference_results_ = reference_results(folds) if has_reference else None
        target = target_of(self.reference, self.reference_results_)
        self.reference_score_ = None if target is None else target.score
        eligible = within_limits(results, limits)
        chosen = Choice(results, self.rule, eligible, target, self.target is not None)
        self.cv_results_ = results
        self.budgets_ = np.array(sorted({one.n_vectors for one in candidates.tried}))
        self.n_splits_ = len(folds)
        self._take(chosen.index)
        return chosen

    def _take(self, index: int) -> None:
        self.best_index_ = index
        self.best_params_ = self.cv_results_["params"][index]
        self.best_score_ = float(self.cv_results_["mean_test_score"][index])

    def _refitted(self, task: FoldTask, chosen: Choice, rows: tuple[Any, ...]) -> Any:
        """The chosen budget on all rows; with a target, the first choice that keeps to the bytes.

        A machine on all rows may use features, or bits of coefficients, that those of the folds do
        without.
        """
        least, smallest = np.inf, self.best_params_
        while True:
            model = clone(task.estimator).set_params(**self.best_params_)
            model.fit(*rows, **task.routed.fit)
            if self.target is None or self.max_bytes is None or callable(self.rule):
                return model
            n_bytes = model_bytes(model, self.target)
            if n_bytes <= self.max_bytes:
                return model
            if n_bytes < least:
                least, smallest = n_bytes, self.best_params_
            others = chosen.without(self.best_index_)
            if others is None:
                text = (
                    f"no budget keeps to max_bytes={self.max_bytes:g} when it is fitted on all "
                    f"rows: the cheapest takes {least:.0f}. Raise the limit or add smaller budgets."
                )
                raise LimitError(text, "max_bytes", least, smallest)
            chosen = others
            self._take(chosen.index)

    def _check_parameters(self, estimator: Any) -> tuple[Candidates, dict[str, float]]:
        """The budgets, and the limits if there are any."""
        candidates = Candidates.of(estimator, self.budgets, self.vector_bits)
        if self.target is not None:
            choice("target", self.target, TARGETS)
        check_rule(self.rule, self.reference)
        if self.error_score != "raise" and not isinstance(self.error_score, Real):
            raise ValueError(f'error_score must be "raise" or a number, got {self.error_score!r}.')
        given = {"max_microseconds": self.max_microseconds, "max_bytes": self.max_bytes}
        limits = {name: positive(name, value) for name, value in given.items() if value is not None}
        return candidates, limits

    def _scorer(self, estimator: Any) -> Scorer:
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(
                f"scoring must be one name or one callable, got {self.scoring!r}; a budget is "
                "chosen by one score."
            )
        scorer: Scorer = check_scoring(estimator, self.scoring)
        return scorer

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata the estimator, the reference, the scorer and the splitter get.

        Returns
        -------
        MetadataRouter
        """
        estimator = self.searched
        splitter = check_cv(self.cv, classifier=is_classifier(estimator))
        scorer = self._scorer(estimator)
        return make_router(type(self).__name__, estimator, self.reference, scorer, splitter)

    def score(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **params: Any
    ) -> float:
        """The score of the chosen model, as in the search.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        **params : dict
            Further arguments of the scorer, with metadata routing enabled.

        Returns
        -------
        float
        """
        self.require_refit("score")
        check_is_fitted(self)
        given = params if sample_weight is None else {"sample_weight": sample_weight, **params}
        if routing_enabled():
            given = process_routing(self, "score", **given).scorer["score"]
        rows = (X,) if y is None else (X, y)
        value: float = self.scorer_(self.best_estimator_, *rows, **given)
        return value

    def __sklearn_is_fitted__(self) -> bool:
        return "cv_results_" in vars(self)
