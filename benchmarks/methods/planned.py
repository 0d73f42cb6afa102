"""Methods that tables name and that have no file here yet: ours, and those that are only quoted."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.datasets.splits import Split
from benchmarks.methods.base import Figures, Method, Parameters


@dataclass(frozen=True)
class Planned(Method):
    """A method that cannot be run."""

    reason: str

    def why_unavailable(self) -> str | None:
        return self.reason

    def measure(self, split: Split, parameters: Parameters, seed: int) -> Figures:
        raise RuntimeError(f"{self.name}: {self.reason}.")


NOT_YET = "not there yet"

_PLANNED = (
    ("slmc", "Sparse large margin classifier", "direct method"),
    ("rs", "Reduced set", "direct method, (4)"),
    ("mrs", "Reduced set, margin coefficients", "direct method, section 4.1"),
    ("rsvm", "Reduced SVM", "Lee and Mangasarian 2001"),
    ("mrsvm", "Reduced SVM, margin coefficients", "direct method, section 4.2"),
    ("rvm", "Relevance vector machine", "Tipping 2001"),
    ("kfd", "Kernel Fisher discriminant", "Mika et al. 1999"),
    ("skfd", "Sparse kernel Fisher discriminant", "direct method, appendix A"),
    ("kfd_features", "Kernel Fisher features", "Mika et al. 1999"),
    ("mkc", "Minimal kernel classifier", "minimal kernel, algorithm 4.2"),
    ("mmda_exact", "Maximum margin discriminant features, exact", "Kocsor et al. 2004"),
    ("mmda_core_set", "Maximum margin discriminant features, core sets", "core vectors"),
    ("subspace_lp", "LP machine in a Gram subspace", "LP subspace, (4.3)"),
    ("norm_svc", "Arbitrary-norm SVM", "arbitrary norm, section 3"),
)

METHODS: tuple[Method, ...] = (
    *(Planned(name, title, reference, NOT_YET) for name, title, reference in _PLANNED),
    Planned(
        "sgma",
        "Sparse greedy matrix approximation",
        "Smola and Schölkopf 2000",
        "quoted in a table, not part of this library",
    ),
)
