"""The model of costs, and what the measured lines must show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.scale import figures
from benchmarks.scale.cost import CostModel


def line(model, rows, pieces, n_workers=2):
    """What a run would measure if the model were true and the network free."""
    return {
        "rows": rows,
        "pieces": pieces,
        "passes": model.passes,
        "seconds": model.seconds(rows, n_workers, pieces, np.inf),
        "bytes": model.bytes(pieces),
    }


def test_the_model_finds_its_own_coefficients():
    truth = CostModel(2e-7, 0.05, 0.002, 3e5, 2e4, 4.0)
    runs = [line(truth, rows, pieces) for rows in (10**5, 10**6) for pieces in (8, 64)]
    found = CostModel.fitted(runs, 2)
    for name in ("compute", "fixed", "task", "bytes_fixed", "bytes_piece", "passes"):
        assert_allclose(getattr(found, name), getattr(truth, name), rtol=1e-6, err_msg=name)
    assert_allclose(
        found.seconds(10**7, 2, 8, 1e6), truth.seconds(10**7, 2, 8, np.inf) + truth.bytes(8) / 1e6
    )


def test_no_cost_is_negative():
    truth = CostModel(2e-7, 0.0, 0.0, 1e5, 0.0, 1.0)
    runs = [line(truth, rows, pieces) for rows in (10**5, 10**6) for pieces in (8, 64)]
    runs[1]["seconds"] *= 0.9
    found = CostModel.fitted(runs, 2)
    assert min(found.compute, found.fixed, found.task, found.bytes_piece) >= 0.0


@pytest.mark.parametrize(
    ("what", "figure", "limit"),
    figures.judged(figures.read()),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_was_measured_is_inside_its_limit(what, figure, limit):
    assert figure <= limit
