"""Out-of-core rows: chunks, surveys, samples and sums, against arrays in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelet.rows import Block, Chunks, LabelledBlocks, is_distant, open_pieces
from kernelet.rows import labelled as labelled_module
from kernelet.rows.survey import survey

N = 1000


def table(seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4)) + 1e3
    y = np.array(["a", "b", "c"])[rng.integers(n_classes, size=N)]
    weights = rng.integers(0, 3, size=N) * 0.5
    return X, y, weights


def cut(array, lengths):
    ends = np.cumsum(lengths)
    return Chunks.of([array[end - length : end] for end, length in zip(ends, lengths, strict=True)])


def labelled(pieces):
    seen = survey(pieces)
    factors = np.ones(seen.classes.size)
    return LabelledBlocks(pieces, seen.classes, factors, seen.lengths, seen.counts, seen.n_features)


LENGTHS = [300, 1, 500, 199]


class TestChunks:
    def test_they_are_read_when_asked_for_and_again(self):
        read = []

        def chunk(number):
            read.append(number)
            return np.full(2, number)

        chunks = Chunks(chunk, 3, ["a", "b", "c"])
        assert not read
        assert [part.tolist() for part in chunks] == [[0, 0], [1, 1], [2, 2]]
        assert chunks[-1].tolist() == [2, 2]
        doubled = chunks.map(lambda part: 2 * part)
        assert read == [0, 1, 2, 2]
        assert_array_equal(doubled.to_numpy(), [0, 0, 2, 2, 4, 4])
        assert len(doubled) == 3
        assert doubled.name(1) == "chunk 1 (b)"
        with pytest.raises(IndexError, match="3 chunks"):
            chunks[3]

    def test_none_is_an_error(self):
        with pytest.raises(ValueError, match="at least one chunk"):
            Chunks.of([])
        with pytest.raises(ValueError, match="2 names for 1 chunks"):
            Chunks(lambda number: number, 1, ["a", "b"])


class TestSurvey:
    @pytest.mark.parametrize("is_sparse", [False, True])
    def test_moments_are_those_of_the_whole(self, is_sparse):
        X, y, weights = table()
        rows = sparse.csr_matrix(X - 1e3) if is_sparse else X
        pieces = open_pieces(*(cut(a, LENGTHS) for a in (rows, y, weights)))
        seen = survey(pieces)
        assert seen.classes.tolist() == ["a", "b", "c"]
        assert_array_equal(seen.lengths, LENGTHS)
        factors = np.array([1.0, 2.0, 0.5])
        w = weights * factors[np.searchsorted(seen.classes, y)]
        mean, variance = seen.moments(factors)
        dense = X - 1e3 if is_sparse else X
        assert_allclose(mean, np.average(dense, axis=0, weights=w), rtol=1e-12)
        deviation = np.square(dense - mean)
        assert_allclose(variance, np.average(deviation, axis=0, weights=w), rtol=1e-9)
        for code, label in enumerate(seen.classes):
            mine = (y == label) & (weights > 0)
            assert seen.counts[:, code].sum() == mine.sum()
            assert_allclose(seen.totals[code], weights[mine].sum())
            assert seen.least[code] == weights[mine].min()

    @pytest.mark.parametrize(
        ("spoil", "said"),
        [
            (lambda X, y: (np.where(X[3, 0] == X, np.nan, X), y), "contains NaN or infinity"),
            (lambda X, y: (X[:, :3], y), "has 3 columns, those before it 4"),
            (lambda X, y: (X[:, 0], y), "must have rows and columns"),
            (lambda X, y: (X, y[:-1]), r"has 500 rows, but y there has the shape \(499,\)"),
            (lambda X, y: (X.astype(str), y), "must hold numbers"),
            (lambda X, y: (X, np.linspace(0.0, 1.0, y.size)), "another kind than classes"),
        ],
    )
    def test_a_bad_chunk_is_named(self, spoil, said):
        X, y, _ = table()
        Xs, ys = list(cut(X, LENGTHS)), list(cut(y, LENGTHS))
        Xs[2], ys[2] = spoil(Xs[2], ys[2])
        names = ["one", "two", "three", "four"]
        bad = Chunks(Xs.__getitem__, 4, names), Chunks.of(ys)
        with pytest.raises(ValueError, match=rf"chunk 2 \(three\) .*{said}"):
            survey(open_pieces(*bad))

    def test_labels_go_with_rows(self):
        X, y, _ = table()
        with pytest.raises(ValueError, match="y must be Chunks as X is"):
            open_pieces(cut(X, LENGTHS), y)
        with pytest.raises(ValueError, match="4 of them"):
            open_pieces(cut(X, LENGTHS), cut(y, [N]))


class TestSums:
    def test_blocks_hold_all_rows_with_a_weight_in_order(self, monkeypatch):
        monkeypatch.setattr(labelled_module, "BLOCK_ROWS", 128)
        X, y, weights = table()
        rows = labelled(open_pieces(*(cut(a, LENGTHS) for a in (X, y, weights))))
        found = rows.total(lambda block: (block,), "look")
        assert max(block.index.size for block in found) <= 128
        assert len(found) == rows.n_blocks
        whole = Block.joined(found)
        counted = np.flatnonzero(weights)
        assert_array_equal(whole.index, counted)
        assert_array_equal(whole.X, X[counted])
        assert_array_equal(rows.classes[whole.codes], y[counted])
        assert_array_equal(whole.weights, weights[counted])

    def test_a_memmap_is_cut_as_chunks_are(self, tmp_path, monkeypatch):
        from kernelet.rows import opening

        monkeypatch.setattr(opening, "_PIECE", 4 * 300)
        X, y, weights = table()
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        assert is_distant(mapped)
        assert not is_distant(X)
        rows = labelled(open_pieces(mapped, y, weights))
        assert_array_equal(rows.lengths, [300, 300, 300, 100])
        total = rows.total(lambda block: block.weights @ block.X, "sum")
        assert_allclose(total, weights @ X, rtol=1e-12)

    @pytest.mark.parametrize("lengths", [LENGTHS, [N], [10] * 100])
    def test_the_sample_does_not_depend_on_the_pieces(self, lengths):
        X, y, weights = table()
        rows = labelled(open_pieces(*(cut(a, lengths) for a in (X, y, weights))))
        sample = rows.sample(150, seed=7)
        reference = labelled(open_pieces(*(cut(a, [500, 500]) for a in (X, y, weights))))
        same = reference.sample(150, seed=7)
        assert_array_equal(sample.block.index, same.block.index)
        assert_array_equal(sample.block.X, X[sample.block.index])
        assert (np.diff(sample.block.index) > 0).all()
        # a hundred of each class at least, and each class as heavy as it is
        assert (np.bincount(sample.block.codes) >= 100).all()
        counts = [((y == label) & (weights > 0)).sum() for label in rows.classes]
        assert_allclose(np.bincount(sample.block.codes, sample.represents), counts)

    def test_a_sample_of_few_rows_is_all_of_them(self):
        X, y, _ = table()
        sample = labelled(open_pieces(cut(X, LENGTHS), cut(y, LENGTHS))).sample(N, seed=0)
        assert_array_equal(sample.block.index, np.arange(N))
        assert_array_equal(sample.represents, 1.0)

    def test_samples_are_fair(self):
        X, y, _ = table()
        rows = labelled(open_pieces(cut(X, LENGTHS), cut(y, LENGTHS)))
        drawn = np.zeros(N)
        for seed in range(200):
            drawn[rows.sample(400, seed).block.index] += 1
        # each row 80 times of 200, give or take 7
        assert abs(drawn.mean() - 80) < 3
        assert drawn.min() > 45
        assert drawn.max() < 115
