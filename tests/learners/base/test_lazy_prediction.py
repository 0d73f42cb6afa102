"""Results for out-of-core rows: the same as for rows in memory, and not computed too early."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelet
from export_models import MODELS, answers, fitted, flowers, table
from kernelet.rows import Chunks

METHODS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
# every public estimator, and what compress makes
OURS = [
    name
    for name in MODELS
    if (hasattr(kernelet, name) and name not in ("KernelMachine", "TableModel"))
    or name.startswith(("compressed", "two classes"))
]
ROWS = flowers()[0][:60]
CUTS = (25, 0, 20, 15)


def in_blocks(rows):
    """A function for parts of rows, one after the other: sums have the order of the parts'."""
    stops = np.cumsum(CUTS)
    return [rows[stop - n : stop] for stop, n in zip(stops, CUTS, strict=True)]


class Counted:
    """Rows that are read one block at a time, and how often."""

    def __init__(self, rows):
        self.blocks, self.readings = in_blocks(rows), 0

    def __call__(self, number):
        self.readings += 1
        return self.blocks[number]

    def dask_array(self):
        def part(block_id):
            return self(block_id[0])

        dtype = self.blocks[0].dtype
        return da.map_blocks(part, chunks=(CUTS, (4,)), dtype=dtype, meta=np.empty((0, 4), dtype))

    def dask_frame(self, names):
        def part(number):
            return pd.DataFrame(self(number), columns=names)

        meta = pd.DataFrame(self.blocks[1], columns=names)
        return dd.from_delayed(
            [dask.delayed(part)(number) for number in range(len(self.blocks))], meta=meta
        )

    def chunks(self):
        return Chunks(self, len(self.blocks))


def methods_of(model):
    return [name for name in METHODS if hasattr(model, name)]


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_and_chunks(name, dtype):
    model, rows = fitted(name), ROWS.astype(dtype)
    assert methods_of(model)
    for method in methods_of(model):
        function = getattr(model, method)
        expected = np.concatenate([function(block) for block in in_blocks(rows) if len(block)])
        source = Counted(rows)
        lazy, streamed = function(source.dask_array()), function(source.chunks())
        assert source.readings == 0
        assert isinstance(lazy, da.Array)
        assert lazy.dtype == expected.dtype
        assert lazy.shape == expected.shape
        assert lazy.chunks[0] == CUTS
        assert isinstance(streamed, Chunks)
        computed = lazy.compute(scheduler="synchronous")
        assert_array_equal(computed, expected)
        assert computed.dtype == lazy.dtype
        assert source.readings == len(CUTS)
        assert [len(part) for part in streamed] == list(CUTS)
        assert_array_equal(streamed.to_numpy(), expected)
        # the whole is the same but for the order of sums
        whole = function(rows)
        if expected.dtype.kind == "f":
            digits = 1e-10 if dtype == np.float64 else 1e-3
            np.testing.assert_allclose(expected, whole, rtol=digits, atol=digits)
        else:
            assert_array_equal(expected, whole)


@pytest.mark.parametrize("name", ["SparseSVC", "KernelSubspace", "CalibratedClassifier"])
def test_data_frames_keep_the_names(name):
    names = list("abcd")
    model = fitted(name)
    if name != "CalibratedClassifier":
        model = clone(model).fit(pd.DataFrame(flowers()[0], columns=names), flowers()[1])
    else:
        names = None
    for method in methods_of(model):
        function = getattr(model, method)
        source = Counted(ROWS)
        lazy = function(source.dask_frame(names or list("wxyz")) if names else source.dask_array())
        assert source.readings == 0
        expected = np.concatenate(
            [
                function(pd.DataFrame(block, columns=names) if names else block)
                for block in in_blocks(ROWS)
                if len(block)
            ]
        )
        assert lazy.ndim == expected.ndim
        assert lazy.shape[1:] == expected.shape[1:]
        assert lazy.dtype == expected.dtype
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_array_equal(lazy.compute(scheduler="synchronous"), expected)
    if names:
        with pytest.raises(ValueError, match="feature names"):
            function(Counted(ROWS).dask_frame(names[::-1]))


def test_a_table_of_texts():
    for name in ("TableModel", "table, RVM", "table of numbers"):
        model = fitted(name)
        frame = pd.DataFrame(table())[:60]
        lazy = dd.from_pandas(frame, npartitions=3, sort=False)
        empty = dd.concat([lazy, lazy[lazy.length > 1e6]])
        chunks = Chunks.of([frame[:25], frame[:0], frame[25:]])
        for method, expected in answers(model, frame).items():
            for rows in (lazy, empty):
                result = getattr(model, method)(rows)
                assert isinstance(result, da.Array)
                assert result.dtype == expected.dtype
                found = result.compute(scheduler="synchronous")
                if expected.dtype.kind == "U":
                    assert_array_equal(found, expected)
                else:
                    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
            streamed = getattr(model, method)(chunks)
            assert [len(part) for part in streamed] == [25, 0, 35]
    with pytest.raises(AttributeError, match="calibrate"):
        fitted("TableModel").predict_proba(lazy)


def test_the_model_is_in_the_graph_once():
    X, y = flowers()
    model = kernelet.CoreVectorSVC(random_state=0).fit(X, y)
    sizes = []
    for n in (2, 100):
        lazy = model.predict(da.zeros((n * 10, 4), chunks=(10, 4)))
        graph = dict(lazy.__dask_graph__())
        sizes.append(sum(len(pickle.dumps(task)) for task in graph.values()))
    assert sizes[0] > model.machine_.nbytes
    assert sizes[1] - sizes[0] < 98 * 3000
    assert all(str(key).startswith(("zeros", "ones", "('", "kernelet_predict")) for key in graph)


def test_sparse_blocks():
    model = fitted("SparseSVC")
    rows = da.from_array(ROWS, chunks=(20, 4)).map_blocks(sparse.csr_matrix)
    assert_array_equal(
        model.predict(rows).compute(scheduler="synchronous"), model.predict(sparse.csr_matrix(ROWS))
    )
    chunks = Chunks.of([sparse.csr_array(ROWS[:30]), sparse.csr_array(ROWS[30:])])
    assert_array_equal(model.predict(chunks).to_numpy(), model.predict(ROWS))


def test_unknown_lengths_and_columns_in_parts():
    model = fitted("SparseSVC")
    rows = da.from_array(ROWS, chunks=(20, 2))
    assert model.predict(rows).chunks == ((20, 20, 20),)
    unknown = rows[rows[:, 0] > 5.5]
    result = model.decision_function(unknown)
    assert np.isnan(result.shape[0])
    np.testing.assert_allclose(
        result.compute(scheduler="synchronous"), model.decision_function(ROWS[ROWS[:, 0] > 5.5])
    )


def test_set_output_does_not_compute():
    X = flowers()[0]
    model = kernelet.KernelSubspace(3, random_state=0).fit(X).set_output(transform="pandas")
    assert isinstance(model.transform(X), pd.DataFrame)
    source = Counted(ROWS)
    lazy, streamed = model.transform(source.dask_array()), model.transform(source.chunks())
    assert source.readings == 0
    assert isinstance(lazy.compute(scheduler="synchronous"), np.ndarray)
    assert_array_equal(lazy.compute(scheduler="synchronous"), streamed.to_numpy())


def test_the_way_back():
    model = kernelet.SparseKernelPCA(4, n_components=2, fit_inverse_transform=True, random_state=0)
    model.fit(flowers()[0])
    source = Counted(ROWS)
    back = model.inverse_transform(model.transform(source.dask_array()))
    assert source.readings == 0
    assert back.shape == (60, 4)
    expected = model.inverse_transform(model.transform(ROWS))
    np.testing.assert_allclose(back.compute(scheduler="synchronous"), expected, atol=1e-8)
    with pytest.raises(AttributeError):
        kernelet.SparseKernelPCA(2).inverse_transform(source.dask_array())


def test_errors_come_at_once():
    source = Counted(ROWS)
    for rows in (source.dask_array(), source.chunks()):
        with pytest.raises(NotFittedError):
            kernelet.SparseSVC().predict(rows)
        with pytest.raises(NotFittedError):
            kernelet.KernelSubspace().transform(rows)
        with pytest.raises(ValueError, match="takes only X"):
            fitted("RelevanceVectorRegressor").predict(rows, return_std=True)
    with pytest.raises(ValueError, match="3 features"):
        fitted("SparseSVC").predict(source.dask_array()[:, :3])
    with pytest.raises(ValueError, match="two dimensions"):
        fitted("SparseSVC").predict(source.dask_array()[:, 0])
    assert source.readings == 0
    with pytest.raises(ValueError, match="3 features"):
        fitted("SparseSVC").predict(Chunks.of([ROWS[:, :3]]))[0]
    assert fitted("RelevanceVectorRegressor").predict(source.chunks(), return_std=False)[0].size


def test_dask_is_imported_for_dask_only():
    code = (
        "import sys, numpy as np, kernelet\n"
        "from kernelet.rows import Chunks\n"
        "X = np.random.default_rng(0).normal(size=(20, 2))\n"
        "model = kernelet.ReducedSVC(3, random_state=0).fit(X, X[:, 0] > 0)\n"
        "model.predict(X), model.predict(Chunks.of([X])).to_numpy()\n"
        "assert not any(name.partition('.')[0] in ('dask', 'distributed') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
