"""Columns of a table to a matrix, and models that take tables."""

from __future__ import annotations

import subprocess
import sys
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import kernelet
from kernelet.learners.wrappers.table_model import read_target
from kernelet.machine.columns import (
    ColumnEncoder,
    MissingColumnError,
    UnknownCategoryWarning,
)
from kernelet.machine.rounded_columns import rounded_numbers
from kernelet.persistence import read_summary
from random_examples import examples

rng = np.random.default_rng(0)
N = 120
FRAME = pd.DataFrame(
    {
        "age": rng.normal(40.0, 12.0, N),
        "count": rng.integers(0, 9, N),
        "colour": rng.choice(["red", "green", "Blau ü"], N),
        "member": rng.random(N) < 0.3,
    }
)
FRAME["kind"] = np.where(FRAME.age + 10 * (FRAME.colour == "red") > 42, "old", "young")
INPUTS = FRAME.drop(columns="kind")


@pytest.fixture(autouse=True)
def no_warnings():
    """A warning is part of the answer: none comes unasked."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


class TestColumnEncoder:
    @pytest.mark.parametrize(
        ("scaling", "scaler"),
        [("standard", StandardScaler()), ("minmax", MinMaxScaler()), ("none", "passthrough")],
    )
    def test_equals_scikit_learn(self, scaling, scaler):
        oracle = make_column_transformer(
            (scaler, ["age", "count"]),
            (OneHotEncoder(sparse_output=False), ["colour", "member"]),
        )
        encoder = ColumnEncoder.fit(INPUTS, scaling=scaling)
        assert_allclose(encoder.transform(INPUTS), oracle.fit_transform(INPUTS), atol=1e-13)
        assert encoder.feature_names == [
            *("age", "count", "colour=Blau ü", "colour=green", "colour=red"),
            *("member=False", "member=True"),
        ]
        assert encoder.n_features == 7
        assert encoder.names == ["age", "count", "colour", "member"]

    def test_large_numbers_stay_as_they_are_without_scaling(self):
        columns = {"x": np.array([1e15, 1e15 + 1])}
        assert_array_equal(
            ColumnEncoder.fit(columns, scaling="none").transform(columns)[:, 0], columns["x"]
        )

    def test_frames_and_dicts_are_the_same(self):
        columns = {name: INPUTS[name].to_numpy() for name in INPUTS}
        assert ColumnEncoder.fit(columns) == ColumnEncoder.fit(INPUTS)
        lists = {name: INPUTS[name].tolist() for name in INPUTS}
        assert_array_equal(
            ColumnEncoder.fit(lists).transform(lists), ColumnEncoder.fit(INPUTS).transform(INPUTS)
        )

    def test_order_does_not_matter_and_other_columns_are_ignored(self):
        encoder = ColumnEncoder.fit(INPUTS)
        shuffled = FRAME[["kind", "member", "colour", "age", "count"]]
        assert_array_equal(encoder.transform(shuffled), encoder.transform(INPUTS))

    @pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
    def test_missing_numbers_are_the_mean(self, scaling):
        values = np.array([1.0, np.nan, 4.0, 10.0])
        encoder = ColumnEncoder.fit({"x": values}, scaling=scaling)
        filled = encoder.transform({"x": [5.0, 5.0]})
        assert_array_equal(encoder.transform({"x": np.array([np.nan, 5.0])}), filled)

    @pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT, ""], ids=repr)
    def test_missing_comes_in_many_forms(self, nothing):
        columns = {"x": np.array([1.0, nothing, 3.0], dtype=object), "c": ["u", "v", "u"]}
        encoder = ColumnEncoder.fit(columns)
        assert_allclose(encoder.transform(columns)[:, 0], [-1.0, 0.0, 1.0])
        columns = {"c": np.array(["u", nothing, "v"], dtype=object)}
        encoder = ColumnEncoder.fit(columns)
        assert encoder.feature_names == ["c=u", "c=v", "c missing"]
        assert_array_equal(encoder.transform(columns), [[1, 0, 0], [0, 0, 1], [0, 1, 0]])

    def test_a_missing_category_that_was_never_missing_gives_zeros(self):
        encoder = ColumnEncoder.fit({"c": ["u", "v"]})
        assert_array_equal(encoder.transform({"c": [None, "v"]}), [[0, 0], [0, 1]])

    def test_unknown_categories_give_zeros_and_one_warning_for_a_column(self):
        encoder = ColumnEncoder.fit({"c": ["u", "v"], "d": ["a", "b"]})
        with pytest.warns(UnknownCategoryWarning) as caught:
            matrix = encoder.transform({"c": ["u", "w", "x"], "d": ["a", "a", "b"]})
        assert_array_equal(matrix, [[1, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        (message,) = (str(warning.message) for warning in caught)
        assert message.startswith("column 'c' holds 'w', which was not seen in training; 2 of 3")
        assert caught[0].filename == __file__

    def test_constant_columns(self):
        columns = {"x": np.full(7, 0.1), "y": np.full(7, 1e15) + 0.1, "z": np.zeros(7)}
        for scaling in ("standard", "minmax"):
            encoder = ColumnEncoder.fit(columns, scaling=scaling)
            assert_allclose(encoder.transform(columns), 0.0, atol=1e-9)
            assert np.isfinite(encoder.transform({name: [1e3] for name in "xyz"})).all()

    @pytest.mark.parametrize("values", [[np.nan, np.nan], [None, None]], ids=str)
    def test_columns_without_values(self, values):
        with pytest.warns(UserWarning, match="column 'x' has no values"):
            encoder = ColumnEncoder.fit({"x": values, "y": [1.0, 2.0]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.isfinite(encoder.transform({"x": [1.0], "y": [1.0]})).all()

    def test_numbers_written_as_texts_are_read(self):
        encoder = ColumnEncoder.fit({"x": [1.0, 3.0]})
        assert_allclose(encoder.transform({"x": ["1", " 3.0", ""]})[:, 0], [-1, 1, 0])

    def test_texts_among_numbers_are_named(self):
        encoder = ColumnEncoder.fit({"x": [1.0, 3.0]})
        with pytest.raises(ValueError, match="column 'x' must hold numbers, but holds 'many'"):
            encoder.transform({"x": ["1", "many"]})

    def test_infinite_numbers_are_named(self):
        with pytest.raises(ValueError, match="column 'x' holds an infinite number in row 1"):
            ColumnEncoder.fit({"x": [1.0, np.inf]})
        with pytest.raises(ValueError, match="column 'x' holds numbers that are too large"):
            ColumnEncoder.fit({"x": [1.7e308, -1.7e308]})

    def test_numbers_as_categories_are_the_same_in_every_form(self):
        frame = pd.DataFrame({"zip": pd.Categorical([10, 20, 10])})
        encoder = ColumnEncoder.fit(frame)
        assert encoder.feature_names == ["zip=10", "zip=20"]
        for form in ([20, 10], [20.0, 10.0], ["20", "10"], [b"20", b"10"]):
            assert_array_equal(encoder.transform({"zip": form}), [[0, 1], [1, 0]])

    def test_pandas_types(self):
        frame = pd.DataFrame(
            {
                "whole": pd.array([1, None, 3], dtype="Int64"),
                "text": pd.array(["a", None, "b"], dtype="string"),
                "truth": pd.array([True, None, False], dtype="boolean"),
                "decimal": [Decimal(1), Decimal(2), Decimal(3)],
            }
        )
        encoder = ColumnEncoder.fit(frame)
        assert encoder.feature_names == [
            *("whole", "text=a", "text=b", "text missing"),
            *("truth=False", "truth=True", "truth missing"),
            "decimal",
        ]
        assert_allclose(encoder.transform(frame)[:, 0], [-1, 0, 1])
        assert_allclose(encoder.transform(frame)[:, -1], np.array([-1, 0, 1]) * 1.5**0.5)

    @pytest.mark.parametrize(
        "column", [np.array(["2020-01-01"], dtype="datetime64[D]"), np.array([1j])], ids=str
    )
    def test_dates_and_complex_numbers_are_refused(self, column):
        with pytest.raises(ValueError, match=r"column 'x' holds .*; make numbers of it"):
            ColumnEncoder.fit({"x": column})

    def test_a_missing_column_and_its_nearest_name(self):
        encoder = ColumnEncoder.fit(INPUTS)
        table = INPUTS.rename(columns={"age": "AGE"})
        with pytest.raises(MissingColumnError, match=r"no column 'age'; the nearest .* is 'AGE'"):
            encoder.transform(table)
        with pytest.raises(MissingColumnError, match="no column 'age'; it has 'x', 'y'"):
            encoder.transform({"x": [1], "y": [2]})
        assert issubclass(MissingColumnError, ValueError)

    def test_names_that_are_numbers(self):
        frame = pd.DataFrame(np.arange(6.0).reshape(3, 2))
        encoder = ColumnEncoder.fit(frame)
        assert encoder.names == ["0", "1"]
        assert_array_equal(
            encoder.transform({"1": frame[1], "0": frame[0]}), encoder.transform(frame)
        )

    def test_tables_that_are_none(self):
        for table, error, reason in (
            (np.eye(3), TypeError, "a table is a dict of columns"),
            ({}, ValueError, "no column to make features of"),
            ({"x": [1, 2], "y": [1]}, ValueError, "column 'y' has 1 rows, those before it 2"),
            ({"x": [[1, 2]]}, ValueError, "column 'x' must have one dimension"),
            (pd.DataFrame([[1, 2]], columns=["x", "x"]), ValueError, "'x' must have one dimension"),
        ):
            with pytest.raises(error, match=reason):
                ColumnEncoder.fit(table)

    def test_options(self):
        with pytest.raises(ValueError, match="scaling must be one of standard, minmax, none"):
            ColumnEncoder.fit(INPUTS, scaling="z")
        names = {"name": [f"n{i}" for i in range(11)]}
        with pytest.raises(ValueError, match=r"'name' holds 11 different texts.*leave it out"):
            ColumnEncoder.fit(names, max_categories=10)
        assert ColumnEncoder.fit(names, max_categories=11).n_features == 11

    def test_no_rows(self):
        encoder = ColumnEncoder.fit(INPUTS)
        assert encoder.transform(INPUTS[:0]).shape == (0, 7)

    def test_state(self):
        encoder = ColumnEncoder.fit(INPUTS)
        fields, arrays = encoder.state()
        assert ColumnEncoder.from_state(fields, arrays) == encoder
        assert {array.dtype for array in arrays.values()} == {np.dtype(np.float64)}

    def test_needs_numpy_alone(self):
        code = (
            "import sys\n"
            "for name in ('sklearn', 'scipy', 'pandas', 'safetensors'):\n"
            "    sys.modules[name] = None\n"
            "from kernelet.machine.columns import ColumnEncoder\n"
            "encoder = ColumnEncoder.fit({'a': [1, 2], 'b': ['x', None]})\n"
            "print(encoder.transform({'a': [3], 'b': ['x']}).tolist())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout == "[[3.0, 1.0, 0.0]]\n", done.stderr


def fitted(**options):
    return kernelet.TableModel.fit(FRAME, "kind", kernelet.ReducedSVC(9, random_state=0), **options)


class TestTableModel:
    def test_predicts_as_its_parts_do(self):
        model = fitted()
        X = model.encoder.transform(FRAME)
        alone = kernelet.ReducedSVC(9, random_state=0).fit(X, FRAME.kind)
        assert_array_equal(model.predict(INPUTS), alone.predict(X))
        assert_array_equal(model.decision_function(INPUTS), alone.decision_function(X))
        assert model.score(FRAME) == alone.score(X, FRAME.kind)
        assert model.score(FRAME) > 0.9
        assert model.classes_.tolist() == ["old", "young"]
        assert model.n_vectors_ == 9
        assert model.machine_ == alone.machine_

    @pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
    def test_one_file_for_all(self, scaling, tmp_path):
        model = fitted(scaling=scaling)
        model.save(tmp_path / "model.kernelet")
        loaded = kernelet.load(tmp_path / "model.kernelet")
        assert type(loaded) is kernelet.TableModel
        assert loaded.encoder == model.encoder
        assert loaded.target == "kind"
        assert_array_equal(loaded.decision_function(INPUTS), model.decision_function(INPUTS))
        assert_array_equal(loaded.predict(INPUTS), model.predict(INPUTS))

    def test_summary(self, tmp_path):
        fitted().save(tmp_path / "model.kernelet")
        summary = read_summary(tmp_path / "model.kernelet")
        assert (summary["kind"], summary["estimator"]) == ("TableModel", "ReducedSVC")
        assert summary["target"] == "kind"
        assert summary["classes"] == ["old", "young"]
        assert summary["training"]["n_rows"] == N
        assert [column["name"] for column in summary["columns"]] == list(INPUTS)
        assert summary["columns"][2]["categories"] == ["Blau ü", "green", "red"]

    def test_with_probabilities(self, tmp_path):
        model = fitted()
        with pytest.raises(AttributeError, match=r"calibrate it first: kernelet\.calibrate"):
            model.predict_proba(INPUTS)
        rows = model.encoder.transform(INPUTS)
        calibrated = kernelet.calibrate(model.estimator, rows, FRAME.kind)
        model = kernelet.TableModel(model.encoder, calibrated, model.target)
        model.save(tmp_path / "model.kernelet")
        loaded = kernelet.load(tmp_path / "model.kernelet")
        assert_array_equal(loaded.predict_proba(INPUTS), calibrated.predict_proba(rows))

    def test_compressed(self, tmp_path):
        model = fitted()
        small = kernelet.compress(model.estimator, 4)
        model = kernelet.TableModel(model.encoder, small, model.target)
        model.save(tmp_path / "model.kernelet")
        assert kernelet.load(tmp_path / "model.kernelet").n_vectors_ == 4

    def test_regression(self, tmp_path):
        encoder = ColumnEncoder.fit(INPUTS.drop(columns="age"))
        svr = SVR().fit(encoder.transform(INPUTS), INPUTS.age)
        model = kernelet.TableModel(encoder, kernelet.compress(svr, 10), "age")
        model.save(tmp_path / "model.kernelet")
        loaded = kernelet.load(tmp_path / "model.kernelet")
        assert_array_equal(loaded.predict(INPUTS), model.predict(INPUTS))
        assert loaded.score(FRAME) == model.score(FRAME)

    def test_weights_go_to_the_estimator(self):
        weights = np.where(FRAME.kind == "old", 5.0, 1.0)
        model = fitted(sample_weight=weights)
        X = model.encoder.transform(FRAME)
        alone = kernelet.ReducedSVC(9, random_state=0).fit(X, FRAME.kind, sample_weight=weights)
        assert_array_equal(model.decision_function(FRAME), alone.decision_function(X))

    def test_refusals(self):
        model = fitted()
        with pytest.raises(MissingColumnError, match=r"no column 'Kind'; .* is 'kind'"):
            kernelet.TableModel.fit(FRAME, "Kind", kernelet.ReducedSVC())
        with pytest.raises(ValueError, match="the table has no rows"):
            kernelet.TableModel.fit(FRAME[:0], "kind", kernelet.ReducedSVC())
        with pytest.raises(ValueError, match="does not know the name of its target"):
            kernelet.TableModel(model.encoder, model.estimator).score(FRAME)
        with pytest.raises(ValueError, match="fitted on 7 features, but the columns give 1"):
            kernelet.TableModel(ColumnEncoder.fit({"x": [1.0, 2.0]}), model.estimator)
        assert "target='kind'" in repr(model)

    def test_iris_from_a_frame_of_numbers(self, tmp_path):
        frame = load_iris(as_frame=True).frame
        model = kernelet.TableModel.fit(frame, "target", kernelet.ReducedSVC(15, random_state=0))
        assert model.score(frame) > 0.93
        assert model.classes_.tolist() == [0, 1, 2]


class TestTarget:
    @pytest.mark.parametrize(
        ("column", "wanted"),
        [
            ([1, 0, 1], np.array([1, 0, 1])),
            ([1.0, 0.0, 1.0], np.array([1, 0, 1])),
            ([1.5, 0.0, 1.0], np.array([1.5, 0.0, 1.0])),
            ([True, False, True], np.array([True, False, True])),
            (np.array([True, False], dtype=object), np.array([True, False])),
            (pd.Series(["a", "b"], dtype="string"), np.array(["a", "b"])),
            (pd.Categorical(["a", "b"]), np.array(["a", "b"])),
            (np.array(["a", 1], dtype=object), np.array(["a", "1"])),
        ],
        ids=str,
    )
    def test_labels(self, column, wanted):
        found = read_target({"y": column}, "y")
        assert_array_equal(found, wanted)
        assert found.dtype.kind == wanted.dtype.kind

    def test_numbers(self):
        assert read_target({"y": ["1", "2.5"]}, "y", numbers=True).tolist() == [1.0, 2.5]
        with pytest.raises(ValueError, match="must hold numbers, but holds 'x'"):
            read_target({"y": ["1", "x"]}, "y", numbers=True)

    @pytest.mark.parametrize("column", [[1.0, np.nan], ["a", None], ["a", ""]], ids=str)
    def test_missing(self, column):
        with pytest.raises(ValueError, match="'y' is missing in 1 rows, first in row 1"):
            read_target({"y": column}, "y")


@given(
    st.lists(st.tuples(st.floats(-3.4, 3.4), st.floats(-3, 3)), min_size=1, max_size=8),
    st.integers(0, 10**6),
)
@examples(60)
def test_rounded_scales_are_near_and_are_found_again(units, seed):
    """Of columns with a mean of 10^a and a deviation of 10^b each."""
    noise = np.random.default_rng(seed).normal(size=(50, len(units)))
    table = {
        str(place): (noise[:, place] + np.sign(a) * 10.0 ** abs(a)) * 10.0**b
        for place, (a, b) in enumerate(units)
    }
    exact = ColumnEncoder.fit(table)
    encoder = ColumnEncoder.fit(table, rounded=True)
    found = rounded_numbers(encoder.columns)
    assert found is not None
    for column, of_all in zip(encoder.columns, exact.columns, strict=True):
        assert abs(column.scale / of_all.scale - 1.0) <= 0.045
        assert abs(column.shift - of_all.shift) <= column.scale / 16 * (1 + 1e-9)
        assert column.fill == column.shift
    again = ColumnEncoder.from_state(*encoder.state())
    assert again == encoder
    assert rounded_numbers(again.columns).scales == found.scales
    # a missing number is 0
    missing = encoder.transform({name: [np.nan] for name in table})
    assert_array_equal(missing, 0.0)


@pytest.mark.parametrize("far", [[1e6, 1e6 + 1.0, 1e6 + 2.0], [0.0, 1e-11, 2e-11]])
def test_scales_that_do_not_fit_into_bytes_are_not_rounded(far):
    table = {"near": [0.0, 1.0, 3.0], "far": far}
    assert ColumnEncoder.fit(table, rounded=True) == ColumnEncoder.fit(table)
    assert rounded_numbers(ColumnEncoder.fit(table).columns) is None
