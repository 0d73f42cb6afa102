"""`python -m benchmarks.speed direct_method`: its groups, what is kept of them, and the limits.

Sizes at which times mean nothing: what is compared, and that it is not measured twice, counts here.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import datasets, frontier_limits, frontier_plot, results
from benchmarks.speed import __main__ as speed_table
from benchmarks.speed import direct_method
from benchmarks.speed.direct_method import before, child, first, limit, many_rows, measure, network
from benchmarks.speed.direct_method import svc as full_svc
from benchmarks.speed.direct_method.data import load
from benchmarks.speed.direct_method.measure import Bench, Failed, Task

SMALL = Task("sinc", "SparseKernelRidge", {"n_vectors": 3, "max_iter": 2})


class FakeBench(Bench):
    """Answers at once: a table of figures by method, or an error to raise."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__()
        self.answers, self.asked = answers, list[Task]()

    def measure(self, task: Task) -> dict[str, float]:
        self.asked.append(task)
        answer = self.answers.get(f"{task.method} {task.sources}", self.answers.get(task.method))
        if isinstance(answer, Exception):
            raise answer
        return {"wall": 1.0, "megabytes": 1.0, **answer}


def figures(error: float, seconds: float = 1.0) -> dict[str, float]:
    return {"error": error, "seconds": seconds, "n_test": 1000.0}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench("HEAD", tmp_path / "kept.csv")


def test_every_group_has_cases_and_rows() -> None:
    for name in direct_method.GROUPS:
        module = direct_method.group(name)
        assert len(module.CASES) > 0 and callable(module.rows), name
    assert callable(direct_method.rows)  # the module of a group has not taken its place


def test_a_measurement_is_kept_until_the_sources_change(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = measure.our_sources()
    with bench:
        found = bench.measure(SMALL)
        assert 0.0 < found["error"] < 200.0 and found["seconds"] > 0.0 and found["megabytes"] > 10.0
        ran = []
        monkeypatch.setattr(bench, "_run", lambda task: ran.append(task) or found)
        assert bench.measure(SMALL) == found and not ran
        bench.measure(replace(SMALL, unit=1))
        assert len(ran) == 1
        monkeypatch.setattr(measure, "our_sources", lambda: "others")
        bench.measure(SMALL)
        assert len(ran) == 2
    lines = bench.ledger.read()
    assert len(lines) == 3 and tuple(lines[0]) == measure.COLUMNS
    assert all(line["commit"] and line["cpu"] and line["numpy"] for line in lines)
    assert [line["sources"] for line in lines] == [ours, ours, "others"]


def test_the_sources_of_a_commit_are_what_is_measured(bench: Bench) -> None:
    with bench:
        found = bench.measure(replace(SMALL, sources="before"))
        folder = bench._before_sources()
        assert (folder / "kernelet" / "__init__.py").is_file() and folder != measure.ROOT / "src"
    assert found["error"] > 0.0 and not folder.exists()
    (line,) = bench.ledger.read()
    assert line["commit"] == "HEAD"
    assert line["sources"] == measure.git("rev-parse", "HEAD:src")[:12]


def test_a_child_that_fails_or_lacks_its_data(bench: Bench) -> None:
    with bench:
        with pytest.raises(Failed, match=r"SparseKernelRidge.*n_vectors"):
            bench.measure(replace(SMALL, parameters={"n_vectors": -3}))
        with pytest.raises(datasets.Unavailable, match="not to be had"):
            bench.measure(replace(SMALL, dataset="face"))
        with pytest.raises(Failed, match="no-such-commit"):
            Bench("no-such-commit").measure(replace(SMALL, sources="before"))
    assert bench.ledger.read() == []


def test_a_group_that_fails_is_missed_and_one_without_data_is_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: dict[str, Any] = {"SparseSVC": Failed("a bad fit")}
    monkeypatch.setattr(direct_method, "Bench", lambda before: FakeBench(answers))
    (row,) = direct_method.rows(only=["seven"])
    assert not row["holds"] and "a bad fit" in row["what"]
    answers["SparseSVC"] = datasets.Unavailable("no such file")
    assert list(direct_method.rows(only=["svc"], sets=["ripley"])) == []
    assert "skipped: svc: no such file" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no such group: sven; there are first"):
        list(direct_method.rows(only=["sven"]))


def test_against_the_network() -> None:
    bench = FakeBench({"SparseSVC": figures(4.0, 1.0), "MLPClassifier": figures(3.0, 2.0)})
    times = [row for row in network.rows(bench, "letter") if row["what"].endswith("time")]
    errors = [row for row in network.rows(bench, "letter") if "error" in row["what"]]
    assert [row["ratio"] for row in times] == [0.5, 0.5] and all(row["holds"] for row in times)
    # 1.5 points more are allowed with 20 vectors
    assert [row["holds"] for row in errors] == [True, False]
    assert {task.inputs for task in bench.asked} == {"standardised"}
    assert {task.unit for task in bench.asked} == {0, 1, 2}


def test_against_the_sources_before() -> None:
    then, now = figures(5.0, 10.0), figures(5.0, 1.1)
    bench = FakeBench({"SparseSVC before": then, "SparseSVC ours": now})
    holds = {
        case: [row["holds"] for row in before.rows(bench, case) if "time" in row["what"]]
        for case in before.CASES
    }
    # a tenth on letter, a fifth on the others
    assert holds.pop("letter") == [False, False]
    assert all(all(each) for each in holds.values())
    # the two are asked for the same
    assert bench.asked[0].parameters == bench.asked[1].parameters


def test_ratios_to_the_full_svc() -> None:
    assert full_svc.ratio((2.0, 4.0, 0.05)) == 0.5
    # no wrong row counts as half a one
    assert_allclose(full_svc.ratio((0.0, 0.2, 0.05)), 0.25)
    assert full_svc.ratio((0.0, 0.0, 0.05)) == 1.0
    bench = FakeBench({"SparseSVC": figures(2.0), "SVC": figures(8.0)})
    (row,) = full_svc.summary(bench, ["banana", "usps"])
    assert_allclose(row["ratio"], 0.25)
    assert row["holds"] and "2 sets" in row["what"]
    assert not any(task.sources == "ours" for task in bench.asked if task.method == "SVC")


def test_a_million_rows() -> None:
    bench = FakeBench(
        {
            "SparseSVC": figures(2.35, 3.0),
            "SparseSVC before": figures(2.3, 90.0),
            "HistGradientBoostingClassifier": figures(2.9, 6.0),
        }
    )
    rows = [row for case in many_rows.CASES for row in many_rows.rows(bench, case)]
    assert [row["ratio"] for row in rows] == [1.0, 2.35, 1.0, 0.5]
    assert all(row["holds"] for row in rows)


def test_first_fit_takes_the_middle_of_three() -> None:
    bench = FakeBench({})
    walls = iter([1.0, 5.0, 1.2, 1.0])
    bench.measure = lambda task: {"wall": next(walls), "second_wall": 1.0}  # type: ignore
    (row,) = first.rows(bench, "digits")
    assert row["ratio"] == 1.2 and row["holds"]


@pytest.mark.filterwarnings("ignore:SparseSVC")
def test_tasks_in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load("digits", 0, "standardised").X_train[:120], load("digits", 0, "as they are").y_train
    split = datasets.Split(X, y[:120], X, y[:120])
    monkeypatch.setattr(child, "load", lambda *asked: split)
    asked = {"dataset": "", "unit": 0, "inputs": "", "method": "SparseSVC"}
    few = {"max_iter": 3}
    fitted = child.fit({**asked, "parameters": {"n_vectors": 10, **few}})
    assert fitted["error"] < 50.0 and fitted["n_test"] == 120
    assert fitted["megabytes"] >= fitted["megabytes_before"] > 0.0
    found = child.search({**asked, "parameters": {"budgets": [2, 10], **few}})
    assert found["error"] < 60.0
    two = child.first({**asked, "parameters": {"n_vectors": 5, **few}})
    assert two["wall"] > 0.0 and two["second_wall"] > 0.0
    with pytest.raises(TypeError):
        child.fit({**asked, "method": "SVC", "parameters": {"n_vectors": 10}})


def test_an_evaluation_and_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernelet.learners.direct.losses import squared_hinge

    # `limit` watches it for as long as its process lives
    monkeypatch.setattr(squared_hinge, "squared_losses_nearby", squared_hinge.squared_losses_nearby)
    monkeypatch.setattr(limit, "N_STEPS", 5)
    split = load("digits", 0, "as they are")
    found = limit.evaluation_and_limit(split.X_train[:300], split.y_train[:300], 10)
    assert found["seconds"] > 0.0 and found["limit_seconds"] > 0.0
    assert 1.0 <= found["newton_steps"] <= 20.0


def test_sets() -> None:
    digits = [load("digits", unit, "as they are") for unit in (0, 1)]
    assert digits[0].X_train.max() == 1.0 and len(digits[0].y_train) + len(digits[0].y_test) == 1797
    assert not np.array_equal(digits[0].y_test, digits[1].y_test)
    seven = load("seven", 0, "as they are")
    assert seven.X_train.shape == (4500, 54) and seven.X_test.shape == (1500, 54)
    assert len(np.unique(seven.y_train)) == 7
    rows = load("twonorm_50", 0, "standardised")
    assert rows.X_train.shape == (50, 20) and len(rows.y_test) == 100_000
    assert_allclose(rows.X_train.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(rows.X_train.std(axis=0), 1.0)


def test_options_are_for_this_table_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(direct_method, "rows", lambda **options: asked.append(options) or [])
    options = ["--only", "network,svc", "--sets", "usps", "--before", "abc"]
    monkeypatch.setattr(sys, "argv", ["speed", "direct_method", *options])
    assert speed_table.main() == 0
    assert asked == [{"only": ["network", "svc"], "sets": ["usps"], "before": "abc"}]
    monkeypatch.setattr(sys, "argv", ["speed", "import_time", "--only", "network"])
    with pytest.raises(SystemExit):
        speed_table.main()
    assert "--only: for direct_method alone" in capsys.readouterr().err


# ---------------------------------------------------------------- the frontier


def line(method: str, budget: int, unit: int, error: float) -> results.Record:
    labels = {"dataset": "letter", "method": method, "budget": budget, "unit": unit}
    return results.as_record(labels, {"error": error, "n_bytes": 8, "kernel_evaluations": 1})


def test_limits_of_a_frontier() -> None:
    lines = [line("sparse_svc", 20, 0, 14.5), line("sparse_svc", 20, 1, 15.0)]
    lines += [line("sparse_svc", 50, 0, 5.7), line("mlp", 100, 0, 1.0)]
    at_20, at_50, at_100 = frontier_limits.against_limits("letter", lines)
    assert "20 vectors: 14.75 % <= 14.8 % ok, mean of 2 seeds" in at_20
    assert "50 vectors: 5.70 % <= 5.6 % MISSED" in at_50
    assert "100 vectors: not measured, limit 4.2 %" in at_100
    assert frontier_limits.against_limits("usps", lines) == []


def test_our_line_is_drawn_to_be_seen_first() -> None:
    ours = frontier_plot.style(0, frontier_limits.OURS, 6)
    others = [frontier_plot.style(number, "mlp", 6) for number in range(20)]
    assert ours["color"] not in {each["color"] for each in others}
    for each in others:
        assert ours["zorder"] > each["zorder"]
        assert ours["linewidth"] > 2 * each["linewidth"]
