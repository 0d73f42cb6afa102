"""The pages of the site tell the truth: what they list is there, their code runs, figures stand."""

import ast
import importlib
import inspect
import re

import pytest

import kernelet
from benchmarks.results_blocks import BLOCK
from benchmarks.results_quoted import values_of
from documents import ROOT, blocks, read, run_blocks
from tests.docs.test_documents import MADE, PAGES, assert_shown
from tests.learners.test_estimators import entries, sections

# The code of every page is run.
pytestmark = pytest.mark.slow

# Pages about exports need compilers, runtimes or browsers: test_howto_c.py, test_howto_export.py.
EXPORTS = {f"docs/howto/{name}.md" for name in ("browser", "c", "json", "microcontroller", "onnx")}
HOWTOS = [
    page
    for page in PAGES
    if page not in EXPORTS and any(block.language == "python" for block in blocks(page))
]
THEIRS = {
    "CalibratedClassifierCV",
    "GridSearchCV",
    "KernelRidge",
    "LinearSVC",
    "NuSVC",
    "NuSVR",
    "SVC",
    "SVR",
}
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
SUBPACKAGES = (
    "datasets",
    "export",
    "kernels",
    "learners",
    "machine",
    "persistence",
    "rows",
    "solvers",
    "subspace",
)
ROLE = re.compile(r"\{figure\}`(?:\.\d )?(?P<file>\S+) (?P<figure>\w+)(?P<filters>[^`]*)`")
# A number with decimals and a unit is a measured one; round ones are said, not measured.
MEASURED = re.compile(r"\d+\.\d+ ?(?:%|µs|ms|s\b|seconds|microseconds)")


def public() -> dict[str, object]:
    """What can be imported from kernelet and its documented parts, by its shortest full name."""
    found: dict[str, object] = {}
    for part in ("", *(f".{name}" for name in SUBPACKAGES)):
        module = importlib.import_module(f"kernelet{part}")
        for name in module.__all__:
            thing = getattr(module, name)
            is_known = f"kernelet.{name}" in found
            if not (inspect.ismodule(thing) or is_known or name == "__version__"):
                found[f"{module.__name__}.{name}"] = thing
    return found


PUBLIC = public()


# What users need, and what the rest is made of.
CLASSES, BUILDING_BLOCKS = "docs/reference/classes.rst", "docs/reference/building_blocks.rst"


def listed(page: str) -> list[str]:
    """Full names on a page of the reference, in its order."""
    module, names = "", []
    for line in read(page).splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif re.fullmatch(r" {3}\w+", line):
            names.append(f"{module}.{line.strip()}")
    return names


def test_the_reference_lists_every_public_name_once():
    assert sorted(listed(CLASSES) + listed(BUILDING_BLOCKS)) == sorted(PUBLIC)


def test_what_users_need_is_apart_from_what_it_is_made_of():
    for_users = set(listed(CLASSES))
    # all that `import kernelet` offers is for users
    assert {name for name in PUBLIC if name.count(".") == 1} <= for_users
    apart = {"Record", "from_record", "to_record", "skops_trusted", "register"}
    assert {f"kernelet.persistence.{name}" for name in apart} <= set(listed(BUILDING_BLOCKS))
    assert not any(name.startswith("kernelet.solvers.") for name in for_users)


@pytest.mark.parametrize("name", [name for name in PUBLIC if callable(PUBLIC[name])])
def test_parameters_and_defaults_are_those_of_the_signature(name):
    found = sections(inspect.getdoc(PUBLIC[name]))
    if "Parameters" not in found:
        return
    signature = inspect.signature(PUBLIC[name]).parameters
    documented = entries(found["Parameters"])
    assert [parameter.lstrip("*") for parameter in documented] == list(signature)
    for parameter, line in documented.items():
        default = signature[parameter.lstrip("*")].default
        stated = re.search(r"default=(.*)$", line)
        if stated and stated[1] not in ("nan", "object"):
            assert ast.literal_eval(stated[1]) == default, parameter
        elif not stated:
            empty = inspect.Parameter.empty
            assert default is empty, f"{parameter}: the default {default!r} is not stated"


# They wrap a model, and solve no problem of their own.
WRAPPERS = {"kernelet.BudgetSearchCV", "kernelet.CalibratedClassifier", "kernelet.TableModel"}
LEARNERS = [n for n, thing in PUBLIC.items() if hasattr(thing, "fit") and n not in WRAPPERS]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_says_its_problem_its_paper_and_an_example(name):
    text = inspect.getdoc(PUBLIC[name])
    assert ".. math::" in text
    assert {"Parameters", "Attributes", "References", "Examples"} <= set(sections(text))


def test_shapes_hold_no_references():
    """``(n_vectors_, 3)`` is a link to "n_vectors" in a docstring, and breaks the page."""
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "src").rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"shape \([^)`]*\w_[ ,)]", line)
    ]
    assert wrong == []


@pytest.mark.parametrize("page", HOWTOS)
def test_code_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, shown = run_blocks(page)
    for pair in shown:
        assert_shown(*pair)


def test_there_is_code_in_the_pages():
    assert len(HOWTOS) >= 7


@pytest.mark.parametrize("page", PAGES)
def test_measured_figures_come_from_a_csv(page):
    text = read(page)
    for role in ROLE.finditer(text):
        assert values_of(role["file"], role["figure"], role["filters"].split()), role[0]
    # tables that a command writes have a test of their own
    prose = re.sub(r"```.*?```", "", BLOCK.sub("", text), flags=re.DOTALL)
    prose = re.sub(r"`[^`]*`", "", ROLE.sub("", prose))
    for line in prose.splitlines():
        if "<!-- figure:" not in line:  # marked figures have a test of their own
            assert not MEASURED.search(line), line


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", read(page)):
        path = (ROOT / page).parent / target
        made = path.resolve().relative_to(ROOT).as_posix().startswith(MADE)
        assert made or path.exists(), target


def test_classes_named_on_the_pages_exist():
    known = {name.rpartition(".")[2] for name in PUBLIC} | THEIRS
    for page in PAGES:
        named = re.findall(r"`(?:kernelet\.)?([A-Z]\w+(?:SVC|SVR|Ridge|CV|Display))`", read(page))
        assert set(named) <= known, page


def test_the_gallery_is_a_gallery():
    assert len(EXAMPLES) >= 14
    for path in EXAMPLES:
        title, rule = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split("\n")[:2]
        assert len(title) <= len(rule) and set(rule) == {"="}, path.name


def test_the_citation_has_the_version():
    citation = read("CITATION.cff")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == kernelet.__version__
