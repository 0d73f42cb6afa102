"""Names of kernelet in the text of pages, as links to the reference.

In a page, in an example and in a docstring ``SparseSVC`` is a link when that is a public name;
nobody has to write more. What is not public stays code.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

import kernelet

PARTS = ("datasets", "export", "kernels", "solvers", "subspace")


@functools.cache
def public() -> dict[str, str]:
    """What a page may call a thing -> its full name."""
    found = {}
    for part in ("", *(f".{name}" for name in PARTS)):
        module = importlib.import_module(f"kernelet{part}")
        for name in module.__all__:
            if inspect.ismodule(getattr(module, name)) or name.startswith("_"):
                continue
            found[f"{module.__name__}.{name}"] = f"{module.__name__}.{name}"
            # short names of parts would be words: c, json
            if module is kernelet:
                found[name] = f"{module.__name__}.{name}"
    return found


class LinkNames(SphinxTransform):
    """Code in text that is a public name becomes a link, outside of titles and other links."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        if self.env.docname.startswith(("reference/made", "gallery", "start")):
            return
        names = public()
        for node in list(self.document.findall(nodes.literal)):
            target = names.get(node.astext().removesuffix("()"))
            parents = (nodes.title, nodes.reference, addnodes.pending_xref)
            if target is None or isinstance(node.parent, parents):
                continue
            link = addnodes.pending_xref(
                "",
                node.deepcopy(),
                refdomain="py",
                reftype="obj",
                reftarget=target,
                refdoc=self.env.docname,
                refexplicit=True,
                refwarn=True,
            )
            node.replace_self(link)


def resolve_short_name(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.Element
) -> nodes.Node | None:
    """A short name if no module is known to complete it, as in examples."""
    target = public().get(node["reftarget"])
    if node.get("refdomain") != "py" or target is None or target == node["reftarget"]:
        return None
    domain = env.domains["py"]
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, contnode)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(LinkNames)
    app.connect("missing-reference", resolve_short_name)
    return {"parallel_read_safe": True}
