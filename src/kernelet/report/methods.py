"""The methods that are compared, in one table; a new method is a new line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kernelet.kernels import Kernel


@dataclass(frozen=True, eq=False)
class DemoTask:
    """Rows to learn from and rows to be judged by, and what all methods have in common.

    Attributes
    ----------
    X_train, y_train, X_test, y_test : ndarray
    kernel : Kernel
    C : float
    seed : int
    svm : SVC
        The full SVM, fitted.
    svm_seconds : float
        What its fit took.
    """

    X_train: NDArray[np.float64]
    y_train: NDArray[np.intp]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.intp]
    kernel: Kernel
    C: float
    seed: int
    svm: Any
    svm_seconds: float


def _nothing(n_vectors: int | None) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class DemoMethod:
    """A method of the package.

    Attributes
    ----------
    name : str
        Its public name.
    summary : str
        What it does, for a person.
    has_budget : bool
        Whether the number of vectors is given in advance.
    further : callable
        Takes the number of vectors, and returns parameters other than it, the kernel and C.
    """

    name: str
    summary: str
    has_budget: bool = True
    further: Callable[[int | None], dict[str, Any]] = field(default=_nothing)

    def learn(self, task: DemoTask, n_vectors: int | None = None) -> Any:
        """A fitted model."""
        import kernelet

        if self.name == "compress":
            return kernelet.compress(task.svm, n_vectors or 1, random_state=task.seed)
        estimator = getattr(kernelet, self.name)()
        # all methods have the same kernel: what is compared is where vectors come from
        common: dict[str, Any] = {"kernel": task.kernel, "learn_kernel": False, "C": task.C}
        common["random_state"] = task.seed
        if n_vectors is not None:
            common["n_vectors"] = n_vectors
        known = estimator.get_params()
        wanted = {name: value for name, value in common.items() if name in known}
        estimator.set_params(**wanted | self.further(n_vectors))
        return estimator.fit(task.X_train, task.y_train)


def _landmarks(n_vectors: int | None) -> dict[str, Any]:
    # as many vectors as directions: they are then the vectors of the machine
    return {
        "n_components": n_vectors,
        "n_landmarks": n_vectors,
        "n_vectors": None,
        "landmarks": "kmeans",
    }


_ALL = (
    DemoMethod("SparseSVC", "vectors learned by gradient"),
    DemoMethod("compress", "the full SVM's function, with fewer vectors"),
    DemoMethod("KernelFisherClassifier", "Fisher's discriminant, vectors learned by gradient"),
    DemoMethod("SubspaceLPSVC", "a linear program over k-means centres", further=_landmarks),
    DemoMethod("ReducedSVC", "an SVM over k-means centres", further=lambda m: {"init": "kmeans"}),
    DemoMethod("CoreVectorSVC", "an SVM as the smallest ball around its rows", has_budget=False),
    DemoMethod("MinimalKernelSVC", "linear programs that drop kernel functions", has_budget=False),
    DemoMethod(
        "NormSVC",
        "an SVM that pays for each vector",
        has_budget=False,
        # the weight of the norm: 119 vectors on the digits, as many as MinimalKernelSVC has or so
        further=lambda m: {"C_norm": 3.0},
    ),
    DemoMethod("RelevanceVectorClassifier", "sparse Bayesian learning", has_budget=False),
)


def methods() -> tuple[DemoMethod, ...]:
    """All of them."""
    return _ALL


def jobs(sizes: list[int]) -> list[tuple[DemoMethod, int | None]]:
    """Every method with every size; once each where the size is what comes out."""
    return [
        (method, size) for method in methods() for size in (sizes if method.has_budget else [None])
    ]
