"""Measure: parameters are chosen on the first split, for each form and budget by itself."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.direct_rest.data import Split
from benchmarks.direct_rest.families import FAMILIES, LEARNED, Family, fit
from benchmarks.results import FOLDER, FRONTIER_KEY, Ledger, Record, as_record, canonical
from benchmarks.results_provenance import provenance
from kernelet.kernels import ScaledFeatures

BUDGETS = (10, 20, 50)
FORMS = ("full", "nystroem", "direct", *LEARNED)
LEDGER = Ledger(FOLDER / "direct_rest.csv", FRONTIER_KEY)


def forms_of(family: Family, dataset: str) -> tuple[str, ...]:
    """Those that are measured, in the order of all."""
    return (*FORMS[:3], *(() if dataset in family.unlearned else family.learned))


def choices(family: Family, form: str, split: Split) -> list[dict[str, Any]]:
    """The grid; where the width is learned it starts from 1 / columns and is not in it."""
    if form not in LEARNED:
        return list(family.choices())
    ((name, values),) = ((n, v) for n, v in family.grid.items() if n != "gamma")
    gamma = 1.0 / split.X_train.shape[1]
    return [{"gamma": gamma, name: value} for value in values]


def tuned(family: Family, form: str, budget: int | None, split: Split) -> dict[str, Any]:
    """The parameters with the least error on rows of the training part, by three folds."""
    tried = choices(family, form, split)
    if len(tried) == 1:
        return tried[0]
    folds = parts(split)
    errors = [
        np.mean(
            [
                family.figures(fit(family, form, budget, parameters, part), part)["error"]
                for part in folds
            ]
        )
        for parameters in tried
    ]
    return tried[int(np.argmin(errors))]


def parts(split: Split) -> list[Split]:
    """Three folds of the training rows; outliers kept for it join the rows left out."""
    found = []
    for kept, left in KFold(3, shuffle=True, random_state=0).split(split.X_train):
        X, rest = split.X_train[kept], split.X_train[left]
        if split.y_train is not None:
            found.append(Split(X, split.y_train[kept], rest, split.y_train[left]))
        elif split.X_other is not None:
            marks = np.repeat([0, 1], [len(rest), len(split.X_other)])
            found.append(Split(X, None, np.vstack([rest, split.X_other]), marks))
        else:
            found.append(Split(X, None, rest, None))
    return found


def known(name: str, dataset: str, form: str, budget: int | None) -> dict[str, Any] | None:
    """The parameters of the largest budget that is tuned for, if this one is beyond."""
    limit = FAMILIES[name].tuned_up_to
    if limit is None or budget is None or budget <= limit:
        return None
    wanted = (dataset, f"{name}_{form}", str(limit))
    for record in LEDGER.read():
        if (record["dataset"], record["method"], record["budget"]) == wanted:
            parameters: dict[str, Any] = json.loads(record["parameters"])
            return parameters
    return None


def measure(name: str, dataset: str, form: str, budget: int | None) -> list[Record]:
    """A line for each split."""
    family = FAMILIES[name]
    parameters = known(name, dataset, form, budget)
    if parameters is None:
        parameters = tuned(family, form, budget, family.data[dataset](0))
    lines = []
    for unit in range(family.n_units):
        split = family.data[dataset](unit)
        start = time.process_time()
        model = fit(family, form, budget, parameters, split)
        seconds = time.process_time() - start
        figures = {**family.figures(model, split), "seconds": seconds, "n_vectors": size(model)}
        if form == "direct" or form in LEARNED:
            figures |= {"objective": model.objective_, "start": model.history_[0][0]}
        if form in LEARNED:
            figures |= {"gain": model.kernel_gain_, **widths(model.machine_.kernel)}
        labels = {
            "dataset": dataset,
            "method": f"{name}_{form}",
            "budget": "" if budget is None else budget,
            "parameters": canonical(parameters),
            "unit": unit,
            "split": "by seed",
        }
        lines.append(as_record(labels | provenance(), figures))
    return lines


def widths(kernel: Any) -> dict[str, float]:
    """gamma; of one per feature the least and the largest."""
    if not isinstance(kernel, ScaledFeatures):
        return {"gamma": kernel.gamma, "gamma_largest": kernel.gamma}
    gammas = kernel.kernel.gamma * np.square(kernel.scales)
    return {"gamma": gammas.min(), "gamma_largest": gammas.max()}


def size(model: Any) -> float:
    """Vectors that a prediction evaluates the kernel for."""
    for attribute in ("machine_", "support_", "X_fit_"):
        found = getattr(model, attribute, None)
        if found is not None:
            return float(found.n_vectors if attribute == "machine_" else len(found))
    raise TypeError(f"{type(model).__name__} has no vectors")


def run(chosen: Mapping[str, list[str]] | None = None) -> None:
    """Measure what the csv does not have yet."""
    for name, family in FAMILIES.items():
        for dataset in family.data:
            if chosen and dataset not in (chosen.get(name, [""]) or family.data):
                continue
            for form in forms_of(family, dataset):
                for budget in (None,) if form == "full" else BUDGETS:
                    key = (dataset, f"{name}_{form}", "" if budget is None else str(budget), "0")
                    present = LEDGER.keys()
                    if key in present:
                        continue
                    lines = measure(name, dataset, form, budget)
                    LEDGER.append(lines)
                    mean = np.mean([float(line["error"]) for line in lines])
                    print(f"{name} {dataset} {form} {budget or ''}: {mean:.2f}", flush=True)
