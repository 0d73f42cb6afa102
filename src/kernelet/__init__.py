"""Small kernel machines: non-linear classifiers with a prediction cost fixed in advance.

`import kernelet` imports nothing heavy: a public name is imported when it is first used (PEP 562).
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING

from kernelet._hooks import hooks

if TYPE_CHECKING:
    from kernelet import datasets, export, kernels, rows, solvers, subspace
    from kernelet.learners import (
        CalibratedClassifier,
        CoreVectorSVC,
        KernelFisherClassifier,
        KernelFisherDiscriminant,
        KernelSubspace,
        MaxMarginDiscriminantAnalysis,
        MinimalKernelSVC,
        NormKernelRidge,
        NormSVC,
        NormSVR,
        ReducedSVC,
        RelevanceVectorClassifier,
        RelevanceVectorRegressor,
        SparseKernelPCA,
        SparseKernelRidge,
        SparseOneClassSVM,
        SparseSVC,
        SparseSVR,
        SubspaceLPSVC,
    )
    from kernelet.learners.compression.compress import compress
    from kernelet.learners.wrappers.calibrate import calibrate
    from kernelet.learners.wrappers.table_model import TableModel
    from kernelet.machine import KernelMachine
    from kernelet.persistence import ModelFileError, load, load_predictor, save
    from kernelet.plotting import (
        FrontierDisplay,
        MachineDisplay,
        SparsityPathDisplay,
        VectorsDisplay,
    )
    from kernelet.selection import BudgetSearchCV

__version__ = "0.1.0"

# Public name -> module that holds it; a name that is missing here is a module of its own.
_LEARNERS = (
    "CalibratedClassifier",
    "CoreVectorSVC",
    "KernelFisherClassifier",
    "KernelFisherDiscriminant",
    "KernelSubspace",
    "MaxMarginDiscriminantAnalysis",
    "MinimalKernelSVC",
    "NormKernelRidge",
    "NormSVC",
    "NormSVR",
    "ReducedSVC",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "SparseKernelPCA",
    "SparseKernelRidge",
    "SparseOneClassSVM",
    "SparseSVC",
    "SparseSVR",
    "SubspaceLPSVC",
    "calibrate",
    "compress",
)
_PLOTTING = ("FrontierDisplay", "MachineDisplay", "SparsityPathDisplay", "VectorsDisplay")
_HOMES = {
    "BudgetSearchCV": "kernelet.selection",
    "KernelMachine": "kernelet.machine",
    "ModelFileError": "kernelet.persistence",
    "TableModel": "kernelet.learners.wrappers.table_model",
    "load": "kernelet.persistence",
    "load_predictor": "kernelet.persistence",
    "save": "kernelet.persistence",
    **dict.fromkeys(_LEARNERS, "kernelet.learners"),
    **dict.fromkeys(_PLOTTING, "kernelet.plotting"),
}

__all__ = [
    "BudgetSearchCV",
    "CalibratedClassifier",
    "CoreVectorSVC",
    "FrontierDisplay",
    "KernelFisherClassifier",
    "KernelFisherDiscriminant",
    "KernelMachine",
    "KernelSubspace",
    "MachineDisplay",
    "MaxMarginDiscriminantAnalysis",
    "MinimalKernelSVC",
    "ModelFileError",
    "NormKernelRidge",
    "NormSVC",
    "NormSVR",
    "ReducedSVC",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "SparseKernelPCA",
    "SparseKernelRidge",
    "SparseOneClassSVM",
    "SparseSVC",
    "SparseSVR",
    "SparsityPathDisplay",
    "SubspaceLPSVC",
    "TableModel",
    "VectorsDisplay",
    "__version__",
    "calibrate",
    "compress",
    "datasets",
    "export",
    "kernels",
    "load",
    "load_predictor",
    "rows",
    "save",
    "solvers",
    "subspace",
]


# How pip calls what is imported under another name.
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def _imported(module: str) -> ModuleType:
    """A module of this package, or an ImportError that says what it needs and what does not."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "kernelet"):
            raise
        raise ImportError(
            f"{module} needs {_DISTRIBUTIONS.get(missing, missing)}, which is not installed: "
            "install kernelet with its dependencies (pip install, without --no-deps). To predict "
            "with a model file, kernelet.load_predictor needs NumPy and safetensors alone.",
            name=error.name,
        ) from error


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value: object = getattr(_imported(_HOMES[name]), name)
    elif name in __all__:
        value = _imported(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _save(model: object, path: str | os.PathLike[str]) -> None:
    importlib.import_module("kernelet.persistence").save(model, path)


def _files() -> ModuleType:
    """The module that knows the last kinds of models that files hold."""
    return _imported("kernelet.learners.wrappers.pipeline_files")


hooks.version = __version__
hooks.save = _save
hooks.savable = lambda model: _files().savable(model)
hooks.register_learners = _files


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
