"""The machine that the demo is about: which one it is, and how it differs from the full SVM.

Differences and ratios are those of the figures as they are shown, so that a reader who computes
them finds the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernelet.report.comparison import Measured


@dataclass(frozen=True)
class Headline:
    """A small machine against the SVM.

    Attributes
    ----------
    svm, small : Measured
    standard_error : float
        Of the SVM's test error, as a share of the test rows.
    """

    svm: Measured
    small: Measured
    standard_error: float

    @property
    def is_as_good(self) -> bool:
        """Whether the error is the SVM's or less, or within its standard error."""
        return self.small.test_error <= self.svm.test_error + self.standard_error

    @property
    def title(self) -> str:
        """What the page is called."""
        relation = "do the work of" if self.is_as_good else "in place of"
        return f"{self.small.vectors} vectors {relation} {self.svm.vectors}"

    @property
    def points(self) -> float:
        """Difference of the errors in per cent."""
        return round(self.small.percent_wrong - self.svm.percent_wrong, 1)

    @property
    def fewer(self) -> str:
        """Times fewer kernel values a row."""
        return _times(self.svm.kernel_values_per_row, self.small.kernel_values_per_row)

    @property
    def faster(self) -> str:
        """Times faster."""
        return _times(self.svm.shown_microseconds, self.small.shown_microseconds)

    @property
    def smaller(self) -> str:
        """Times smaller."""
        return _times(self.svm.model_bytes, self.small.model_bytes)

    @property
    def verdict(self) -> str:
        """The errors, and what their difference means."""
        errors = (
            f"Its error on the test rows is {self.small.percent_wrong:.1f} %, the SVM's "
            f"{self.svm.percent_wrong:.1f} %"
        )
        if self.points <= 0:
            return errors
        if self.is_as_good:
            return f"{errors}: within one standard error ({100 * self.standard_error:.1f} points)"
        return f"{errors}: {self.points:.1f} points more"


def headline(models: Sequence[Measured], test_rows: int) -> Headline:
    """About the fewest vectors with the SVM's error or less, or within one standard error of it.

    Where there is no such machine, about the one with the least error.

    Parameters
    ----------
    models : sequence of Measured
        The SVM first.
    test_rows : int
    """
    svm, *small = models
    error = math.sqrt(svm.test_error * (1.0 - svm.test_error) / test_rows)
    about = [Headline(svm, model, error) for model in small]
    as_good = [one for one in about if one.is_as_good and one.small.vectors < svm.vectors]
    if as_good:
        return min(as_good, key=lambda one: (one.small.vectors, one.small.test_error))
    return min(about, key=lambda one: (one.small.test_error, one.small.vectors))


def _times(more: float, less: float) -> str:
    """A ratio with two digits; a time too short to be shown counts as the shortest that is.

    Examples
    --------
    >>> _times(518, 100), _times(518, 50), _times(24.32, 0.21)
    ('5.2', '10', '116')
    """
    ratio = more / max(less, 0.01)
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"
