"""How integer scores become labels and probabilities, in C."""

from __future__ import annotations

from kernelet.export.model import Reading
from kernelet.export.to_c.fixed_point import ONE, FixedLogits
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.pieces import Table, integers
from kernelet.machine import TemperatureCalibration


def logits_tables(logits: FixedLogits) -> list[Table]:
    """Multiplier and offset of each score."""
    return [
        integers("int64_t", "multipliers", logits.multipliers),
        integers("int64_t", "offsets", logits.offsets),
    ]


def predict_function(interface: Interface) -> list[str]:
    """Lines of ``predict``."""
    exported, k = interface.exported, interface.exported.machine.n_outputs
    head = [interface.head("predict"), "{", f"    int32_t scores[{k}];"]
    evaluate = ["", f"    {interface.name}_decision_function(q, scores);"]
    if exported.reading is Reading.OUTLIERS:
        return [*head, *evaluate, "    return scores[0] >= 0 ? 1 : -1;", "}", ""]
    if exported.reading is Reading.PAIRS:
        return [*head, *_votes(interface.n_classes, exported.break_ties, evaluate), "}", ""]
    compared = "scores"
    if exported.calibration is not None and not exported.labels_by_scores:
        # the largest logit is that of the largest probability
        head.append(f"    int64_t t[{k}];")
        evaluate.append("    logits(scores, t);")
        compared = "t"
    if k == 1:
        return [*head, *evaluate, f"    return {compared}[0] > 0;", "}", ""]
    return [
        *head,
        "    int o, best = 0;",
        *evaluate,
        f"    for (o = 1; o < {k}; o++)",
        f"        if ({compared}[o] > {compared}[best])",
        "            best = o;",
        "    return best;",
        "}",
        "",
    ]


def _votes(n: int, break_ties: bool, evaluate: list[str]) -> list[str]:
    """The class of most votes: the first of them, or by the sum of its scores."""
    confidence = ["            confidence[i] += scores[pair];"]
    confidence += ["            confidence[j] -= scores[pair];"]
    better = "votes[i] > votes[best]"
    if break_ties:
        better += " || (votes[i] == votes[best] && confidence[i] > confidence[best])"
    return [
        *([f"    int64_t confidence[{n}] = {{0}};"] if break_ties else []),
        f"    int votes[{n}] = {{0}};",
        "    int i, j, pair = 0, best = 0;",
        *evaluate,
        f"    for (i = 0; i < {n}; i++) {{",
        f"        for (j = i + 1; j < {n}; j++, pair++) {{",
        "            votes[scores[pair] > 0 ? i : j]++;",
        *(confidence if break_ties else []),
        "        }",
        "    }",
        f"    for (i = 1; i < {n}; i++)",
        f"        if ({better})",
        "            best = i;",
        "    return best;",
    ]


def logits_function(logits: FixedLogits) -> list[str]:
    """Lines of ``logits(scores, t)``."""
    return [
        "/* Logits in base 2, with 16 binary digits after the point. */",
        "static void logits(const int32_t *scores, int64_t *t)",
        "{",
        "    int o;",
        "",
        f"    for (o = 0; o < {len(logits.multipliers)}; o++)",
        f"        t[o] = scores[o] * multipliers[o] / (INT64_C(1) << {logits.shift}) + offsets[o];",
        "}",
        "",
    ]


def probabilities_function(interface: Interface) -> list[str]:
    """Lines of ``predict_proba``."""
    k = interface.exported.machine.n_outputs
    is_softmax = isinstance(interface.exported.calibration, TemperatureCalibration) and k > 1
    head = [
        interface.head("predict_proba"),
        "{",
        f"    int32_t scores[{k}];",
        f"    int64_t t[{k}]{', top' if k > 1 else ''};",
    ]
    evaluate = ["", f"    {interface.name}_decision_function(q, scores);", "    logits(scores, t);"]
    if k == 1:
        return [
            *_logistic(),
            *head,
            *evaluate,
            "    probabilities[1] = (uint16_t)logistic(t[0], 0);",
            f"    probabilities[0] = (uint16_t)({ONE}u - probabilities[1]);",
            "}",
            "",
        ]
    share = "power((uint64_t)(top - t[o]))" if is_softmax else "logistic(t[o], top < 0 ? top : 0)"
    evaluate += [
        "    top = t[0];",
        f"    for (o = 1; o < {k}; o++)",
        "        top = t[o] > top ? t[o] : top;",
    ]
    return [
        *([] if is_softmax else _logistic()),
        *head,
        f"    uint32_t shares[{k}], total = 0;",
        "    int o;",
        *evaluate,
        f"    for (o = 0; o < {k}; o++) {{",
        f"        shares[o] = {share};",
        "        total += shares[o];",
        "    }",
        f"    for (o = 0; o < {k}; o++)",
        f"        probabilities[o] = (uint16_t)(shares[o] * {ONE}u / total);",
        "}",
        "",
    ]


def _logistic() -> list[str]:
    return [
        "/*",
        f" * 1 / (1 + 2^-t), 1 being {ONE}, divided by 2^top where not even the largest of several",
        " * reaches a half, so that they do not vanish together.",
        " */",
        "static uint32_t logistic(int64_t t, int64_t top)",
        "{",
        "    const uint32_t small = power((uint64_t)(t < 0 ? -t : t));",
        f"    const uint32_t share = t < 0 ? power((uint64_t)(top - t)) : {ONE}u;",
        "",
        f"    return share * {ONE}u / ({ONE}u + small);",
        "}",
        "",
    ]
