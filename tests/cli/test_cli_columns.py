"""Numbers as people write them, and columns that nobody meant to learn from."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernelet as package
from command_line import Called
from kernelet.cli import main, progress
from kernelet.cli.output import Output
from kernelet.cli.tables.reading import read_table, table_chunks
from kernelet.cli.tables.sources import Source
from kernelet.cli.tables.table import Table
from kernelet.cli.tasks import CLASSES
from kernelet.cli.training_data import TrainingTable

FIT = ("-t", "y", "--method", "reduced-svc", "-m", "5", "--C", "10", "-o", "m.kernelet")


@pytest.fixture
def call(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=0):
        try:
            found = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            found = stopped.code
        done = Called(found, *capsys.readouterr())
        assert done.code == code, done.err
        return done

    return call


@pytest.fixture(scope="module")
def frame():
    """Two columns of numbers, some above a thousand and some whole, and a class."""
    rng = np.random.default_rng(0)
    x, price = rng.normal(size=90).round(2), (5000 * rng.random(90)).round(1)
    return pd.DataFrame({"x": x, "price": price, "y": np.where(x * price > 100, "up", "down")})


def written(frame, path, separator=",", decimal=".", thousands=""):
    """A table with its numbers in some notation, quoted where a cell holds the separator."""

    def number(value):
        text = f"{value:,}".replace(",", "T").replace(".", decimal)
        return text.replace("T", thousands)

    cells = {
        name: [number(value) for value in values.tolist()] if values.dtype.kind in "fi" else values
        for name, values in frame.items()
    }
    pd.DataFrame(cells).to_csv(path, sep=separator, index=False)


def column(folder, text, name="a", **options):
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return read_table(Source(str(folder / "t.csv"), "csv", **options)).column(name)


class TestDecimalCommas:
    @pytest.mark.parametrize("thousands", ["", "."])
    @pytest.mark.parametrize("separator", [";", "\t"])
    def test_are_recognised(self, separator, thousands, frame, call, tmp_path):
        written(frame, tmp_path / "point.csv")
        written(frame, tmp_path / "comma.csv", separator, ",", thousands)
        call("fit", "point.csv", *FIT)
        model = package.load("m.kernelet")
        expected = call("predict", "m.kernelet", "point.csv").out
        done = call("fit", "comma.csv", *FIT)
        assert "column 'x' of comma.csv holds numbers such as" in done.err
        assert "decimal comma" in done.err and "--decimal" in done.err
        again = package.load("m.kernelet")
        assert again.encoder == model.encoder and again.machine_ == model.machine_
        # each file is read as it is written, whatever the model has learned from
        for table in ("point.csv", "comma.csv"):
            done = call("predict", "m.kernelet", table, "--chunk", "7")
            assert done.out == expected
            assert done.err.count("decimal comma") == (table == "comma.csv")
        points, commas = (
            call("evaluate", "m.kernelet", table, "--json").document["error"]
            for table in ("point.csv", "comma.csv")
        )
        assert points == commas

    def test_of_a_pipe_and_of_a_test_table(self, frame, call, monkeypatch, tmp_path):
        written(frame, tmp_path / "comma.csv", ";", ",")
        test = call("fit", "comma.csv", *FIT, "--test", "comma.csv", "--json").document["test"]
        assert (
            test.items() <= call("evaluate", "m.kernelet", "comma.csv", "--json").document.items()
        )
        expected = call("predict", "m.kernelet", "comma.csv").out
        with open(tmp_path / "comma.csv") as file:
            monkeypatch.setattr("sys.stdin", file)
            assert call("predict", "m.kernelet", "-").out == expected

    def test_of_the_target(self, frame, call, tmp_path):
        numbers = frame[["price"]].assign(y=frame["x"])
        ridge = ("--method", "sparse-kernel-ridge", "--json")
        results = []
        for name, notation in (("point.csv", ()), ("comma.csv", (";", ","))):
            written(numbers, tmp_path / name, *notation)
            call("fit", name, *FIT, *ridge)
            results.append(call("evaluate", "m.kernelet", name, "--json").document["rmse"])
        assert results[0] == results[1]

    def test_between_commas_are_a_question(self, frame, call, tmp_path):
        """Where "3,14" has to be quoted, it may be a list."""
        written(frame, tmp_path / "a.csv", ",", ",")
        done = call("fit", "a.csv", *FIT, code=3)
        assert "column 'x' of a.csv holds numbers such as" in done.err
        assert "--decimal ," in done.err and "--text x" in done.err
        call("fit", "a.csv", *FIT, "--decimal", ",")
        assert package.load("m.kernelet").encoder.feature_names == ["x", "price"]
        call("predict", "m.kernelet", "a.csv", "--decimal", ",")
        done = call("predict", "m.kernelet", "a.csv", code=3)
        assert "in column 'x', row 1, where a number is needed; say --decimal ," in done.err

    def test_no_other_number_changes(self, tmp_path):
        """Three decimals beside a list: 1.234 stays what it was."""
        text = "a;list\n" + "1.234;1,5\n2.345;2,5\n" * 3
        assert_array_equal(column(tmp_path, text), [1.234, 2.345] * 3)
        assert column(tmp_path, text, "list").tolist() == ["1,5", "2,5"] * 3
        assert_array_equal(column(tmp_path, text, decimal=","), [1234, 2345] * 3)
        assert_array_equal(column(tmp_path, text, "list", decimal=","), [1.5, 2.5] * 3)
        assert column(tmp_path, text, "list", decimal=".").tolist() == ["1,5", "2,5"] * 3

    def test_later_chunks_are_read_as_the_first(self, tmp_path):
        """Also those that would be numbers of another size by themselves."""
        path = tmp_path / "t.csv"
        path.write_text("a;b\n" + "1,5;x\n" * 20_000 + "1.234;x\n2.345;x\n")
        chunks = list(table_chunks(Source(str(path), "csv"), ["b"], ["a"]))
        assert_array_equal(chunks[0].column("a"), np.full(20_000, 1.5))
        assert_array_equal(chunks[1].column("a"), [1234, 2345])
        assert [len(chunk.remarks) for chunk in chunks] == [1, 0]

    def test_a_heading_of_them_is_a_row(self, call, tmp_path):
        (tmp_path / "a.csv").write_text("3,14;2,5\n1,5;2,0\n")
        assert "say --no-header" in call("fit", "a.csv", *FIT, code=3).err
        assert_array_equal(
            column(tmp_path, "3,14;2,5\n1,5;2,0\n", "1", no_header=True), [3.14, 1.5]
        )

    def test_names_with_commas(self, tmp_path):
        """The rows show what separates cells where the heading has as many commas."""
        text = "length, cm;width, cm;kind\n" + "1.5;2.5;x\n" * 3
        assert_array_equal(column(tmp_path, text, "length, cm"), [1.5] * 3)
        # nothing else is read otherwise than before
        for text in ("a;b,c,d\n1;2,3,4\n", "a;b,c\n1;2,3\n"):
            assert column(tmp_path, text, "a;b").tolist() == ["1;2"]


class TestThousands:
    def test_commas_beside_decimal_points(self, frame, call, tmp_path):
        written(frame, tmp_path / "a.csv", thousands=",")
        done = call("fit", "a.csv", *FIT)
        assert "column 'price' of a.csv" in done.err and "comma between thousands" in done.err
        found = {each.name: each for each in package.load("m.kernelet").encoder.columns}
        assert found["price"].fill == pytest.approx(frame["price"].mean())

    def test_what_may_be_either_is_asked(self, call, tmp_path):
        rng = np.random.default_rng(0)
        cells = [f"{value:,}" for value in rng.integers(1000, 9999, size=60)]
        table = pd.DataFrame({"a": cells, "y": ["n", "o"] * 30})
        table.to_csv(tmp_path / "a.csv", index=False, sep=";")
        done = call("fit", "a.csv", *FIT, code=3)
        assert "--text a takes each text as a category, or say how to read them" in done.err
        assert done.err.rstrip().endswith(": --decimal , or --thousands ,")
        # also where each occurs several times: nobody means dozens of categories
        pd.concat([table] * 5).to_csv(tmp_path / "b.csv", index=False, sep=";")
        done = call("fit", "b.csv", *FIT, code=3)
        assert done.err.rstrip().endswith(": --decimal , or --thousands ,")
        expected = np.array([float(cell.replace(",", ".")) for cell in cells])
        for options, mean in (
            (("--decimal", ","), expected.mean()),
            (("--thousands", ","), 1000 * expected.mean()),
            (("--decimal", "."), 1000 * expected.mean()),
        ):
            call("fit", "a.csv", *FIT, *options)
            assert package.load("m.kernelet").encoder.columns[0].fill == pytest.approx(mean)
        done = call("predict", "m.kernelet", "a.csv", code=3)
        assert f"{cells[0]!r} in column 'a', row 1" in done.err
        assert "say --decimal , or --thousands , if that is how" in done.err

    def test_one_column_with_commas_among_others_with_points(self, frame, call):
        """No option reads both."""
        hue = [f"{value:.3f}".replace(".", ",") for value in frame["x"] + 3.0]
        frame.assign(hue=hue).to_csv("a.csv", index=False)
        err = call("fit", "a.csv", *FIT, code=3).err
        assert "column 'hue'" in err and "other columns have another decimal mark" in err
        assert "--drop hue" in err and "--decimal" not in err

    def test_few_values_stay_categories(self, call, tmp_path):
        (tmp_path / "a.csv").write_text('a,y\n"1,234",n\n"2,345",o\n' + '"1,234",n\n' * 20)
        done = call("fit", "a.csv", *FIT, "--json")
        assert package.load("m.kernelet").encoder.columns[0].categories == ("1,234", "2,345")
        warned = done.document["warnings"][0]
        assert "taken as 2 categories; --decimal , or --thousands , makes numbers" in warned
        assert "categories" not in call("fit", "a.csv", *FIT, "--text", "a").err

    @pytest.mark.parametrize(
        ("cells", "options", "expected"),
        [
            (["1'234.5", "20"], {"thousands": "'"}, [1234.5, 20]),
            (["1 234,5", "-20"], {"thousands": " ", "decimal": ","}, [1234.5, -20]),
            (["1\u202f234\u00a0567", "2"], {"thousands": " "}, [1234567, 2]),
            (["1.234.567", "2"], {"thousands": "."}, [1234567, 2]),
            (["1,5E+03", "+2,"], {"decimal": ","}, [1500, 2]),
            (["1,234,567", "2"], {"decimal": "."}, [1234567, 2]),
        ],
    )
    def test_as_they_are_said(self, cells, options, expected, tmp_path):
        text = "a;b\n" + "".join(f"{cell};z\n" for cell in cells)
        assert_array_equal(column(tmp_path, text, **options), expected)

    def test_groups_have_three_digits(self, tmp_path, call):
        """What is no number stays text, and is a mistake among numbers."""
        assert column(tmp_path, "a;b\n1,2,3;z\n31.12.2024;z\n", decimal=",").tolist() == [
            "1,2,3",
            "31.12.2024",
        ]
        (tmp_path / "a.csv").write_text("a;y\n" + "1,5;n\n2,5;o\n" * 20 + "3.5;n\n")
        done = call("fit", "a.csv", *FIT, "--decimal", ",", code=3)
        assert "numbers in column 'a' but '3.5' in row 41; say --decimal ." in done.err

    def test_of_arrays(self, call, tmp_path):
        np.savez(tmp_path / "a.npz", a=np.array(["1.234,5", "2"] * 20), y=np.array(["n", "o"] * 20))
        assert "--decimal ," in call("fit", "a.npz", *FIT).err
        call("fit", "a.npz", *FIT, "--decimal", ",")
        assert package.load("m.kernelet").encoder.columns[0].fill == 618.25
        call("predict", "m.kernelet", "a.npz", "--decimal", ",")

    def test_marks_that_are_none(self, call, tmp_path):
        (tmp_path / "a.csv").write_text("a,y\n1,n\n2,o\n")
        done = call("fit", "a.csv", *FIT, "--decimal", ",", "--thousands", ",", code=2)
        assert "both ,; they must differ" in done.err
        assert "one character" in call("fit", "a.csv", *FIT, "--thousands", "ab", code=2).err


class TestColumns:
    @pytest.fixture
    def rows(self, frame):
        return frame.drop(columns="price")

    def fit(self, call, table, *options, code=0):
        table.to_csv("a.csv", index=False)
        return call("fit", "a.csv", *FIT, *options, *(["--json"] if code == 0 else []), code=code)

    def features(self):
        return package.load("m.kernelet").encoder.names

    def test_ids_are_left_out(self, rows, call):
        table = rows.assign(id=[f"k{i}" for i in range(90)])
        (warned,) = self.fit(call, table).document["warnings"]
        assert warned == (
            "column 'id' has 90 different texts in 90 rows and was left out; --text id takes each "
            "text as a category"
        )
        assert self.features() == ["x"]
        assert self.fit(call, table, "--drop", "id").document["warnings"] == []
        for option in ("--text", "--only"):
            assert self.fit(call, table, option, "id").document["warnings"] == []
            assert "id" in self.features()
        done = self.fit(call, table.drop(columns="x"), code=3)
        assert done.err.splitlines()[-1].endswith("a.csv has no other column to learn from")

    def test_thousands_of_categories_are_refused(self, call):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"x": rng.normal(size=3000), "y": ["n", "o"] * 1500})
        table["name"] = [f"n{i}" for i in np.arange(3000) // 2]
        for option in ((), ("--text", "name")):
            done = self.fit(call, table.iloc[rng.permutation(3000)], *option, code=3)
            assert "1500 different texts in 3000 rows" in done.err and "--drop name" in done.err

    def test_many_categories_are_worth_a_word(self, call):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"name": [f"n{i % 110}" for i in range(400)]})
        table["x"], table["y"] = rng.normal(size=400), ["n", "o"] * 200
        (warned,) = self.fit(call, table).document["warnings"]
        assert "column 'name' has 110 categories in 400 rows" in warned
        assert "--drop name" in warned and self.features() == ["name", "x"]
        few = table.assign(name=[f"{i % 30} %" for i in range(400)])
        assert self.fit(call, few).document["warnings"] == []
        (warned,) = self.fit(call, few[:120]).document["warnings"]
        assert "column 'name' has 30 categories in 120 rows" in warned

    @pytest.mark.parametrize("is_shuffled", [False, True])
    def test_numbers_of_rows_are_worth_a_word(self, is_shuffled, rows, call):
        numbers = np.arange(1, 91)
        if is_shuffled:
            numbers = np.random.default_rng(0).permutation(numbers)
        (warned,) = self.fit(call, rows.assign(nr=numbers)).document["warnings"]
        assert "column 'nr' counts from 1 to 90, each number once" in warned
        assert "--drop nr" in warned and self.features() == ["x", "nr"]
        numbers[numbers == 90] = 91
        assert self.fit(call, rows.assign(count=numbers)).document["warnings"] == []

    @pytest.mark.parametrize("name", ["id", "nr", "Customer ID", "row_number"])
    def test_ids_with_gaps_are_worth_a_word(self, name, rows, call):
        ids = np.random.default_rng(0).permutation(500)[:90]
        (warned,) = self.fit(call, rows.assign(**{name: ids})).document["warnings"]
        assert f"column '{name}' has another whole number in each row" in warned
        assert "--drop" in warned
        ids[1] = ids[0]
        assert self.fit(call, rows.assign(**{name: ids})).document["warnings"] == []

    def test_classes_that_differ_by_blanks_are_worth_a_word(self, rows, call):
        table = rows.assign(y=np.where(np.arange(90) % 3 == 0, "up ", rows["y"]))
        (warned,) = self.fit(call, table).document["warnings"]
        assert "the target 'y' has 'up', 'up '" in warned
        assert "taken as different classes" in warned

    @pytest.mark.parametrize(
        "how",
        ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%dT%H:%M:%SZ", "%d %b %Y", "%Y/%m/%d %H:%M"],
    )
    def test_dates_are_no_categories(self, how, rows, call):
        table = rows.assign(day=pd.date_range("2023-11-05", periods=90).strftime(how))
        (warned,) = self.fit(call, table).document["warnings"]
        assert f"column 'day' holds dates or times such as '{table['day'][0]}'" in warned
        assert "was left out" in warned and "days since some date" in warned
        assert self.features() == ["x"]
        few = rows.assign(day=np.resize(table["day"][:3], 90))
        (warned,) = self.fit(call, few).document["warnings"]
        assert "taken as 3 categories" in warned and "--drop day" in warned
        assert self.features() == ["x", "day"]
        assert self.fit(call, few, "--text", "day").document["warnings"] == []

    def test_dates_as_numbers(self, rows, call):
        days = pd.date_range("2023-11-05", periods=90).strftime("%Y%m%d").astype(int)
        (warned,) = self.fit(call, rows.assign(day=days)).document["warnings"]
        assert "column 'day' holds numbers such as 20231105, which look like dates" in warned
        assert "--drop day" in warned and self.features() == ["x", "day"]
        days = days.to_numpy() + (np.arange(90) == 50) * 70  # no month has so many days
        assert self.fit(call, rows.assign(day=days)).document["warnings"] == []

    def test_what_only_looks_like_dates(self, rows, call):
        """Parts of machines and addresses."""
        codes = np.resize(["1234-56", "10.0.0.1", "12-1"], 90)
        assert self.fit(call, rows.assign(code=codes)).document["warnings"] == []

    def test_dates_in_parquet(self, rows, call):
        rows.assign(day=pd.date_range("2023-11-05", periods=90)).to_parquet("a.parquet")
        assert "column 'day' holds dates" in call("fit", "a.parquet", *FIT).err

    @pytest.mark.parametrize("words", [("true", "false"), ("yes", "no"), ("t", "f"), ("Y", "N")])
    def test_truth_values_are_two_categories(self, words, rows, call):
        table = rows.assign(ok=np.resize(words, 90))
        assert self.fit(call, table).document["warnings"] == []
        categories = package.load("m.kernelet").encoder.columns[1].categories
        assert categories == tuple(sorted(words))
        call("export", "m.kernelet", "--to", "c")
        mixed = table.assign(ok=[*table["ok"][:-1], words[1].swapcase()])
        (warned,) = self.fit(call, mixed).document["warnings"]
        assert "column 'ok' has" in warned and repr(words[1].swapcase()) in warned
        assert "taken as different categories" in warned

    def test_names_of_columns_are_shown_as_they_are(self, rows, call):
        table = rows.assign(**{"id\x1b[2J": [f"k{i}" for i in range(90)]})
        table.to_csv("a.csv", index=False)
        said = call("fit", "a.csv", *FIT).err
        assert "\\x1b[2J" in said and "\x1b" not in said
        table.assign(**{"a\x1b[2J": ["1,5", "2"] * 45}).to_csv("a.csv", index=False, sep=";")
        said = call("predict", "m.kernelet", "a.csv", code=0).err
        assert "\x1b" not in said


class TestSample:
    @pytest.fixture
    def labels(self):
        return np.repeat(["rare", "some", "most"], [3, 97, 900])

    def test_classes_keep_their_shares(self, labels):
        index = CLASSES.sample(labels, 100, 0)
        assert index.size == 100 == len(set(index.tolist()))
        counts = dict(zip(*np.unique(labels[index], return_counts=True), strict=True))
        assert counts["rare"] == 1 and abs(counts["some"] - 10) <= 1
        assert_array_equal(index, CLASSES.sample(labels, 100, 0))
        assert not np.array_equal(index, CLASSES.sample(labels, 100, 1))
        assert set(labels[CLASSES.sample(labels, 3, 0)]) == set(labels)

    def test_of_a_fit(self, labels, call, tmp_path):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"x": rng.normal(size=1000), "y": labels})
        table.to_csv(tmp_path / "a.csv", index=False)
        done = call("fit", "a.csv", *FIT, "--sample", "100", "--json")
        assert (done.document["rows"], done.document["sampled_from"]) == (100, 1000)
        assert "learned from a sample of 100 of 1000 rows; all of them would take about" in done.err
        chosen = table.iloc[CLASSES.sample(labels, 100, 0)]
        fill = package.load("m.kernelet").encoder.columns[0].fill
        assert fill == pytest.approx(chosen["x"].mean())
        # rows are held out of the sample
        done = call("fit", "a.csv", *FIT, "--sample", "100", "--holdout", "0.4", "--json")
        assert (done.document["rows"], done.document["test"]["rows"]) == (60, 40)
        assert "sample of 100 of 1000 rows" in done.err
        # all rows are no sample
        done = call("fit", "a.csv", *FIT, "--sample", "1000", "--json")
        assert (done.document["rows"], done.document["sampled_from"]) == (1000, None)
        assert "sample" not in done.err
        done = call("fit", "a.csv", *FIT, "--sample", "2", code=2)
        assert "--sample 2 is less than the 3 classes" in done.err

    def test_of_numbers_and_of_a_frontier(self, call, tmp_path):
        x = np.random.default_rng(0).normal(size=400)
        table = pd.DataFrame({"x": x, "y": np.sin(x)})
        table.to_csv(tmp_path / "a.csv", index=False)
        ridge = ("-t", "y", "--method", "sparse-kernel-ridge", "--sample", "80")
        done = call("fit", "a.csv", *ridge, "-m", "3", "-o", "m.kernelet")
        assert "sample of 80 of 400 rows" in done.err
        done = call("frontier", "a.csv", *ridge, "--budgets", "2", "--folds", "2", "--no-svm")
        assert "2 folds of 80 rows" in done.out and "sample of 80 of 400 rows" in done.err

    def test_rows_that_a_search_has_used(self, capsys):
        class Step:
            n_used = 20_000

        data = TrainingTable(Table("a.csv", {}), np.zeros(50_000), "y", CLASSES)
        data.remark_on_rows(4.0, [Step], Output("fit"))
        said = capsys.readouterr().err
        assert "the search used 20000 of 50000 rows" in said
        assert "would take about 10 s if time grows in proportion to rows" in said
        data.remark_on_rows(4.0, [], Output("fit"))
        Step.n_used = 50_000
        data.remark_on_rows(4.0, [Step], Output("fit"))
        assert capsys.readouterr().err == ""


class TestReadingBar:
    """How far the file has been read, on a terminal alone."""

    @pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.libsvm"])
    @pytest.mark.parametrize("has_rich", [True, False])
    def test_it_moves_to_the_end(self, name, has_rich, tmp_path, monkeypatch, capsys):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(4000, 3)), columns=list("abc"))
        path = tmp_path / name
        if name == "a.parquet":
            frame.to_parquet(path)
        elif name == "a.libsvm":
            path.write_text("".join(f"1 1:{a} 2:{b}\n" for a, b, _ in frame.to_numpy()))
        else:
            frame.to_csv(path, index=False)
        texts, steps = [], []
        if not has_rich:
            monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: None)
        kind = progress.RichBar if has_rich else progress.LineBar
        say, advance = kind.say, kind.advance
        monkeypatch.setattr(kind, "say", lambda bar, text: [texts.append(text), say(bar, text)])
        monkeypatch.setattr(kind, "advance", lambda bar, n: [steps.append(n), advance(bar, n)])
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        table = read_table(Source(str(path), name.split(".")[1]), output=Output("fit"))
        assert len(table) == 4000
        assert steps[0] == 0  # it is there before anything is read
        assert sum(steps) == pytest.approx(100)
        size = path.stat().st_size
        assert texts[-1].endswith(f"{size / 1000:.1f} kB of {size / 1000:.1f} kB")
        assert "reading" in capsys.readouterr().err

    def test_nothing_in_pipes_and_when_quiet(self, frame, call, monkeypatch, tmp_path):
        written(frame, tmp_path / "a.csv")
        assert call("fit", "a.csv", *FIT).err == ""
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        assert call("fit", "a.csv", *FIT, "-q").err == ""

    def test_names_of_files_do_nothing_to_a_terminal(self, monkeypatch, capsys):
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        for has_rich in (True, False):
            if not has_rich:
                monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: None)
            source = Source("[red]a[/red]\x1b[2J", "csv")
            with progress.bytes_bar(Output("fit"), source) as read:
                read(2000)
            shown = capsys.readouterr().err
            assert "reading [red]a[/red]\\x1b[2J" in shown and "\x1b[2J" not in shown

    def test_it_is_there_before_anything_is_imported(self, frame, call, monkeypatch, tmp_path):
        written(frame, tmp_path / "a\x1b[2J.csv")
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        said = call("fit", "a\x1b[2J.csv", *FIT).err
        shown = "reading a\\x1b[2J.csv"
        assert said.startswith(f"\r{shown}\r{' ' * len(shown)}\r")

    def test_of_stdin(self, monkeypatch, capsys, frame):
        content = io.BytesIO(frame.to_csv(index=False).encode())
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(content))
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        table = read_table(Source("-", "csv"), output=Output("fit"))
        assert_allclose(table.column("x"), frame["x"])
        assert "reading stdin" in capsys.readouterr().err


def test_the_document_has_every_warning(frame, call, tmp_path):
    frame.assign(id=[f"k{i}" for i in range(90)]).to_csv(tmp_path / "a.csv", index=False)
    done = call("fit", "a.csv", *FIT, "--json")
    assert len(json.loads(done.out)["warnings"]) == 1
