"""Tables of every format, and what a person may find in them."""

import bz2
import csv
import gzip
import inspect
import io
import json
import lzma

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import SVC

import kernelet as package
from command_line import Called, flowers
from export_bounds import OURS
from kernelet.cli import main, methods
from kernelet.cli.errors import DataError
from kernelet.cli.labels import codes_of, text_of, training_labels
from kernelet.cli.metrics import Confusion
from kernelet.cli.output import plain
from kernelet.cli.tables.reading import read_table, table_chunks
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import Table
from kernelet.cli.tasks import CLASSES
from kernelet.kernels.resolve import kernel_names
from kernelet.learners import SparseOneClassSVM
from kernelet.learners.base.classifier import KernelClassifier
from kernelet.learners.base.regressor import KernelRegressor

FIT = ("--method", "reduced-svc", "-m", "8", "--C", "10", "-o", "m.kernelet", "--json")


@pytest.fixture
def call(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=0):
        done = Called(main([str(argument) for argument in arguments]), *capsys.readouterr())
        assert done.code == code, done.err
        return done

    return call


@pytest.fixture(scope="module")
def frame():
    return flowers().drop(columns="id")


def write(frame, path):
    """A table in the format given by the ending of its name."""
    ending = path.suffix
    if ending == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffixes[0] == ".tsv":
        frame.to_csv(path, sep="\t", index=False)
    else:
        frame.to_csv(path, index=False, sep=";" if "semicolon" in path.name else ",")


@pytest.mark.parametrize(
    "name",
    ["a.csv", "a.tsv", "a.parquet", "semicolon.csv", "a.csv.gz", "a.csv.bz2", "a.tsv.xz"],
)
def test_formats_of_columns_agree(name, frame, call, tmp_path):
    write(frame, tmp_path / name)
    document = call("fit", name, "-t", "species", *FIT).document
    model = package.load("m.kernelet")
    assert model.encoder.names == [column for column in frame.columns if column != "species"]
    reference = package.TableModel.fit(
        frame, "species", package.ReducedSVC(8, C=10.0, random_state=0)
    )
    assert_allclose(model.decision_function(frame), reference.decision_function(frame))
    assert document["training_error"] == pytest.approx(1 - reference.score(frame))
    done = call("predict", "m.kernelet", name, "--chunk", "37")
    assert done.out.split() == ["prediction", *reference.predict(frame)]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("names", [["a; b; c", "d, e", "f|g|h"], ["two\nlines", "a;b\t;", 'q""|']])
def test_separators_in_quoted_names_do_not_count(names, separator, tmp_path):
    table = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=names)
    table.to_csv(tmp_path / "a.csv", index=False, sep=separator, quoting=csv.QUOTE_ALL)
    read = read_table(Source(str(tmp_path / "a.csv"), "csv"))
    assert_array_equal(read.column(names[1]), table[names[1]])


@pytest.mark.parametrize(
    ("names", "words"),
    [(["2020\nsales", "2021\nsales"], None), (["a", "b\nc", "a"], "two columns called 'a'")],
)
def test_names_of_several_lines_are_looked_at(names, words, tmp_path):
    lines = [",".join(f'"{name}"' for name in names), "1,2,3"[: 2 * len(names) - 1]]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    source = Source(str(tmp_path / "a.csv"), "csv")
    if words is None:
        assert read_table(source).column(names[0]) == 1.0
    else:
        with pytest.raises(DataError, match=words):
            read_table(source)


def test_compressed_files_are_what_they_say(frame, tmp_path):
    text = frame.to_csv(index=False).encode()
    for ending, opener in ((".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)):
        path = tmp_path / f"table.csv{ending}"
        with opener(path, "wb") as file:
            file.write(text)
        table = read_table(Source(str(path), "csv"), "species")
        assert_allclose(table.column("petal width"), frame["petal width"])


@pytest.mark.parametrize("zero_based", [False, True])
def test_libsvm_files_stay_sparse(zero_based, call, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.5)
    X[0, 0] = 1.0  # the file counts from where the first column is
    y = np.where(X @ [1, -1, 0, 2, 0, 1] > 0, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "a.libsvm"), zero_based=zero_based)
    document = call("fit", "a.libsvm", *FIT, "--holdout", "0.25").document
    assert document["classes"] == [-1, 1]
    assert (document["rows"], document["test"]["rows"]) == (60, 20)
    model = package.load("m.kernelet")
    assert type(model) is package.ReducedSVC
    done = call("predict", "m.kernelet", "a.libsvm", "--scores")
    table = pd.read_csv(io.StringIO(done.out))
    assert_array_equal(table["prediction"], model.predict(X))
    assert_allclose(table["score_1"], model.decision_function(X))
    # the last features may be absent in all rows, or new ones present
    dump_svmlight_file(X[:, :4], y, str(tmp_path / "b.libsvm"), zero_based=zero_based)
    narrow = np.where(np.arange(6) < 4, X, 0.0)
    done = call("predict", "m.kernelet", "b.libsvm")
    assert_array_equal(np.loadtxt(io.StringIO(done.out), skiprows=1), model.predict(narrow))
    wide = np.column_stack([X, np.ones(80)])
    dump_svmlight_file(wide, y, str(tmp_path / "c.libsvm"), zero_based=zero_based)
    assert (
        call("predict", "m.kernelet", "c.libsvm").out
        == call("predict", "m.kernelet", "a.libsvm").out
    )


def test_libsvm_files_are_scaled_if_asked(call, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)) * [1, 10, 100], np.arange(60) % 2
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    call("fit", "a.svm", *FIT, "--scaling", "minmax")
    model = package.load("m.kernelet")
    assert model.encoder.names == ["1", "2", "3"]
    matrix = model.encoder.transform({str(j + 1): X[:, j] for j in range(3)})
    assert_allclose([matrix.min(axis=0), matrix.max(axis=0)], [[0] * 3, [1] * 3], atol=1e-12)
    evaluated = call("evaluate", "m.kernelet", "a.svm", "--json").document
    assert evaluated["error"] == pytest.approx(np.mean(model.estimator.predict(matrix) != y))


def test_npz_files(call, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat(["b", "a"], 30)
    X[:30] += 3
    np.savez(
        tmp_path / "split.npz", X_train=X, y_train=y, X_test=X + 0.1, y_test=y, note=np.ones(4)
    )
    document = call("fit", "split.npz", "--target", "y_train", *FIT).document
    assert (document["features"], document["classes"]) == (2, ["a", "b"])
    evaluated = call("evaluate", "m.kernelet", "split.npz", "-t", "y_test", "--json").document
    expected = package.load("m.kernelet").predict({"1": X[:, 0] + 0.1, "2": X[:, 1] + 0.1})
    assert evaluated["error"] == pytest.approx(np.mean(expected != y))
    done = call("predict", "m.kernelet", "split.npz", "--matrix", "X_test")
    assert done.out.split()[1:] == list(expected)
    # without a matrix, vectors are columns
    np.savez(tmp_path / "columns.npz", height=X[:, 0], kind=np.repeat(["x", "z"], 30), y=y)
    assert call("fit", "columns.npz", *FIT).document["features"] == 3


def test_a_table_without_a_heading(call, tmp_path):
    rows = np.column_stack([np.arange(40) % 2, np.random.default_rng(0).normal(size=(40, 2))])
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",")
    document = call("fit", "a.csv", "--no-header", "-t", "1", *FIT).document
    assert (document["target"], document["features"], document["classes"]) == ("1", 2, [0, 1])
    done = call("evaluate", "m.kernelet", "a.csv", "--no-header", "--json")
    assert done.document["rows"] == 40


def test_stdin(frame, call, monkeypatch, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    stream = io.TextIOWrapper(io.BytesIO((tmp_path / "a.csv").read_bytes()))
    monkeypatch.setattr("sys.stdin", stream)
    call("fit", "-", "-t", "species", *FIT)
    expected = call("predict", "m.kernelet", "a.csv").out
    with open(tmp_path / "a.csv", "rb", buffering=0) as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(file)))
        assert call("predict", "m.kernelet", "-").out == expected


def test_cells_as_people_write_them(call, tmp_path):
    """A byte order mark, quotes, codes with zeros in front, gaps, truth values, latin letters."""
    lines = ["größe,code,ok,kind"]
    lines += [
        f'"{i / 7:.3f}", 0{i % 3},{"TRUE" if i % 2 else "false"},{"né"[i % 2]}' for i in range(30)
    ]
    lines += ["?,01,TRUE,é", ",02,,n"]
    text = "\n".join(lines) + "\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8-sig")
    done = call("fit", "a.csv", "-t", "kind", "--text", "code", "--missing", "?", *FIT)
    assert "column 'größe' misses 2 of 32 numbers" in done.err
    assert done.document["warnings"]
    columns = {column.name: column for column in package.load("m.kernelet").encoder.columns}
    assert columns["code"].categories == ("00", "01", "02")
    assert columns["ok"].categories == ("TRUE", "false")
    assert columns["ok"].has_missing
    assert columns["größe"].fill == pytest.approx(
        np.mean([float(f"{i / 7:.3f}") for i in range(30)])
    )
    plain_text = call("predict", "m.kernelet", "a.csv", "--missing", "?").out
    (tmp_path / "b.csv").write_text(text, encoding="latin-1")
    assert call(
        "predict", "m.kernelet", "b.csv", "--missing", "?", "--encoding", "latin-1"
    ).out == (plain_text)
    done = call("fit", "a.csv", "-t", "kind", "--drop-missing", "--missing", "?", *FIT)
    assert done.document["rows"] == 30


def test_an_empty_text_is_missing_in_every_format(call, tmp_path):
    """As in `TableModel`: csv has no other, npz and parquet can hold one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=30), "colour": ["red", "", "blue"] * 10})
    frame["kind"] = np.where(frame["x"] > 0, "up", "down")
    write(frame, tmp_path / "a.csv")
    write(frame, tmp_path / "a.parquet")
    np.savez(
        tmp_path / "a.npz",
        **{name: frame[name].to_numpy(str) for name in frame.columns[1:]},
        x=frame["x"],
    )
    models = []
    for name in ("a.csv", "a.parquet", "a.npz"):
        document = call("fit", name, "-t", "kind", *FIT, "--drop-missing").document
        assert document["rows"] == 20
        call("fit", name, "-t", "kind", *FIT)
        models.append({c.name: c for c in package.load("m.kernelet").encoder.columns}["colour"])
        assert "has no value in rows 2, 5" in call("fit", name, "-t", "colour", *FIT, code=3).err
    assert models[0].has_missing and models[0] == models[1] == models[2]


def test_kernels_are_those_of_the_library():
    assert set(methods.KERNELS) == OURS & set(kernel_names())


def test_figures_of_classes_are_those_of_counting():
    """Labels that the model does not know are errors; a class without rows has no recall."""
    figures = Confusion(np.array(["b", "a", "c", "d"]))
    truth, predicted = np.array([0, 0, 1, -1, 1, 0]), np.array(["b", "a", "a", "b", "a", "b"])
    for part in (slice(0, 2), slice(2, 6)):
        figures.add(truth[part], predicted[part])
    document = figures.document()
    assert (document["rows"], document["rows_of_unknown_classes"]) == (6, 1)
    assert document["error"] == pytest.approx(2 / 6)
    assert document["confusion"] == [[2, 1, 0, 0], [0, 2, 0, 0], [0] * 4, [0] * 4]
    rows = [list(plain(entry).values()) for entry in document["classes"]]
    b, a, c, d = rows
    assert b == ["b", 3, pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(2 / 3)]
    assert a == ["a", 2, 1.0, pytest.approx(2 / 3), pytest.approx(0.8)]
    assert c == ["c", 0, None, None, None] and d == ["d", 0, None, None, None]


def test_what_was_not_there_in_training_is_reported_once(frame, call, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    call("fit", "a.csv", "-t", "species", *FIT)
    new = frame.assign(colour=["purple", *frame.colour[1:149], "teal"], extra=1)
    new.loc[4, "petal width"] = np.nan
    new = new[["extra", *reversed(frame.columns)]]
    new.to_csv(tmp_path / "b.csv", index=False)
    done = call("predict", "m.kernelet", "b.csv", "--chunk", "10", "-o", "out.csv", "--json")
    unknown, missing = done.document["warnings"]
    assert (
        "column 'colour' has values that were not there in training ('purple', 'teal')" in unknown
    )
    assert "in 2 of 150 rows" in unknown
    assert "column 'petal width' misses 1 of 150 numbers" in missing
    assert done.err.count("warning") == 2
    # zeros for the unknown, the mean for the missing
    known = new.drop(columns="extra").astype({"colour": object})
    model = package.load("m.kernelet")
    filled = known.fillna({"petal width": frame["petal width"].mean()})
    with pytest.warns(UserWarning, match="purple"):
        expected = model.predict(filled)
    assert_array_equal(pd.read_csv("out.csv")["prediction"], expected)
    quiet = call("predict", "m.kernelet", "b.csv", "-o", "out.csv", "--quiet")
    assert (quiet.out, quiet.err) == ("", "")


def test_labels_that_the_model_does_not_know_are_errors(frame, call, tmp_path):
    known = frame[frame.species != "virginica"]
    known.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv", index=False)
    call("fit", "a.csv", "-t", "species", *FIT)
    done = call("evaluate", "m.kernelet", "b.csv", "--json")
    expected = package.load("m.kernelet").predict(frame)
    assert done.document["error"] == pytest.approx(np.mean(expected != frame.species))
    assert done.document["rows_of_unknown_classes"] == 50
    assert "50 rows have a label in 'species' that the model does not know" in done.err
    assert "(unknown)" in call("evaluate", "m.kernelet", "b.csv").out


def test_predictions_as_json_and_probabilities(frame, call, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    call("fit", "a.csv", "-t", "species", *FIT, "--holdout", "0.4", "--probabilities")
    done = call("predict", "m.kernelet", "a.csv", "--probabilities", "--json", "--chunk", "40")
    document = done.document
    assert document["rows"] == len(document["predictions"]) == 150
    model = package.load("m.kernelet")
    names = [f"probability_{name}" for name in model.classes_]
    shares = np.array([[row[name] for name in names] for row in document["predictions"]])
    assert_allclose(shares, model.predict_proba(frame))
    assert_allclose(shares.sum(axis=1), 1.0)
    done = call(
        "compress", "m.kernelet", "-m", "4", "-o", "s.kernelet", "--table", "a.csv", "--json"
    )
    assert done.document["vectors"] == 4
    assert "the probabilities are left out" in done.document["warnings"][0]


def test_models_saved_by_python(frame, call, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    X = frame[["petal width", "petal length"]]
    named = package.ReducedSVC(5, random_state=0).fit(X, frame.species)
    named.save("named.kernelet")
    done = call("evaluate", "named.kernelet", "a.csv", "-t", "species", "--json")
    assert done.document["error"] == pytest.approx(1 - named.score(X, frame.species))
    assert done.err == ""
    nameless = package.ReducedSVC(5, random_state=0).fit(X.to_numpy(), frame.species)
    nameless.save("nameless.kernelet")
    X.to_csv(tmp_path / "x.csv", index=False)
    done = call("predict", "nameless.kernelet", "x.csv")
    assert done.out.split()[1:] == list(nameless.predict(X.to_numpy()))
    call("predict", "nameless.kernelet", "a.csv", code=3)
    named.machine_.save("machine.kernelet")
    scores = pd.read_csv(io.StringIO(call("predict", "machine.kernelet", "x.csv").out))
    assert_allclose(scores, named.decision_function(X))
    assert "KernelMachine" in call("info", "machine.kernelet").out


def test_every_estimator_that_predicts_is_a_method():
    kinds = (KernelClassifier, KernelRegressor, SparseOneClassSVM)
    estimators = {
        name
        for name in package.__all__
        if inspect.isclass(value := getattr(package, name)) and issubclass(value, kinds)
    }
    listed = {method.estimator for method in methods.METHODS.values()}
    assert estimators | {"SVC"} == listed


# those for numbers and for one class are in test_cli_numbers.py
@pytest.mark.parametrize("name", [m.name for m in methods.METHODS.values() if m.task is CLASSES])
def test_every_method_fits_and_predicts(name, frame, call, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    document = call(
        *("fit", "a.csv", "-t", "species", "--method", name, "-m", "6", "-o", "m.kernelet"),
        *("--test", "a.csv", "--json"),
    ).document
    assert 1 <= document["vectors"] <= 6
    assert document["test"]["error"] < 0.3
    model = package.load("m.kernelet")
    assert model.score(frame) == pytest.approx(1 - document["test"]["error"])
    done = call("predict", "m.kernelet", "a.csv")
    assert done.out.split()[1:] == list(model.predict(frame))
    assert "on 150 rows" in call("info", "m.kernelet").out


def test_the_svm_itself(frame, call, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    document = call(
        *("fit", "a.csv", "-t", "species", "--method", "svc", "-o", "m.kernelet", "--json"),
        *("--only", "petal width,petal length", "--scaling", "none"),
    ).document
    X = frame[["petal width", "petal length"]].to_numpy()
    svc = SVC().fit(X, frame.species)
    assert document["vectors"] == len(svc.support_)
    assert_array_equal(package.load("m.kernelet").predict(frame), svc.predict(X))


def test_parameters_reach_the_estimator(frame, call, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    call(
        *("fit", "a.csv", "-t", "species", "-m", "2", "-o", "m.kernelet", "--kernel", "poly"),
        *("--degree", "2", "--coef0", "1", "--gamma", "0.5", "--C", "3", "--class-weight"),
        *("balanced", "--max-iter", "400", "--seed", "7", "--param", "loss=squared_hinge"),
        *("--param", "n_init=2"),
    )
    params = package.load("m.kernelet").estimator.get_params()
    wanted = {
        **{"n_vectors": 2, "kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5, "C": 3.0},
        **{"class_weight": "balanced", "max_iter": 400, "random_state": 7, "n_init": 2},
        **{"loss": "squared_hinge"},
    }
    assert {name: params[name] for name in wanted} == wanted


def test_labels():
    table = Table("t", {"y": np.array(["1.0", "2", "01"], dtype=object)})
    assert_array_equal(training_labels(table, "y"), [1, 2, 1])
    table = Table("t", {"y": np.array(["1.5", "x"], dtype=object)})
    assert_array_equal(training_labels(table, "y"), ["1.5", "x"])
    table = Table("t", {"y": np.array([0.5, 2.0])})
    assert_array_equal(training_labels(table, "y"), ["0.5", "2"])
    table = Table("t", {"y": np.array([True, False])})
    assert_array_equal(training_labels(table, "y"), ["True", "False"])
    classes = np.array([-1, 1])
    table = Table("t", {"y": np.array(["+1", "-1.0", "one"], dtype=object)})
    assert_array_equal(codes_of(table, "y", classes), [1, 0, -1])
    assert text_of(np.float64(3)) == "3"


def test_json_has_no_numbers_that_json_does_not_know():
    document = plain({"a": np.array([1.0, np.inf]), "b": np.int64(2), "c": np.bool_(True)})
    assert json.loads(json.dumps(document, allow_nan=False)) == {
        "a": [1.0, None],
        "b": 2,
        "c": True,
    }


def test_chunks_are_no_longer_than_asked(frame, tmp_path):
    for name in ("a.csv", "a.parquet"):
        write(frame, tmp_path / name)
        source = Source(str(tmp_path / name), name.partition(".")[2])
        chunks = list(table_chunks(source, ["colour"], ["petal width"], "species", 40))
        assert [len(chunk) for chunk in chunks] == [40, 40, 40, 30]
        assert [chunk.first_row for chunk in chunks] == [1, 41, 81, 121]
        assert_allclose(
            np.concatenate([chunk.column("petal width") for chunk in chunks]), frame["petal width"]
        )
