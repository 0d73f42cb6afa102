"""The command line on targets that are numbers, and on one class."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import kernelet as package
from command_line import Called
from kernelet.cli import main
from kernelet.cli.methods import METHODS
from kernelet.cli.metrics import Deviations
from kernelet.cli.tasks import NUMBERS, OUTLIERS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train.csv and test.csv with a price, a column of text and marks of outliers."""
    folder = tmp_path_factory.mktemp("numbers")
    X, y = make_friedman1(200, n_features=5, noise=0.5, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["side"] = np.where(X[:, 0] > 0.5, "north", "south")
    frame["price"] = 1000.0 * y
    frame[:150].to_csv(folder / "train.csv", index=False)
    frame[150:].to_csv(folder / "test.csv", index=False)
    far = frame[150:].drop(columns="price")
    far.loc[far.index[:10], "a"] = 50.0
    far["mark"] = np.where(np.arange(50) < 10, -1, 1)
    far.to_csv(folder / "marked.csv", index=False)
    frame.assign(price=frame["price"].mask(frame.index == 4)).to_csv(folder / "hole.csv")
    frame.assign(price=np.where(frame.index == 4, np.inf, 1.0)).to_csv(folder / "infinite.csv")
    lines = (
        f"{value} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row))
        for row, value in zip(X, y, strict=True)
    )
    (folder / "rows.libsvm").write_text("\n".join(lines) + "\n")
    np.savez(folder / "rows.npz", X=X, y=y)
    return folder


@pytest.fixture
def call(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)

    def call(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            code = stopped.code
        return Called(code, *capsys.readouterr())

    return call


def fit(call, *arguments):
    done = call("fit", "train.csv", "-t", "price", "-m", 8, *arguments, "--json")
    assert done.code == 0, done.err
    return done.document


class TestNumbers:
    @pytest.mark.parametrize("method", [m for m in METHODS.values() if m.task is NUMBERS])
    def test_every_method(self, call, folder, method):
        costs = () if method.name == "relevance-vector-regressor" else ("--C", 1000)
        name = f"{method.name}.kernelet"
        done = fit(call, "--method", method.name, *costs, "--test", "test.csv", "-o", name)
        model = package.load(folder / name)
        assert model.n_vectors_ <= 8
        assert done["classes"] is None
        test = pd.read_csv(folder / "test.csv")
        predicted = model.predict(test)
        document = call("evaluate", name, "test.csv", "--json").document
        assert document["r2"] == pytest.approx(r2_score(test["price"], predicted))
        assert document["rmse"] == pytest.approx(root_mean_squared_error(test["price"], predicted))
        assert document["mae"] == pytest.approx(mean_absolute_error(test["price"], predicted))
        assert {key: document[key] for key in done["test"]} == pytest.approx(done["test"])
        assert document["r2"] > 0.5

    def test_the_rest_of_the_commands(self, call, folder):
        made = fit(call, "--method", "SparseKernelRidge", "--C", 1000, "-o", "price.kernelet")
        assert made["method"] == "sparse-kernel-ridge"
        assert made["training_error"] > 0.0
        model, test = package.load(folder / "price.kernelet"), pd.read_csv(folder / "test.csv")
        assert model.target == "price"
        call("predict", "price.kernelet", "test.csv", "--keep", "side", "-o", "out.csv")
        out = pd.read_csv(folder / "out.csv")
        assert_allclose(out["prediction"], model.predict(test), rtol=1e-12)
        assert_array_equal(out["side"], test["side"])
        text = call("evaluate", "price.kernelet", "test.csv").out
        assert all(name in text for name in ("R2", "RMSE", "MAE", "50 rows"))
        facts = call("info", "price.kernelet", "--json").document
        assert facts["estimator"] == "SparseKernelRidge"
        assert facts["classes"] is None
        small = call(
            *("compress", "price.kernelet", "-m", 7, "--table", "test.csv"),
            *("-o", "small.kernelet", "--json"),
        ).document
        assert (small["vectors_before"], small["vectors"]) == (8, 7)
        assert small["error"] > small["error_before"] > 0.0
        assert call("evaluate", "small.kernelet", "test.csv", "--json").document["r2"] > 0.0
        for form in ("c", "onnx", "javascript", "json"):
            assert call("export", "price.kernelet", "--to", form).code == 0
        back = call("evaluate", "price.json", "test.csv", "--json").document
        assert back["r2"] == pytest.approx(r2_score(test["price"], model.predict(test)))

    def test_frontier(self, call, folder):
        common = ("frontier", "train.csv", "-t", "price", "--budgets", "2,8", "--folds", 3)
        done = call(*common, "--method", "sparse-svr", "--C", 1e4, "-o", "pick.kernelet", "--json")
        assert done.code == 0, done.err
        small, large = done.document["frontier"]
        assert large["error"] < small["error"]
        assert done.document["svm"]["vectors"] > 50
        assert package.load(folder / "pick.kernelet").n_vectors_ == large["vectors"] == 8
        ridge = call(*common, "--method", "sparse-kernel-ridge")
        assert "1 - R2" in ridge.out
        assert "SVM" not in ridge.out  # its C is the price of something else

    def test_other_files(self, call, folder):
        for table in ("rows.libsvm", "rows.npz"):
            done = call(
                *("fit", table, "--method", "sparse-kernel-ridge", "--C", 100, "-m", 8),
                *("--holdout", 0.25, "-o", "m.kernelet", "--json"),
            )
            assert done.code == 0, done.err
            assert done.document["test"]["rows"] == 50
            assert done.document["test"]["r2"] > 0.7
            assert call("evaluate", "m.kernelet", table, "--json").document["rows"] == 200

    def test_holes_can_be_left_out(self, call):
        wrong = call("fit", "hole.csv", "-t", "price", "--method", "sparse-svr", "-o", "x.kernelet")
        assert wrong.code == 3
        assert "row 5" in wrong.err and "--drop-missing" in wrong.err
        done = call(
            *("fit", "hole.csv", "-t", "price", "--method", "sparse-kernel-ridge", "-m", 3),
            *("--drop-missing", "-o", "x.kernelet", "--json"),
        )
        assert done.document["rows"] == 199

    def test_deviations_in_pieces(self):
        rng = np.random.default_rng(0)
        truth, predicted = 1e6 + rng.normal(size=100), 1e6 + rng.normal(size=100)
        figures = Deviations()
        for part in np.split(np.arange(100), [0, 1, 30, 31]):
            figures.add(truth[part], predicted[part])
        assert figures.document()["r2"] == pytest.approx(r2_score(truth, predicted), rel=1e-9)
        assert figures.n_rows == 100
        assert Deviations().document()["r2"] != Deviations().document()["r2"]  # nan


class TestOneClass:
    def test_it_needs_no_target(self, call, folder):
        (name,) = (m.name for m in METHODS.values() if m.task is OUTLIERS)
        done = call(
            *("fit", "train.csv", "--method", name, "--drop", "price", "--param", "nu=0.1"),
            *("-m", 8, "--test", "test.csv", "-o", "guard.kernelet", "--json"),
        )
        assert done.code == 0, done.err
        assert done.document["target"] is None
        assert done.document["test"]["rows"] == 50
        marked = pd.read_csv(folder / "marked.csv")
        model = package.load(folder / "guard.kernelet")
        call("predict", "guard.kernelet", "marked.csv", "--scores", "-o", "out.csv")
        out = pd.read_csv(folder / "out.csv")
        assert_array_equal(out["prediction"], model.predict(marked))
        assert_allclose(out["score"], model.decision_function(marked), rtol=1e-9)
        assert (out["prediction"][:10] == -1).all()
        share = call("evaluate", "guard.kernelet", "marked.csv", "--json").document
        assert share["outside"] == (out["prediction"] == -1).sum()
        judged = call("evaluate", "guard.kernelet", "marked.csv", "-t", "mark", "--json").document
        assert judged["error"] == pytest.approx((out["prediction"] != marked["mark"]).mean())
        small = call(
            *("compress", "guard.kernelet", "-m", 4, "--table", "test.csv"),
            *("-o", "small.kernelet", "--json"),
        )
        assert small.document["vectors"] == 4
        for table in ("rows.libsvm", "rows.npz"):
            done = call("fit", table, "--method", name, "-m", 4, "-o", "m.kernelet", "--json")
            assert done.document["features"] == 5


WRONG = {
    "classes asked of numbers": (("-t", "price"), 3, "--method sparse-kernel-ridge"),
    "text as numbers": (("-t", "side", "--method", "sparse-svr"), 3, "'north' in row 1"),
    "no target": (("--method", "sparse-svr"), 2, "classes or numbers: --target COLUMN"),
    "target of one class": (("-t", "price", "--method", "sparse-one-class"), 2, "--drop price"),
    "probabilities of numbers": (
        ("-t", "price", "--method", "sparse-svr", "--probabilities", "--holdout", "0.2"),
        2,
        "those of classes",
    ),
    "weights of numbers": (
        ("-t", "price", "--method", "sparse-svr", "--class-weight", "balanced"),
        2,
        "--class-weight means nothing",
    ),
}


class TestErrors:
    @pytest.mark.parametrize("name", WRONG)
    def test_of_fit(self, call, name):
        arguments, code, words = WRONG[name]
        done = call("fit", "train.csv", *arguments, "-o", "x.kernelet")
        assert done.code == code, done.err
        assert words in done.err
        assert done.err.strip().count("\n") == 0

    def test_of_the_others(self, call):
        fit(call, "--method", "sparse-kernel-ridge", "-o", "price.kernelet")
        for arguments, code, words in (
            (("predict", "price.kernelet", "test.csv", "--scores"), 4, "no --scores"),
            (
                ("predict", "price.kernelet", "test.csv", "--probabilities"),
                4,
                "has no probabilities",
            ),
            (("evaluate", "price.kernelet", "test.csv", "-t", "side"), 3, "number is needed"),
            (
                (
                    *("compress", "price.kernelet", "-m", 2, "--table", "test.csv"),
                    *("--refit", "margin", "-o", "x.kernelet"),
                ),
                2,
                "--refit margin is for classes",
            ),
            (("frontier", "train.csv", "--method", "sparse-one-class"), 2, "kernelet fit"),
            (
                ("fit", "infinite.csv", "-t", "price", "--method", "norm-svr", "-o", "x.kernelet"),
                3,
                "infinite number in row 5",
            ),
        ):
            done = call(*arguments)
            assert (done.code, words in done.err) == (code, True), done.err

    def test_help_names_every_method(self, call):
        text = call("fit", "--help").out
        assert all(name in text for name in METHODS)
        assert "methods for numbers:" in text
