"""C of models that take raw tables, or that have scalers in front."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from kernelet import ReducedSVC, TableModel, calibrate
from kernelet.export.model import exported_model
from kernelet.export.rounding import rounding_units
from kernelet.export.to_c.exporter import c_source
from kernelet.machine.cells import as_numbers
from kernelet.machine.columns import Category, UnknownCategoryWarning
from references import kernel_matrix
from run_c import DTYPES, compiled

ATOL = {"float32": 2e-5, "float64": 1e-12, "q15": 1e-3}
TABLE = {
    "length": [1.5, None, 3.0, 2.0, 8.5, 7.0, 9.0, 6.5],
    "colour": ["red", "blue", "", "red", "blue", "grey", "grey", "blue"],
    "ripe": [True, False, True, True, False, False, True, True],
    "size */": [1, 2, 3, 1, 2, 3, 1, 2],
    'odd "??/': ["ü", "a\\", "ü", '"', "ü", "a\\", '"', "ü"],
    "fruit": ["fig", "fig", "fig", "fig", "plum", "plum", "plum", "plum"],
}
# in addition to the training rows: missing cells, a new text, numbers far away
ROWS = {
    "length": [*TABLE["length"], None, -1e3, 7.25, 40.0],
    "colour": [*TABLE["colour"], None, "pink", "", "red"],
    "ripe": [*TABLE["ripe"], False, True, False, None],
    "size */": [*TABLE["size */"], None, 2, 5, 1],
    'odd "??/': [*TABLE['odd "??/'], '"', "", "a", "ü"],
}


def as_c_rows(model, library, table):
    """The numbers that a program in C would put into its rows."""
    rows = []
    for place, column in enumerate(model.encoder.columns):
        cells = table[column.name]
        if isinstance(column, Category):
            texts = ["" if cell is None else str(cell) for cell in cells]
            rows.append([library.category(place, text) for text in texts])
        else:
            rows.append(as_numbers(column.name, cells))
    return np.array(rows, dtype=float).T


@pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
def test_tables(scaling, tmp_path):
    model = TableModel.fit(
        TABLE, "fruit", ReducedSVC(4, gamma=0.2, random_state=0), scaling=scaling
    )
    libraries = compiled([(model, dtype) for dtype in DTYPES], tmp_path)
    with pytest.warns(UnknownCategoryWarning):
        expected = model.decision_function(ROWS)
        labels = model.predict(ROWS)
    for dtype, library in zip(DTYPES, libraries, strict=True):
        rows = as_c_rows(model, library, ROWS)
        size = np.abs(model.machine_.coefficients).sum()
        assert_allclose(library.decision_function(rows)[:, 0], expected, atol=ATOL[dtype] * size)
        assert_array_equal(model.classes_[library.predict(rows)], labels)
        assert library.texts("columns", 5) == model.encoder.names
        # a category that is missing has an indicator of its own only where training had one
        rows[:, 1] = np.where(rows[:, 1] == 3, np.nan, rows[:, 1])
        assert_allclose(library.decision_function(rows)[:, 0], expected, atol=ATOL[dtype] * size)


def test_categories_are_found_by_their_texts(tmp_path):
    model = TableModel.fit(TABLE, "fruit", ReducedSVC(4, random_state=0))
    (library,) = compiled([(model, "float32")], tmp_path)
    texts = ("blue", "grey", "red", "re", "redd", "")
    assert [library.category(1, text) for text in texts] == [0, 1, 2, -1, -1, 3]
    assert [library.category(2, text) for text in ("False", "True", "")] == [0, 1, -1]
    assert [library.category(4, text) for text in ('"', "a\\", "ü")] == [0, 1, 2]
    assert [library.category(column, "red") for column in (-1, 0, 5)] == [-1, -1, -1]


def test_the_header_explains_the_columns():
    model = TableModel.fit(TABLE, "fruit", ReducedSVC(4, random_state=0))
    header = c_source(model, "fruit").header
    assert "0  length: a number" in header
    assert "1  colour: 0 blue, 1 grey, 2 red; 3 missing, or NaN; any other number is none" in header
    assert "#define FRUIT_COLUMNS 5" in header
    assert "int fruit_predict(const float x[FRUIT_COLUMNS]);" in header
    # missing values are filled, so that no score is NaN; plain features promise no such thing
    assert "NaN is a missing value." in header and "if it holds NaN" not in header
    X, y = load_iris(return_X_y=True)
    assert "NaN if it holds NaN" in c_source(ReducedSVC(3, random_state=0).fit(X, y), "m").header
    many = {"code": [f"c{i % 40}" for i in range(80)], "y": [0, 1] * 40}
    header = c_source(TableModel.fit(many, "y", ReducedSVC(3, random_state=0)), "m").header
    assert "11 c19 and 28 more;" in header


def test_numbers_alone_and_probabilities(tmp_path):
    X, y = load_iris(return_X_y=True)
    table = {f"x{i}": X[:, i] for i in range(4)} | {"kind": y}
    fitted = TableModel.fit(table, "kind", ReducedSVC(6, random_state=0))
    encoded = fitted.encoder.transform(table)
    model = TableModel(fitted.encoder, calibrate(fitted.estimator, encoded, y), "kind")
    X = X.copy()
    X[3, 1] = np.nan
    table["x1"] = X[:, 1]
    libraries = compiled([(model, dtype) for dtype in DTYPES], tmp_path)
    for dtype, library in zip(DTYPES, libraries, strict=True):
        agreement = np.mean(library.predict(X) == model.predict(table))
        assert agreement >= (0.99 if dtype == "q15" else 1.0)
        shares = model.predict_proba(table)
        assert_allclose(library.predict_proba(X), shares, atol=20 * ATOL[dtype])
        assert "_category" not in library.written.header


SCALERS = {
    "standard": [StandardScaler()],
    "no mean": [StandardScaler(with_mean=False)],
    "no deviation": [StandardScaler(with_std=False)],
    "range": [MinMaxScaler((-2, 3))],
    "several": ["passthrough", RobustScaler(), MaxAbsScaler(), None, MinMaxScaler()],
    "robust": [RobustScaler(with_centering=False)],
    "robust scale": [RobustScaler(with_scaling=False)],
    "nothing": [],
}


def test_pipelines_of_scalers(tmp_path):
    X, y = load_iris(return_X_y=True)
    X = X * [1.0, 100.0, 1e-3, 1e4] + [0.0, 1000.0, 0.0, -1e5]
    pipelines = [
        make_pipeline(*scalers, ReducedSVC(6, random_state=0)).fit(X, y)
        for scalers in SCALERS.values()
    ]
    # 32 bits are enough for what has been scaled, but hardly for what has not
    cases = [(pipeline, dtype) for pipeline in pipelines[:1] for dtype in DTYPES]
    cases += [(pipeline, "float64") for pipeline in pipelines[1:]]
    X_test = X.astype(np.float32).astype(float)
    for (pipeline, dtype), library in zip(cases, compiled(cases, tmp_path), strict=True):
        scores = pipeline.decision_function(X_test)
        size = np.abs(pipeline[-1].machine_.coefficients).sum()
        assert_allclose(library.decision_function(X_test), scores, atol=ATOL[dtype] * size)
        assert np.mean(library.predict(X_test) == pipeline.predict(X_test)) > 0.98
    X_test[0, 2] = np.nan
    values = compiled(cases[:2], tmp_path / "nan")[1].decision_function(X_test)
    assert np.isnan(values[0]).all() and not np.isnan(values[1:]).any()


@pytest.mark.parametrize("offset", [0.0, 30.0, -2000.0])
def test_rounding_of_scaled_rows_is_as_stated(offset, tmp_path):
    X, y = load_iris(return_X_y=True)
    X = (X + offset).astype(np.float32).astype(float)
    pipeline = make_pipeline(StandardScaler(), ReducedSVC(6, random_state=0)).fit(X, y)
    machine, scaler = pipeline[-1].machine_, pipeline[0]
    scaled = scaler.transform(X)
    moved = np.abs(scaled) + np.abs(scaler.mean_ / scaler.scale_)
    reach = np.square(moved).sum(axis=1) + np.square(machine.vectors).sum(axis=1).max()
    terms = kernel_matrix(machine.kernel, scaled, machine.vectors) @ np.abs(machine.coefficients)
    sizes = (1 + machine.kernel.gamma * reach)[:, None] * (terms + np.abs(machine.intercepts))
    units = rounding_units(machine, is_scaled=True)
    cases = [(pipeline, "float32"), (pipeline, "float64")]
    for (_, dtype), library in zip(cases, compiled(cases, tmp_path), strict=True):
        digits = np.finfo(dtype).nmant + 1
        assert f"{units} * 2^-{digits}" in library.written.header
        error = np.abs(library.decision_function(X) - pipeline.decision_function(X))
        assert (error <= (units + 16) * 2.0**-digits * sizes).all()


def test_what_is_not_affine_is_refused():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(PCA(2), ReducedSVC(3, random_state=0)).fit(X, y)
    with pytest.raises(TypeError, match="the step 'pca' of the pipeline, PCA"):
        c_source(pipeline, "m")
    clipped = make_pipeline(MinMaxScaler(clip=True), ReducedSVC(3, random_state=0)).fit(X, y)
    with pytest.raises(TypeError, match="without clipping"):
        c_source(clipped, "m")
    with pytest.raises(TypeError, match="Pipeline as a whole is not exported to this format"):
        exported_model(clipped.set_params(minmaxscaler__clip=False))
