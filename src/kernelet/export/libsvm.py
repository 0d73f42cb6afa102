"""Models as LIBSVM's model text, for svm-predict and every program that reads its files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from kernelet.export.formats import register_format
from kernelet.export.model import ExportedModel, exported_model
from kernelet.kernels import (
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    ProjectedFeatures,
    ScaledFeatures,
    Sigmoid,
)
from kernelet.kernels.caller import warn_caller
from kernelet.machine import SigmoidCalibration, TemperatureCalibration
from kernelet.machine.reading import Reading
from kernelet.persistence.atomic import write_atomically

# LIBSVM reads labels as C's int.
_LARGEST_LABEL = 2**31 - 1
_SVM_TYPES = {
    Reading.CLASSES: "c_svc",
    Reading.VALUES: "epsilon_svr",
    Reading.OUTLIERS: "one_class",
}
# All that LIBSVM computes, with their parameters in its order.
_KERNEL_TYPES: dict[type[Kernel], tuple[str, tuple[str, ...]]] = {
    Linear: ("linear", ()),
    Gaussian: ("rbf", ("gamma",)),
    Polynomial: ("polynomial", ("degree", "gamma", "coef0")),
    Sigmoid: ("sigmoid", ("gamma", "coef0")),
}


@register_format(endings=[".model", ".libsvm"])
def libsvm(model: Any, path: str | os.PathLike[str]) -> None:
    r"""Write a model as the text that LIBSVM's ``svm_load_model`` reads.

    .. math:: f(x) = \sum_j \beta_j \, k(x, z_j) - \rho, \quad \rho = -b

    The decision values are those of the model: positive for the second of its classes, which is
    LIBSVM's first label. Platt's sigmoid goes along as ``probA`` and ``probB``.

    Parameters
    ----------
    model : KernelMachine of one output, fitted classifier of two classes, regressor or OneClassSVM
        Of kernelet, or scikit-learn's SVMs; with a Gaussian, linear, polynomial or sigmoid kernel.
        By default SparseSVC and SparseKernelRidge learn more of the kernel than the text can hold:
        fit them with ``learn_kernel=True`` (one width for all features) or False.
        Labels that are no integers become 1 (the second class) and -1, with a warning.
    path : path-like
        By custom it ends in ".model". The file is there as a whole or not at all.

    Raises
    ------
    TypeError
        If the model is of another kind.
    ValueError
        If LIBSVM does not know such models: several outputs, or another kernel.
    OSError
        If the file cannot be written; an older one is then as it was.

    Examples
    --------
    >>> import os, tempfile
    >>> import kernelet
    >>> from sklearn.svm import SVC
    >>> svc = SVC(gamma=0.5).fit([[0.0], [1.0], [5.0], [6.0]], [3, 3, 7, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "svc.model")
    ...     kernelet.export.libsvm(svc, path)
    ...     print(open(path).read().split("rho")[0].strip())
    svm_type c_svc
    kernel_type rbf
    gamma 0.5
    nr_class 2
    total_sv 4
    """
    write_atomically(path, libsvm_text(model).encode("ascii"))


def libsvm_text(model: Any) -> str:
    """The text that `libsvm` writes."""
    exported = exported_model(model, with_columns=True)
    if exported.columns is not None:
        raise TypeError(
            "LIBSVM's text has no place for the columns of a table or for scalers; train on rows "
            "that are scaled already (the command line takes LIBSVM and npz files as they are), or "
            "export to JSON, C, ONNX or JavaScript."
        )
    machine = exported.machine
    if machine.n_outputs != 1:
        raise ValueError(
            f"the model has {machine.n_outputs} outputs, and LIBSVM's text is written of models "
            "with one: two classes, a regression with one target or a one-class SVM; all others go "
            "to JSON, C, ONNX and JavaScript."
        )
    beta = np.asarray(machine.coefficients, dtype=np.float64)[:, 0]
    # LIBSVM keeps the vectors of its first label in front, and their coefficients are positive.
    order = np.argsort(beta < 0, kind="stable")
    vectors = np.asarray(machine.vectors, dtype=np.float64)[order]
    n_positive = int(np.count_nonzero(beta >= 0))
    lines = [
        f"svm_type {_svm_type(exported)}",
        *_kernel(machine.kernel),
        "nr_class 2",
        f"total_sv {machine.n_vectors}",
        f"rho {_text(-float(machine.intercepts[0]))}",
    ]
    if exported.reading is Reading.CLASSES:
        first, second = _labels(exported)
        lines += [f"label {second} {first}", *_probabilities(exported)]
        lines.append(f"nr_sv {n_positive} {machine.n_vectors - n_positive}")
    lines.append("SV")
    for coefficient, vector in zip(beta[order], vectors, strict=True):
        # what is not written is zero
        features = (f"{f + 1}:{_text(vector[f])}" for f in np.flatnonzero(vector))
        lines.append(" ".join([_text(coefficient), *features]) + " ")
    return "\n".join(lines) + "\n"


def _svm_type(exported: ExportedModel) -> str:
    if exported.reading is Reading.VALUES and exported.calibration is not None:
        raise ValueError("a calibrated machine has no labels; export the classifier it is of.")
    return _SVM_TYPES[exported.reading]


def _kernel(kernel: Kernel) -> list[str]:
    for kind, (name, parameters) in _KERNEL_TYPES.items():
        if isinstance(kernel, kind):
            values = [f"{parameter} {getattr(kernel, parameter)!r}" for parameter in parameters]
            return [f"kernel_type {name}", *values]
    if isinstance(kernel, ScaledFeatures | ProjectedFeatures):
        is_scaled = isinstance(kernel, ScaledFeatures)
        part = "one scale per feature" if is_scaled else "a matrix in front of the kernel"
        raise ValueError(
            f"LIBSVM's text has no place for {part} ({type(kernel).__name__}). If it was learned, "
            "fit with learn_kernel=True, which learns one width for all features, or "
            "learn_kernel=False; or export to JSON, C, ONNX or JavaScript."
        )
    raise ValueError(
        f"LIBSVM does not know the kernel {kernel!r}; it knows Gaussian, Linear, Polynomial and "
        "Sigmoid. JSON, C, ONNX and JavaScript take any."
    )


def _labels(exported: ExportedModel) -> tuple[int, int]:
    """Of the two classes, in the model's order."""
    first, second = exported.classes or (-1, 1)
    if all(
        isinstance(label, int) and not isinstance(label, bool) and abs(label) <= _LARGEST_LABEL
        for label in (first, second)
    ):
        return first, second
    warn_caller(
        f"LIBSVM's labels are integers: {second!r} is written as 1 and {first!r} as -1.",
        UserWarning,
    )
    return -1, 1


def _probabilities(exported: ExportedModel) -> list[str]:
    calibration = exported.calibration
    if calibration is None:
        return []
    if isinstance(calibration, SigmoidCalibration):
        slope, offset = calibration.slopes[0], calibration.offsets[0]
    elif isinstance(calibration, TemperatureCalibration):
        # softmax of -f and f is the sigmoid of 2 f
        slope, offset = -2.0 * calibration.inverse_temperature, 0.0
    else:
        raise TypeError(f"a calibration of the class {type(calibration).__name__} is not exported.")
    return [f"probA {_text(slope)}", f"probB {_text(offset)}"]


def _text(number: float) -> str:
    """As many digits as it takes to read the same again."""
    return repr(float(number))
