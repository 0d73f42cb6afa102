"""The page on the architecture is true: its tree is that of the source, its stations are passed."""

import re

import pytest
from sklearn.datasets import load_digits

from benchmarks.trace_fit import PACKAGE, modules_called
from command_line import write_flowers
from documents import ROOT, read
from kernelet import SparseSVC, export
from kernelet.cli.main import main

PAGE = "docs/developing/architecture.md"
# Folders whose modules have a line each in the tree.
SHOWN = ("learners/base/", "learners/direct/", "solvers/")
LINE = re.compile(r"(?P<indent>(?:  )*)(?P<name>\w+/?) +(?P<purpose>\S.*)")
STATION = re.compile(r"^(?P<number>\d+)\. `(?P<module>[\w/]+)`: \S", re.MULTILINE)
MOST = 10


def tree() -> list[str]:
    """Folders, which end in a slash, and modules in the tree of the page."""
    text = re.search(r"^```text\n(.*?)^```$", read(PAGE), re.MULTILINE | re.DOTALL)[1]
    paths: list[str] = []
    above: list[str] = []
    for line in text.splitlines():
        entry = LINE.fullmatch(line)
        assert entry, line
        depth = len(entry["indent"]) // 2
        assert depth <= len(above), f"{line!r} is in no folder"
        above = above[:depth]
        paths.append("".join(above) + entry["name"])
        if entry["name"].endswith("/"):
            above.append(entry["name"])
    return paths


def source() -> list[str]:
    """What the tree should show."""
    found = []
    for path in PACKAGE.rglob("*"):
        name = path.relative_to(PACKAGE).as_posix()
        if path.is_dir():
            # caches may be all that is left of a folder
            if path.name != "__pycache__" and any(child.is_file() for child in path.iterdir()):
                found.append(f"{name}/")
        elif path.suffix == ".py" and path.stem != "__init__" and name.startswith(SHOWN):
            found.append(name.removesuffix(".py"))
    return found


def ways() -> dict[str, list[str]]:
    """The stations of each way, by its heading."""
    part = re.search(r"^## The path of a row\n(.*?)^## ", read(PAGE), re.MULTILINE | re.DOTALL)[1]
    found = {}
    for section in re.split(r"^### ", part, flags=re.MULTILINE)[1:]:
        stations = list(STATION.finditer(section))
        numbers = [int(station["number"]) for station in stations]
        assert numbers == list(range(1, len(numbers) + 1)), section
        found[section.partition("\n")[0]] = [station["module"] for station in stations]
    return found


def test_the_tree_is_that_of_the_source():
    assert tree() == sorted(source(), key=lambda path: path.split("/"))


def test_paths_named_on_the_page_exist():
    for name in re.findall(r"`(\w+(?:/\w+)+)`", read(PAGE)):
        places = [PACKAGE / name, PACKAGE / f"{name}.py", ROOT / name]
        assert any(place.exists() for place in places), name


def fit_in_memory(folder):
    return SparseSVC(5, random_state=0).fit, digits()


def fit_on_dask(folder):
    arrays = pytest.importorskip("dask.array")
    X, y = digits()
    model = SparseSVC(5, random_state=0)
    return model.fit, (arrays.from_array(X, chunks=(100, -1)), arrays.from_array(y, chunks=100))


def predict(folder):
    X, y = digits()
    return SparseSVC(5, random_state=0).fit(X, y).predict, (X,)


def export_c(folder):
    return export.c, (SparseSVC(5, random_state=0).fit(*digits()), folder / "digits.c")


def command_fit(folder):
    write_flowers(folder)
    train, model = folder / "train.csv", folder / "flowers.kernelet"
    words = ("fit", train, "-t", "species", "--drop", "id", "-m", 3, "-o", model, "--quiet")
    return main, (list(map(str, words)),)


def command_predict(folder):
    command, (words,) = command_fit(folder)
    assert command(words) == 0
    names = ("flowers.kernelet", "test.csv", "-o", "predicted.csv")
    return main, (["predict", *(str(folder / n) if n != "-o" else n for n in names)],)


# Each gets an empty folder, and returns a function to trace with its arguments.
CALLS = {
    "`SparseSVC.fit` in memory": fit_in_memory,
    "`SparseSVC.fit` on Dask": fit_on_dask,
    "`predict`": predict,
    "`export.c`": export_c,
    "`kernelet fit`": command_fit,
    "`kernelet predict`": command_predict,
}


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


def test_every_way_is_traced():
    assert list(ways()) == list(CALLS)


@pytest.mark.parametrize("way", CALLS)
def test_stations_are_passed_in_this_order(way, tmp_path):
    stations = ways()[way]
    assert 0 < len(stations) <= MOST
    function, arguments = CALLS[way](tmp_path)
    passed = list(modules_called(lambda: function(*arguments)))
    assert set(stations) <= set(passed)
    assert stations == [module for module in passed if module in stations]
