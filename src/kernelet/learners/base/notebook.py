"""What notebooks show of estimators: scikit-learn's diagram, our documentation and figures."""

from __future__ import annotations

import math
from typing import Any

from kernelet.machine import KernelMachine
from kernelet.machine.summary import facts_table, machine_facts

# Where the site that `make docs` builds is published. It is not yet: while this is empty, diagrams
# have no link.
DOCUMENTATION = ""

# Fitted attributes that say how good a model is, and what they are called.
_FIGURES = {
    "score_error_": "error of the scores",
    "relative_error_": "error in the feature space",
    "loo_error_": "leave-one-out error",
    "loo_error_bound_": "leave-one-out error, at most",
    "best_score_": "cross-validated score",
}


class NotebookMixin:
    """An estimator whose diagram leads to its page, with a table once it is fitted.

    ``_documented_as`` is a name on the site, where this is not the name of the class.
    """

    _doc_link_module = "kernelet"
    _documented_as: str | None = None

    @property
    def _doc_link_template(self) -> str:
        return DOCUMENTATION.rstrip("/") + "/reference/made/kernelet.{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"page": self._documented_as or type(self).__name__}

    def _get_doc_link(self) -> str:
        return str(super()._get_doc_link()) if DOCUMENTATION else ""  # type: ignore[misc]

    # scikit-learn has the two below call each other or not, depending on its version; but not them.

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._fitted_summary()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] += self._fitted_summary()
        return shown

    def _fitted_summary(self) -> str:
        """A table of what was learned; nothing before that."""
        machine = getattr(self, "machine_", None)
        if machine is None:
            return ""
        return facts_table(type(self).__name__, self._facts(machine))

    def _facts(self, machine: KernelMachine) -> dict[str, str]:
        facts = machine_facts(machine)
        for name, label in _FIGURES.items():
            value = getattr(self, name, math.nan)
            if not math.isnan(value):
                facts[label] = f"{value:.3g}"
        return facts
