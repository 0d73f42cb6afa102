"""Pieces of models as values and texts that JSON and JavaScript share."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelet.export.model import ExportedModel
from kernelet.kernels import Kernel
from kernelet.kernels.composite import CompositeKernel
from kernelet.kernels.expression import steps
from kernelet.kernels.specification import described
from kernelet.machine import Calibration, SigmoidCalibration, TemperatureCalibration
from kernelet.machine.columns import Number
from kernelet.machine.texts import is_visible

# Whole numbers beyond are not all numbers in JavaScript, but they are all BigInts.
_LARGEST_INTEGER = 2**53 - 1


def calibration_document(calibration: Calibration | None) -> dict[str, Any] | None:
    """What makes probabilities of scores, with NumPy's arrays."""
    if calibration is None:
        return None
    if isinstance(calibration, SigmoidCalibration):
        slopes, offsets = np.asarray(calibration.slopes), np.asarray(calibration.offsets)
        return {"kind": "sigmoid", "slopes": slopes, "offsets": offsets}
    if isinstance(calibration, TemperatureCalibration):
        inverse = float(calibration.inverse_temperature)
        return {"kind": "temperature", "inverse_temperature": inverse}
    raise TypeError(f"a calibration of the class {type(calibration).__name__} is not exported.")


def kernel_document(kernel: Kernel, known: Collection[str] = ()) -> dict[str, Any]:
    """The specification of a kernel, with formulas.

    Parameters
    ----------
    kernel : Kernel
    known : collection of str, default=()
        Names of kernels whose formula a reader knows.

    Examples
    --------
    >>> from kernelet.kernels import Gaussian, Linear
    >>> kernel_document(2.0 * Linear())
    {'name': 'scaled', 'kernel': {'name': 'linear', 'formula': [['product']]}, 'factor': 2.0}
    >>> kernel_document(Gaussian(0.5), ["rbf"])
    {'name': 'rbf', 'gamma': 0.5}
    """

    def formula(part: Kernel) -> dict[str, Any]:
        # kernels that are made of kernels are said by their names
        is_known = isinstance(part, CompositeKernel) or part.name in known
        return {} if is_known else {"formula": steps(part.expression())}

    return described(kernel, np.ndarray.tolist, formula)


def without_formulas(document: Any) -> Any:
    """The specification of a kernel, made of its document.

    Examples
    --------
    >>> without_formulas({"name": "linear", "formula": [["product"]]})
    {'name': 'linear'}
    """
    if isinstance(document, list):
        return [without_formulas(item) for item in document]
    if not isinstance(document, dict):
        return document
    return {key: without_formulas(item) for key, item in document.items() if key != "formula"}


def readable_json(value: Any) -> str:
    r"""JSON that a person may look at: letters as they are, what one does not see as its number.

    Examples
    --------
    >>> print(readable_json("größe\u202e\x7f"))
    "größe\u202e\u007f"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # outside of strings there is nothing but visible ASCII
    return "".join(c if is_visible(c) else _by_number(c) for c in text)


def script_json(value: Any, **options: Any) -> str:
    r"""JSON that is JavaScript too, and may stand in a script element of any page.

    Nothing in it ends the element, begins a comment or another element, or is a line end to
    JavaScript; it is ASCII. ``options`` go to `json.dumps`.

    Examples
    --------
    >>> script_json({"label": "</script><!--"})
    '{"label": "\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(value, **options)
    return re.sub("[<>&\x7f]", lambda found: _by_number(found.group()), text)


def script_value(value: Any) -> str:
    r"""A value in JavaScript: as JSON has it, but for long integers and keys of objects.

    Examples
    --------
    >>> print(script_value({"label": "</b>", "codes": [True, 2**53]}))
    { label: "\u003c/b\u003e", codes: [true, 9007199254740992n] }
    """
    if isinstance(value, np.ndarray):
        if value.ndim == 1:
            return f"[{numbers_text(value)}]"
        rows = [f"    {numbers_text(row)}," for row in value]
        return "\n".join(["[", *rows, "  ]"])
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {script_value(v)}" for key, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(script_value, value))}]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST_INTEGER:
        return f"{value}n"
    return script_json(value)


def _by_number(character: str) -> str:
    """As JSON and JavaScript escape any character: by its one or two units of UTF-16."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def scaling_of(exported: ExportedModel) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """(shift, scale) of a pipeline of scalers, whose rows are numbers without names.

    None for other models. A table's columns of numbers have a ``fill`` for what is missing, which
    scalers leave.
    """
    columns = exported.columns or ()
    numbers = [c for c in columns if isinstance(c, Number) and np.isnan(c.fill)]
    if not columns or len(numbers) < len(columns):
        return None
    return np.array([c.shift for c in numbers]), np.array([c.scale for c in numbers])


def numbers_text(array: NDArray[Any]) -> str:
    """Numbers with as many digits as it takes to read the same again, and no more."""
    if array.dtype.kind in "iu":
        return ", ".join(map(str, array.tolist()))
    exact: Sequence[float] = array.astype(np.float64).tolist()
    if array.dtype == np.float64:
        return ", ".join(map(_shortest, exact))
    short = [str(number) for number in array]
    # Readers round twice, to 64 and to 32 bits: hardly ever is that not the same.
    return ", ".join(
        _without_point(text) if np.float32(float(text)) == number else _shortest(number)
        for text, number in zip(short, exact, strict=True)
    )


def _shortest(number: float) -> str:
    return _without_point(repr(number))


def _without_point(text: str) -> str:
    # some readers take "-0" for the integer, which has no sign
    return text if text == "-0.0" else text.removesuffix(".0")
