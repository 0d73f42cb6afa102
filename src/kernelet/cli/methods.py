"""The methods: what ``--method`` may be, and the estimator of each."""

from __future__ import annotations

import argparse
import inspect
import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from kernelet.cli import arguments as kinds
from kernelet.cli.errors import Check, UsageError, nearest

if TYPE_CHECKING:
    from kernelet.cli.tasks import Task

DEFAULT = "sparse-svc"
# As many as the estimators have by default.
DEFAULT_VECTORS = 20
# The names that `kernelet.kernels` registers, repeated because --help imports no NumPy; a test
# compares the two.
KERNELS = (
    *("rbf", "linear", "poly", "sigmoid"),
    *("laplacian", "exponential", "matern32", "matern52", "rational_quadratic"),
)
# Options of the command line that are parameters of estimators.
_PARAMETERS = ("C", "kernel", "gamma", "degree", "coef0", "class_weight", "max_iter", "n_jobs")


@dataclass(frozen=True)
class Method:
    """A name for the command line, the public name of the estimator, and what it does."""

    name: str
    estimator: str
    summary: str
    predicts: str = "classes"

    @property
    def task(self) -> Task:
        """What is predicted."""
        from kernelet.cli.tasks import TASKS

        return TASKS[self.predicts]

    @property
    def factory(self) -> Any:
        """The class of the estimator."""
        import sklearn.svm

        import kernelet

        where = kernelet if self.estimator in kernelet.__all__ else sklearn.svm
        return getattr(where, self.estimator)


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
    Method("sparse-kernel-ridge", "SparseKernelRidge", "squared error, learned vectors", "numbers"),
    Method("sparse-svr", "SparseSVR", "tube or quantile, learned vectors", "numbers"),
    Method("norm-kernel-ridge", "NormKernelRidge", "squared error, an Lp-norm", "numbers"),
    Method("norm-svr", "NormSVR", "tube, an Lp-norm of the coefficients", "numbers"),
    Method("relevance-vector-regressor", "RelevanceVectorRegressor", "sparse Bayesian", "numbers"),
    Method("sparse-one-class", "SparseOneClassSVM", "learned vectors; no --target", "outliers"),
)
METHODS = {method.name: method for method in _ALL}


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """``--method`` and what goes with it."""
    add = parser.add_argument_group("method").add_argument
    add(
        "--method",
        type=_method_name,
        choices=list(METHODS),
        default=DEFAULT,
        metavar="METHOD",
        help=f"one of those listed below (default: {DEFAULT})",
    )
    add("--C", type=kinds.positive, help="cost of an error (default: the method's own)")
    text = f"{', '.join(KERNELS)}, or one that is registered (default: rbf)"
    add("--kernel", type=_kernel_name, metavar="KERNEL", help=text)
    add("--gamma", type=kinds.gamma, help='a number, "scale" or "auto" as in scikit-learn')
    add("--degree", type=kinds.count, help="degree of the polynomial kernel")
    add("--coef0", type=float, help="constant of the polynomial and sigmoid kernels")
    add("--class-weight", choices=["balanced"], help="make rare classes count as much as others")
    add("--max-iter", type=kinds.count, help="maximum number of steps of the search")
    add("--jobs", dest="n_jobs", type=int, help="threads or processes; -1 for all cores")
    add("--seed", type=kinds.seed, default=0, help="seed of all random choices (default: 0)")
    text = "any other parameter of the estimator, such as init=random or loss=squared_hinge"
    add("--param", action="append", default=[], metavar="NAME=VALUE", help=text)


def methods_text() -> str:
    """The list of methods for the end of a help text."""
    width = max(map(len, METHODS))
    lines: list[str] = []
    for method in METHODS.values():
        heading = f"methods for {method.predicts}:"
        lines += [heading] if heading not in lines else []
        lines.append(f"  {method.name.ljust(width)}  {method.summary}")
    return "\n".join(lines)


def make_estimator(arguments: argparse.Namespace, n_vectors: int | str | None) -> Any:
    """The estimator that the command line asks for, not fitted yet."""
    for _, check in method_checks(arguments):
        check()
    method = METHODS[arguments.method]
    known = parameters(method.name)
    wanted = {
        name: value for name in _PARAMETERS if (value := getattr(arguments, name)) is not None
    } | settings(arguments)
    if "random_state" in known:
        wanted.setdefault("random_state", arguments.seed)
    if n_vectors is not None and "n_vectors" in known:
        wanted["n_vectors"] = n_vectors
    if n_vectors == "auto":  # then all else is chosen as well, whatever the defaults of the method
        for name in ("C", "learn_kernel"):
            if name in known:
                wanted.setdefault(name, "auto")
    return method.factory(**wanted)


def method_checks(arguments: argparse.Namespace) -> list[Check]:
    """Whether the method has all the parameters that the command line sets."""
    return [
        *(((name, "method"), partial(_check_parameter, arguments, name)) for name in _PARAMETERS),
        *((("method",), partial(_check_setting, arguments, text)) for text in arguments.param),
    ]


def _check_parameter(arguments: argparse.Namespace, name: str) -> None:
    if getattr(arguments, name) is not None and name not in parameters(arguments.method):
        flag = "--" + name.removeprefix("n_").replace("_", "-")
        raise UsageError(f"{flag} means nothing to --method {arguments.method}; leave it out")


def _check_setting(arguments: argparse.Namespace, setting: str) -> None:
    name, equals, text = setting.partition("=")
    if not equals:
        raise UsageError(f"--param {setting} should be NAME=VALUE")
    known = parameters(arguments.method)
    if name not in known:
        near = nearest(name, known)
        hint = f"do you mean {near}?" if near else f"it has {', '.join(known)}"
        raise UsageError(f"--method {arguments.method} has no parameter {name!r}; {hint}")
    if name == "n_vectors":
        raise UsageError(
            f"--param {setting}: say --vectors {text} (`kernelet frontier`: --budgets)"
        )


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """What ``--param`` sets."""
    pairs = [setting.partition("=") for setting in arguments.param]
    return {name: parsed(text) for name, _, text in pairs}


def can_choose_vectors(arguments: argparse.Namespace) -> bool:
    """Whether the method, as the command line sets it up, has ``n_vectors="auto"``."""
    from kernelet.learners.direct.budgets.estimator import BudgetEstimator

    has_choice = issubclass(METHODS[arguments.method].factory, BudgetEstimator)
    chosen = settings(arguments)
    is_shared = chosen.get("vectors", "shared") == "shared"
    return has_choice and is_shared and chosen.get("checkpoint") is None


def vectors_remark(arguments: argparse.Namespace) -> str:
    """What ``--vectors`` does for a method that does not choose by validation."""
    name = arguments.method
    if "n_vectors" in parameters(name):
        return (
            f"up to {DEFAULT_VECTORS} vectors, as --method {name} does not choose their number by "
            "validation here; --vectors N sets it"
        )
    return (
        f"--method {name} chooses the number of vectors itself; --vectors N compresses what it "
        "learns to N"
    )


def has_budget(estimator: Any) -> bool:
    """Whether the number of vectors is a parameter, not a result."""
    return "n_vectors" in estimator.get_params()


def parameters(name: str) -> list[str]:
    """Names of the parameters of a method."""
    return list(inspect.signature(METHODS[name].factory).parameters)


def require_bits(name: str) -> None:
    """Refuse ``--bits`` where vectors are not rounded."""
    if "vector_bits" not in parameters(name):
        known = [
            other.name
            for other in METHODS.values()
            if other.predicts == METHODS[name].predicts and "vector_bits" in parameters(other.name)
        ]
        raise UsageError(
            f"--bits means nothing to --method {name}, which does not round its vectors; "
            f"take {' or '.join(known)}"
        )


def _method_name(text: str) -> str:
    """As it is called here; the name of the class is known too."""
    by_class = {method.estimator: name for name, method in METHODS.items()}
    return by_class.get(text, text)


def _kernel_name(text: str) -> str:
    """A kernel of ours, or one that somebody has registered."""
    if text not in KERNELS:
        from kernelet.kernels.resolve import kernel_names

        names = kernel_names()
        if text not in names:
            near = nearest(text, names)
            hint = f"; do you mean {near}?" if near else ""
            known = ", ".join(names)
            raise argparse.ArgumentTypeError(f"unknown kernel {text!r}, known are {known}{hint}")
    return text


def parsed(text: str) -> Any:
    """A number, true, false, null or a list as JSON has them, otherwise the text.

    Examples
    --------
    >>> parsed("0.5"), parsed("true"), parsed("kmeans"), parsed("None")
    (0.5, True, 'kmeans', None)
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return {"None": None, "True": True, "False": False}.get(text, text)
