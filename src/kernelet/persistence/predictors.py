"""What a model file predicts with, read without the class of its model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelet.machine import KernelMachine, Predictor, SigmoidCalibration
from kernelet.machine.columns import ColumnEncoder
from kernelet.machine.reading import Reading
from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.machines import CALIBRATIONS
from kernelet.persistence.record import Record
from kernelet.persistence.registry import from_record
from kernelet.persistence.values import check_classes, decode_labels

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
    if record.kind == "CalibratedClassifier":
        inner = _predictor_of_estimator(record.part("estimator"))
        if inner.reading != Reading.CLASSES:
            raise ModelFileError(f"a calibration of {inner.reading}")
        if _classes(record).tolist() != np.asarray(inner.classes).tolist():
            raise ModelFileError("the calibration is for other classes than the classifier")
        return replace(inner, calibration=_calibration(record), labels_by_scores=False)
    if record.kind == "TableModel":
        estimator = record.part("estimator")
        if estimator.kind in ("KernelMachine", "CalibratedMachine", "TableModel"):
            raise ModelFileError(f"a {estimator.kind} where an estimator should be")
        encoder: ColumnEncoder = from_record(record.part("encoder"), ColumnEncoder)
        return replace(predictor_of(estimator), encoder=encoder)
    return _predictor_of_estimator(record)


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
