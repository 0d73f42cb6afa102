"""Fits on a Dask cluster whose workers die, disappear or are interrupted."""

import _thread
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from kernelet import KernelFisherClassifier, ReducedSVC, SparseSVC
from kernelet.learners.direct.search import samples
from kernelet.rows import ClusterError, dask_pieces
from tests.learners.test_out_of_core_learners import LENGTHS, X_TEST, Y_TEST, X, Y
from tests.rows.test_rows import cut

# Clusters are started, and lost.
pytestmark = pytest.mark.slow

array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

# a kernel that is not radial: all steps are passes over the workers' rows
MODEL = SparseSVC(
    8,
    C=10.0,
    kernel="poly",
    degree=2,
    coef0=1.0,
    loss="hinge",
    tol=1e-3,
    max_iter=4,
    random_state=0,
)


def two_workers():
    return distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as started:
        yield started


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected


def partitions():
    chunks = (tuple(LENGTHS), (X.shape[1],))
    return array.from_array(X, chunks=chunks), array.from_array(Y, chunks=(tuple(LENGTHS),))


@pytest.fixture
def rows(client):
    return partitions()


def quietly(model, *rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(*rows)


@pytest.fixture(scope="module")
def expected():
    """From chunks that are cut as the partitions are."""
    return quietly(MODEL, cut(X, LENGTHS), cut(Y, LENGTHS)).machine_


@pytest.fixture
def at_pass(monkeypatch):
    """Do something when a pass over the rows has been sent out."""

    def plan(name, number, action):
        seen, original = [], dask_pieces.DaskPieces.map

        def watched(self, task, called):
            results = original(self, task, called)
            if called == f"kernelet_{name}":
                seen.append(called)
                if len(seen) == number:
                    action()
            return results

        monkeypatch.setattr(dask_pieces.DaskPieces, "map", watched)
        return seen

    return plan


@pytest.mark.parametrize(
    "model",
    [MODEL, ReducedSVC(20, random_state=0), KernelFisherClassifier(8, max_iter=3)],
    ids=lambda model: type(model).__name__,
)
def test_two_workers_and_one_process(rows, model):
    model = model.set_params(random_state=0)
    here = quietly(model, cut(X, LENGTHS), cut(Y, LENGTHS))
    assert quietly(model, *rows).machine_ == here.machine_


def test_data_frames(client):
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    table = pandas.DataFrame(X, columns=[f"pixel {j}" for j in range(X.shape[1])])
    frame = frames.from_pandas(table.assign(label=Y), npartitions=3)
    model = quietly(ReducedSVC(20, random_state=0), frame.drop(columns="label"), frame["label"])
    assert model.feature_names_in_[2] == "pixel 2"
    assert model.score(X_TEST, Y_TEST) > 0.9


def test_without_a_client(expected):
    assert quietly(MODEL, *partitions()).machine_ == expected


def test_labels_in_memory(rows, expected):
    assert quietly(MODEL, rows[0], Y).machine_ == expected


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_only_little_moves(rows, client, loss, monkeypatch):
    """What comes back after the sample is far smaller than the rows.

    With the squared hinge the sample may grow to all rows that fit into memory: here, none do.
    """
    monkeypatch.setattr(samples, "_MOST_NUMBERS", 1)
    sizes = []
    original = dask_pieces.DaskPieces._result

    def measured(self, future):
        result = original(self, future)
        sizes.append(len(distributed.protocol.pickle.dumps(result)))
        return result

    wide = array.random.default_rng(0).normal(size=(32_000, 20), chunks=(16_000, 20))
    labels = (wide[:, 0] > wide[:, 1] ** 2).astype(int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_pieces.DaskPieces, "_result", measured)
        patch.setattr("kernelet.solvers.blocks.hinge.NEAR_ROWS", 2000)
        quietly(SparseSVC(5, loss=loss, max_iter=1, random_state=0), wide, labels)
    # two partitions: surveys, the sample, and then passes that leave all rows where they are
    assert len(sizes) > 4
    share = 0.25 if loss == "hinge" else 1e-3
    assert max(sizes[4:]) < share * 16_000 * 20 * 8


@pytest.mark.parametrize(
    ("name", "number"), [("sample", 1), ("margins", 3), ("gradient", 3)], ids=str
)
def test_a_worker_dies(rows, client, at_pass, expected, name, number):
    def kill():
        pids = client.run(os.getpid)
        os.kill(pids[sorted(pids)[0]], signal.SIGKILL)

    seen = at_pass(name, number, kill)
    assert quietly(MODEL, *rows).machine_ == expected
    assert len(seen) >= number


def test_all_workers_are_lost(rows, client, cluster, at_pass, monkeypatch, tmp_path):
    monkeypatch.setattr(dask_pieces, "PATIENCE", 2.0)
    path = tmp_path / "fit.checkpoint"
    model = clone(MODEL).set_params(checkpoint=path)
    at_pass("gradient", 4, lambda: cluster.scale(0))
    with pytest.raises(
        ClusterError, match=r"no worker for 2 s.*checkpoint= and was given it goes on"
    ):
        quietly(model, *rows)
    assert path.exists()
    cluster.scale(2)
    client.wait_for_workers(2, timeout=60)
    resumed = quietly(model, *rows)
    assert not path.exists()
    whole = quietly(MODEL, *rows)
    assert resumed.n_iter_ >= whole.n_iter_
    assert resumed.objective_ < 1.1 * whole.objective_


@pytest.mark.parametrize("lost", ["scheduler", "client"])
@pytest.mark.parametrize("moment", ["when rows are sent out", "before a pass", "in a pass"])
def test_the_scheduler_is_lost(lost, moment, monkeypatch):
    """Dask's own errors differ with the moment; ours does not."""
    monkeypatch.setattr(dask_pieces, "PATIENCE", 2.0)
    everything = dask_pieces.DaskPieces
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, processes=False
        ) as cluster,
        distributed.Client(cluster) as client,
        client.as_current(),
    ):
        lose = {"scheduler": cluster.close, "client": client.close}[lost]
        original, name = everything.map, "map"
        if moment == "when rows are sent out":
            original, name = everything.__init__, "__init__"

        def losing(self, *arguments):
            if moment != "in a pass":
                lose()
            results = original(self, *arguments)
            if moment == "in a pass":
                lose()
            return results

        monkeypatch.setattr(everything, name, losing)
        lazy = array.from_array(X, chunks=(200, -1)), array.from_array(Y, chunks=200)
        model = ReducedSVC(5, random_state=0)
        with pytest.raises(ClusterError, match="Start the cluster again"):
            model.fit(*lazy)
    assert not hasattr(model, "classes_")


def test_all_workers_are_restarted(at_pass):
    """Now and then Dask starts one of them only: a cluster of its own, and no wait for both."""
    with two_workers() as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        rows = partitions()
        at_pass("gradient", 3, lambda: client.restart(wait_for_workers=False))
        with pytest.raises(ClusterError, match="Start the cluster again"):
            quietly(MODEL, *rows)
        # the cluster is there, and so is Dask's graph: another fit finds its rows
        client.wait_for_workers(1, timeout=60)
        assert quietly(ReducedSVC(5, random_state=0), *rows).n_vectors_ == 5


def test_ctrl_c(rows, client, at_pass):
    begun = threading.Event()
    at_pass("gradient", 3, begun.set)

    def press():
        begun.wait(60)
        time.sleep(0.05)
        _thread.interrupt_main()

    pressing = threading.Thread(target=press)
    pressing.start()
    model = clone(MODEL).set_params(max_iter=500, tol=1e-9)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(*rows)
    pressing.join()
    assert model.interrupted_
    assert model.score(X_TEST, Y_TEST) > 0.5
    # the cluster is as it was
    assert client.submit(lambda: 1).result(timeout=30) == 1
    assert quietly(ReducedSVC(5, random_state=0), *rows).n_vectors_ == 5


def test_a_bad_partition_is_named(client):
    spoilt = X.copy()
    spoilt[250, 0] = np.nan
    chunks = (tuple(LENGTHS), (X.shape[1],))
    with pytest.raises(ValueError, match="partition 1 contains NaN"):
        SparseSVC().fit(array.from_array(spoilt, chunks=chunks), Y)


def test_columns_in_several_chunks(rows, expected):
    assert quietly(MODEL, rows[0].rechunk({1: 20}), rows[1]).machine_ == expected


def test_labels_that_do_not_go_with_the_rows(rows):
    with pytest.raises(ValueError, match="y has 10 values for 540 rows"):
        SparseSVC().fit(rows[0], Y[:10])
    unknown = rows[0][rows[0][:, 0] >= 0.0]
    with pytest.raises(ValueError, match="y must be a Dask collection as X is"):
        SparseSVC().fit(unknown, Y)


def test_unknown_lengths(rows, expected):
    keep = rows[0][:, 0] >= 0.0
    found = quietly(MODEL, rows[0][keep], rows[1][keep])
    assert_allclose(found.machine_.vectors, expected.vectors)


class LostLater:
    """A client that has lost its cluster when results are given back."""

    status = "running"

    def persist(self, pieces):
        return pieces

    def cancel(self, futures):
        raise distributed.comm.core.CommClosedError("gone")


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_went_wrong_first_is_reported(error):
    class Failing:
        def done(self):
            return False

        def result(self, timeout):
            raise error

    pieces = dask_pieces.DaskPieces(LostLater(), [1], None)
    with pytest.raises(error):
        list(pieces._results([Failing(), Failing()]))
