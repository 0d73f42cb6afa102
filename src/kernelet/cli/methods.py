"""The table of methods: what ``--method`` may be, and which estimator each stands for."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelet.cli.errors import UsageError, nearest
from kernelet.cli.tasks import CLASSES, NUMBERS, OUTLIERS, Task

DEFAULT = "sparse-svc"
DEFAULT_VECTORS = 20
# Those of `kernelet.kernels`, for the help, which does not take the time to import them; a test
# compares the two.
KERNELS = (
    "rbf",
    "linear",
    "poly",
    "sigmoid",
    "laplacian",
    "exponential",
    "matern32",
    "matern52",
    "rational_quadratic",
)
# Option of the command line -> parameter of the estimator.
_OPTIONS = {
    "C": "C",
    "kernel": "kernel",
    "gamma": "gamma",
    "degree": "degree",
    "coef0": "coef0",
    "class_weight": "class_weight",
    "max_iter": "max_iter",
    "jobs": "n_jobs",
}


@dataclass(frozen=True)
class Method:
    """A name for the command line, the public name of the estimator, and what it does."""

    name: str
    estimator: str
    summary: str
    task: Task = CLASSES

    @property
    def exists(self) -> bool:
        """Whether this version of the package has it."""
        import kernelet

        return self.estimator in kernelet.__all__ or self.name == "svc"


# Those that a version does not have yet are left out of every list.
_ALL = (
    Method("sparse-svc", "SparseSVC", "vectors learned by gradient, the direct method"),
    Method("reduced-svc", "ReducedSVC", "vectors drawn from the rows, an SVM over them"),
    Method("kernel-fisher", "KernelFisherClassifier", "Fisher discriminant, learned vectors"),
    Method("minimal-kernel-svc", "MinimalKernelSVC", "few kernel functions by linear programs"),
    Method("subspace-lp-svc", "SubspaceLPSVC", "linear program in a subspace of the Gram matrix"),
    Method("core-vector-svc", "CoreVectorSVC", "SVM by a minimum enclosing ball"),
    Method("norm-svc", "NormSVC", "SVM with an Lp-norm of the coefficients, p = 0 for few"),
    Method("relevance-vector", "RelevanceVectorClassifier", "sparse Bayesian learning"),
    Method("svc", "SVC", "scikit-learn's SVM, compressed if --vectors is given"),
    Method("sparse-kernel-ridge", "SparseKernelRidge", "squared error, learned vectors", NUMBERS),
    Method("sparse-svr", "SparseSVR", "tube or quantile, learned vectors", NUMBERS),
    Method("norm-kernel-ridge", "NormKernelRidge", "squared error, an Lp-norm", NUMBERS),
    Method("norm-svr", "NormSVR", "tube, an Lp-norm of the coefficients", NUMBERS),
    Method("relevance-vector-regressor", "RelevanceVectorRegressor", "sparse Bayesian", NUMBERS),
    Method("sparse-one-class", "SparseOneClassSVM", "learned vectors; no --target", OUTLIERS),
)
_HEADINGS = {CLASSES: "classes", NUMBERS: "numbers", OUTLIERS: "outliers, 1 or -1"}


def methods() -> dict[str, Method]:
    """The methods that exist, by name."""
    return {method.name: method for method in _ALL if method.exists}


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """``--method`` and what goes with it."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--method",
        type=_method_name,
        choices=list(methods()),
        default=DEFAULT,
        metavar="METHOD",
        help=f"one of those listed below (default: {DEFAULT})",
    )
    group.add_argument("--C", type=_positive, help="cost of an error (default: the method's own)")
    group.add_argument(
        "--kernel",
        type=_kernel_name,
        metavar="KERNEL",
        help=f"{', '.join(KERNELS)}, or one that is registered (default: rbf)",
    )
    group.add_argument(
        "--gamma", type=_gamma, help='a number, "scale" or "auto" as in scikit-learn'
    )
    group.add_argument("--degree", type=_count, help="of the polynomial kernel")
    group.add_argument("--coef0", type=float, help="of the polynomial and sigmoid kernels")
    group.add_argument(
        "--class-weight", choices=["balanced"], help="make rare classes count as much as others"
    )
    group.add_argument("--max-iter", type=_count, help="most steps of the search")
    group.add_argument("--jobs", type=int, help="threads or processes; -1 for all cores")
    group.add_argument("--seed", type=_seed, default=0, help="of everything random (default: 0)")
    group.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of the estimator, such as init=random or loss=squared_hinge",
    )


def methods_text() -> str:
    """The list of methods for the end of a help text."""
    known = methods().values()
    width = max(len(method.name) for method in known)
    lines = []
    for task, heading in _HEADINGS.items():
        lines.append(f"methods for {heading}:")
        mine = [method for method in known if method.task is task]
        lines += [f"  {method.name.ljust(width)}  {method.summary}" for method in mine]
    return "\n".join(lines)


def task_asked_for(arguments: argparse.Namespace) -> Task:
    """What ``--method`` predicts."""
    return methods()[arguments.method].task


def make_estimator(arguments: argparse.Namespace, n_vectors: int | None) -> Any:
    """The estimator that the command line asks for, not fitted yet."""
    method = methods()[arguments.method]
    factory = _factory(method)
    known = list(inspect.signature(factory).parameters)
    wanted: dict[str, Any] = {}
    for option, name in _OPTIONS.items():
        value = getattr(arguments, option)
        if value is None:
            continue
        if name not in known:
            flag = "--" + option.replace("_", "-")
            raise UsageError(f"{flag} means nothing to --method {method.name}; leave it out")
        wanted[name] = value
    wanted |= _further_parameters(arguments.param, known, method)
    if "random_state" in known:
        wanted.setdefault("random_state", arguments.seed)
    if n_vectors is not None and "n_vectors" in known:
        wanted["n_vectors"] = n_vectors
    return factory(**wanted)


def has_budget(estimator: Any) -> bool:
    """Whether the number of vectors is a parameter, rather than what comes out."""
    return "n_vectors" in estimator.get_params()


def _factory(method: Method) -> Any:
    if method.name == "svc":
        from sklearn.svm import SVC

        return SVC
    import kernelet

    return getattr(kernelet, method.estimator)


def _method_name(text: str) -> str:
    """As it is called here; the name of the class is known too."""
    by_class = {method.estimator: name for name, method in methods().items()}
    return by_class.get(text, text)


def _kernel_name(text: str) -> str:
    if text not in KERNELS:  # somebody may have registered it
        from kernelet.kernels.resolve import kernel_names

        names = kernel_names()
        if text not in names:
            near = nearest(text, names)
            hint = f"; do you mean {near}?" if near else ""
            known = ", ".join(names)
            raise argparse.ArgumentTypeError(f"unknown kernel {text!r}, known are {known}{hint}")
    return text


def _further_parameters(settings: list[str], known: list[str], method: Method) -> Mapping[str, Any]:
    wanted: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"--param {setting} should be NAME=VALUE")
        if name not in known:
            near = nearest(name, known)
            hint = f"do you mean {near}?" if near else f"it has {', '.join(known)}"
            raise UsageError(f"--method {method.name} has no parameter {name!r}; {hint}")
        wanted[name] = parsed(text)
    return wanted


def parsed(text: str) -> Any:
    """A number, true, false, null or a list as JSON has them, otherwise the text.

    Examples
    --------
    >>> parsed("0.5"), parsed("true"), parsed("kmeans"), parsed("None")
    (0.5, True, 'kmeans', None)
    """
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _positive(text: str) -> float:
    value = _number(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above zero, got {text}")
    return value


def _gamma(text: str) -> float | str:
    return text if text in ("scale", "auto") else _positive(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2^32 - 1, got {text!r}")
    return int(text)


count_argument = _count
