"""Labels of exports are counted on drawn rows, once for each export."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from benchmarks import mismatches
from kernelet import SparseSVC


def test_rows_are_the_test_rows_and_points_between_two_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(1).normal(size=(20, 3))
    rows = np.concatenate(list(mismatches.rows_of(X, 100)))
    assert rows.shape == (100, 3)
    np.testing.assert_array_equal(rows, rows.astype(np.float32))
    np.testing.assert_allclose(rows[:20], X, rtol=1e-7)
    lengths = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    away = np.linalg.norm(rows[20:, np.newaxis] - X, axis=2)
    around = away[:, :, np.newaxis] + away[:, np.newaxis] - lengths
    assert np.abs(around.reshape(80, -1).min(axis=1)).max() < 1e-5
    assert (away.min(axis=1) > 1e-3).mean() > 0.9
    monkeypatch.setattr(mismatches, "CHUNK", 7)
    np.testing.assert_array_equal(np.concatenate(list(mismatches.rows_of(X, 100))), rows)


@pytest.mark.slow
def test_each_export_is_counted_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    fits = []

    def fitted(name: str, machine: str) -> tuple[SparseSVC, np.ndarray]:
        fits.append(machine)
        bits = mismatches.BITS[machine]
        return SparseSVC(5, vector_bits=bits, random_state=0).fit(X, y), X

    rows_of = functools.partial(mismatches.rows_of, n_rows=400)
    monkeypatch.setattr(mismatches, "fitted", fitted)
    monkeypatch.setattr(mismatches, "rows_of", rows_of)
    ledger = replace(mismatches.LEDGER, path=tmp_path / "x.csv")
    mismatches.run("iris", ledger)
    lines = ledger.read()
    assert len(lines) == len(mismatches.EXPORTS) == 13
    assert {(line["n_rows"], line["n_test"]) for line in lines} == {("400", "150")}
    exact = [line for line in lines if line["dtype"] == "float64"]
    assert len(exact) == 8 and all(line["mismatches"] == "0" for line in exact)
    mismatches.run("iris", ledger)
    assert ledger.read() == lines and fits == ["float", "few_bits"]
    whole = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join(whole[:-1]))
    mismatches.run("iris", ledger)
    assert len(ledger.read()) == 13 and len(fits) == 3


def test_a_label_that_differs_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    model = SparseSVC(5, random_state=0).fit(X, y)
    labels = model.predict(X)

    def swapped(model: SparseSVC, folder: Path, dtype: str) -> mismatches.Labels:
        return lambda rows: np.where(np.arange(len(rows)) == 3, labels + 1, labels)

    export = mismatches.Export("float", "a format", "", swapped)
    single = X.astype(np.float32).astype(np.float64)
    monkeypatch.setattr(mismatches, "rows_of", lambda _: iter([single]))
    differs = mismatches.mismatches(model, X, [export])[export]
    assert differs.nonzero()[0].tolist() == [3]
