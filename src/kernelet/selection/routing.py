"""Weights, groups and other metadata on their way to models, scorers and splitters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from kernelet.kernels.caller import warn_caller
from kernelet.selection.budgets import last_step_prefix


@dataclass(frozen=True)
class Routed:
    """Further arguments of the methods that a search calls."""

    fit: dict[str, Any] = field(default_factory=dict)
    reference_fit: dict[str, Any] = field(default_factory=dict)
    score: dict[str, Any] = field(default_factory=dict)
    split: dict[str, Any] = field(default_factory=dict)


def routing_enabled() -> bool:
    """Whether scikit-learn routes metadata by what is requested."""
    return bool(get_config()["enable_metadata_routing"])


def make_router(
    owner: Any, estimator: Any, reference: Any, scorer: Any, splitter: Any
) -> MetadataRouter:
    """Which parts of a search may request metadata, and for which methods."""
    to_fit = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner=owner).add(estimator=estimator, method_mapping=to_fit)
    if isinstance(reference, BaseEstimator):
        router.add(reference=reference, method_mapping=to_fit)
    to_score = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
    router.add(scorer=scorer, method_mapping=to_score)
    return router.add(
        splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split")
    )


def route(
    search: Any,
    estimator: Any,
    reference: Any,
    scorer: Any,
    sample_weight: Any,
    params: Mapping[str, Any],
) -> Routed:
    """Arguments of the search's ``fit``, for the objects that it calls.

    Without metadata routing the weights go to the estimator (for a Pipeline, to its last step), the
    reference and the scorer, groups to the splitter, and everything else to the estimator.
    """
    if routing_enabled():
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        routed = process_routing(search, "fit", **weights, **params)
        return Routed(
            fit=dict(routed.estimator.fit),
            reference_fit=dict(routed.reference.fit) if "reference" in routed else {},
            score=dict(routed.scorer.score),
            split=dict(routed.splitter.split),
        )
    result = Routed(fit=dict(params))
    result.split["groups"] = result.fit.pop("groups", None)
    if sample_weight is not None:
        result.fit[f"{last_step_prefix(estimator)}sample_weight"] = sample_weight
        result.reference_fit[f"{last_step_prefix(reference)}sample_weight"] = sample_weight
        if takes_weights(scorer):
            result.score["sample_weight"] = sample_weight
        else:
            warn_caller(
                f"{scorer!r} takes no sample_weight: the models are fitted with weights and "
                "scored without.",
                UserWarning,
            )
    return result


def takes_weights(scorer: Any) -> bool:
    """Whether the metric of a scorer, or a scorer that is a plain function, takes weights."""
    metric = getattr(scorer, "_score_func", scorer)
    parameters = inspect.signature(metric).parameters.values()
    return any(
        parameter.name == "sample_weight" or parameter.kind is parameter.VAR_KEYWORD
        for parameter in parameters
    )
