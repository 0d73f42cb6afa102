"""The real command line on real files: every command once, its streams and its exit code."""

import csv
import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

import kernelet as package
from command_line import Called, kernelet, write_flowers
from documents import blocks, read
from integer_machines import compact_machine
from kernelet._accelerate import interruption
from kernelet.cli import errors, main

PAGE = "docs/reference/command_line.md"
NUMBERS = ["sepal length", "sepal width", "petal length", "petal width"]
FIT = ("fit", "train.csv", "--target", "species", "--vectors", "5", "--drop", "id")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command line")
    write_flowers(folder)
    return folder


@pytest.fixture(scope="module")
def fitted(folder):
    done = kernelet(*FIT, "--test", "test.csv", "-o", "model.kernelet", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def predicted(folder, fitted):
    done = kernelet(
        *("predict", "model.kernelet", "test.csv", "--scores", "--keep", "id,sepal width"),
        *("-o", "predicted.csv"),
        cwd=folder,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"40 rows predicted in [\d.]+ s: predicted.csv\n", done.stderr)
    return pd.read_csv(folder / "predicted.csv")


@pytest.fixture
def call(capsys):
    """A command inside this process: the same, without the time that imports take."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        return Called(code, *capsys.readouterr())

    return call


def by_hand(folder):
    """Scores of test.csv: scaling, indicators and the kernel sum written out."""
    train, test = (pd.read_csv(folder / name) for name in ("train.csv", "test.csv"))
    machine = package.load(folder / "model.kernelet").machine_
    scales = machine.kernel.scales  # fit has learned one for each feature
    scores = np.zeros((len(test), 3))
    for i, row in test.iterrows():
        x = [(row[name] - train[name].mean()) / train[name].std(ddof=0) for name in NUMBERS]
        x += [float(row["colour"] == colour) for colour in ("blue", "green", "red")]
        for k in range(3):
            scores[i, k] = machine.intercepts[k]
            for z, beta in zip(machine.vectors, machine.coefficients[:, k], strict=True):
                distance = sum((s * (a - b)) ** 2 for s, a, b in zip(scales, x, z, strict=True))
                scores[i, k] += beta * np.exp(-machine.kernel.kernel.gamma * distance)
    return scores


def test_fit_reports_what_it_did(folder, fitted):
    assert fitted["vectors"] == 5
    assert fitted["features"] == 7
    assert fitted["classes"] == ["setosa", "versicolor", "virginica"]
    assert fitted["bytes"] == (folder / "model.kernelet").stat().st_size
    assert fitted["test"]["rows"] == 40
    assert fitted["test"]["error"] < 0.1
    assert fitted["training_error"] is None
    assert fitted["warnings"] == []


def test_predictions_are_those_of_the_formula(folder, predicted):
    scores = by_hand(folder)
    test = pd.read_csv(folder / "test.csv")
    names = np.array(["setosa", "versicolor", "virginica"])
    assert_allclose(predicted[[f"score_{name}" for name in names]], scores, rtol=1e-9)
    assert_array_equal(predicted["prediction"], names[scores.argmax(axis=1)])
    assert_array_equal(predicted["id"], test["id"])
    assert_array_equal(predicted["sepal width"], test["sepal width"])


def test_evaluate_agrees_with_scikit_learn(folder, fitted, predicted, call):
    done = call("evaluate", folder / "model.kernelet", folder / "test.csv", "--json")
    document = done.document
    assert (done.code, done.err) == (0, "")
    truth = pd.read_csv(folder / "test.csv")["species"]
    matrix = confusion_matrix(truth, predicted["prediction"])
    assert_array_equal(document["confusion"], matrix)
    assert document["error"] == pytest.approx((truth != predicted["prediction"]).mean())
    assert document["error"] == pytest.approx(fitted["test"]["error"])
    figures = precision_recall_fscore_support(truth, predicted["prediction"])
    for place, entry in enumerate(document["classes"]):
        values = [entry[name] for name in ("precision", "recall", "f1", "rows")]
        assert values == pytest.approx([figure[place] for figure in figures])


def test_text_is_plain_without_a_terminal(folder, fitted, call):
    done = call("evaluate", folder / "model.kernelet", folder / "test.csv")
    assert done.code == 0
    assert done.out.isascii() and "\x1b" not in done.out + done.err
    assert f"error {100 * fitted['test']['error']:.1f} %" in done.out
    assert re.search(r"^true \\ predicted +setosa +versicolor +virginica$", done.out, re.M)


def test_info(folder, fitted, call):
    document = call("info", folder / "model.kernelet", "--json").document
    assert document["n_vectors"] == document["kernel_evaluations_per_row"] == 5
    # five vectors of seven features, three coefficients each, three intercepts, in float64
    assert document["n_features"] == 7
    assert document["machine_bytes"] == 8 * (5 * document["n_used_features"] + 5 * 3 + 3)
    assert document["file_bytes"] == fitted["bytes"]
    assert 0 < document["microseconds_per_row"] < 1000
    assert document["training"]["n_rows"] == 110
    assert sum(document["training"]["class_counts"]) == 110
    assert document["target"] == "species"
    model = package.load(folder / "model.kernelet")
    for dtype in ("float32", "float64", "q15"):
        written = package.export.c(model, folder / "model.c", dtype=dtype)
        costs = document["c"][dtype]
        assert costs["flash_bytes"] == written.flash_bytes
        assert costs["ram_bytes"] == written.ram_bytes
        assert f"{costs['arithmetic']} additions and multiplications" in written.operations
    done = call("info", folder / "model.kernelet")
    assert "5 kernel values" in done.out and "on 110 rows" in done.out
    assert document["params"]["C"] == "auto" and document["cost"] == model.estimator.C_
    assert f"C = auto, which chose {model.estimator.C_:g}" in done.out
    flash, ram = costs["flash_bytes"], costs["ram_bytes"]
    assert f"{flash} bytes of flash, {ram} bytes of RAM, {costs['arithmetic']} op" in done.out


def test_info_of_combinations_of_features(tmp_path, call):
    kernel = package.kernels.ProjectedFeatures(package.kernels.Gaussian(0.5), np.ones((3, 40)))
    machine = package.KernelMachine(kernel, np.zeros((7, 40)), np.ones(7))
    machine.save(tmp_path / "model.kernelet")
    done = call("info", tmp_path / "model.kernelet")
    assert re.search(
        r"^kernel +rbf, gamma = 0.5, on 3 combinations of 40 features$", done.out, re.M
    )
    document = call("info", tmp_path / "model.kernelet", "--json").document
    assert document["kernel"]["matrix"] == {"shape": [3, 40]}
    numbers = 3 * 40 + 7 * 3 + 7 + 1  # the matrix, combinations of vectors, coefficients, intercept
    assert document["machine_bytes"] == 8 * numbers
    assert document["c"]["float32"]["flash_bytes"] == 4 * numbers
    assert document["c"]["float32"]["arithmetic"] == 2 * 3 * 40 + 7 * (3 * 3 + 2)


@pytest.mark.parametrize("parameters", [{"has_scales": True}, {"rank": 3}, {}], ids=str)
def test_info_of_a_machine_in_few_bits(parameters, tmp_path, call):
    machine = compact_machine(m=30, d=9, bits=4, coefficient_bits=5, **parameters)
    machine.save(tmp_path / "model.kernelet")
    document = call("info", tmp_path / "model.kernelet", "--json").document
    assert (document["vector_bits"], document["coefficient_bits"]) == (4, 5)
    assert document["stored_bytes"] == package.machine.stored_bytes(machine)
    assert document["dtype"] == "float64"
    done = call("info", tmp_path / "model.kernelet")
    line = f"{document['stored_bytes']} bytes of constants where it runs: vectors in 4 bits, coef"
    assert re.search(f"^in few bits +{line}ficients in 5$", done.out, re.M)
    kernel = {
        "has_scales": "rbf, gamma = 0.3, on 9 features with a scale each",
        "rank": "rbf, gamma = 0.3, on 3 combinations of 9 features",
        "": "rbf, gamma = 0.3",
    }["".join(parameters)]
    assert re.search(f"^kernel +{kernel}$", done.out, re.M)


def test_compress(folder, fitted, call):
    document = call(
        *("compress", folder / "model.kernelet", "--vectors", 3),
        *("-o", folder / "small.kernelet", "--json"),
    ).document
    assert (document["vectors_before"], document["vectors"]) == (5, 3)
    small = package.load(folder / "small.kernelet")
    assert small.n_vectors_ == 3
    assert small.target == "species"
    assert small.score(pd.read_csv(folder / "test.csv")) > 0.6


def test_compress_to_an_error(folder, fitted, call):
    before = package.load(folder / "model.kernelet")
    common = ("compress", folder / "model.kernelet", "-m", "auto", "--max-error", 0.3)
    common += ("-o", folder / "near.kernelet")
    table = pd.read_csv(folder / "train.csv")
    done = call(*common, "--table", folder / "train.csv", "--json").document
    near = package.load(folder / "near.kernelet")
    exact, scores = before.decision_function(table), near.decision_function(table)
    error = np.sqrt(np.mean((exact - scores) ** 2) / np.mean(exact**2))
    assert done["score_error"] == pytest.approx(error)
    assert error <= 0.3
    assert done["vectors"] == near.n_vectors_ < before.n_vectors_
    fewer = ("compress", folder / "model.kernelet", "-m", near.n_vectors_ - 1)
    fewer += ("--refit", "none", "--table", folder / "train.csv", "-o", folder / "x.kernelet")
    assert call(*fewer, "--json").document["score_error"] > 0.3
    text = call(*common, "--table", folder / "train.csv").out
    assert f"; scores differ by {100 * error:.1f} % of their size on the table" in text
    # without a table, by the norm of the feature space
    alone = call(*common, "--json").document
    assert alone["relative_error"] <= 0.3
    assert alone["score_error"] is None
    # many more than there are
    done = call("compress", folder / "model.kernelet", "-m", 500, "-o", folder / "x.kernelet")
    assert "the model has 5 vectors, fewer than n_vectors=500" in done.err


def test_frontier(folder, call):
    done = call(
        *("frontier", folder / "train.csv", "-t", "species", "--drop", "id", "--folds", 3),
        *("--budgets", "1,2,4", "--csv", folder / "frontier.csv", "--png", folder / "frontier.png"),
        *("-o", folder / "pick.kernelet", "--json"),
    )
    assert done.code == 0, done.err
    document = done.document
    errors = [entry["error"] for entry in document["frontier"]]
    assert [entry["vectors"] for entry in document["frontier"]] == [1, 2, 4]
    assert document["svm"]["vectors"] > 20  # of an SVC with its own C, as C="auto" is no number
    assert min(errors) < errors[0]
    # the smallest within one standard error of the best
    best = min(document["frontier"], key=lambda entry: entry["error"])
    limit = best["error"] + best["standard_error"] + 1e-12
    fewest = next(entry for entry in document["frontier"] if entry["error"] <= limit)
    assert document["picked_vectors"] == fewest["vectors"]
    assert package.load(folder / "pick.kernelet").n_vectors_ == fewest["vectors"]
    with open(folder / "frontier.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["vectors"]) for row in rows] == [1, 2, 4, document["svm"]["vectors"]]
    assert (folder / "frontier.png").read_bytes().startswith(b"\x89PNG")


def test_predictions_leave_before_the_table_ends(folder, fitted):
    """A table of any length takes the memory of a chunk: it comes in and goes out in pieces."""
    heading, *lines = (folder / "test.csv").read_text().splitlines()
    with subprocess.Popen(
        [sys.executable, "-m", "kernelet", "predict", "model.kernelet", "-", "--chunk", "2000"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        repeated = "\n".join([heading, *(lines * 500)]) + "\n"
        writer = threading.Thread(target=process.stdin.write, args=(repeated,))
        writer.start()
        first = [process.stdout.readline().strip() for _ in range(41)]
        assert process.poll() is None and not process.stdin.closed
        rest = threading.Thread(target=lambda: (writer.join(), process.stdin.close()))
        rest.start()
        others = process.stdout.read().split()
        rest.join()
    assert process.returncode == 0
    assert first[0] == "prediction"
    assert others == first[1:] * 499


@pytest.mark.slow
def test_interrupted_fit_saves_the_best_so_far(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 10))
    np.savez(folder / "long.npz", X=X, y=(np.sin(2 * X).sum(axis=1) > 0).astype(int))
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "kernelet", "fit", "long.npz", "-o", "long.kernelet"),
            *("-m", "60", "--C", "100", "--param", "verbose=1", "--param", "tol=1e-9"),
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for line in process.stderr:
            if line.startswith("step    3"):
                process.send_signal(signal.SIGINT)
                break
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; the best machine so far is saved in long.kernelet" in err
    assert "Traceback" not in err
    assert package.load(folder / "long.kernelet").n_vectors_ == 60
    assert "training error" in out


def test_a_full_disk_leaves_the_old_model(folder, fitted, call):
    old = (folder / "model.kernelet").read_bytes()
    before = sorted(os.listdir(folder))
    done = kernelet(
        *("compress", "model.kernelet", "-m", "5", "-o", "model.kernelet"),
        cwd=folder,
        # as a disk with room for a thousand bytes more
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert done.returncode == 5
    assert re.fullmatch(r"kernelet compress: model.kernelet cannot be written: .*\n", done.stderr)
    assert (folder / "model.kernelet").read_bytes() == old
    assert sorted(os.listdir(folder)) == before
    done = call("predict", folder / "model.kernelet", folder / "test.csv", "-o", "/dev/full")
    assert done.code == 5
    assert "No space left on device" in done.err


def test_without_rich_and_pandas(folder):
    """Plain output for the first, one line with the command to install the second."""
    code = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in ("rich", "pandas", "pyarrow"):
            return super().find_spec(name, path, target)

sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
from kernelet.cli import main
for arguments in ("fit plain.npz -m 3 -o plain.kernelet", "predict plain.kernelet test.csv"):
    code = main(arguments.split())
sys.exit(code)
"""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    np.savez(folder / "plain.npz", X=X, y=np.where(X[:, 0] > 0, "right", "left"))

    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1
    assert "training error" in done.stdout
    assert done.stderr == (
        "kernelet predict: reading csv and tsv files needs pandas, which is not installed: "
        "pip install 'kernelet[cli]'\n"
    )


def on_a_terminal(folder, *arguments, **environment):
    """What a person sees, and the exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update({"TERM": "xterm-256color", "COLUMNS": "100", **environment})
        os.execv(sys.executable, [sys.executable, "-m", "kernelet", *arguments])
    seen = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end has gone
            break
        if not piece:
            break
        seen += piece
    return seen.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.slow
def test_a_terminal_has_bars_and_colours_by_default(folder, fitted):
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9]")
    seen, code = on_a_terminal(folder, *FIT, "-o", "terminal.kernelet")
    assert code == 0
    assert "learning from 110 rows" in seen and colour.search(seen)
    counted = re.search(r"[1-9]\d*/\d+ steps", seen)
    assert counted
    assert re.search(r"W [\d.e+]+, gain \d+\.\d%, at most \d+ s left", seen)
    assert "reading train.csv" in seen
    seen, code = on_a_terminal(folder, "evaluate", "model.kernelet", "test.csv", NO_COLOR="1")
    assert code == 0
    assert "─" in seen and not colour.search(seen)


def test_help_answers_at_once():
    """Nothing that takes time is imported before there is work to do."""
    code = (
        "import sys\nfrom kernelet.cli import main\n"
        "try:\n    main(['fit', '--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'rich', 'numba'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "sparse-svc" in done.stdout and "examples:" in done.stdout


@pytest.mark.slow
def test_commands_on_the_site_run_as_written(tmp_path):
    quick, chosen, script, shown, in_bytes, fitted = (
        block.code for block in blocks(PAGE) if block.language in ("sh", "text")
    )
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, program in (("python", ""), ("kernelet", "-m kernelet ")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {program}"$@"\n')
        (programs / name).chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()

    def printed_by(script):
        done = subprocess.run(
            ["sh", "-e"],
            input=script,
            cwd=work,
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    chosen, printed = (
        [line.split() for line in t.splitlines()] for t in (chosen, printed_by(quick))
    )
    for expected, words in zip(chosen, printed, strict=True):
        assert words[:1] == expected[:1]
        assert (words[-2:] == ["<-", "chosen"]) == (expected[-2:] == ["<-", "chosen"])
    frontier, printed = (text.splitlines()[4:9] for text in (shown, printed_by(script)))
    assert len(frontier) == 5
    for expected, line in zip(frontier, printed, strict=True):
        vectors, error, _, standard_error, *_ = expected.split()
        words = line.split()
        # another version of a library may move a few rows
        assert int(words[0]) == pytest.approx(int(vectors), rel=0.05)
        assert float(words[1]) == pytest.approx(float(error), abs=1.0)
        assert float(words[3]) == pytest.approx(float(standard_error), abs=0.5)
        assert line.endswith("full SVM") == expected.endswith("full SVM")
    assert_same_fit(printed_by(in_bytes), fitted)


def assert_same_fit(printed, shown):
    """A fit within bytes: the same lines, numbers near those on the page, and the limit kept."""
    for expected, line in zip(shown.splitlines(), printed.splitlines(), strict=False):
        assert line.split()[:1] == expected.split()[:1]
        if "bytes, q7" in line:
            (n_bytes, most), (as_shown, _) = (re.findall(r"\d+", t)[:2] for t in (line, expected))
            assert int(n_bytes) <= int(most) == 400
            assert int(n_bytes) == pytest.approx(int(as_shown), rel=0.05)
        if line.startswith("test error"):
            errors = [float(text.split()[2]) for text in (line, expected)]
            assert errors[0] == pytest.approx(errors[1], abs=2.0)
    assert len(printed.splitlines()) > len(shown.splitlines())


def test_the_site_lists_the_exit_codes():
    listed = re.findall(r"^\| (\d+) \| [a-z]", read(PAGE), re.M)
    classes = [errors.CommandError, *errors.CommandError.__subclasses__()]
    assert sorted(map(int, listed)) == sorted({0, *(kind.exit_code for kind in classes)})


def test_an_interruption_inside_a_compiled_loop_is_one():
    """numba turns a KeyboardInterrupt at its end into a SystemError, which it causes."""
    other = SystemError("another")
    assert interruption(other) is other
    lost, inner = SystemError("returned a result with an exception set"), SystemError("inside")
    lost.__cause__, inner.__context__ = inner, KeyboardInterrupt()
    assert interruption(lost) is inner.__context__
