"""Fitted scikit-learn models as kernel machines, without changing what they compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from kernelet.kernels import CallableKernel, Kernel, resolve_kernel
from kernelet.kernels.caller import warn_caller
from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.regressor import KernelRegressor
from kernelet.learners.compression.class_machines import joined_machine
from kernelet.learners.compression.compressed_models import FIGURES, READINGS, Compressed
from kernelet.learners.compression.gaussian_process_adapters import mean_of_process
from kernelet.learners.direct.kernel_fisher_discriminant import KernelFisherDiscriminant
from kernelet.learners.direct.sparse_kernel_pca import SparseKernelPCA
from kernelet.learners.direct.sparse_one_class import SparseOneClassSVM
from kernelet.learners.lp_subspace.kernel_subspace import KernelSubspace
from kernelet.machine import KernelMachine
from kernelet.machine.reading import Reading


@dataclass(frozen=True, eq=False)
class Adapted:
    """A model as a machine, and how predictions follow from its outputs.

    Attributes
    ----------
    machine : KernelMachine
    reading : Reading
        What the machine's outputs are.
    classes : ndarray or None
        Labels, if there are classes.
    C : float or None
        Cost that the model was trained with.
    class_weight : dict, "balanced" or None
        Weights of the classes in training.
    loss : {"hinge", "squared_hinge"}
        Loss that the cost multiplied in training.
    attributes : dict
        What else the compressed estimator needs to know about the original.
    problem_weights : ndarray of shape (n_outputs, 2) or None
        Weights that each output had in training for rows of its negative and positive side.
    """

    machine: KernelMachine
    reading: Reading
    classes: NDArray[Any] | None = None
    C: float | None = None
    class_weight: Mapping[Any, float] | str | None = None
    loss: str = "hinge"
    attributes: dict[str, Any] = field(default_factory=dict)
    problem_weights: FloatArray | None = None


def adapt(model: Any) -> Adapted:
    """The machine behind a fitted model.

    Raises
    ------
    TypeError
        For models of another kind.
    """
    for kind, adapter in _ADAPTERS.items():
        if isinstance(model, kind):
            if kind is not KernelMachine:
                check_is_fitted(model)
            return adapter(model)
    raise TypeError(
        f"{type(model).__name__} is not a kernel machine. Train SVC, SVR or an estimator of "
        "kernelet on the same rows, or give the one inside, if there is one."
    )


def _of_machine(model: KernelMachine) -> Adapted:
    return Adapted(model, Reading.SCORES)


def _of_classifier(model: KernelClassifier) -> Adapted:
    C = float(getattr(model, "C_", getattr(model, "C", 1.0)))  # C_ is what C="auto" chose
    loss = getattr(model, "loss", "hinge")
    return Adapted(model.machine_, Reading.CLASSES, model.classes_, C, model.class_weight, loss)


def _of_regressor(model: KernelRegressor) -> Adapted:
    return Adapted(model.machine_, Reading.VALUES)


def _of_transformer(
    model: SparseKernelPCA | KernelSubspace | KernelFisherDiscriminant,
) -> Adapted:
    return Adapted(model.machine_, Reading.FEATURES)


def _of_detector(model: SparseOneClassSVM) -> Adapted:
    return Adapted(model.machine_, Reading.OUTLIERS)


def _of_compressed(model: Compressed) -> Adapted:
    (reading,) = (name for name, kind in READINGS.items() if isinstance(model, kind))
    known = {"machine_", "n_features_in_", "feature_names_in_", *FIGURES}
    attributes = {name: value for name, value in vars(model).items() if name not in known}
    classes = attributes.pop("classes_", None)
    return Adapted(model.machine_, Reading(reading), classes, attributes=attributes)


def _kernel_of(model: Any) -> Kernel:
    kernel = model.kernel
    if callable(kernel):
        return CallableKernel(kernel)
    if kernel == "precomputed":
        raise ValueError(
            'a model with kernel="precomputed" has no vectors to compress; fit it with a kernel '
            "name or function."
        )
    gamma = getattr(model, "_gamma", model.gamma)
    d = model.n_features_in_
    if gamma is None:  # scikit-learn's pairwise kernels: 1 / number of features
        gamma = 1.0 / d
    return resolve_kernel(kernel, np.zeros((1, d)), gamma, model.degree, model.coef0)


def _dense(vectors: Any) -> FloatArray:
    array = vectors.toarray() if hasattr(vectors, "toarray") else vectors
    return np.asarray(array, dtype=np.float64)


def _machine(model: Any, coefficients: FloatArray, intercepts: FloatArray) -> KernelMachine:
    if callable(model.kernel):
        # support_vectors_ is empty for a kernel that is a function; the rows are kept here
        vectors = model._BaseLibSVM__Xfit[model.support_]
    else:
        vectors = model.support_vectors_
    return KernelMachine(_kernel_of(model), _dense(vectors), coefficients, intercepts)


def _of_svc(model: SVC | NuSVC) -> Adapted:
    dual = _dense(model.dual_coef_)
    intercepts = np.asarray(model.intercept_, dtype=np.float64)
    classes = _predicted_classes(model)
    C = float(model.C) if isinstance(model, SVC) else 1.0
    weights = model.class_weight_[: classes.size]
    weight = dict(zip(classes.tolist(), weights.tolist(), strict=True))
    if classes.size == 2:
        # LIBSVM's scores are positive for the first class; scikit-learn reverses the sign if
        # classes_ holds two, but not if it holds more and the others had no weight
        sign = 1.0 if model.classes_.size == 2 else -1.0
        machine = _machine(model, sign * dual.T, sign * intercepts)
        return Adapted(machine, Reading.CLASSES, classes, C, weight)
    # LIBSVM stores a support vector's coefficients against the other classes in their order, its
    # own class left out: row j - 1 against a later class j, row i against an earlier class i.
    owner = np.repeat(np.arange(classes.size), model.n_support_)
    pairs = list(combinations(range(classes.size), 2))
    coefficients = np.zeros((owner.size, len(pairs)))
    for column, (i, j) in enumerate(pairs):
        coefficients[owner == i, column] = dual[j - 1, owner == i]
        coefficients[owner == j, column] = dual[i, owner == j]
    machine = _machine(model, coefficients, intercepts)
    attributes = {
        "decision_function_shape_": model.decision_function_shape,
        "break_ties_": model.break_ties,
    }
    return Adapted(machine, Reading.PAIRS, classes, C, weight, attributes=attributes)


def _predicted_classes(model: SVC | NuSVC) -> NDArray[Any]:
    """The labels that the model can predict; fewer than classes_ if a class had no weight.

    LIBSVM leaves such a class out, but scikit-learn reads what LIBSVM predicts as a position among
    all classes. Which class was left out cannot be seen from the model.
    """
    classes: NDArray[Any] = model.classes_
    n_classes = len(model.n_support_)
    if n_classes < classes.size:
        warn_caller(
            f"{type(model).__name__} was fitted with {classes.size} classes, of which "
            f"{classes.size - n_classes} had no rows of positive sample_weight; its predict, and "
            f"that of the compressed model, call the others {classes[:n_classes].tolist()}, "
            "whichever they are. Leave the rows without weight out of X and y, and fit it again."
        )
    return classes[:n_classes]


def _of_one_vs_rest(model: OneVsRestClassifier) -> Adapted:
    if model.multilabel_:
        raise ValueError(
            "the OneVsRestClassifier has several labels for a row, and the classifiers of kernelet "
            "have one; compress its estimators_ one by one."
        )
    parts = _binary_parts(model)
    machine = joined_machine([part.machine for part in parts], "OneVsRestClassifier")
    return _of_parts(parts, machine, Reading.CLASSES, model.classes_, parts[0].attributes)


def _of_one_vs_one(model: OneVsOneClassifier) -> Adapted:
    parts = _binary_parts(model)
    machine = joined_machine([part.machine for part in parts], "OneVsOneClassifier")
    if model.classes_.size == 2:
        return _of_parts(parts, machine, Reading.CLASSES, model.classes_, {})
    # its estimators are positive for the later class of a pair, an SVC for the earlier one
    machine = KernelMachine(
        machine.kernel, machine.vectors, -machine.coefficients, -machine.intercepts
    )
    weights = [replace(part, problem_weights=_swapped(part.problem_weights)) for part in parts]
    attributes = {"decision_function_shape_": "ovr", "break_ties_": True}
    return _of_parts(weights, machine, Reading.PAIRS, model.classes_, attributes)


def _binary_parts(model: OneVsRestClassifier | OneVsOneClassifier) -> list[Adapted]:
    """The classifiers inside, each with one score and the weights of its two sides."""
    parts = []
    for estimator in model.estimators_:
        part = adapt(estimator)
        if part.reading is not Reading.CLASSES or part.machine.n_outputs != 1:
            raise TypeError(
                f"the {type(model).__name__} holds {type(estimator).__name__}, which has no score "
                "for two classes; fit it around SVC or a classifier of kernelet."
            )
        weight = getattr(estimator, "class_weight_", np.ones(2))
        parts.append(replace(part, problem_weights=np.asarray(weight, dtype=np.float64)))
    return parts


def _of_parts(
    parts: list[Adapted],
    machine: KernelMachine,
    reading: Reading,
    classes: NDArray[Any],
    attributes: dict[str, Any],
) -> Adapted:
    weights = np.stack([part.problem_weights for part in parts if part.problem_weights is not None])
    first = parts[0]
    return Adapted(
        machine,
        reading,
        classes,
        first.C,
        loss=first.loss,
        attributes=attributes,
        problem_weights=None if (weights == 1.0).all() else weights,
    )


def _swapped(weights: FloatArray | None) -> FloatArray | None:
    return None if weights is None else weights[::-1]


def _of_regression(model: SVR | NuSVR) -> Adapted:
    machine = _machine(model, _dense(model.dual_coef_).T, np.asarray(model.intercept_, float))
    return Adapted(machine, Reading.VALUES)


def _of_one_class(model: OneClassSVM) -> Adapted:
    machine = _machine(model, _dense(model.dual_coef_).T, np.asarray(model.intercept_, float))
    return Adapted(machine, Reading.OUTLIERS)


def _of_kernel_ridge(model: KernelRidge) -> Adapted:
    coefficients = np.asarray(model.dual_coef_, dtype=np.float64)
    coefficients = coefficients.reshape(coefficients.shape[0], -1)
    machine = KernelMachine(
        _kernel_of_pairs(model), _dense(model.X_fit_), coefficients, np.zeros(coefficients.shape[1])
    )
    return Adapted(machine, Reading.VALUES)


def _of_kernel_pca(model: KernelPCA) -> Adapted:
    used = model.eigenvalues_ > 0.0
    scaled = model.eigenvectors_[:, used] / np.sqrt(model.eigenvalues_[used])
    # (k(x, .) - its mean - mean rows + mean of all) times these: the mean of k(x, .) is a function
    # of x, which joins the coefficients, and the others are numbers
    sums = scaled.sum(axis=0)
    coefficients = np.zeros((scaled.shape[0], used.size))
    intercepts = np.zeros(used.size)
    coefficients[:, used] = scaled - sums / scaled.shape[0]
    centerer = model._centerer
    intercepts[used] = centerer.K_fit_all_ * sums - centerer.K_fit_rows_ @ scaled
    vectors = _dense(model.X_fit_)
    return Adapted(
        KernelMachine(_kernel_of_pairs(model), vectors, coefficients, intercepts), Reading.FEATURES
    )


def _of_process(model: GaussianProcessRegressor) -> Adapted:
    return Adapted(mean_of_process(model), Reading.VALUES)


def _kernel_of_pairs(model: Any) -> Kernel:
    """Of an estimator whose kernel function takes two rows, not two sets of them."""
    if callable(model.kernel):
        params = model.kernel_params or {}
        return CallableKernel(partial(pairwise_kernels, metric=model.kernel, **params))
    return _kernel_of(model)


_ADAPTERS: dict[type, Callable[[Any], Adapted]] = {
    KernelMachine: _of_machine,
    KernelClassifier: _of_classifier,
    KernelRegressor: _of_regressor,
    SparseOneClassSVM: _of_detector,
    SparseKernelPCA: _of_transformer,
    KernelSubspace: _of_transformer,
    KernelFisherDiscriminant: _of_transformer,
    Compressed: _of_compressed,
    SVC: _of_svc,
    NuSVC: _of_svc,
    OneVsRestClassifier: _of_one_vs_rest,
    OneVsOneClassifier: _of_one_vs_one,
    SVR: _of_regression,
    NuSVR: _of_regression,
    OneClassSVM: _of_one_class,
    KernelRidge: _of_kernel_ridge,
    KernelPCA: _of_kernel_pca,
    GaussianProcessRegressor: _of_process,
}
