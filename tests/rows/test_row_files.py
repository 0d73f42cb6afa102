"""Files as chunks of rows: the same numbers as read whole, and errors that name the file."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from kernelet.rows import files, libsvm_chunks, libsvm_files, npy_chunks, parquet_chunks
from kernelet.rows import parquet_files as parquet_module

RNG = np.random.default_rng(0)
# with few enough digits for a text file
ROWS = RNG.normal(size=(50, 4)).round(3)
LABELS = np.array(["no", "yes", "perhaps"])[RNG.integers(0, 3, 50)]


class TestNpy:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_chunks_are_the_rows(self, tmp_path, dtype, order):
        rows = np.asarray(10 * ROWS, dtype=dtype, order=order)
        np.save(tmp_path / "rows.npy", rows)
        chunks = npy_chunks(tmp_path / "rows.npy", rows_per_chunk=12)
        assert [len(chunk) for chunk in chunks] == [12, 12, 12, 12, 2]
        assert chunks[0].dtype == dtype
        assert isinstance(chunks[0], np.memmap)
        assert_array_equal(chunks.to_numpy(), rows)

    def test_labels_are_cut_as_rows_are(self, tmp_path, monkeypatch):
        for part in range(2):
            np.save(tmp_path / f"x{part}.npy", ROWS[part * 30 : part * 30 + 30])
            np.save(tmp_path / f"y{part}.npy", LABELS[part * 30 : part * 30 + 30])
        np.save(tmp_path / "x2.npy", ROWS[:0])
        np.save(tmp_path / "y2.npy", LABELS[:0])
        monkeypatch.setattr(files, "CHUNK_BYTES", 8 * 4 * 20)
        X, y = npy_chunks(str(tmp_path / "x*.npy"), str(tmp_path / "y?.npy"))
        assert [len(chunk) for chunk in X] == [len(chunk) for chunk in y] == [20, 10, 20]
        assert_array_equal(X.to_numpy(), ROWS)
        assert_array_equal(y.to_numpy(), LABELS)
        assert X.name(1) == f"chunk 1 ({tmp_path / 'x0.npy'}, rows 20 to 29)"
        listed = npy_chunks([tmp_path / "x1.npy", str(tmp_path / "x0.npy")])
        assert_array_equal(listed.to_numpy(), np.vstack([ROWS[30:], ROWS[:30]]))

    def test_names_of_files_are_taken_as_they_are(self, tmp_path):
        np.save(tmp_path / "rows[1].npy", ROWS)
        assert_array_equal(npy_chunks(tmp_path / "rows[1].npy").to_numpy(), ROWS)

    def test_errors_name_the_file(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        np.save("a.npy", ROWS)
        np.save("b.npy", ROWS[:, :3])
        np.save("objects.npy", LABELS.astype(object))
        np.save("short.npy", LABELS[:7])
        np.save("none.npy", ROWS[:0])
        np.savez("archive.npz", ROWS)
        with pytest.raises(FileNotFoundError, match=r"no file matches 'c\*\.npy'"):
            npy_chunks("c*.npy")
        with pytest.raises(FileNotFoundError, match="no file matches"):
            npy_chunks(tmp_path)
        with pytest.raises(ValueError, match="at least one file"):
            npy_chunks([])
        with pytest.raises(ValueError, match=r"b\.npy holds an array of shape \(50, 3\)"):
            npy_chunks("?.npy")
        with pytest.raises(ValueError, match=r"objects\.npy cannot be read.*astype\(str\)"):
            npy_chunks("a.npy", "objects.npy")
        with pytest.raises(ValueError, match=r"short\.npy must hold 50 labels"):
            npy_chunks("a.npy", "short.npy")
        with pytest.raises(ValueError, match="target names 2 files and paths 1"):
            npy_chunks("a.npy", ["short.npy", "short.npy"])
        with pytest.raises(ValueError, match="rows_per_chunk must"):
            npy_chunks("a.npy", rows_per_chunk=0)
        with pytest.raises(ValueError, match=r"no rows in none\.npy"):
            npy_chunks("none.npy")
        with pytest.raises(ValueError, match=r"archive\.npz is not a \.npy file"):
            npy_chunks("archive.npz")


class TestParquet:
    def table(self, part=slice(None)):
        frame = pd.DataFrame(ROWS[part], columns=list("abcd"))
        return frame.assign(d=frame.d.astype(np.float32), n=np.arange(50)[part], label=LABELS[part])

    def write(self, path, frames):
        """A row group for each frame."""
        schema = pa.Table.from_pandas(frames[0], preserve_index=False).schema
        with pa.parquet.ParquetWriter(path, schema) as writer:
            for frame in frames:
                writer.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False))

    def test_row_groups_together_and_alone(self, tmp_path, monkeypatch):
        cuts = [slice(0, 9), slice(9, 9), slice(9, 20), slice(20, 44), slice(44, 50), slice(50, 50)]
        self.write(tmp_path / "x.parquet", [self.table(cut) for cut in cuts])
        with pa.parquet.ParquetFile(tmp_path / "x.parquet") as file:
            assert file.metadata.num_row_groups == 6
        monkeypatch.setattr(parquet_module, "CHUNK_BYTES", 8 * 6 * 20)
        X, y = parquet_chunks(tmp_path / "x.parquet", target="label")
        assert [len(chunk) for chunk in X] == [len(chunk) for chunk in y] == [20, 24, 6]
        assert list(X[1].columns) == list("abcdn")
        assert_array_equal(X.to_numpy(), self.table().drop(columns="label").to_numpy())
        assert_array_equal(y.to_numpy(), LABELS)
        assert y[0].dtype.kind == "U"
        assert X.name(0) == f"chunk 0 ({tmp_path / 'x.parquet'}, row groups 0 to 2)"
        some = parquet_chunks(tmp_path / "x.parquet", columns=["d", "a"])
        assert [len(chunk) for chunk in some] == [20, 24, 6]
        assert_array_equal(some.to_numpy(), self.table()[["d", "a"]].to_numpy())
        assert parquet_chunks(tmp_path / "x.parquet", columns=["d"])[0].dtypes.tolist() == [
            np.float32
        ]

    @pytest.mark.parametrize("kind", ["category", "int64", "bool"])
    def test_labels_of_other_kinds(self, tmp_path, kind):
        labels = pd.Series(LABELS == "no").astype("int64") if kind != "category" else LABELS
        frame = self.table().assign(label=pd.Series(labels).astype(kind))
        frame.to_parquet(tmp_path / "x.parquet", row_group_size=17)
        _, y = parquet_chunks(tmp_path, target="label")
        assert_array_equal(y.to_numpy(), labels)

    def test_a_folder_and_nulls(self, tmp_path):
        """What has no value is NaN, for the survey to find."""
        self.table(slice(0, 10)).to_parquet(tmp_path / "0.parquet")
        frame = self.table(slice(10, 20)).astype({"n": "Int64"})
        frame.loc[2, "n"] = None
        frame.index = np.arange(10)[::-1]  # which pandas writes as a column
        frame.to_parquet(tmp_path / "1.parquet")
        X, _ = parquet_chunks([tmp_path], target="label")
        assert len(X) == 2
        assert np.isnan(X.to_numpy()).sum() == 1

    def test_errors_name_the_file(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        self.table().to_parquet("a.parquet")
        self.table().drop(columns="c").to_parquet("b.parquet")
        self.table().assign(e=1.0).to_parquet("c.parquet")
        self.table(slice(0, 0)).to_parquet("none.parquet")
        self.table().assign(label=None).to_parquet("unlabelled.parquet")
        (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
        with pytest.raises(FileNotFoundError, match="no file matches"):
            parquet_chunks("z.parquet")
        with pytest.raises(ValueError, match=r"b\.parquet has no column 'c'"):
            parquet_chunks("[ab].parquet", target="label")
        with pytest.raises(ValueError, match=r"c\.parquet has an extra column 'e'"):
            parquet_chunks("[ac].parquet", target="label")
        with pytest.raises(ValueError, match=r"a\.parquet has no column 'y'"):
            parquet_chunks("a.parquet", target="y")
        with pytest.raises(ValueError, match=r"text\.parquet cannot be read as parquet"):
            parquet_chunks("text.parquet")
        with pytest.raises(ValueError, match=r"no rows in none\.parquet"):
            parquet_chunks("none.parquet", columns=["a"])
        with pytest.raises(ValueError, match="at least one column"):
            parquet_chunks("a.parquet", columns=[])
        with pytest.raises(ValueError, match=r"a\.parquet holds .* in the column 'label'"):
            parquet_chunks("a.parquet")[0]
        with pytest.raises(ValueError, match=r"unlabelled\.parquet has rows without a label"):
            parquet_chunks("unlabelled.parquet", target="label")[1][0]

    def test_without_pyarrow(self):
        code = (
            "import sys; sys.modules['pyarrow'] = None; import kernelet.rows\n"
            "try:\n    kernelet.rows.parquet_chunks('x.parquet')\n"
            "except ImportError as error:\n    print(error)"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
        )
        assert "pip install 'kernelet[parquet]'" in run.stdout


class TestLibsvm:
    def write(self, path, rows, labels, zero_based=False):
        dump_svmlight_file(rows, labels, str(path), zero_based=zero_based)

    @pytest.mark.parametrize("length", [1, 64, 100, 1000, 10**6])
    def test_each_line_is_in_one_chunk(self, tmp_path, monkeypatch, length):
        """Whatever the cuts, also at and inside of empty lines and comments."""
        rows = np.where(np.abs(ROWS) > 0.7, ROWS, 0.0)
        codes = np.arange(50.0)
        self.write(tmp_path / "x.txt", rows, codes)
        lines = (tmp_path / "x.txt").read_text().splitlines()
        lines[10:10] = ["# 5 1:1.5", "", "#" + "-" * 300, ""]
        (tmp_path / "x.txt").write_text("\n".join(lines))
        monkeypatch.setattr(libsvm_files, "CHUNK_TEXT", length)
        for n_features in (None, 4, 6):
            X, y = libsvm_chunks(tmp_path / "x.txt", n_features=n_features)
            assert (len(X) > 1) == (length < 10**4)
            assert all(sparse.issparse(chunk) and chunk.format == "csr" for chunk in X)
            assert {chunk.shape[1] for chunk in X} == {n_features or 4}
            assert_array_equal(sparse.vstack(list(X)).toarray()[:, :4], rows)
            assert_array_equal(y.to_numpy(), codes)

    def test_compressed_and_zero_based(self, tmp_path):
        self.write(tmp_path / "x.txt", ROWS, np.ones(50), zero_based=True)
        with gzip.open(tmp_path / "y.gz", "wb") as file:
            file.write((tmp_path / "x.txt").read_bytes())
        X, y = libsvm_chunks([tmp_path / "x.txt", tmp_path / "y.gz"], zero_based=True)
        assert len(X) == len(y) == 2
        assert_array_equal(X[1].toarray(), ROWS)
        assert X[0].dtype == np.float64

    def test_rows_and_labels_are_parsed_once(self, tmp_path, monkeypatch):
        self.write(tmp_path / "x.txt", ROWS, np.ones(50))
        original, calls = libsvm_files.load_svmlight_file, []

        def counted(*args, **options):
            calls.append(1)
            return original(*args, **options)

        monkeypatch.setattr(libsvm_files, "load_svmlight_file", counted)
        X, y = libsvm_chunks(tmp_path / "x.txt", n_features=4)
        assert not calls
        assert X[0].shape[0] == y[0].size == 50
        assert len(calls) == 1

    def test_errors_name_the_file(self, tmp_path):
        self.write(tmp_path / "wide.txt", ROWS, np.ones(50))
        self.write(tmp_path / "zero.txt", ROWS, np.ones(50), zero_based=True)
        (tmp_path / "table.txt").write_text("a,b,c\n1,2,3\n")
        (tmp_path / "none.txt").write_text("# nothing\n")
        with pytest.raises(FileNotFoundError, match="no file matches"):
            libsvm_chunks(tmp_path / "missing.txt")
        with pytest.raises(ValueError, match=r"wide\.txt .* n_features=3: .*4 features"):
            libsvm_chunks(tmp_path / "wide.txt", n_features=3)[0][0]
        with pytest.raises(ValueError, match=r"zero\.txt cannot be read"):
            libsvm_chunks(tmp_path / "zero.txt")
        with pytest.raises(ValueError, match=r"table\.txt cannot be read"):
            libsvm_chunks(tmp_path / "table.txt")
        with pytest.raises(ValueError, match="no rows with values"):
            libsvm_chunks(tmp_path / "none.txt")

    def test_errors_have_no_control_characters(self, tmp_path):
        (tmp_path / "bell.txt").write_bytes(b"1 1:.\x1f3\x07\xff348\n")
        with pytest.raises(ValueError, match=r"bell\.txt cannot be read") as error:
            libsvm_chunks(tmp_path / "bell.txt")
        assert str(error.value).isprintable()
