"""The whole demo: every method, the figures that the site shows, the time it takes."""

import kernelet
from documents import printed_rows
from kernelet.report.comparison import SVM
from kernelet.report.methods import methods


def test_demo_takes_less_than_two_minutes(demo_run):
    assert demo_run.cpu_seconds < 120


def test_demo_has_every_method(demo_run):
    models = demo_run.report["models"]
    assert models[0]["method"] == SVM
    for method in methods():
        assert method.name in kernelet.__all__
        budgets = [m["budget"] for m in models if m["method"] == method.name]
        assert budgets == ([10, 20, 50, 100] if method.has_budget else [None])


def test_the_site_shows_every_row_of_the_table(demo_run):
    shown = printed_rows("docs/choosing.md")
    for model in demo_run.report["models"]:
        if model["budget"] in (None, 20, 50):
            _, error, vectors, _, _, size, _ = shown[model["model"]]
            assert abs(float(error.removesuffix(" %")) - 100 * model["test_error"]) < 0.6
            # those that choose their size themselves choose another with another version
            assert abs(int(vectors) - model["vectors"]) <= 0.1 * model["vectors"]
            assert abs(int(size) - model["model_bytes"]) <= 0.1 * model["model_bytes"]
