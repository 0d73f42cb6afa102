"""Packages for npm: what is in the folder, and which names and versions are refused."""

import json

import numpy as np
import pytest

import kernelet
from kernelet import KernelMachine, kernels
from kernelet.cli import main
from kernelet.export import javascript, javascript_package
from kernelet.export.javascript_package import FILES, checked_package_name


@pytest.fixture
def machine():
    return KernelMachine(kernels.Gaussian(), [[0.0, 1.0]], [1.0])


def test_what_is_in_the_folder(machine, tmp_path):
    folder = tmp_path / "my-model"
    javascript_package(machine, folder, version="2.1.0-beta.1", dtype="float32")
    assert {path.name for path in folder.iterdir()} == {*FILES}
    manifest = json.loads((folder / "package.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("my-model", "2.1.0-beta.1")
    assert manifest["type"] == "module"
    entry = manifest["exports"]["."]
    assert [*entry] == ["types", "default"]  # who comes first is asked first
    for file in (manifest["types"], manifest["main"], *entry.values(), *manifest["files"]):
        assert (folder / file).is_file()
    assert not {"repository", "homepage", "author", "license", "bugs"} & {*manifest}
    assert "://" not in (folder / "README.md").read_text()
    javascript(machine, tmp_path / "machine.mjs", dtype="float32")
    assert (folder / "index.mjs").read_text() == (tmp_path / "machine.mjs").read_text()
    assert (folder / "index.d.ts").read_text() == (tmp_path / "machine.d.mts").read_text()


def test_other_files_of_the_folder_stay(machine, tmp_path):
    (tmp_path / "LICENSE").write_text("mine")
    (tmp_path / "index.mjs").write_text("old")
    for _ in range(2):
        javascript_package(machine, tmp_path, name="model")
    assert {path.name for path in tmp_path.iterdir()} == {*FILES, "LICENSE"}
    assert (tmp_path / "index.mjs").read_text() != "old"


@pytest.mark.parametrize("name", ["a", "digits-20", "iris.svm", "my_model", "@me/model", 214 * "x"])
def test_names_that_npm_takes(name):
    assert checked_package_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", "My-model", ".model", "_model", "my model", "möde", "a/b", "@me", "@/x", "@me/"),
        *("@me/.x", "a\n", "../x", "a~b", "a!", "@me/a/b", 215 * "x", '"', 3),
        *("http", "fs", "node_modules", "favicon.ico"),
    ],
)
def test_names_that_npm_refuses(name, machine, tmp_path):
    with pytest.raises(ValueError, match="name must "):
        javascript_package(machine, tmp_path / "made", name=name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("version", ["1", "1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0\n", 1])
def test_versions_that_npm_refuses(version, machine, tmp_path):
    with pytest.raises(ValueError, match="version must be a semantic version"):
        javascript_package(machine, tmp_path / "made", version=version)
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_refused_leaves_no_folder(tmp_path):
    broken = KernelMachine(kernels.CallableKernel(np.dot), [[0.0]], [1.0])
    with pytest.raises(ValueError, match="contains a Python function"):
        javascript_package(broken, tmp_path / "made")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kernelet.ReducedSVC(2, random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1]).save("my.kernelet")


def test_the_command_line_writes_the_same(model, tmp_path, capsys):
    assert main(["export", "my.kernelet", "--to", "js", "--package", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == [f"my/{file}" for file in FILES]
    assert document["bytes"] == [(tmp_path / file).stat().st_size for file in document["files"]]
    words = ["--package", "-o", "other", "--name", "@me/my", "--dtype", "float32", "-q"]
    assert main(["export", "my.kernelet", *words]) == 0
    javascript_package(kernelet.load("my.kernelet"), "third", name="@me/my", dtype="float32")
    for file in FILES:
        assert (tmp_path / "other" / file).read_bytes() == (tmp_path / "third" / file).read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["--to", "c", "--package"], 2, "--package is for javascript, not for c"),
        (["--to", "javascript", "--name", "x"], 2, "which --package writes"),
        (["--package", "-o", "My model"], 2, "got 'My model': lower-case letters"),
        (["--package", "--name", "fs"], 2, "which node takes for itself"),
        (["--package", "-o", "no/where"], 5, "the folder no does not exist"),
        (["--package", "-o", "my.kernelet"], 2, "my.kernelet is the model, which would be lost"),
        (["--to", "javascript", "-o", "m.txt"], 2, "-o m.mjs"),
    ],
)
def test_the_command_line_says_what_to_do(words, code, reason, model, tmp_path, capsys):
    before = (tmp_path / "my.kernelet").read_bytes()
    assert main(["export", "my.kernelet", *words]) == code
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["my.kernelet"]
    assert (tmp_path / "my.kernelet").read_bytes() == before
