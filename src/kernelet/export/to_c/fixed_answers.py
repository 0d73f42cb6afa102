"""What C in integers has in common: the table of powers, labels, probabilities."""

from __future__ import annotations

from kernelet.export.to_c.fixed_logits import FixedLogits
from kernelet.export.to_c.fixed_point import LARGEST, ONE
from kernelet.export.to_c.interface import Interface
from kernelet.export.to_c.pieces import REALS, Table, integers

# Of the rows before they are rounded.
FLOAT = REALS["float32"]
# 2^(-i/64) for i = 0, ..., 64 and straight lines in between, (ln(2) / 64)^2 / 8 = 1.5e-5 from the
# curve at most: as much as rounding to 1/32768. `mantissa` in power.c takes 6 bits for i.
POWERS = tuple(round(ONE * 2.0 ** (-i / 64)) for i in range(65))
# Of what `mantissa` finds between two entries: 15 of the table, 10 of a share of 1/1024.
MANTISSA_DIGITS = 25


def powers_table() -> Table:
    """2^(-i/64)."""
    return integers("uint16_t", "powers", POWERS)


def answer_values(
    interface: Interface, score_unit: float, logits: FixedLogits | None
) -> dict[str, object]:
    """What the header, power.c, rounded.c and answers.c ask for."""
    by_probability = interface.values()["by_probability"]
    return {
        "fixed": True,
        "nan": False,  # there is none among integers
        "one": ONE,
        "mantissa_digits": MANTISSA_DIGITS,
        "largest": LARGEST,
        "row": "q",
        "row_length": interface.kernel_length,
        "row_type": "int16_t",
        "score_type": "int32_t",
        "share_type": "uint16_t",
        "score_unit": FLOAT.constant(score_unit),
        "of_pairs": " of the pairs (0, 1), (0, 2), ..." if interface.is_pairs else "",
        "logit_shift": 0 if logits is None else logits.shift,
        "compared": "t" if by_probability else "scores",
    }


def stacked_bytes(interface: Interface) -> int:
    """Bytes of the arrays of labels and probabilities, scores included."""
    k = interface.exported.machine.n_outputs
    stacked = 4 * k
    if interface.has_probabilities:
        stacked += 12 * k  # logits and shares
    if interface.is_pairs:
        stacked += (12 if interface.exported.break_ties else 4) * interface.n_classes  # votes
    return stacked
