"""Models as ONNX, in standard operators, so that every runtime evaluates them."""

from __future__ import annotations

import os
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelet._hooks import hooks
from kernelet.export.documents import scaling_of
from kernelet.export.formats import register_format
from kernelet.export.model import ExportedModel, cast, exported_model
from kernelet.export.rounding import warn_of_lost_digits
from kernelet.export.to_onnx.columns import OPSET as TABLE_OPSET
from kernelet.export.to_onnx.columns import input_names, rows_of_table, scaled_rows
from kernelet.export.to_onnx.graph import OPSET, Graph
from kernelet.export.to_onnx.machine import machine_values
from kernelet.machine import Calibration, SigmoidCalibration, TemperatureCalibration
from kernelet.machine.reading import Reading
from kernelet.persistence.atomic import write_atomically

if TYPE_CHECKING:
    from onnx import ModelProto

DTYPES = ("float32", "float64")
OUTPUTS = ("label", "scores", "probabilities", "variable")


@register_format(endings=[".onnx"], dtypes=DTYPES)
def onnx(model: Any, path: str | os.PathLike[str], *, dtype: str = "float32") -> None:
    r"""Write a model as ONNX.

    .. math:: f_k(x) = \sum_j \beta_{jk} \, k(x, z_j) + b_k

    The graph takes ``X`` with any number of rows. It gives ``label`` and ``scores`` (the decision
    function, also of two classes a column) for classifiers and outlier detectors, ``probabilities``
    where there is a calibration, and ``variable`` for regressors, transformers and machines.
    Operators are ONNX's own, of opset 17. Of a machine in few bits (``vector_bits``) integers of 8
    or 16 bits are stored, of which the graph makes numbers.

    The model of a table takes one input for each column, of shape (rows, 1) and called as the
    column (with "_" behind it where an output has that name): numbers, NaN where one is missing, or
    texts, empty where one is missing; truth values are "True" and "False". Its opset is 19.

    A row with NaN or infinity gives what the machine gives in Python in the same type, most often
    NaN; its label means nothing then. Of features that the kernel leaves out (a scale of 0), only
    NaN is noticed. Of the numbers that the graph is given, values differ from the formula by up to

    .. math:: (d + m + 64) \, u \, (1 + \gamma (|x|^2 + \max_j |z_j|^2)) \,
        (\textstyle\sum_j |\beta_j| |k(x, z_j)| + |b|)

    for m vectors of d features, where u is 2^-24 in float32 and 2^-53 in float64. For kernels of
    an inner product, \|k\| is the sum of its terms' sizes before they cancel; for a Laplacian
    kernel, 1-norms take the place of squares. A kernel of combinations A x (`ProjectedFeatures`)
    takes 5 d for d, and \|A\| \|x\| and \|A\| \|z_j\| for x and z_j; the graph holds A and the
    combinations of the vectors. Squared distances are a matrix product, but sums of squares for
    vectors so far out that it would leave too few digits.

    Parameters
    ----------
    model : KernelMachine, CalibratedMachine, TableModel or fitted estimator
        Of kernelet, or scikit-learn's SVC, NuSVC, SVR, NuSVR, OneClassSVM or KernelRidge; or a
        pipeline of scalers and one of these, or another wrapper that `kernelet.compress` takes.
    path : path-like
        By custom it ends in ".onnx". The file is there as a whole or not at all.
    dtype : {"float32", "float64"}, default="float32"
        Of the rows, and what is computed in.

    Raises
    ------
    ImportError
        If the package onnx is not installed; it comes with ``pip install 'kernelet[onnx]'``.
    TypeError
        If the model is of another kind.
    ValueError
        If its kernel is a Python function, or a number in it is not finite.
    OSError
        If the file cannot be written; an older one is then as it was.

    Warns
    -----
    UserWarning
        If ``dtype`` keeps too few digits of the vectors for the kernel.

    Examples
    --------
    >>> import os, tempfile, kernelet, onnx
    >>> kernel = kernelet.kernels.Gaussian(0.5)
    >>> machine = kernelet.KernelMachine(kernel, [[0.0], [2.0]], [1.0, -1.0], 0.25)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "machine.onnx")
    ...     kernelet.export.onnx(machine, path)
    ...     graph = onnx.load(path).graph
    >>> [output.name for output in graph.output], len(graph.node)
    (['variable'], 12)
    """
    content = onnx_model(model, dtype).SerializeToString()
    warn_of_lost_digits(exported_model(model, with_columns=True).machine, dtype)
    write_atomically(path, content)


def onnx_model(model: Any, dtype: str = "float32", *, checks_width: bool = False) -> ModelProto:
    """The model that `onnx` writes.

    With ``checks_width`` the graph itself refuses rows of another length, for where the input that
    is declared here, by which runtimes do so, gets lost.
    """
    helper = _helper()
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}.")
    exported = exported_model(model, with_columns=True)
    for name in ("vectors", "coefficients", "intercepts"):
        cast(name, getattr(exported.machine, name), dtype)
    columns, scaling = exported.columns, scaling_of(exported)
    if columns is None or scaling is not None:
        graph, opset = Graph(np.dtype(dtype)), OPSET
        rows, inputs, width = "X", [("X", False)], exported.machine.n_features
        if checks_width:  # 0 is as many rows as there are
            rows = graph.add("Reshape", rows, graph.constant([0, width], np.int64))
        if scaling is not None:
            rows = scaled_rows(graph, *scaling, rows)
    else:
        names = input_names(columns, OUTPUTS)
        graph, opset, width = Graph(np.dtype(dtype), names.values()), TABLE_OPSET, 1
        rows, inputs = rows_of_table(graph, columns, names)
    outputs = outputs_of(graph, exported, rows)
    kind = helper.np_dtype_to_tensor_dtype(graph.dtype)
    made = helper.make_graph(
        graph.nodes,
        "kernelet",
        [
            helper.make_tensor_value_info(
                name, helper.TensorProto.STRING if is_text else kind, ["rows", width]
            )
            for name, is_text in inputs
        ],
        [
            helper.make_tensor_value_info(name, element, ["rows", *shape])
            for name, element, shape in outputs
        ],
        graph.constants,
    )
    proto: ModelProto = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=8 if opset == OPSET else 9,
        producer_name="kernelet",
        producer_version=hooks.version,
    )
    return proto


def _helper() -> Any:
    try:
        from onnx import helper
    except ImportError as error:
        raise ImportError(
            "exporting to ONNX needs the package onnx: pip install 'kernelet[onnx]'."
        ) from error
    return helper


Output = tuple[str, int, list[int]]


def outputs_of(graph: Graph, exported: ExportedModel, rows: str) -> list[Output]:
    """Add a model to a graph; name, element type and shape of each of its outputs."""
    kind: int = _helper().np_dtype_to_tensor_dtype(graph.dtype)
    values = machine_values(graph, exported.machine, rows)
    k = exported.machine.n_outputs
    if exported.reading is Reading.VALUES and exported.calibration is None:
        graph.add("Identity", values, output="variable")
        return [("variable", kind, [k])]
    if exported.reading is Reading.OUTLIERS:
        return [_outlier_label(graph, values), _scores(graph, values, kind, k)]
    if exported.reading is Reading.PAIRS:
        return _pairs(graph, exported, values, kind)
    if exported.calibration is not None:
        probabilities = _probabilities(graph, exported.calibration, values, k)
        n, by_scores = max(2, k), exported.labels_by_scores
        graph.add("Identity", probabilities, output="probabilities")
        label = _label(graph, exported, _by_class(graph, values, k) if by_scores else probabilities)
        return [label, ("probabilities", kind, [n]), _scores(graph, values, kind, k)]
    return [_label(graph, exported, _by_class(graph, values, k)), _scores(graph, values, kind, k)]


def _by_class(graph: Graph, values: str, k: int) -> str:
    """A score for each class: the one of two classes against 0."""
    if k > 1:
        return values
    zeros = graph.add("Mul", values, graph.constant(0.0))
    return graph.add("Concat", zeros, values, axis=1)


def _scores(graph: Graph, values: str, kind: int, k: int) -> Output:
    graph.add("Identity", values, output="scores")
    return "scores", kind, [k]


def _label(graph: Graph, exported: ExportedModel, scores: str) -> Output:
    """The class of the largest score, the first of them where several are."""
    from onnx import TensorProto

    code = graph.add("ArgMax", scores, axis=1, keepdims=0)
    classes = exported.classes
    if classes is None:
        graph.add("Identity", code, output="label")
        return "label", TensorProto.INT64, []
    if all(isinstance(label, int) for label in classes):
        names, kind = graph.constant(classes, np.int64), TensorProto.INT64
    elif all(isinstance(label, int | float) for label in classes):
        names, kind = graph.constant(classes, np.float64), TensorProto.DOUBLE
    else:
        names, kind = graph.strings([str(label) for label in classes]), TensorProto.STRING
    graph.add("Gather", names, code, output="label", axis=0)
    return "label", kind, []


def _outlier_label(graph: Graph, values: str) -> Output:
    from onnx import TensorProto

    inside = graph.add("GreaterOrEqual", values, graph.constant(0.0))
    ones, minus = graph.constant([1], np.int64), graph.constant([-1], np.int64)
    signs = graph.add("Where", inside, ones, minus)
    graph.add("Squeeze", signs, graph.constant([1], np.int64), output="label")
    return "label", TensorProto.INT64, []


def _pairs(graph: Graph, exported: ExportedModel, values: str, kind: int) -> list[Output]:
    """One vote for the winner of each pair; shares below a third of a vote order equal counts."""
    n = len(exported.classes or ())
    pairs = list(combinations(range(n), 2))
    first, second = np.zeros((len(pairs), n)), np.zeros((len(pairs), n))
    for row, (i, j) in enumerate(pairs):
        first[row, i] = second[row, j] = 1.0
    wins = graph.add("Greater", values, graph.constant(0.0))
    won = graph.add("Where", wins, graph.constant(1.0), graph.constant(0.0))
    lost = graph.add("Sub", graph.constant(1.0), won)
    votes = graph.add(
        "Add",
        graph.add("MatMul", won, graph.constant(first)),
        graph.add("MatMul", lost, graph.constant(second)),
    )
    confidence = graph.add("MatMul", values, graph.constant(first - second))
    size = graph.add("Add", graph.add("Abs", confidence), graph.constant(1.0))
    share = graph.add("Div", confidence, graph.add("Mul", size, graph.constant(3.0)))
    shared = graph.add("Add", votes, share)
    if exported.calibration is not None:
        probabilities = _probabilities(graph, exported.calibration, shared, n)
        graph.add("Identity", probabilities, output="probabilities")
        label = _label(graph, exported, probabilities)
        return [label, ("probabilities", kind, [n]), _scores(graph, shared, kind, n)]
    decided = shared if exported.break_ties and exported.votes else votes
    label = _label(graph, exported, decided)
    if exported.votes:
        return [label, _scores(graph, shared, kind, n)]
    return [label, _scores(graph, values, kind, len(pairs))]


def _probabilities(graph: Graph, calibration: Calibration, values: str, k: int) -> str:
    """Of k scores for each row."""
    if isinstance(calibration, TemperatureCalibration):
        inverse = graph.constant(float(calibration.inverse_temperature))
        logits = graph.add("Mul", values, inverse)
        if k == 1:
            logits = graph.add("Concat", graph.add("Neg", logits), logits, axis=1)
        return graph.add("Softmax", logits, axis=1)
    assert isinstance(calibration, SigmoidCalibration)
    scaled = graph.add("Mul", values, graph.constant(np.negative(calibration.slopes)))
    shifted = graph.add("Sub", scaled, graph.constant(calibration.offsets))
    shares = graph.add("Sigmoid", shifted)
    if k == 1:
        rest = graph.add("Sub", graph.constant(1.0), shares)
        return graph.add("Concat", rest, shares, axis=1)
    total = graph.add("ReduceSum", shares, graph.constant([1], np.int64), keepdims=1)
    even = graph.add("Equal", total, graph.constant(0.0))
    safe = graph.add("Where", even, graph.constant(1.0), total)
    normal = graph.add("Div", shares, safe)
    return graph.add("Where", even, graph.constant(1.0 / k), normal)
