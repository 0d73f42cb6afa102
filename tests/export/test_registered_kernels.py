"""What is registered, by us or by others, goes through files, exports, estimators and commands."""

from __future__ import annotations

import json as standard_json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

import jsonschema
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernelet
import references
from export_bounds import OURS
from kernelet import KernelMachine, ModelFileError, ReducedSVC, SparseSVC
from kernelet.cli.main import build_parser
from kernelet.cli.methods import KERNELS as IN_HELP
from kernelet.datasets import make_ripley
from kernelet.export import json, json_schema, read_json
from kernelet.export.javascript import model_document
from kernelet.export.to_c.exporter import c_source
from kernelet.export.to_json.exporter import json_text
from kernelet.export.to_json.reader import model_of
from kernelet.export.to_onnx.exporter import onnx_model
from kernelet.kernels import (
    Gaussian,
    Kernel,
    Linear,
    ProjectedFeatures,
    RadialKernel,
    ScaledFeatures,
    register_kernel,
    registry,
    resolve_kernel,
)
from kernelet.kernels.expression import exp
from kernelet.kernels.profile import ProfileKernel
from kernelet.kernels.registry import registered_kernels
from kernelet.kernels.resolve import kernel_names
from own_kernels import OWN, Matern72, Softsign, Wendland
from run_c import compiled
from run_node import numbers, run_modules

LEAVES = [kind() for kind in registered_kernels().values() if issubclass(kind, ProfileKernel)]
KERNELS = [
    *LEAVES,
    0.5 * Wendland() + Matern72() * Softsign(),
    ScaledFeatures(Wendland(), [1.5, 0.2, 1.0]) * Linear(),
    ProjectedFeatures(Matern72(), [[1.0, -0.5, 0.3], [0.2, 0.8, 1.0]]),
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(9, 3)).astype(np.float32).astype(float)
VECTORS = RNG.normal(size=(5, 3)).astype(np.float32).astype(float)
X[0] = VECTORS[0]
COEFFICIENTS = RNG.normal(size=(5, 2)).astype(np.float32).astype(float)
VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def machine_of(kernel):
    return KernelMachine(kernel, VECTORS, COEFFICIENTS, [0.5, -0.25])


def expected(kernel, rows=X):
    return references.kernel_matrix(kernel, rows, VECTORS) @ COEFFICIENTS + [0.5, -0.25]


each = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def test_ours_and_others_are_among_them():
    assert {type(kernel) for kernel in LEAVES} >= {Gaussian, Linear, *OWN}


@pytest.mark.parametrize(("dtype", "digits"), [("float32", 2e-5), ("float64", 1e-12)])
def test_c(dtype, digits, tmp_path):
    assert_runs_in_c(KERNELS, dtype, digits, tmp_path)


def assert_runs_in_c(kernels, dtype, digits, folder):
    libraries = compiled([(machine_of(kernel), dtype) for kernel in kernels], folder)
    far = np.full((1, 3), np.inf)
    for kernel, library in zip(kernels, libraries, strict=True):
        found = library.decision_function(X)
        assert_allclose(found, expected(kernel), rtol=digits, atol=digits, err_msg=repr(kernel))
        assert np.isnan(library.decision_function(np.full((1, 3), np.nan))).all()
        if isinstance(kernel, RadialKernel):  # all of them vanish
            assert_array_equal(library.decision_function(far), [[0.5, -0.25]])


@each
@pytest.mark.parametrize(("dtype", "digits"), [("float32", 2e-5), ("float64", 1e-12)])
def test_onnx(kernel, dtype, digits):
    onnxruntime = pytest.importorskip("onnxruntime")
    content = onnx_model(machine_of(kernel), dtype).SerializeToString()
    session = onnxruntime.InferenceSession(content)
    (found,) = session.run(["variable"], {"X": X.astype(dtype)})
    assert_allclose(found, expected(kernel), rtol=digits, atol=digits)
    if isinstance(kernel, RadialKernel):  # by differences or not, what is infinite is not finite
        far = np.full((1, 3), np.sqrt(np.finfo(dtype).max) / 4.0, dtype)
        assert_allclose(session.run(["variable"], {"X": far})[0], [[0.5, -0.25]], atol=1e-6)


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_javascript(tmp_path):
    tasks = [(machine_of(kernel), X, ["decisionFunction"], None) for kernel in KERNELS]
    for kernel, answer in zip(KERNELS, run_modules(tasks, tmp_path), strict=True):
        found = numbers(answer["decisionFunction"])
        assert_allclose(found, expected(kernel), rtol=1e-12, atol=1e-12, err_msg=repr(kernel))
        if not isinstance(kernel, ProjectedFeatures):  # of which the matrix goes in front
            assert answer["metadata"]["kernel"] == kernel.specification()


@each
def test_json_and_model_files(kernel, tmp_path):
    machine = machine_of(kernel)
    document = standard_json.loads(json_text(machine))
    VALIDATOR.validate(document)
    assert model_of(document) == machine
    names = set(re.findall(r'"name": "(\w+)"', standard_json.dumps(document["kernel"])))
    assert ('"formula"' in json_text(machine)) == bool(names - OURS)
    kernelet.save(machine, tmp_path / "machine.kernelet")
    loaded = kernelet.load(tmp_path / "machine.kernelet")
    assert loaded == machine
    assert_array_equal(loaded.decision_function(X), machine.decision_function(X))


@pytest.mark.parametrize("kernel", LEAVES, ids=repr)
def test_the_formula_is_that_of_the_references(kernel):
    for x in X:
        for z in VECTORS:
            value = references.by_formula(kernel, x, z)
            assert value == pytest.approx(
                references.kernel_value(kernel, x, z), rel=1e-13, abs=1e-14
            )


def test_a_document_with_another_formula_is_refused():
    document = standard_json.loads(json_text(machine_of(Wendland())))
    assert document["kernel"].keys() == {"name", "gamma", "formula"}
    for formula in ([["squared"]], None):
        document["kernel"]["formula"] = formula
        with pytest.raises(ModelFileError, match="another formula"):
            model_of(document)
    del document["kernel"]["formula"]
    with pytest.raises(ModelFileError, match="another formula"):
        model_of(document)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(document)
    of_ours = standard_json.loads(json_text(machine_of(Gaussian())))
    of_ours["kernel"]["formula"] = [["squared"]]
    with pytest.raises(ModelFileError, match="another formula"):
        model_of(of_ours)


@pytest.mark.parametrize(
    "step",
    [
        ["cube", 0],
        ["exp"],
        ["exp", 0, 0],
        ["add", 0],
        ["constant"],
        ["constant", "1"],
        ["squared", 1],
        ["exp", -1],
        "squared",
        [],
    ],
)
def test_formulas_that_mean_nothing_are_not_valid(step):
    document = standard_json.loads(json_text(machine_of(Wendland())))
    document["kernel"]["formula"].append(step)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(document)


def test_names_that_are_not_registered_are_named(tmp_path, monkeypatch):
    machine = machine_of(2.0 * Wendland() + Gaussian())
    kernelet.save(machine, tmp_path / "m.kernelet")
    json(machine, tmp_path / "m.json")
    monkeypatch.delitem(registry._REGISTERED, "wendland")
    for read, name in ((kernelet.load, "m.kernelet"), (read_json, "m.json")):
        with pytest.raises(
            ModelFileError, match=r"Unknown kernel name 'wendland'.*register_kernel"
        ):
            read(tmp_path / name)
    with pytest.raises(ValueError, match=r"not registered; decorate Wendland with .*register_kern"):
        kernelet.save(machine, tmp_path / "again.kernelet")
    with pytest.raises(ValueError, match="not registered"):
        json(machine, tmp_path / "again.json")
    assert "Wendland" in c_source(machine, "m").source  # which names nothing that has to be read


def test_reading_a_file_imports_nothing(tmp_path):
    kernelet.save(machine_of(Wendland()), tmp_path / "m.kernelet")
    code = (
        "import sys, kernelet\n"
        "try:\n    kernelet.load(sys.argv[1])\n"
        "except kernelet.ModelFileError as error:\n    print(error)\n"
        "assert 'own_kernels' not in sys.modules"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m.kernelet")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "'wendland'" in done.stdout and "register_kernel" in done.stdout


def test_estimators_take_the_name(tmp_path):
    rows, labels = make_ripley(120, random_state=0)
    for name in ("wendland", "constructor", "softsign"):
        model = ReducedSVC(6, kernel=name, gamma=0.7, coef0=0.2, random_state=0).fit(rows, labels)
        kernel = model.machine_.kernel
        assert (kernel.name, kernel.gamma) == (name, 0.7)
        model.save(tmp_path / "m.kernelet")
        assert_array_equal(
            kernelet.load(tmp_path / "m.kernelet").predict(rows), model.predict(rows)
        )
    assert resolve_kernel("softsign", rows, gamma=2.0, coef0=0.25) == Softsign(2.0, 0.25)
    assert resolve_kernel("constructor", rows, gamma=2.0) == Matern72(2.0)
    with pytest.raises(ValueError, match=r"Unknown kernel 'wendlend'.*Did you mean 'wendland'\?"):
        resolve_kernel("wendlend", rows)


def test_widths_are_learned():
    rows, labels = make_ripley(150, random_state=0)
    model = SparseSVC(4, kernel="constructor", learn_kernel=True, random_state=0).fit(rows, labels)
    assert isinstance(model.machine_.kernel, Matern72)
    assert model.score(rows, labels) > 0.8
    with pytest.raises(ValueError, match=r"radial kernel \(.*'rbf'.*'wendland'.*\); Linear"):
        SparseSVC(4, kernel="linear", learn_kernel=True).fit(rows, labels)


def test_the_command_line_takes_the_name(capsys):
    words = ["fit", "a.csv", "-t", "y", "-o", "m.kernelet", "--kernel"]
    for name in kernel_names():
        assert build_parser().parse_args([*words, name]).kernel == name
    with pytest.raises(SystemExit):
        build_parser().parse_args([*words, "wendlend"])
    assert re.search(r"unknown kernel 'wendlend'.*do you mean wendland", capsys.readouterr().err)
    assert OURS & {*kernel_names()} == {*IN_HELP}


def test_a_gaussian_by_another_name_goes_into_integers(tmp_path):
    @dataclass(frozen=True)
    class Bell(RadialKernel):
        gamma: float = 1.0
        name = "bell"

        def formula(self, t):
            return exp(-t)

    for gamma in (0.5, 1.0):
        ours, other = (c_source(machine_of(k), "m", "q15") for k in (Gaussian(gamma), Bell(gamma)))
        assert ours.source.split("*/")[1:] == other.source.split("*/")[1:]
    with pytest.raises(ValueError, match='"q15" is for Gaussian kernels'):
        c_source(machine_of(Wendland()), "m", "q15")


def test_the_header_states_no_bound_that_is_not_known():
    assert "No bound of rounding errors is known" in c_source(machine_of(Wendland()), "m").header
    assert "Rounding moves a score by" in c_source(machine_of(Gaussian()), "m").header


def kernel_class(name="mine", *, frozen=True, base=RadialKernel, **fields):
    namespace = {"name": name, "formula": lambda self, t: 1.0 / (1.0 + t)}
    namespace |= {"__annotations__": {"gamma": float, **fields}, "gamma": 1.0}
    namespace |= dict.fromkeys(fields, 1.0)
    return dataclass(frozen=frozen)(type("Mine", (base,), namespace))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(1.0), "only classes of kernels"),
        (lambda: int, "only classes of kernels"),
        (lambda: RadialKernel, "lacks formula"),
        (lambda: Kernel, "cannot be registered: it lacks"),
        (lambda: kernel_class(frozen=False), "must be a frozen dataclass"),
        (lambda: type("Late", (Wendland,), {"name": "late"}), "must be a frozen dataclass"),
        *(
            (lambda name=name: kernel_class(name), "small letters, digits and underscores")
            for name in ("", "Mine", "1st", "a-b", "a b", "mine\n", "ä", "*/", None, "x" * 65)
        ),
        *(
            (lambda name=name: kernel_class(name), "be none of callable, polynomial, precomputed")
            for name in ("callable", "precomputed", "polynomial")
        ),
        (lambda: kernel_class("rbf"), r"'rbf' is registered already, kernelet.kernels.radial.Gau"),
        (
            lambda: kernel_class("wendland"),
            "'wendland' is registered already, own_kernels.Wendland",
        ),
        (lambda: kernel_class(formula=float), "no parameter may be called 'formula'"),
        (lambda: kernel_class(**{"_x": float}), "no parameter may be called '_x'"),
    ],
)
def test_what_cannot_be_registered(make, message):
    before = dict(registered_kernels())
    made = make()
    with pytest.raises(ValueError, match=message):
        register_kernel(made)
    assert registered_kernels() == before


def test_registering_again(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    first, again = kernel_class(), kernel_class()
    assert register_kernel(first) is first
    assert register_kernel(first) is first
    register_kernel(again)  # as a cell of a notebook that runs twice
    assert registered_kernels()["mine"] is again


def test_documents_of_javascript_have_every_formula():
    document = model_document(machine_of(0.5 * Wendland() + Gaussian(2.0)))["kernel"]
    scaled, gaussian = document["terms"]
    assert scaled["kernel"]["formula"][-1][0] == "damp"
    assert gaussian["formula"] == [["constant", -2.0], ["squared"], ["multiply", 0, 1], ["exp", 2]]
