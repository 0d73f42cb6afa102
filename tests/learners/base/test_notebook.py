"""What notebooks show of estimators and machines: a link, a table, everything escaped."""

from __future__ import annotations

import html
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from kernelet import BudgetSearchCV, learners
from kernelet.datasets import make_banana
from kernelet.kernels import CallableKernel, Gaussian
from kernelet.learners import (
    ReducedSVC,
    SparseKernelPCA,
    SparseKernelRidge,
    SparseSVC,
    calibrate,
    compress,
)
from kernelet.learners.base import notebook
from kernelet.machine import KernelMachine, stored_bytes

X, y = make_banana(120, random_state=0)
PAGES = (Path(__file__).parents[3] / "docs/reference/classes.rst").read_text(encoding="utf-8")
SITE = "https://docs.example.org/kernelet"
ESTIMATORS = [
    kind
    for kind in map(vars(learners).get, learners.__all__)
    if isinstance(kind, type) and issubclass(kind, BaseEstimator)
]


class Tables(HTMLParser):
    """The rows of our tables, and all tags."""

    def __init__(self):
        super().__init__()
        self.rows, self.tags, self.inside = [], [], False

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "table":
            self.inside = ("class", "kernelet-summary") in attributes
        if tag == "tr" and self.inside:
            self.rows.append([])
        if tag in ("th", "td") and self.inside:
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def shown(text):
    parser = Tables()
    parser.feed(text)
    return dict(parser.rows)


FITTED = (
    "SparseSVC",
    "CalibratedClassifier",
    "SparseKernelRidge",
    "SparseKernelPCA",
    "BudgetSearchCV",
    "CompressedClassifier",
)


@cache
def fitted_models():
    sparse = SparseSVC(5, random_state=0).fit(X, y)
    return {
        "SparseSVC": sparse,
        "CalibratedClassifier": calibrate(sparse, X, y),
        "SparseKernelRidge": SparseKernelRidge(4, random_state=0).fit(X, X[:, 0]),
        "SparseKernelPCA": SparseKernelPCA(4, n_components=2, random_state=0).fit(X),
        "BudgetSearchCV": BudgetSearchCV(SparseSVC(random_state=0), budgets=[2, 4]).fit(X, y),
        "CompressedClassifier": compress(SVC().fit(X, y), 6, X),
    }


@pytest.mark.parametrize("name", FITTED)
def test_the_table_of_a_fitted_model(name):
    model = fitted_models()[name]
    facts = shown(model._repr_html_())
    assert shown(model._repr_mimebundle_()["text/html"]) == facts
    machine = model.machine_
    numbers = machine.vectors.size + machine.coefficients.size + machine.intercepts.size
    if name == "CompressedClassifier":
        assert facts["vectors"] == f"{model.n_vectors_before_} -> 6"
        assert facts["size"].endswith(f" -> {8 * numbers} bytes")
    else:
        assert facts["vectors"] == str(machine.n_vectors)
        assert facts["size"] == f"{machine.nbytes} bytes"
    assert facts["features"] == "2"
    assert facts["kernel"] == repr(machine.kernel)
    known = {
        "CompressedClassifier": ("error of the scores", "score_error_"),
        "SparseKernelRidge": ("leave-one-out error", "loo_error_"),
        "BudgetSearchCV": ("cross-validated score", "best_score_"),
    }
    if name in known:
        label, attribute = known[name]
        assert float(facts[label]) == pytest.approx(getattr(model, attribute), rel=0.01)


def test_before_the_fit_there_is_no_table():
    for kind in ESTIMATORS:
        assert shown(kind()._repr_html_()) == {}
    with config_context(display="text"):
        model = SparseSVC(2, random_state=0).fit(X, y)
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_a_search_that_has_no_model():
    search = BudgetSearchCV(SparseSVC(random_state=0), budgets=[1, 2], refit=False).fit(X, y)
    assert shown(search._repr_html_()) == {}


def links(model):
    """Of the question marks in scikit-learn's diagram."""
    found = re.findall(r'<a class="sk-estimator-doc-link[^"]*"[^>]*>\?', model._repr_html_())
    return [re.search(r'href="([^"]*)"', link).group(1) for link in found]


@pytest.mark.parametrize("kind", [*ESTIMATORS, BudgetSearchCV], ids=lambda kind: kind.__name__)
def test_the_link_appears_with_the_address_of_the_site(kind, monkeypatch):
    ours = kind()
    assert not any("kernelet" in link for link in links(ours))
    monkeypatch.setattr(notebook, "DOCUMENTATION", f"{SITE}/")
    page = f"{SITE}/reference/made/kernelet.{kind.__name__}.html"
    assert page in links(ours)
    assert re.search(rf"^   {kind.__name__}$", PAGES, re.M)


def test_links_of_compressed_models_and_of_classes_of_others(monkeypatch):
    monkeypatch.setattr(notebook, "DOCUMENTATION", SITE)
    page = f"{SITE}/reference/made/kernelet.compress.html"
    assert links(compress(SVC().fit(X, y), 5)) == [page]

    class Mine(SparseSVC):
        """Described elsewhere."""

    assert links(Mine()) == []


def test_no_site_is_published():
    """An address that is invented would lead to somebody else."""
    assert notebook.DOCUMENTATION == ""


class Hostile:
    """A kernel function whose representation is a program."""

    def __call__(self, A, B):
        return np.exp(-np.square(A[:, None] - B[None]).sum(axis=2))

    def __repr__(self):
        return "<script>alert('&')</script>\x1b[2K"


def test_everything_is_escaped():
    machine = KernelMachine(CallableKernel(Hostile()), [[0.0], [1.0]], [1.0, 2.0])
    text = machine._repr_html_()
    assert "<script" not in text
    assert "\x1b" not in text
    assert "<script>alert('&')</script>\\x1b[2K" in html.unescape(text)
    model = ReducedSVC(2, kernel=CallableKernel(Hostile()), random_state=0).fit(X, y)
    ours = model._repr_html_().partition('<table class="kernelet-summary"')[2]
    assert ours
    assert "<script" not in ours


def test_the_table_of_a_machine():
    machine = KernelMachine(Gaussian(0.5), X[:7], np.ones((7, 3)), np.zeros(3))
    assert shown(machine._repr_html_()) == {
        "kernel": "Gaussian(gamma=0.5)",
        "vectors": "7",
        "features": "2",
        "outputs": "3",
        "size": f"{8 * (14 + 21 + 3)} bytes",
        "numbers": "float64",
    }
    assert repr(machine).startswith("KernelMachine(Gaussian(gamma=0.5), n_vectors=7")
    few = SparseSVC(3, vector_bits=4, random_state=0).fit(X, y).machine_
    assert shown(few._repr_html_())["size"] == f"{stored_bytes(few)} bytes"


def test_long_kernels_are_cut():
    machine = SparseSVC(3, learn_kernel="features", random_state=0).fit(
        np.random.default_rng(0).normal(size=(60, 40)), np.arange(60) % 2
    )
    kernel = shown(machine._repr_html_())["kernel"]
    assert len(kernel) <= 203
