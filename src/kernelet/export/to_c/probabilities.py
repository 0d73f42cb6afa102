"""How scores become probabilities, in C."""

from __future__ import annotations

import numpy as np

from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.pieces import Real, Table
from kernelet.machine import SigmoidCalibration, TemperatureCalibration


def calibration_tables(interface: Interface, real: Real) -> list[Table]:
    """Slopes and offsets of the sigmoids, where there are sigmoids."""
    calibration = interface.exported.calibration
    if not isinstance(calibration, SigmoidCalibration):
        return []
    return [
        real.table("slopes", np.asarray(calibration.slopes)),
        real.table("offsets", np.asarray(calibration.offsets)),
    ]


def logits_function(interface: Interface, real: Real) -> list[str]:
    """Lines of ``logits(values)``: what the sigmoid or the softmax is taken of, in place."""
    calibration = interface.exported.calibration
    if calibration is None:
        return []
    if isinstance(calibration, TemperatureCalibration):
        inverse = real.constant(float(calibration.inverse_temperature))
        step = f"values[o] *= {inverse};"
    elif isinstance(calibration, SigmoidCalibration):
        step = "values[o] = -(values[o] * slopes[o] + offsets[o]);"
    else:
        raise TypeError(f"a calibration of the class {type(calibration).__name__} is not exported.")
    return [
        f"static void logits({real.name} *values)",
        "{",
        "    int o;",
        "",
        f"    for (o = 0; o < {interface.exported.machine.n_outputs}; o++)",
        f"        {step}",
        "}",
        "",
    ]


def probabilities_function(interface: Interface, real: Real) -> list[str]:
    """Lines of ``predict_proba``."""
    k = interface.exported.machine.n_outputs
    is_softmax = isinstance(interface.exported.calibration, TemperatureCalibration)
    if k == 1:
        return [*_logistic(real), *_of_two(interface, real, is_softmax)]
    if is_softmax:
        return _softmax(interface, real, k)
    return [*_logistic(real), *_normalised(interface, real, k)]


def _logistic(real: Real) -> list[str]:
    one, zero = real.constant(1.0), real.constant(0.0)
    return [
        f"static {real.name} logistic({real.name} t)",
        "{",
        f"    const {real.name} small = {real.function('exp')}(-{real.function('fabs')}(t));",
        "",
        f"    return (t >= {zero} ? {one} : small) / ({one} + small);",
        "}",
        "",
    ]


def _of_two(interface: Interface, real: Real, is_softmax: bool) -> list[str]:
    # the softmax of -t and t is the sigmoid of 2 t
    argument = f"{real.constant(2.0)} * value" if is_softmax else "value"
    return [
        interface.head("predict_proba"),
        "{",
        f"    {real.name} value;",
        "",
        "    outputs(x, &value);",
        "    logits(&value);",
        f"    probabilities[1] = logistic({argument});",
        f"    probabilities[0] = logistic(-({argument}));",
        "}",
        "",
    ]


def _softmax(interface: Interface, real: Real, k: int) -> list[str]:
    return [
        interface.head("predict_proba"),
        "{",
        f"    {real.name} top, total = {real.constant(0.0)};",
        "    int o;",
        "",
        "    outputs(x, probabilities);",
        "    logits(probabilities);",
        "    top = probabilities[0];",
        f"    for (o = 1; o < {k}; o++)",
        f"        top = {real.function('fmax')}(top, probabilities[o]);",
        f"    for (o = 0; o < {k}; o++) {{",
        f"        probabilities[o] = {real.function('exp')}(probabilities[o] - top);",
        "        total += probabilities[o];",
        "    }",
        f"    for (o = 0; o < {k}; o++)",
        "        probabilities[o] /= total;",
        "}",
        "",
    ]


def _normalised(interface: Interface, real: Real, k: int) -> list[str]:
    zero, even = real.constant(0.0), real.constant(1.0 / k)
    return [
        interface.head("predict_proba"),
        "{",
        f"    {real.name} total = {zero};",
        "    int o;",
        "",
        "    outputs(x, probabilities);",
        "    logits(probabilities);",
        f"    for (o = 0; o < {k}; o++) {{",
        "        probabilities[o] = logistic(probabilities[o]);",
        "        total += probabilities[o];",
        "    }",
        f"    for (o = 0; o < {k}; o++)",
        f"        probabilities[o] = total == {zero} ? {even} : probabilities[o] / total;",
        "}",
        "",
    ]
