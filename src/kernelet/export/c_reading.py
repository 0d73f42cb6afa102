"""How the outputs of a machine become scores, labels and probabilities, in C."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelet.export.c_source import Real, numbers, quoted, table
from kernelet.export.model import ExportedModel
from kernelet.machine import SigmoidCalibration, TemperatureCalibration


def n_scores(exported: ExportedModel) -> int:
    """Numbers that the decision function gives for a row."""
    if exported.reading == "pairs" and exported.votes:
        return len(exported.classes or ())
    return exported.machine.n_outputs


def n_classes(exported: ExportedModel) -> int:
    """Classes that there are to predict; 0 for values."""
    if exported.calibration is not None:
        return max(2, exported.machine.n_outputs)
    return len(exported.classes or ())


def reading_declarations(exported: ExportedModel, name: str, real: str) -> list[str]:
    """Constants, labels and functions of the header."""
    prefix = name.upper()
    lines = [f"#define {prefix}_SCORES {n_scores(exported)}"]
    if n_classes(exported):
        lines.append(f"#define {prefix}_CLASSES {n_classes(exported)}")
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    row = f"const {real} x[{prefix}_FEATURES]"
    lines += [
        f"/* The {prefix}_SCORES scores of a row. NaN in a row gives NaN. */",
        f"void {name}_decision_function({row}, {real} scores[{prefix}_SCORES]);",
        "",
        "/* The same for n rows that follow each other. */",
        f"void {name}_decision_function_batch(const {real} *x, size_t n, {real} *scores);",
    ]
    if n_classes(exported):
        lines += [
            "",
            "/* The number of the class of a row, from 0; -1 if the row holds NaN. */",
            f"int {name}_predict({row});",
            f"void {name}_predict_batch(const {real} *x, size_t n, int *classes);",
        ]
    if exported.reading == "outliers":
        lines += [
            "",
            "/* 1 for a row like those of the training, -1 for an outlier, 0 if it holds NaN. */",
            f"int {name}_predict({row});",
            f"void {name}_predict_batch(const {real} *x, size_t n, int *signs);",
        ]
    if exported.classes is not None:
        lines += [
            "",
            "/* What the classes are called. */",
            f"extern {labels_type(exported, name)};",
        ]
    if exported.calibration is not None:
        lines += [
            "",
            "/* Probabilities of the classes. */",
            f"void {name}_predict_proba({row}, {real} probabilities[{prefix}_CLASSES]);",
        ]
    return [*lines, "", "#ifdef __cplusplus", "}", "#endif"]


def reading_functions(exported: ExportedModel, name: str, real: Real) -> list[str]:
    """Definitions of what `reading_declarations` declares."""
    lines: list[str] = []
    if exported.classes is not None:
        lines += [*table(labels_type(exported, name), labels(exported)), ""]
    if exported.reading == "pairs":
        lines += _votes(exported, real)
    if n_classes(exported):
        lines += _largest(real)
    lines += _decision_function(exported, name, real)
    if exported.calibration is not None:
        lines += _probabilities(exported, name, real)
    if n_classes(exported):
        lines += _predict(exported, name, real)
    elif exported.reading == "outliers":
        lines += _predict_sign(name, real)
    lines += _batch(
        name,
        "decision_function",
        real,
        f"{real.name} *scores",
        f"scores + i * {name.upper()}_SCORES",
    )
    if n_classes(exported) or exported.reading == "outliers":
        lines += ["", *_batch(name, "predict", real, "int *classes", None)]
    return lines


def _row(name: str, real: Real) -> str:
    return f"const {real.name} x[{name.upper()}_FEATURES]"


def _proba_head(name: str, real: Real) -> str:
    result = f"{real.name} probabilities[{name.upper()}_CLASSES]"
    return f"void {name}_predict_proba({_row(name, real)}, {result})"


def labels_type(exported: ExportedModel, name: str) -> str:
    """The declaration of the labels."""
    kind = "int" if _are_integers(exported.classes) else "char *const"
    return f"const {kind} {name}_labels[{name.upper()}_CLASSES]"


def _are_integers(classes: list[Any] | None) -> bool:
    # int has at least 16 bits
    return all(isinstance(label, int) and abs(label) < 2**15 for label in classes or ())


def labels(exported: ExportedModel) -> list[str]:
    """The labels as constants of C."""
    classes = exported.classes or []
    if _are_integers(classes):
        return [str(int(label)) for label in classes]
    return [quoted(str(label)) for label in classes]


def _decision_function(exported: ExportedModel, name: str, real: Real) -> list[str]:
    prefix = name.upper()
    arguments = f"{_row(name, real)}, {real.name} scores[{prefix}_SCORES]"
    head = f"void {name}_decision_function({arguments})"
    if exported.reading == "pairs" and exported.votes:
        pairs = exported.machine.n_outputs
        return [
            head,
            "{",
            f"    {real.name} values[{pairs}];",
            "",
            "    outputs(x, values);",
            "    count_votes(values, scores, 1);",
            "}",
            "",
        ]
    return [head, "{", "    outputs(x, scores);", "}", ""]


def _votes(exported: ExportedModel, real: Real) -> list[str]:
    """As scikit-learn counts them: shares below a third of a vote order equal counts."""
    k = len(exported.classes or ())
    zero, one, three = (real.constant(number) for number in (0.0, 1.0, 3.0))
    absolute = real.function("fabs")
    return [
        "/* Votes of the classes; shares below a third of a vote order equal counts. */",
        f"static void count_votes(const {real.name} *values, {real.name} *votes, int with_shares)",
        "{",
        f"    {real.name} confidence[{k}];",
        "    int i, j, pair = 0;",
        "",
        f"    for (i = 0; i < {k}; i++)",
        f"        votes[i] = confidence[i] = {zero};",
        f"    for (i = 0; i < {k}; i++) {{",
        f"        for (j = i + 1; j < {k}; j++, pair++) {{",
        f"            votes[values[pair] > {zero} ? i : j] += {one};",
        "            confidence[i] += values[pair];",
        "            confidence[j] -= values[pair];",
        "        }",
        "    }",
        f"    for (i = 0; i < {k}; i++) {{",
        f"        const {real.name} size = {absolute}(confidence[i]);",
        f"        const {real.name} share = confidence[i] / ({three} * (size + {one}));",
        "",
        "        if (with_shares || share != share)",
        "            votes[i] += share;",
        "    }",
        "}",
        "",
    ]


def _largest(real: Real) -> list[str]:
    return [
        "/* The first of the largest values; -1 if one of them is NaN. */",
        f"static int largest(const {real.name} *values, int n)",
        "{",
        "    int i, best = 0;",
        "",
        "    for (i = 0; i < n; i++) {",
        "        if (values[i] != values[i])",
        "            return -1;",
        "        if (values[i] > values[best])",
        "            best = i;",
        "    }",
        "    return best;",
        "}",
        "",
    ]


def _predict(exported: ExportedModel, name: str, real: Real) -> list[str]:
    k, classes = exported.machine.n_outputs, n_classes(exported)
    lines = [f"int {name}_predict({_row(name, real)})", "{"]
    if exported.calibration is not None:
        lines += [
            f"    {real.name} probabilities[{classes}];",
            "",
            f"    {name}_predict_proba(x, probabilities);",
            f"    return largest(probabilities, {classes});",
        ]
    elif exported.reading == "pairs":
        shares = int(exported.break_ties and exported.votes)
        lines += [
            f"    {real.name} values[{k}], votes[{classes}];",
            "",
            "    outputs(x, values);",
            f"    count_votes(values, votes, {shares});",
            f"    return largest(votes, {classes});",
        ]
    elif k == 1:
        lines += [
            f"    {real.name} values[2] = {{{real.constant(0.0)}, {real.constant(0.0)}}};",
            "",
            "    outputs(x, values + 1);",
            "    return largest(values, 2);",
        ]
    else:
        lines += [
            f"    {real.name} values[{k}];",
            "",
            "    outputs(x, values);",
            f"    return largest(values, {k});",
        ]
    return [*lines, "}", ""]


def _predict_sign(name: str, real: Real) -> list[str]:
    zero = real.constant(0.0)
    return [
        f"int {name}_predict({_row(name, real)})",
        "{",
        f"    {real.name} value;",
        "",
        "    outputs(x, &value);",
        "    if (value != value)",
        "        return 0;",
        f"    return value >= {zero} ? 1 : -1;",
        "}",
        "",
    ]


def _probabilities(exported: ExportedModel, name: str, real: Real) -> list[str]:
    k, classes = exported.machine.n_outputs, n_classes(exported)
    exp, one, zero = real.function("exp"), real.constant(1.0), real.constant(0.0)
    head = [
        _proba_head(name, real),
        "{",
        f"    {real.name} values[{k}], total = {zero};",
        "    int o;",
        "",
        "    outputs(x, values);",
    ]
    calibration = exported.calibration
    if isinstance(calibration, TemperatureCalibration):
        inverse = real.constant(float(calibration.inverse_temperature))
        logits = [f"        probabilities[o] = {inverse} * values[o];"]
        first = [f"    for (o = 0; o < {k}; o++)", *logits]
        if k == 1:
            first = [
                f"    probabilities[0] = -{inverse} * values[0];",
                f"    probabilities[1] = {inverse} * values[0];",
            ]
        return [
            *head[:3],
            f"    {real.name} top;",
            *head[3:],
            *first,
            "    top = probabilities[0];",
            f"    for (o = 1; o < {classes}; o++)",
            f"        top = {real.function('fmax')}(top, probabilities[o]);",
            f"    for (o = 0; o < {classes}; o++) {{",
            f"        probabilities[o] = {exp}(probabilities[o] - top);",
            "        total += probabilities[o];",
            "    }",
            f"    for (o = 0; o < {classes}; o++)",
            "        probabilities[o] /= total;",
            "}",
            "",
        ]
    assert isinstance(calibration, SigmoidCalibration)
    slopes = numbers(np.asarray(calibration.slopes, dtype=real.dtype), real)
    offsets = numbers(np.asarray(calibration.offsets, dtype=real.dtype), real)
    tables = [
        *table(f"static const {real.name} slopes[{k}]", slopes),
        *table(f"static const {real.name} offsets[{k}]", offsets),
        "",
        f"static {real.name} logistic({real.name} t)",
        "{",
        f"    const {real.name} small = {exp}(-{real.function('fabs')}(t));",
        "",
        f"    return (t >= {zero} ? {one} : small) / ({one} + small);",
        "}",
        "",
    ]
    if k == 1:
        return [
            *tables,
            _proba_head(name, real),
            "{",
            f"    {real.name} value;",
            "",
            "    outputs(x, &value);",
            "    probabilities[1] = logistic(-(value * slopes[0] + offsets[0]));",
            f"    probabilities[0] = {one} - probabilities[1];",
            "}",
            "",
        ]
    even = real.constant(1.0 / k)
    return [
        *tables,
        *head,
        f"    for (o = 0; o < {k}; o++) {{",
        "        probabilities[o] = logistic(-(values[o] * slopes[o] + offsets[o]));",
        "        total += probabilities[o];",
        "    }",
        f"    for (o = 0; o < {k}; o++)",
        f"        probabilities[o] = total == {zero} ? {even} : probabilities[o] / total;",
        "}",
        "",
    ]


def _batch(name: str, function: str, real: Real, result: str, place: str | None) -> list[str]:
    row = f"x + i * {name.upper()}_FEATURES"
    call = (
        f"{name}_{function}({row}, {place})" if place else f"classes[i] = {name}_{function}({row})"
    )
    return [
        f"void {name}_{function}_batch(const {real.name} *x, size_t n, {result})",
        "{",
        "    size_t i;",
        "",
        "    for (i = 0; i < n; i++)",
        f"        {call};",
        "}",
    ]
