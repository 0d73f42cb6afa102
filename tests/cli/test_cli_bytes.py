"""Budgets in bytes and microseconds: what is shipped keeps to them, and errors name what would."""

from __future__ import annotations

import csv
import re
import signal

import numpy as np
import pytest

import kernelet as package
from command_line import Called, flowers, write_flowers
from kernelet.cli import arguments, main
from kernelet.machine import rounding

TABLE = ("train.csv", "-t", "species", "--drop", "id")
QUICK = ("--max-iter", 5, "--C", 1, "--folds", 2)
ROWS = 110


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bytes")
    write_flowers(folder)
    numbers = flowers()[:ROWS].drop(columns=["id", "species", "colour"])
    numbers.to_csv(folder / "numbers.csv", index=False)
    return folder


@pytest.fixture
def call(capsys, monkeypatch, folder):
    def call(*words):
        monkeypatch.chdir(folder)
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:  # of argparse
            code = end.code
        return Called(code, *capsys.readouterr())

    return call


@pytest.fixture
def fit(call):
    """A model within a budget, and the JSON document of the fit."""

    def fit(*words, name="model.kernelet"):
        done = call("fit", *words, *QUICK, "-o", name, "--json")
        assert done.code == 0, done.err
        return package.load(name), done.document

    return fit


def exported(model, path, dtype):
    """Bytes of the tables that the exporter has really written, as its header states them."""
    package.export.c(model, path / "written.c", dtype=dtype)
    found = re.search(r"Flash: (\d+) bytes of tables", (path / "written.h").read_text())
    return int(found[1])


@pytest.mark.parametrize(
    "text, value", [("4096", 4096), ("4k", 4000), ("4kB", 4000), ("1.5KB", 1500), ("1 MB", 10**6)]
)
def test_bytes(text, value):
    assert arguments.n_bytes(text) == value


def test_bits_are_those_of_vectors():
    assert (arguments.FEWEST_BITS, arguments.MOST_BITS) == (
        rounding.FEWEST_BITS,
        rounding.MOST_BITS,
    )


def test_what_is_exported_keeps_to_the_bytes(call, fit, tmp_path):
    """Scales of columns and texts of categories included, by what the exporter writes."""
    limit = 340
    model, document = fit(*TABLE, "--max-bytes", limit)
    budget = document["budget"]
    assert model.machine_.compact.grid.bits == budget["chosen"]["vector_bits"]
    assert exported(model, tmp_path, "q7") == budget["flash_bytes"] <= limit
    done = call("export", "model.kernelet", "--to", "c", "-o", "small.c", "--json")
    assert done.document["dtype"] == "q7"
    assert done.document["flash_bytes"] == budget["flash_bytes"]
    # a machine as shipped is about as large as those of the folds
    assert budget["chosen"]["bytes"] == pytest.approx(budget["flash_bytes"], rel=0.1)


def test_the_best_that_fits_is_chosen(fit):
    limit = 340
    model, document = fit(*TABLE, "--max-bytes", limit, "--bits", "4,8")
    tried = document["budget"]["tried"]
    fitting = [entry for entry in tried if entry["bytes"] <= limit]
    assert 0 < len(fitting) < len(tried)
    assert {entry["vector_bits"] for entry in tried} == {4, 8}
    chosen = document["budget"]["chosen"]
    assert chosen["error"] == min(entry["error"] for entry in fitting)
    assert chosen["vectors"] == model.machine_.n_vectors == document["vectors"]
    assert chosen["vector_bits"] == document["vector_bits"]


def test_the_table_shows_what_was_tried_and_chosen(call):
    done = call("fit", *TABLE, "--max-bytes", "340", *QUICK, "-o", "shown.kernelet")
    assert done.code == 0, done.err
    heading, _, *rows = done.out.split("\n\n")[0].splitlines()
    assert heading.split() == ["vectors", "bits", "error", "+-", "us/row", "bytes", "in", "C"]
    vectors = [int(row.split()[0]) for row in rows]
    assert vectors == sorted(set(vectors)) and vectors[:2] == [1, 2]
    (chosen,) = (row for row in rows if row.endswith("<- chosen"))
    assert any(row.endswith("too much") for row in rows)
    assert re.search(rf"\nvectors +{chosen.split()[0]} = kernel values", done.out)
    assert re.search(r"\nbits +vectors in \d bits, coefficients in \d+\n", done.out)
    assert re.search(r"\nvalidation +error [\d.]+ % \+- [\d.]+ %, 2 folds\n", done.out)
    assert re.search(r"\nin C +\d+ of 340 bytes, q7\n", done.out)
    quiet = call("fit", *TABLE, "--max-bytes", "340", *QUICK, "-o", "shown.kernelet", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_the_smallest_budget_that_is_named_can_be_met(call, fit):
    done = call("fit", *TABLE, "--max-bytes", "100", *QUICK, "-o", "none.kernelet")
    assert done.code == 1
    assert "1 vector of " in done.err and "for columns and texts" in done.err
    least = int(re.search(r"say --max-bytes (\d+)", done.err)[1])
    model, document = fit(*TABLE, "--max-bytes", least)
    assert model.machine_.n_vectors >= 1
    assert document["budget"]["flash_bytes"] <= least
    below = call("fit", *TABLE, "--max-bytes", least - 1, *QUICK, "-o", "none.kernelet")
    assert below.code == 1 and f"--max-bytes {least}," in below.err


def test_vectors_is_the_most_that_is_tried(fit):
    _, document = fit(*TABLE, "--max-bytes", "2k", "--vectors", 3, "--bits", "4")
    assert [entry["vectors"] for entry in document["budget"]["tried"]] == [1, 2, 3]


def test_float32_counts_too(fit, tmp_path):
    model, document = fit(*TABLE, "--max-bytes", "480", "--bits", "float32", "--vectors", 8)
    assert model.machine_.compact is None
    budget = document["budget"]
    assert budget["dtype"] == "float32"
    assert exported(model, tmp_path, "float32") == budget["flash_bytes"] <= 480


@pytest.mark.parametrize("method", ["reduced-svc", "kernel-fisher"])
def test_other_methods_that_round_their_vectors(method, call, tmp_path):
    """Also those without a path."""
    iterations = () if method == "reduced-svc" else ("--max-iter", 3)
    done = call(
        *("fit", *TABLE, "--method", method, "--max-bytes", 320, "--bits", "4", "--folds", 2),
        *("-m", 4, *iterations, "-o", "other.kernelet", "--json"),
    )
    assert done.code == 0, done.err
    flash = exported(package.load("other.kernelet"), tmp_path, "q7")
    assert flash == done.document["budget"]["flash_bytes"] <= 320


@pytest.mark.parametrize("method", ["sparse-kernel-ridge", "sparse-svr"])
def test_numbers(method, fit, tmp_path):
    words = ("numbers.csv", "-t", "petal width", "--method", method, "--max-bytes", 180)
    model, document = fit(*words, "--vectors", 10)
    budget = document["budget"]
    assert exported(model, tmp_path, "q7") == budget["flash_bytes"] <= 180
    errors = [entry["error"] for entry in budget["tried"] if entry["bytes"] <= 180]
    assert budget["chosen"]["error"] == min(errors) < 0.5


def test_a_matrix_without_names(call, folder, tmp_path):
    """Nothing but the machine and its labels."""
    frame = flowers()[:ROWS]
    X = frame.iloc[:, :4].to_numpy()
    np.savez(folder / "plain.npz", X=X, y=(frame["species"] == "virginica").astype(int))
    done = call(
        *("fit", "plain.npz", "--max-bytes", 150, "--scaling", "none", *QUICK),
        *("-o", "plain.kernelet", "--json"),
    )
    assert done.code == 0, done.err
    flash = exported(package.load("plain.kernelet"), tmp_path, "q7")
    assert flash == done.document["budget"]["flash_bytes"] <= 150


def test_microseconds(call, fit):
    _, document = fit(*TABLE, "--max-microseconds", "1000", "--vectors", 2)
    budget = document["budget"]
    assert budget["max_bytes"] is None and budget["flash_bytes"] is None
    assert budget["chosen"]["microseconds_per_row"] <= 1000
    words = ("--vectors", 2, "-o", "slow.kernelet")
    done = call("fit", *TABLE, "--max-microseconds", "1e-9", *QUICK, *words)
    assert done.code == 1
    assert re.search(r"--max-microseconds 1e-09 cannot be met: .* takes [\d.]+ us a row", done.err)


def test_bits_alone(call):
    done = call(
        "fit", *TABLE, "--bits", 4, "-m", 3, "--max-iter", 3, "-o", "four.kernelet", "--json"
    )
    assert done.code == 0, done.err
    assert done.document["vector_bits"] == 4 and done.document["budget"] is None
    model = package.load("four.kernelet")
    assert model.machine_.n_vectors == 3 and model.machine_.compact.grid.bits == 4


REFUSED = {
    "a word": (("--max-bytes", "small"), "4096, 4k or 4kB"),
    "nothing": (("--max-bytes", "0"), "4096, 4k or 4kB"),
    "a bit": (("--bits", "1"), "from 2 to 16"),
    "no bits": (("--bits", ""), "from 2 to 16"),
    "several bits without a budget": (("--bits", "4,8"), "--max-bytes"),
    "one fold": (("--max-bytes", "4k", "--folds", "1"), "--folds must be at least 2"),
    "a method that chooses": (("--max-bytes", "4k", "--method", "relevance-vector"), "sparse-svc"),
    "an SVM": (("--max-microseconds", "4", "--method", "svc"), "compress"),
    "bits of another method": (("--bits", "4", "--method", "norm-svc"), "reduced-svc"),
}


@pytest.mark.parametrize("words, expected", REFUSED.values(), ids=REFUSED)
def test_what_is_refused(words, expected, call):
    done = call("fit", *TABLE, *words, "-o", "refused.kernelet")
    assert done.code == 2
    assert expected in done.err


def test_one_class_has_nothing_to_choose_by(call):
    words = ("--method", "sparse-one-class", "--max-bytes", "4k", "-o", "refused.kernelet")
    done = call("fit", "numbers.csv", *words)
    assert done.code == 2
    assert "no labels to cross-validate with" in done.err


def test_probabilities_take_bytes_of_their_own(call):
    words = ("--holdout", 0.3, "--probabilities", "-m", 2, "--bits", 4, "-o", "p.kernelet")
    done = call("fit", *TABLE, "--max-bytes", "2k", *QUICK, *words, "--json")
    assert done.code == 0, done.err
    roomy = done.document
    assert not any("--max-bytes" in text for text in roomy["warnings"])
    limit = roomy["budget"]["flash_bytes"] - 1
    done = call("fit", *TABLE, "--max-bytes", limit, *QUICK, *words, "--json")
    expected = "1 more than --max-bytes, with the tables of probabilities"
    assert any(expected in text for text in done.document["warnings"])


def test_ctrl_c_saves_the_best_so_far(call, monkeypatch):
    score, scored = package.SparseSVC.score, []

    def interrupted_in_the_second_fold(self, *words, **options):
        scored.append(self)
        if len(scored) == 8:
            signal.raise_signal(signal.SIGINT)
        return score(self, *words, **options)

    monkeypatch.setattr(package.SparseSVC, "score", interrupted_in_the_second_fold)
    done = call(
        *("fit", *TABLE, "--max-bytes", "2k", "-m", 2, *QUICK[:4], "--folds", 3),
        *("-o", "early.kernelet", "--json"),
    )
    assert done.code == 130
    assert done.document["budget"]["folds"] == 1
    assert done.document["warnings"][-1].startswith("interrupted; the best machine so far is saved")
    assert package.load("early.kernelet").machine_.n_vectors <= 2


def test_ctrl_c_before_there_is_anything(call, monkeypatch):
    def interrupt(*words, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(package.SparseSVC, "fit", interrupt)
    done = call("fit", *TABLE, "--max-bytes", "2k", "-o", "never.kernelet")
    assert done.code == 130
    assert done.err == "kernelet fit: interrupted before there was a machine; nothing is saved\n"


def test_frontier_in_bytes(call, folder, tmp_path):
    done = call(
        *("frontier", *TABLE, "--budgets", "2,4", "--bits", "4,8,float32", *QUICK),
        *("--csv", "f.csv", "--png", "f.svg", "-o", "pick.kernelet", "--json"),
    )
    assert done.code == 0, done.err
    document = done.document
    assert document["target"] == "c"
    tried = [(entry["vectors"], entry["vector_bits"]) for entry in document["frontier"]]
    assert tried == [(m, bits) for m in (2, 4) for bits in (4, 8, None)]
    n_bytes = {key: e["bytes"] for key, e in zip(tried, document["frontier"], strict=True)}
    assert n_bytes[4, 4] < n_bytes[4, 8] < n_bytes[4, None]
    picked = (document["picked_vectors"], document["picked_vector_bits"])
    flash = exported(
        package.load("pick.kernelet"), tmp_path, "float32" if picked[1] is None else "q7"
    )
    assert flash == pytest.approx(n_bytes[picked], rel=0.05)
    with open(folder / "f.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["vector_bits"] for row in rows] == ["4", "8", "", "4", "8", "", ""]
    assert [float(row["bytes"]) for row in rows[:-1]] == [*n_bytes.values()]
    assert "<!-- bytes -->" in (folder / "f.svg").read_text()


def test_frontier_in_bytes_of_float32(call, tmp_path):
    words = ("--param", "learn_kernel=false", "-o", "two.kernelet")  # all features are in use
    done = call("frontier", *TABLE, "--budgets", "2", "--bytes", *QUICK, *words)
    assert done.code == 0, done.err
    assert "bytes in C" in done.out and " bits " not in done.out
    flash = exported(package.load("two.kernelet"), tmp_path, "float32")
    assert int(done.out.splitlines()[4].split()[-3]) == flash


def test_frontier_refuses_bits_of_a_method_without(call):
    done = call("frontier", *TABLE, "--method", "minimal-kernel-svc", "--bits", "4")
    assert done.code == 2


def test_info_and_export_show_all_forms(call, tmp_path):
    words = ("--bits", 5, "-m", 3, "--max-iter", 3, "-o", "five.kernelet", "--json")
    assert call("fit", *TABLE, *words).code == 0
    done = call("info", "five.kernelet")
    assert "vectors in 5 bits, coefficients in " in done.out
    for dtype in ("float32", "float64", "q15", "q7"):
        assert re.search(rf"\nC, {dtype} +\d.* of flash, \d+ bytes of RAM", done.out)
    document = call("info", "five.kernelet", "--json").document
    model = package.load("five.kernelet")
    for words, dtype in (((), "q7"), (("--dtype", "float32"), "float32")):
        done = call("export", "five.kernelet", "--to", "c", *words)
        assert f"\ntype        {dtype}\n" in done.out
        others = {"float32", "float64", "q15", "q7"} - {dtype}
        assert set(re.findall(r"^as (\w+)", done.out, re.M)) == others
        assert document["c"][dtype]["flash_bytes"] == exported(model, tmp_path, dtype)
