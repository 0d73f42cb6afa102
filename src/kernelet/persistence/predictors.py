"""What a model file predicts with, read without the class of its model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelet.kernels.numerics.arrays import FloatArray
from kernelet.machine import KernelMachine, Predictor, SigmoidCalibration
from kernelet.machine.columns import ColumnEncoder
from kernelet.machine.reading import Reading
from kernelet.machine.scaling import Scaling
from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.machines import CALIBRATIONS
from kernelet.persistence.record import Record
from kernelet.persistence.registry import from_record
from kernelet.persistence.values import check_classes, decode_labels, decode_value

# Estimators in files that were written before there was a field "reading", if they are neither
# classifiers with a score for each class, nor regressors.
_READINGS = {
    "CompressedPairwiseClassifier": Reading.PAIRS,
    "CompressedOutlierDetector": Reading.OUTLIERS,
    "SparseOneClassSVM": Reading.OUTLIERS,
    "CompressedTransformer": Reading.FEATURES,
    "KernelFisherDiscriminant": Reading.FEATURES,
    "KernelSubspace": Reading.FEATURES,
    "MaxMarginDiscriminantAnalysis": Reading.FEATURES,
    "SparseKernelPCA": Reading.FEATURES,
}


# Numbers up to this must be finite once they are scaled.
ORDINARY_NUMBERS = 1e6


def predictor_of(record: Record) -> Predictor:
    """The predictor in a record of any model.

    Raises
    ------
    ModelFileError, ValueError
        If there is no machine in it, or what is there does not fit together.
    """
    if record.kind == "KernelMachine":
        return Predictor(from_record(record, KernelMachine))
    if record.kind == "CalibratedMachine":
        machine = from_record(record.part("machine"), KernelMachine)
        return Predictor(machine, calibration=_calibration(record))
    if record.kind in ("CalibratedClassifier", "PlattClassifier"):
        inner = _predictor_of_estimator(record.part("estimator"))
        if inner.reading not in (Reading.CLASSES, Reading.PAIRS):
            raise ModelFileError(f"a calibration of {inner.reading}")
        if _classes(record).tolist() != np.asarray(inner.classes).tolist():
            raise ModelFileError("the calibration is for other classes than the classifier")
        by_scores = record.kind == "PlattClassifier"
        return replace(inner, calibration=_calibration(record), labels_by_scores=by_scores)
    if record.kind == "TableModel":
        estimator = record.part("estimator")
        if estimator.kind in ("KernelMachine", "CalibratedMachine", "TableModel", "Pipeline"):
            raise ModelFileError(f"a {estimator.kind} where an estimator should be")
        encoder: ColumnEncoder = from_record(record.part("encoder"), ColumnEncoder)
        return replace(predictor_of(estimator), encoder=encoder)
    if record.kind == "Pipeline":
        return _predictor_of_pipeline(record)
    return _predictor_of_estimator(record)


def _predictor_of_pipeline(record: Record) -> Predictor:
    parts = [record.part(f"step{place}") for place in range(len(record.texts("steps")) - 1)]
    inner = predictor_of(record.part("estimator"))
    if inner.encoder is not None or inner.scalings:
        raise ModelFileError("a pipeline or table where an estimator should be")
    first = parts[0] if parts else record.part("estimator")
    named = "feature_names_in_" in first.fields
    names = tuple(first.texts("feature_names_in_")) if named else None
    scalings = tuple(_scaling(part, inner.machine.n_features) for part in parts)
    for size in (-ORDINARY_NUMBERS, ORDINARY_NUMBERS):
        rows = np.full((1, inner.machine.n_features), size)
        with np.errstate(all="ignore"):
            for scaling in scalings:
                rows = scaling.applied(rows)
        if not np.isfinite(rows).all():
            raise ModelFileError("a scale of the pipeline is too small for its numbers")
    return replace(inner, scalings=scalings, feature_names=names)


def _scaling(record: Record, n_features: int) -> Scaling:
    """A scaler of scikit-learn; where an array is missing, the scaler leaves the step out."""
    numbers = {name: record.floats(name, 1) for name in record.arrays}
    if any(array.shape != (n_features,) for array in numbers.values()):
        raise ModelFileError(f"{record.kind} must hold a number for each feature")
    if "scale_" in numbers and not (numbers["scale_"] > 0.0).all():
        raise ModelFileError(f"the scales of {record.kind} must be positive")
    given = record.value("params", dict)
    params = {name: decode_value(value, record) for name, value in given.items()}

    def step(name: str, switch: str | None = None) -> FloatArray | None:
        """The numbers of an array, unless a parameter switches them off."""
        if switch is not None and not params.get(switch, True):
            return None
        if name not in numbers:
            raise ModelFileError(f"the array {name!r} of {record.kind} is missing")
        return numbers[name]

    if record.kind == "StandardScaler":
        return Scaling(step("mean_", "with_mean"), step("scale_", "with_std"))
    if record.kind == "RobustScaler":
        return Scaling(step("center_", "with_centering"), step("scale_", "with_scaling"))
    if record.kind == "MaxAbsScaler":
        return Scaling(divided=step("scale_"), limits=(-1.0, 1.0) if params.get("clip") else None)
    if record.kind == "MinMaxScaler":
        limits = tuple(params.get("feature_range", (0.0, 1.0))) if params.get("clip") else None
        return Scaling(multiplied=step("scale_"), added=step("min_"), limits=limits)
    raise ModelFileError(f"a {record.kind} where a scaler should be")


def _calibration(record: Record) -> SigmoidCalibration:
    calibration: SigmoidCalibration = from_record(record.part("calibration"), CALIBRATIONS)
    return calibration


def _predictor_of_estimator(record: Record) -> Predictor:
    machine = from_record(record.part("machine"), KernelMachine)
    if record.value("n_features_in_", int) != machine.n_features:
        raise ModelFileError("the machine is for another number of features")
    has_names, has_classes = (name in record.fields for name in ("feature_names_in_", "classes_"))
    usual = Reading.CLASSES if has_classes else Reading.VALUES
    reading = record.optional("reading", str) or _READINGS.get(record.kind, usual)
    fitted = Record("fitted", record.value("fitted", dict))
    predictor = Predictor(
        machine,
        reading,
        _classes(record) if reading in (Reading.CLASSES, Reading.PAIRS) else None,
        feature_names=tuple(record.texts("feature_names_in_")) if has_names else None,
    )
    if record.kind == "RelevanceVectorClassifier":
        k = machine.n_outputs
        sigmoid = SigmoidCalibration(np.full(k, -1.0), np.zeros(k))
        return replace(predictor, calibration=sigmoid)
    if reading == Reading.PAIRS:
        return replace(
            predictor,
            votes=fitted.value("decision_function_shape_", str) != "ovo",
            break_ties=fitted.value("break_ties_", bool),
        )
    return predictor


def _classes(record: Record) -> np.ndarray:
    classes = decode_labels(record.value("classes_", dict))
    check_classes(classes)
    return classes
