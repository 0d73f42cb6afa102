"""Estimators in model files, for a line or two of code each."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelet._hooks import hooks
from kernelet.kernels.caller import warn_caller
from kernelet.learners.base.notebook import NotebookMixin
from kernelet.machine import KernelMachine
from kernelet.machine.reading import Reading
from kernelet.persistence import ModelFileError, Record, from_record, register, save, to_record
from kernelet.persistence.container import now
from kernelet.persistence.record import checked
from kernelet.persistence.values import (
    check_classes,
    decode_labels,
    decode_value,
    encode_labels,
    encode_value,
)

Estimator = TypeVar("Estimator", bound="SavableMixin")
_NUMPY_TYPES: dict[type, Any] = {float: (float, np.floating), int: (int, np.integer)}


class SavableMixin(NotebookMixin):
    """A fitted estimator that ends in a machine and can be saved.

    Its class is decorated with `saved`, which names the fitted attributes that files hold besides
    ``machine_``, ``classes_``, ``n_features_in_`` and ``feature_names_in_``.
    """

    # what is predicted from the outputs of the machine
    _reading = Reading.SCORES

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `kernelet.load` reads.

        Parameters
        ----------
        path : path-like
            By convention it ends in ".kernelet".
        """
        save(self, path)

    def _check_loaded(self) -> None:
        """Raise ValueError if the attributes in the file do not fit together."""


def require(model: Any, *names: str) -> None:
    """Raise ModelFileError unless the attributes were in the file."""
    for name in names:
        if name not in vars(model):
            raise ModelFileError(f"{name!r} of {type(model).__name__} is missing")


def require_outputs(model: Any, n_outputs: int) -> None:
    """Raise ModelFileError unless the machine has ``n_outputs`` outputs."""
    if model.machine_.n_outputs != n_outputs:
        raise ModelFileError(
            f"the machine has {model.machine_.n_outputs} outputs, but this "
            f"{type(model).__name__} needs {n_outputs}"
        )


@dataclass(frozen=True)
class Attribute:
    """A kind of fitted attribute.

    Attributes
    ----------
    kind : type
        bool, int, float, str, ndarray, or list for a list of arrays.
    """

    kind: type

    def check(self, value: object, name: str) -> None:
        """Raise ValueError for a value of another kind."""
        good = isinstance(value, _NUMPY_TYPES.get(self.kind, self.kind))
        if isinstance(value, bool):  # an integer to Python
            good = self.kind is bool
        elif isinstance(value, list):
            good = good and all(isinstance(item, np.ndarray) for item in value)
        if not good:
            raise ValueError(f"{name} must be {self.kind.__name__}, got {type(value).__name__}.")


def saved(*helpers: type, **attributes: type) -> Callable[[type[Estimator]], type[Estimator]]:
    """Let files hold a class of estimators.

    Parameters
    ----------
    *helpers : type
        Classes of other objects that the estimators keep. Files do not hold them; pickles do, and
        `kernelet.persistence.skops_trusted` names them.
    **attributes : type
        Fitted attributes that not all estimators have, each with its type: bool, int, float, str,
        `numpy.ndarray`, or list for a list of arrays. Attributes that a model or an older file
        does not have are left out.

    Returns
    -------
    callable
        A decorator of the class, which inherits from `SavableMixin`.
    """
    known = {name: Attribute(kind) for name, kind in attributes.items()}

    def decorate(cls: type[Estimator]) -> type[Estimator]:
        register(
            cls,
            lambda model: _write(model, known),
            lambda record: _read(cls, record, known),
            helpers,
        )
        return cls

    return decorate


def remember_training(estimator: Any, n_rows: int, class_counts: Any = None) -> None:
    """Record what an estimator is trained on, for its model file."""
    estimator._training = {
        "n_rows": int(n_rows),
        "class_counts": None if class_counts is None else [int(n) for n in class_counts],
        "kernelet_version": hooks.version,
        "date": now(),
    }


def write_common(model: Any) -> Record:
    """What every fitted model has: features, their names, labels, and what it was trained on."""
    check_is_fitted(model)
    fields: dict[str, Any] = {"n_features_in_": int(model.n_features_in_)}
    if hasattr(model, "feature_names_in_"):
        fields["feature_names_in_"] = [str(name) for name in model.feature_names_in_]
    if hasattr(model, "classes_"):
        fields["classes_"] = encode_labels(np.asarray(model.classes_))
    fields["training"] = getattr(model, "_training", None)
    return Record(type(model).__name__, fields)


def read_common(model: Any, record: Record) -> None:
    """Set the attributes that `write_common` has written."""
    model.n_features_in_ = record.value("n_features_in_", int)
    if "feature_names_in_" in record.fields:
        names = np.array(record.texts("feature_names_in_"), dtype=object)
        if names.size != model.n_features_in_:
            raise ModelFileError("there must be a name for each feature")
        model.feature_names_in_ = names
    if "classes_" in record.fields:
        model.classes_ = decode_labels(record.fields["classes_"])
        check_classes(model.classes_)
    training = record.optional("training", dict)
    if training is not None:
        model._training = _checked_training(training)


def _checked_training(training: dict[str, Any]) -> dict[str, Any]:
    stored = Record("training", training)
    counts = stored.optional("class_counts", list)
    return {
        "n_rows": stored.value("n_rows", int),
        "class_counts": counts and [checked(n, int, "a number of rows") for n in counts],
        "kernelet_version": stored.value("kernelet_version", str),
        "date": stored.value("date", str),
    }


def _write(model: Any, attributes: dict[str, Attribute]) -> Record:
    record = write_common(model)
    record.parts["machine"] = to_record(model.machine_)
    record.fields["reading"] = str(model._reading)
    record.fields["params"] = _encode_params(model, record)
    fitted: dict[str, Any] = {}
    for name, attribute in attributes.items():
        if hasattr(model, name):
            value = getattr(model, name)
            attribute.check(value, name)
            fitted[name] = encode_value(value, name, record.arrays)
    record.fields["fitted"] = fitted
    return record


def _encode_params(model: Any, record: Record) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for name, value in model.get_params(deep=False).items():
        try:
            params[name] = encode_value(value, f"params.{name}", record.arrays)
        except TypeError as error:
            # The parameter was only needed by fit; the fitted model is complete without it.
            warn_caller(
                f"{error}; the loaded {type(model).__name__} will have the default of {name}.",
                UserWarning,
            )
    return params


def _read(cls: type[Estimator], record: Record, attributes: dict[str, Attribute]) -> Estimator:
    params = record.value("params", dict)
    unknown = set(params) - set(inspect.signature(cls).parameters)
    if unknown:
        raise ModelFileError(
            f"{record.kind} has no parameter {min(unknown)!r} here; upgrade kernelet"
        )
    if record.optional("reading", str) not in (None, cls._reading):
        raise ModelFileError(f"the outputs of {record.kind} are {cls._reading} and nothing else")
    model: Any = cls(**{name: decode_value(value, record) for name, value in params.items()})
    model.machine_ = from_record(record.part("machine"), KernelMachine)
    read_common(model, record)
    if model.n_features_in_ != model.machine_.n_features:
        raise ModelFileError("the machine is for another number of features")
    fitted = record.value("fitted", dict)
    for name, attribute in attributes.items():
        if name in fitted:
            value = decode_value(fitted[name], record)
            attribute.check(value, name)
            setattr(model, name, value)
    model._check_loaded()
    checked_model: Estimator = model
    return checked_model
