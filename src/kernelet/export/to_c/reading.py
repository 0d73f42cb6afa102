"""How the outputs of a machine become scores and labels, in C."""

from __future__ import annotations

from kernelet.export.model import Reading
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.pieces import Real


def reading_functions(interface: Interface, real: Real) -> list[str]:
    """Definitions of ``decision_function`` and ``predict``."""
    lines: list[str] = []
    if interface.exported.reading is Reading.PAIRS:
        lines += _votes(interface, real)
    lines += _decision_function(interface, real)
    if interface.n_classes:
        lines += [*_largest(real), *_predict(interface, real)]
    elif interface.exported.reading is Reading.OUTLIERS:
        lines += _predict_sign(interface, real)
    return lines


def _decision_function(interface: Interface, real: Real) -> list[str]:
    head = interface.head("decision_function")
    if interface.exported.reading is Reading.PAIRS and interface.exported.votes:
        return [
            head,
            "{",
            f"    {real.name} values[{interface.exported.machine.n_outputs}];",
            "",
            "    outputs(x, values);",
            "    count_votes(values, scores, 1);",
            "}",
            "",
        ]
    return [head, "{", "    outputs(x, scores);", "}", ""]


def _votes(interface: Interface, real: Real) -> list[str]:
    """As scikit-learn counts them: shares below a third of a vote order equal counts."""
    k = interface.n_classes
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
        "        /* NaN stays NaN */",
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


def _predict(interface: Interface, real: Real) -> list[str]:
    exported, classes = interface.exported, interface.n_classes
    k = exported.machine.n_outputs
    lines = [interface.head("predict"), "{"]
    if exported.reading is Reading.PAIRS:
        shares = int(exported.break_ties and exported.votes)
        return [
            *lines,
            f"    {real.name} values[{k}], votes[{classes}];",
            "",
            "    outputs(x, values);",
            f"    count_votes(values, votes, {shares});",
            f"    return largest(votes, {classes});",
            "}",
            "",
        ]
    by_probability = exported.calibration is not None and not exported.labels_by_scores
    place = "values" if k > 1 else "values + 1"
    zero = real.constant(0.0)
    return [
        *lines,
        f"    {real.name} values[{classes}]{'' if k > 1 else f' = {{{zero}, {zero}}}'};",
        "",
        f"    outputs(x, {place});",
        # the largest logit is that of the largest probability, and not rounded to 1
        *([f"    logits({place});"] if by_probability else []),
        f"    return largest(values, {classes});",
        "}",
        "",
    ]


def _predict_sign(interface: Interface, real: Real) -> list[str]:
    return [
        interface.head("predict"),
        "{",
        f"    {real.name} value;",
        "",
        "    outputs(x, &value);",
        "    if (value != value)",
        "        return 0;",
        f"    return value >= {real.constant(0.0)} ? 1 : -1;",
        "}",
        "",
    ]
