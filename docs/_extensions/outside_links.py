"""References that lead out of this site: to scikit-learn's manual, and to files of the project.

Methods that an estimator inherits bring scikit-learn's docstrings, whose references are to pages of
its manual: they become plain text. A document of the project that a page includes links to files
next to it: if a page shows that file, the link leads there. Any other broken link stays an error.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PAGES = {
    "CHANGELOG.md": "reference/changelog",
    "CONTRIBUTING.md": "developing/contributing",
    "MODEL_FILE.md": "reference/model_file",
    "NOTATION.md": "developing/notation",
}


def point_to_pages(app: Sphinx, doctree: nodes.document) -> None:
    """Links to files that are pages here."""
    for node in doctree.findall(pending_xref):
        target = node["reftarget"]
        page = PAGES.get(target)
        if target.startswith("docs/") and target.endswith(".md"):
            page = target.removeprefix("docs/").removesuffix(".md")
        if node["reftype"] == "myst" and page is not None:
            node.attributes |= {"refdomain": "doc", "reftarget": page, "reftargetid": None}


def leave_as_text(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element
) -> nodes.Node | None:
    """Labels of scikit-learn's manual."""
    if node.get("reftype") == "ref" and _is_from_scikit_learn(node):
        return nodes.inline("", contnode.astext())
    return None


def _is_from_scikit_learn(node: nodes.Node | None) -> bool:
    """Whether a node is in a docstring of scikit-learn."""
    while node is not None and node.source is None:
        node = node.parent
    return node is not None and "docstring of sklearn." in str(node.source)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", point_to_pages)
    app.connect("missing-reference", leave_as_text)
    return {"parallel_read_safe": True}
