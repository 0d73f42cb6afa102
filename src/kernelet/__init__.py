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
    from kernelet.persistence import ModelFileError, load, save
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
    "rows",
    "save",
    "solvers",
    "subspace",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value: object = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in __all__:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _save(model: object, path: str | os.PathLike[str]) -> None:
    importlib.import_module("kernelet.persistence").save(model, path)


def _files() -> ModuleType:
    """The module that knows the last kinds of models that files hold."""
    return importlib.import_module("kernelet.learners.wrappers.pipeline_files")


hooks.version = __version__
hooks.save = _save
hooks.savable = lambda model: _files().savable(model)
hooks.register_learners = _files


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
