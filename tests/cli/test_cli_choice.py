"""`kernelet fit` where nobody says how many vectors: chosen by validation, with an honest error."""

from __future__ import annotations

import re
import signal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernelet as package
from command_line import Called, flowers, kernelet, write_flowers
from kernelet.cli import main

ROWS, HELD_OUT = 110, 22
FIT = ("fit", "train.csv", "-t", "species", "--drop", "id")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_flowers(tmp_path)
    return tmp_path


@pytest.fixture
def call(folder, capsys):
    def call(*words, code=0):
        done = Called(main([str(word) for word in words]), *capsys.readouterr())
        assert done.code == code, done.err
        return done

    return call


@pytest.fixture
def fitted_rows(monkeypatch):
    """How many rows each fit of a `SparseSVC` has learned from."""
    fit, n_rows = package.SparseSVC.fit, []

    def counted(self, X, *others, **options):
        n_rows.append(len(X))
        return fit(self, X, *others, **options)

    monkeypatch.setattr(package.SparseSVC, "fit", counted)
    return n_rows


def fewest_within_a_standard_error(tried):
    best = min(tried, key=lambda entry: entry["error"])
    limit = best["error"] + best["standard_error"] + 1e-12
    return min(entry["vectors"] for entry in tried if entry["error"] <= limit)


def test_the_real_command(folder):
    """A table and its target are enough."""
    done = kernelet(*FIT, cwd=folder)
    assert done.returncode == 0, done.stderr
    heading, _, *rows = done.stdout.split("\n\n")[0].splitlines()
    assert heading.split() == ["vectors", "error", "+-", "us/row", "bytes", "in", "C"]
    vectors = [int(row.split()[0]) for row in rows]
    assert vectors == sorted(set(vectors)) and vectors[0] == 5
    (chosen,) = (row for row in rows if row.endswith("<- chosen"))
    m = chosen.split()[0]
    assert re.search(rf"^vectors +{m} = kernel values per prediction$", done.stdout, re.M)
    assert re.search(r"^validation +error [\d.]+ % \+- [\d.]+ %, 3 folds$", done.stdout, re.M)
    last = done.stdout.splitlines()[-1]
    honest = rf"test error +[\d.]+ % of {HELD_OUT} rows held out; the model is fitted on all {ROWS}"
    assert re.fullmatch(honest, last)
    assert done.stderr == "saved in train.kernelet; -o FILE says another place\n"
    model = package.load(folder / "train.kernelet")
    assert model.n_vectors_ == int(m)
    assert model.score(pd.read_csv("test.csv")) > 0.85


def test_the_document_has_all(call):
    document = call(*FIT, "--json").document
    choice, test = document["choice"], document["test"]
    assert [entry["picked"] for entry in choice["tried"]].count(True) == 1
    assert choice["chosen"]["vectors"] == fewest_within_a_standard_error(choice["tried"])
    assert choice["chosen"]["vectors"] == document["vectors"]
    for entry in choice["tried"]:
        assert entry["microseconds_per_row"] > 0 and entry["standard_error"] >= 0
    n_bytes = [entry["bytes"] for entry in choice["tried"]]
    assert n_bytes == sorted(n_bytes)
    assert choice["seconds"] == 60 and choice["ran_out_of_time"] is False
    assert test["rows"] == HELD_OUT and document["training_error"] is None
    assert document["rows"] == ROWS and document["fitted_on_all_rows"]
    assert document["budget"] is None and document["warnings"] == []


def test_it_is_the_choice_of_the_estimator(call, folder):
    X = flowers().iloc[:ROWS, :4].to_numpy()
    y = flowers()["species"][:ROWS].to_numpy().astype(str)
    np.savez("plain.npz", X=X, y=y)
    words = ("--scaling", "none", "--holdout", 0, "--param", "learn_kernel=features")
    document = call("fit", "plain.npz", *words, "--json").document
    model = package.SparseSVC("auto", learn_kernel="features", random_state=0).fit(X, y)
    assert document["choice"]["kernels"] == []  # as the command line has one
    tried = document["choice"]["tried"]
    assert [entry["vectors"] for entry in tried] == model.path_["n_vectors"].tolist()
    assert_allclose([1 - entry["error"] for entry in tried], model.path_["score"])
    # bytes are those of exported C, columns and names of classes included
    around = np.array([entry["bytes"] for entry in tried]) - model.path_["bytes"]
    assert np.ptp(around) == 0
    flash = package.export.c(package.load("plain.kernelet"), "plain.c").flash_bytes
    assert around[0] == flash - package.machine.stored_bytes(model.machine_, n_labels=3)
    assert document["choice"]["cost"] == model.C_
    scores = package.load("plain.kernelet").estimator.decision_function(X)
    assert_allclose(scores, model.decision_function(X), rtol=1e-8, atol=1e-8)


def test_the_kernel_is_chosen_by_validation(call, folder):
    """The label depends on two sums of columns, which a scale for each column cannot express."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 14))
    columns = {f"x{j}": X[:, j] for j in range(14)}
    first, second = X[:, :7].sum(axis=1), X[:, 7:].sum(axis=1)
    y = np.where(np.sin(0.75 * first) + 0.4 * second > 0.0, "up", "down")
    pd.DataFrame({**columns, "y": y}).to_csv("sums.csv", index=False)
    done = call("fit", "sums.csv", "-t", "y", "--json")
    kernels = done.document["choice"]["kernels"]
    assert [one["learned"] for one in kernels] == [
        "a scale for each feature",  # what fits learn of so many columns
        "one width",
        "combinations of features",
    ]
    (picked,) = (one for one in kernels if one["picked"])
    assert picked["learned"] == "combinations of features"
    assert picked["error"] < kernels[0]["error"] - kernels[0]["standard_error"]
    assert done.document["kernel"]["name"] == "projected_features"
    shown = call("fit", "sums.csv", "-t", "y")
    line = r"^kernel +combinations of features, error [\d.]+ % with 20 vectors \(a scale for each"
    assert re.search(line, shown.out, re.M)


def test_rows_held_out_have_no_part_in_the_choice(call, fitted_rows):
    document = call(*FIT, "--json").document
    # bytes around the machine are counted without a fit
    assert fitted_rows == [ROWS - HELD_OUT, ROWS]
    assert document["test"]["rows"] == HELD_OUT


@pytest.mark.parametrize(
    ("words", "sizes", "n_test"),
    [
        (("--holdout", 0), [ROWS], None),
        (("--test", "test.csv"), [ROWS], 40),
        (("--holdout", 0.5), [ROWS // 2, ROWS], ROWS // 2),
    ],
)
def test_unless_told_otherwise(words, sizes, n_test, call, fitted_rows):
    document = call(*FIT, *words, "--json").document
    assert fitted_rows == sizes
    assert document["fitted_on_all_rows"] and document["rows"] == ROWS
    if n_test is None:
        assert document["test"] is None and document["training_error"] < 0.2
    else:
        assert document["test"]["rows"] == n_test


def test_classes_are_held_out_in_proportion(call, folder):
    rng = np.random.default_rng(0)
    y = np.array(["rare"] * 20 + ["common"] * 180)
    pd.DataFrame({"a": rng.normal(size=200) + (y == "rare"), "y": y}).to_csv("u.csv", index=False)
    document = call("fit", "u.csv", "-t", "y", "--max-iter", 5, "--json").document
    assert {entry["class"]: entry["rows"] for entry in document["test"]["classes"]} == {
        "common": 36,
        "rare": 4,
    }
    again = call("fit", "u.csv", "-t", "y", "--max-iter", 5, "--json").document
    assert again["test"] == document["test"]  # by --seed


@pytest.mark.parametrize("words", [("-m", 5), ("-m", 5, "--holdout", 0.2)])
def test_a_given_number_is_as_before(words, call, fitted_rows):
    document = call(*FIT, *words, "--json").document
    held_out = "--holdout" in words
    assert fitted_rows == [ROWS - HELD_OUT * held_out]
    assert document["vectors"] == 5 and document["choice"] is None
    assert (document["test"] is not None) == held_out
    assert document["fitted_on_all_rows"] == (not held_out)


@pytest.mark.parametrize("method", ["sparse-kernel-ridge", "sparse-svr"])
def test_numbers(method, call):
    words = ("fit", "train.csv", "-t", "petal width", "--drop", "id", "--method", method)
    done = call(*words)
    assert done.out.split()[:5] == ["vectors", "1", "-", "R2", "+-"]
    ending = f"on {HELD_OUT} rows held out; the model is fitted on all {ROWS}"
    assert done.out.splitlines()[-1].startswith("test ") and done.out.rstrip().endswith(ending)
    document = call(*words, "--json").document
    assert document["test"]["r2"] > 0.8
    chosen = document["choice"]["chosen"]["vectors"]
    assert chosen == document["vectors"]
    assert chosen == fewest_within_a_standard_error(document["choice"]["tried"])


def test_time_ends_the_choice(call):
    done = call(*FIT, "--time", 1e-6, "--json")
    choice = done.document["choice"]
    assert choice["ran_out_of_time"] and choice["seconds"] == 1e-6
    assert choice["tried"] == [] and choice["chosen"] is None
    assert done.document["vectors"] == 20
    assert "--time 1e-06 was over before any number of vectors had been tried" in done.err
    assert package.load("train.kernelet").n_vectors_ == 20


def test_bits_and_a_registered_kernel(call):
    document = call(*FIT, "--bits", 4, "--kernel", "laplacian", "--json").document
    assert document["vector_bits"] == 4
    assert document["choice"]["chosen"]["vectors"] == document["vectors"]
    assert document["kernel"]["name"] == "laplacian"


def test_probabilities_are_calibrated_on_the_rows_held_out(call, fitted_rows):
    document = call(*FIT, "--probabilities", "-o", "p.kernelet", "--json").document
    assert fitted_rows == [ROWS - HELD_OUT] and not document["fitted_on_all_rows"]
    assert document["test"]["rows"] == HELD_OUT and document["rows"] == ROWS - HELD_OUT
    call("predict", "p.kernelet", "test.csv", "--probabilities", "-o", "p.csv")
    columns = pd.read_csv("p.csv").filter(like="probability")
    assert_allclose(columns.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("reduced-svc", "up to 20 vectors, .* --vectors N sets it"),
        ("relevance-vector", "chooses the number of vectors itself; --vectors N compresses"),
        ("svc", "chooses the number of vectors itself; --vectors N compresses"),
    ],
)
def test_other_methods_say_what_vectors_does(method, text, call):
    done = call(*FIT, "--method", method)
    assert re.search(text, done.err) and f"--method {method}" in done.err
    assert "training error" in done.out
    assert "--vectors" not in call(*FIT, "--method", method, "-m", 3).err


def test_vectors_for_each_class_are_not_chosen(call):
    done = call(*FIT, "--param", "vectors=per_class", "--max-iter", 3)
    assert "up to 20 vectors" in done.err and "chosen" not in done.out


def test_a_table_of_few_rows(call, folder):
    (folder / "few.csv").write_text("a,y\n1,p\n2,p\n3,q\n4,q\n")
    document = call("fit", "few.csv", "-t", "y", "--json").document
    assert document["test"] is None or document["test"]["rows"] < 3
    (folder / "two.csv").write_text("a,y\n1,p\n4,q\n")
    done = call("fit", "two.csv", "-t", "y", "--json")
    assert "too few rows to hold any out" in done.err
    assert done.document["training_error"] is not None
    assert "too few rows" in call("fit", "two.csv", "-t", "y", "--holdout", 0.3, code=3).err


class TestTheNameOfTheModel:
    def test_no_file_is_replaced(self, call, folder):
        assert call(*FIT, "-m", 3).err == "saved in train.kernelet; -o FILE says another place\n"
        before = (folder / "train.kernelet").read_bytes()
        done = call(*FIT, "-m", 4, "--json")
        assert done.document["model"] == "train-2.kernelet"
        assert "saved in train-2.kernelet, as train.kernelet was there before" in done.err
        assert (folder / "train.kernelet").read_bytes() == before
        assert package.load("train-2.kernelet").n_vectors_ == 4
        done = call("compress", "train-2.kernelet", "-m", 2)
        assert "saved in train-2-2-vectors.kernelet" in done.out
        assert package.load("train-2-2-vectors.kernelet").n_vectors_ == 2
        # whoever names a file means it
        call(*FIT, "-m", 2, "-o", "train.kernelet")
        assert package.load("train.kernelet").n_vectors_ == 2

    def test_of_tables_elsewhere_and_compressed(self, call, folder):
        other = folder / "data"
        other.mkdir()
        pd.read_csv("train.csv").to_csv(other / "big.csv.gz", index=False)
        words = ("-t", "species", "--drop", "id", "-m", 2, "--json")
        assert call("fit", other / "big.csv.gz", *words).document["model"] == "big.kernelet"

    def test_of_stdin(self, folder):
        table = (folder / "train.csv").read_text()
        done = kernelet("fit", "-", *FIT[2:], "-m", 2, "-q", cwd=folder, input=table)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert package.load(folder / "model.kernelet").n_vectors_ == 2


def test_quiet_prints_nothing(call, folder):
    done = call(*FIT, "--quiet")
    assert (done.out, done.err) == ("", "")
    assert (folder / "train.kernelet").exists()


def test_ctrl_c_in_the_last_fit_leaves_what_was_chosen(call, monkeypatch, folder):
    fit, fits = package.SparseSVC.fit, []

    def interrupted_the_second_time(self, *arguments, **options):
        fits.append(self)
        if len(fits) == 2:
            signal.raise_signal(signal.SIGINT)
        return fit(self, *arguments, **options)

    monkeypatch.setattr(package.SparseSVC, "fit", interrupted_the_second_time)
    document = call(*FIT, "--json", code=130).document
    assert document["interrupted"] and not document["fitted_on_all_rows"]
    assert document["rows"] == ROWS - HELD_OUT
    model = package.load("train.kernelet")
    assert model.n_vectors_ == document["choice"]["chosen"]["vectors"]
    test = pd.read_csv("test.csv")
    assert_array_equal(model.predict(test).shape, 40)
    assert model.score(test) > 0.85


@pytest.mark.parametrize(
    "words", [("-m", 3), ("--max-bytes", "4k"), ("--method", "reduced-svc")], ids=str
)
def test_time_without_a_choice_is_refused(words, call):
    assert "--time is for choosing" in call(*FIT, *words, "--time", 5, code=2).err


def test_a_number_among_the_parameters_is_refused(call):
    assert "say --vectors 7" in call(*FIT, "--param", "n_vectors=7", code=2).err
