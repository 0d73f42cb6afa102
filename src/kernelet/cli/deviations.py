"""How far predicted numbers are from the true ones, and how many rows lie outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelet.cli.output import Output, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(eq=False)
class Deviations:
    """R^2, root mean square and mean absolute deviation, of rows added piece by piece.

    Attributes
    ----------
    n_rows : int
    mean, spread : float
        Mean of the true numbers, and the sum of their squared distances from it.
    squares, sizes : float
        Sums of the squared and of the absolute deviations.

    Examples
    --------
    >>> import numpy as np
    >>> figures = Deviations()
    >>> figures.add(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
    >>> figures.add(np.array([6.0]), np.array([5.5]))
    >>> figures.headline
    'R2 0.9643, RMSE 0.4082, MAE 0.3333 on 3 rows'
    """

    n_rows: int = 0
    mean: float = 0.0
    spread: float = 0.0
    squares: float = 0.0
    sizes: float = 0.0

    def add(self, truth: NDArray[Any], predicted: NDArray[Any]) -> None:
        """More rows."""
        import numpy as np

        n = len(truth)
        if not n:
            return
        deviations = truth - predicted
        self.squares += float(deviations @ deviations)
        self.sizes += float(np.abs(deviations).sum())
        # two groups' spreads about one mean: that of each, and that of their means
        mean = float(np.mean(truth))
        between = (mean - self.mean) ** 2 * self.n_rows * n / (self.n_rows + n)
        self.spread += float(np.square(truth - mean).sum()) + between
        self.mean += (mean - self.mean) * n / (self.n_rows + n)
        self.n_rows += n

    @property
    def r2(self) -> float:
        """Share of the spread that is explained; nan where all numbers are the same."""
        return 1.0 - self.squares / self.spread if self.spread > 0.0 else float("nan")

    @property
    def error(self) -> float:
        """Root of the mean squared deviation."""
        return float((self.squares / max(self.n_rows, 1)) ** 0.5)

    @property
    def headline(self) -> str:
        """All of it in a line."""
        mae = self.sizes / max(self.n_rows, 1)
        return f"R2 {self.r2:.4g}, RMSE {self.error:.4g}, MAE {mae:.4g} on {self.n_rows} rows"

    def document(self) -> dict[str, Any]:
        """All of it for JSON."""
        mae = self.sizes / max(self.n_rows, 1)
        return {"rows": self.n_rows, "r2": self.r2, "rmse": self.error, "mae": mae}

    def show(self, output: Output) -> None:
        """The figures as text."""
        document = self.document()
        names = {"r2": "R2", "rmse": "RMSE", "mae": "MAE"}
        output.facts([(names[key], f"{document[key]:.6g}") for key in names])
        output.text()
        output.text(f"{self.n_rows} rows")


@dataclass(eq=False)
class Outside:
    """How many rows a model of one class takes for outliers."""

    n_rows: int = 0
    n_outside: int = 0

    def add(self, truth: object, predicted: NDArray[Any]) -> None:
        """More rows; there is no truth about them."""
        self.n_rows += len(predicted)
        self.n_outside += int((predicted < 0).sum())

    @property
    def error(self) -> float:
        """Share of the rows outside."""
        return self.n_outside / max(self.n_rows, 1)

    @property
    def headline(self) -> str:
        """All of it in a line."""
        return f"{percent(self.error)} of {self.n_rows} rows are outside"

    def document(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {"rows": self.n_rows, "outside": self.n_outside, "share_outside": self.error}

    def show(self, output: Output) -> None:
        """The figures as text."""
        output.text(self.headline)
