"""Models from JSON. A file is not trusted: what it says is checked before it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.export.documents import kernel_document, without_formulas
from kernelet.export.to_json.columns import with_columns
from kernelet.export.to_json.compact import compact_machine
from kernelet.export.to_json.exporter import FORMAT, FORMAT_VERSION, described_kernels
from kernelet.export.to_json.fields import check_reading, feature_names, labels_of, nullable, only
from kernelet.kernels import Kernel
from kernelet.learners import CalibratedClassifier, RelevanceVectorClassifier
from kernelet.learners.compression.calibrated_classifier import PlattClassifier
from kernelet.learners.compression.compressed_models import READINGS, Compressed
from kernelet.machine import Calibration, KernelMachine, SigmoidCalibration
from kernelet.persistence import ModelFileError, Record, from_record
from kernelet.persistence.compact_forms import CompactSizes
from kernelet.persistence.compact_records import COMPACT_VERSION
from kernelet.persistence.errors import one_line
from kernelet.persistence.kernels import decode_kernel
from kernelet.persistence.machines import CALIBRATIONS, LEFT_OUT_VERSION, calibrated_machine
from kernelet.persistence.ranges import check_kernels
from kernelet.persistence.record import checked
from kernelet.persistence.untrusted import opened, read_exactly, size_of, strict_json

# What a machine in few bits does not have: its integers are in "compact".
_FLOATING = ("vectors", "coefficients", "intercepts", "vector_features", "left_out")
# Some fifty million numbers with all their digits; what is parsed takes several times as much.
MAX_BYTES = 2**30


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a model that `json` has written, or any other program in its format.

    Nothing in a file is executed. The model answers as the one that was written, but it is of
    another class: as `kernelet.compress` gives it, one that is fitted and cannot be fitted again.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    object
        A classifier, regressor or outlier detector; a CalibratedClassifier where there is a
        calibration; in a TableModel where there are columns, in a Pipeline where there are scalers;
        a KernelMachine or CalibratedMachine where outputs are features or scores.

    Raises
    ------
    ModelFileError
        If the file is not such a model; the message says why.
    OSError
        If there is no such file, or it may not be read.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.svm import SVC
    >>> from kernelet.export import json, read_json
    >>> svc = SVC().fit([[0.0], [1.0], [5.0]], ["low", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     json(svc, os.path.join(folder, "svc.json"))
    ...     model = read_json(os.path.join(folder, "svc.json"))
    >>> model.predict([[0.5], [4.0]]).tolist()
    ['low', 'high']
    """
    try:
        return model_of(strict_json(_text(path), "not JSON"))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)}: {one_line(error).rstrip('.')}.") from error


def _text(path: str | os.PathLike[str]) -> str:
    with opened(path) as stream:
        n_bytes = size_of(stream)
        if n_bytes > MAX_BYTES:
            raise ModelFileError(
                f"{n_bytes} bytes are more than the {MAX_BYTES} that are read of JSON; such models "
                "belong into model files, which kernelet.save writes"
            )
        data = read_exactly(stream, n_bytes)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"not JSON: {one_line(error)}") from None


def model_of(document: object) -> Any:
    """The model that a document describes."""
    fields = checked(document, dict, "the file")
    if fields.get("format") != FORMAT:
        raise ModelFileError(f'not a model of kernelet, which has the format "{FORMAT}"')
    record = Record("the model", fields)
    version = record.value("format_version", int)
    if not 1 <= version <= FORMAT_VERSION:
        raise ModelFileError(
            f"format version {version}, this kernelet reads up to {FORMAT_VERSION}; upgrade "
            "kernelet"
        )
    for name in ("kernelet_version", "target"):
        record.optional(name, str)
    machine = _machine(record)
    reading = record.value("reading", str)
    check_reading(record, reading)
    names = feature_names(record, machine.n_features)
    if reading in ("scores", "features"):
        calibration = _calibration(record)
        return machine if calibration is None else calibrated_machine(machine, calibration)
    return with_columns(record, _estimator(record, machine, reading, names))


def _machine(record: Record) -> KernelMachine:
    dtype = record.value("dtype", str)
    if dtype not in ("float32", "float64"):
        raise ModelFileError("the dtype must be float32 or float64")
    m, d, k = (record.value(name, int) for name in ("n_vectors", "n_features", "n_outputs"))
    if d < 1 or k < 1:
        raise ModelFileError("there must be features and outputs")
    is_compact = record.value("format_version", int) >= COMPACT_VERSION
    for name in _FLOATING if is_compact else ("compact",):
        if name in record.fields:
            raise ModelFileError(f"{name!r} belongs into another version of the format")
    if is_compact:
        kernel = _kernel(record)
        machine = compact_machine(record, kernel, CompactSizes(m, d, k, 0, np.dtype(dtype)))
        return _of_known_formulas(record, machine, kernel)
    left_out = _left_out(record, d, dtype)
    arrays = {
        "vectors": _matrix(record, "vectors", d - len(left_out.get("left_out", ())), dtype),
        "coefficients": _matrix(record, "coefficients", k, dtype),
        "intercepts": _numbers(record, "intercepts", dtype),
        **left_out,
    }
    if (len(arrays["vectors"]), len(arrays["coefficients"])) != (m, m):
        raise ModelFileError(f"there must be {m} vectors with a row of coefficients each")
    fields = {"kernel": without_formulas(record.value("kernel", dict))}
    machine = from_record(Record("KernelMachine", fields, arrays), KernelMachine)
    return _of_known_formulas(record, machine, machine.kernel)


def _kernel(record: Record) -> Kernel:
    """The kernel of a document, without more parts than those of model files."""
    specification = without_formulas(record.value("kernel", dict))
    check_kernels(specification)
    return decode_kernel(specification, Record("the kernel"))


def _of_known_formulas(record: Record, machine: KernelMachine, kernel: Kernel) -> KernelMachine:
    """The machine, if the document means the same by its kernel."""
    given = record.value("kernel", dict)
    ours = kernel_document(kernel, described_kernels())
    if list(_formulas(given)) != list(_formulas(ours)):
        raise ModelFileError(
            "a kernel has another formula in the file than the one that is registered by its name"
        )
    return machine


def _formulas(document: Any) -> Iterator[Any]:
    """Those in the document of a kernel, in order."""
    if isinstance(document, dict):
        if "formula" in document:
            yield document["formula"]
        document = [value for key, value in document.items() if key != "formula"]
    if isinstance(document, list):
        for item in document:
            yield from _formulas(item)


def _left_out(record: Record, n_features: int, dtype: str) -> dict[str, NDArray[Any]]:
    """What version 2 says of features that vectors do not hold, as model files have it."""
    if record.value("format_version", int) < LEFT_OUT_VERSION:
        return {}
    features = [checked(f, int, "a feature") for f in record.value("vector_features", list)]
    left_out = _numbers(record, "left_out", dtype)
    if len(features) + len(left_out) != n_features or not all(
        0 <= f < n_features for f in features
    ):
        raise ModelFileError("'vector_features' and 'left_out' must be all features together")
    return {"vector_features": np.array(features, dtype=np.int64), "left_out": left_out}


def _matrix(record: Record, name: str, width: int, dtype: str) -> NDArray[Any]:
    rows = [checked(row, list, f"a row of {name!r}") for row in record.value(name, list)]
    if any(len(row) != width for row in rows):
        raise ModelFileError(f"each row of {name!r} must hold {width} numbers")
    flat = _array(name, list(chain.from_iterable(rows)), dtype)
    return flat.reshape(len(rows), width)


def _numbers(record: Record, name: str, dtype: str = "float64") -> NDArray[Any]:
    return _array(name, record.value(name, list), dtype)


def _array(name: str, values: list[Any], dtype: str) -> NDArray[Any]:
    if any(type(value) is not float and type(value) is not int for value in values):
        raise ModelFileError(f"{name!r} must hold numbers")
    with np.errstate(over="ignore"):  # what is infinite then is refused with the rest
        return np.array(values, dtype=np.float64).astype(dtype)


def _calibration(record: Record) -> Record | None:
    """As model files have it."""
    given = nullable(record, "calibration", dict)
    if given is None:
        return None
    calibration = Record("the calibration", given)
    kind = calibration.value("kind", str)
    if kind == "sigmoid":
        only(calibration, "kind", "slopes", "offsets")
        arrays = {name: _numbers(calibration, name) for name in ("slopes", "offsets")}
        return Record("SigmoidCalibration", arrays=arrays)
    if kind == "temperature":
        only(calibration, "kind", "inverse_temperature")
        return Record("TemperatureCalibration", given)
    raise ModelFileError(f"the calibration {kind!r} is not known")


def _estimator(
    record: Record, machine: KernelMachine, reading: str, names: list[str] | None
) -> Any:
    attributes: dict[str, Any] = {"error_norm_": 0.0, "relative_error_": 0.0}
    if reading in ("classes", "pairs"):
        attributes["classes_"] = labels_of(record)
    if reading == "pairs":
        votes = record.value("votes", bool)
        attributes["decision_function_shape_"] = "ovr" if votes else "ovo"
        attributes["break_ties_"] = record.value("break_ties", bool)
    model: Compressed = READINGS[reading].from_machine(machine, None, **attributes)
    model._check_loaded()
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    calibration = _calibration(record)
    if calibration is None:
        return model
    fitted = from_record(calibration, CALIBRATIONS)
    if not record.optional("labels_by_scores", bool):
        return CalibratedClassifier.of(model, fitted)
    return _relevance(model) if _is_relevance(fitted) else PlattClassifier.of(model, fitted)


def _is_relevance(calibration: Calibration) -> bool:
    """Whether probabilities are the sigmoids of the scores themselves."""
    return (
        isinstance(calibration, SigmoidCalibration)
        and bool((calibration.slopes == -1.0).all())
        and bool((calibration.offsets == 0.0).all())
    )


def _relevance(model: Any) -> RelevanceVectorClassifier:
    result = RelevanceVectorClassifier()
    _take(result, model, "machine_", "classes_", "n_features_in_", "feature_names_in_")
    return result


def _take(model: Any, other: Any, *names: str) -> None:
    for name in names:
        if hasattr(other, name):
            setattr(model, name, getattr(other, name))
