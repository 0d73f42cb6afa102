"""Fits of every public estimator, with random parameters, to random ugly problems.

Each ends in a model that is no worse than the best constant, in a warning, or in an error that
names a parameter or an argument. Every second model is asked for a property as well.
"""

from __future__ import annotations

import copy
import re
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.exceptions import FitFailedWarning

import kernelet
from benchmarks.hardening.campaign import Campaign, Outcome
from benchmarks.hardening.estimators import GROUPS, REGRESSORS, SKLEARN, Parameters, draw, fit
from benchmarks.hardening.oracles import Defect, check
from benchmarks.hardening.problems import Problem, problem
from benchmarks.hardening.properties import PROPERTIES, Fit

# Processor time of one fit; the longest that a tiny problem should take.
SLOW_SECONDS = 20.0
# Only these may be shown to users; others, as NumPy's of an overflow, are leaks.
OURS = (UserWarning, FitFailedWarning)

# What an error has to name, if not a parameter of the estimator.
_ARGUMENTS = r"\bX\b|\by\b|sample_weight|class(es)?\b|rows?\b|samples?\b|weights?\b|targets?\b"
_KERNELS = r"|\bgamma\b"  # of a kernel that is given as an object
_TABLES = r"|columns?\b|features?\b|labels?\b|numbers?\b"
_SOURCES = tuple(str(Path(module.__file__).parent) for module in (kernelet, sklearn))


def case(number: int) -> Outcome:
    """Fit one model and look at it."""
    rng = np.random.default_rng(number)
    name = group_of(number)
    has_labels = name not in REGRESSORS and not (
        name in ("BudgetSearchCV", "TableModel", "compress") and rng.random() < 0.4
    )
    given = problem(rng, has_labels)
    parameters = draw(name, rng, has_labels, given)
    before = copy.deepcopy((given.X, given.y, given.weights))
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = fit(name, parameters, given.X, given.y, given.weights)
            check(name, parameters, model, given, bool(caught))
            result = "a model, with a warning" if caught else "a model"
            asked = rng.random()
            if asked < 0.5:
                result += _property(Fit(name, parameters, given, model), rng)
        except Defect as defect:  # before other errors: it is one of ours
            return _defect(name, "a wrong model", f"{defect}", parameters, given)
        except Exception as error:
            if (reason := _unclear(error, parameters)) is not None:
                return _defect(name, "an unclear error", reason, parameters, given)
            result = "an error that says what to change"
    is_scikit_learns = parameters.get("of", ("",))[0] in SKLEARN
    leaks = [
        one
        for one in caught
        if not issubclass(one.category, OURS)
        and not (is_scikit_learns and "sklearn" in one.filename)
    ]
    if leaks:
        words = f"{leaks[0].category.__name__}: {leaks[0].message} ({leaks[0].filename})"
        return _defect(name, "a warning of another package", words, parameters, given)
    if not _same(before, (given.X, given.y, given.weights)):
        return _defect(name, "changed arguments", "", parameters, given)
    seconds = time.process_time() - start
    if seconds > SLOW_SECONDS:
        return _defect(name, "a slow fit", f"{seconds:.0f} s", parameters, given)
    return Outcome(name, result)


def group_of(number: int) -> str:
    """Every group in turn."""
    return GROUPS[number % len(GROUPS)]


def _property(fitted: Fit, rng: np.random.Generator) -> str:
    """Ask for one of the properties; returns what is to be added to the result."""
    names = list(PROPERTIES)
    name = names[rng.integers(len(names))]
    try:
        applies = PROPERTIES[name](fitted, rng)
    except Defect as defect:
        raise Defect(f"{name}: {defect}") from defect
    return f"; {name}" if applies else ""


def _unclear(error: Exception, parameters: Parameters) -> str | None:
    """What is wrong with an error that users would see, if anything."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename.rpartition('src/')[2]}:{frames[-1].lineno}"
    words = f"{type(error).__name__}: {error} ({where})"
    inner, its = parameters.get("of", ("", {}))
    files = [frame.filename for frame in frames]
    its_own = not any(file.startswith(_SOURCES[0]) for file in files)
    is_in_sklearn = "sklearn" in files[-1] or (its_own and any("sklearn" in file for file in files))
    if inner in SKLEARN and is_in_sklearn:
        return None  # a model that scikit-learn could not fit
    is_ours = type(error).__module__.startswith("kernelet") and isinstance(error, ValueError)
    if type(error) not in (ValueError, TypeError) and not is_ours:
        return words
    if not frames[-1].filename.startswith(_SOURCES):
        return words
    known = "|".join(rf"\b{re.escape(name)}\b" for name in {**parameters, **its})
    always = _ARGUMENTS + _KERNELS + _TABLES
    if re.search(f"{always}|{known}" if known else always, str(error)):
        return None
    return words


def _same(before: Any, after: Any) -> bool:
    for old, new in zip(before, after, strict=True):
        if hasattr(old, "toarray"):
            old, new = old.toarray(), new.toarray()
        old, new = np.asarray(old), np.asarray(new)
        is_float = old.dtype.kind == "f"
        if not np.array_equal(old, new, equal_nan=is_float):
            return False
    return True


def _defect(name: str, result: str, reason: str, parameters: Parameters, given: Problem) -> Outcome:
    shown = re.sub(r"\s+", " ", repr(parameters))
    facts = f"{given.rows.shape} {', '.join(given.ugly)}"
    reason = re.sub(r"\s+", " ", reason)[:400]
    return Outcome(name, result, is_defect=True, detail=f"{reason} | {shown[:600]} | {facts}")


CAMPAIGN = Campaign(
    "random parameters and ugly problems for every estimator",
    case,
    group_of,
    n=100_000,
    # a hang, even where other processes leave little of a machine
    seconds=600.0,
)
