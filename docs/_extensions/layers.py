"""The picture of the layers, drawn from the contract that `make lint` checks.

Names come from pyproject.toml, what a package is for from the first line of its docstring, and its
size from its files, so that the picture cannot be out of date.
"""

from __future__ import annotations

import ast
import html
import re
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
WIDTH, HEIGHT, GAP = 760, 64, 14


class Layers(SphinxDirective):
    """The layers, the uppermost first."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(ROOT / "pyproject.toml"))
        return [nodes.raw("", drawing(layers()), format="html")]


def layers() -> list[list[str]]:
    """Packages of each layer, in the order of the contract."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (contract,) = [found for found in contracts if found["containers"] == ["kernelet"]]
    names = [re.split(r"\s*[:|]\s*", layer) for layer in contract["layers"]]
    return [kept for layer in names if (kept := [n for n in layer if _source(n).is_dir()])]


def drawing(rows: list[list[str]]) -> str:
    """An SVG in the colours of the page."""
    height = len(rows) * (HEIGHT + GAP)
    parts = [
        f'<svg class="layers" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' aria-label="The packages of kernelet in layers; imports go down only">'
    ]
    for i, names in enumerate(rows):
        y = i * (HEIGHT + GAP)
        width = (WIDTH - GAP * (len(names) - 1)) / len(names)
        for j, name in enumerate(names):
            parts.append(_box(name, j * (width + GAP), y, width))
        if i + 1 < len(rows):
            middle, below = WIDTH / 2, y + HEIGHT
            parts.append(f'<path d="M{middle - 6} {below + 3} h12 l-6 {GAP - 5} z" class="arrow"/>')
    return "".join([*parts, "</svg>"])


def _box(name: str, x: float, y: float, width: float) -> str:
    files = sorted(_source(name).rglob("*.py"))
    n_lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    size = f"{len(files)} modules, {n_lines} lines"
    # a box for one package has room for a longer line
    lines = _wrapped(_purpose(name), int(width / 7))
    texts = [
        f'<text x="{x + 12}" y="{y + 38 + 15 * k}" class="purpose">{html.escape(line)}</text>'
        for k, line in enumerate(lines[:2])
    ]
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="7"/>'
        f'<text x="{x + 12}" y="{y + 20}" class="name">{html.escape(name)}</text>'
        f'<text x="{x + width - 12}" y="{y + 20}" class="size">{size}</text>' + "".join(texts)
    )


def _source(name: str) -> Path:
    return ROOT / "src" / "kernelet" / name


def _purpose(name: str) -> str:
    text = (_source(name) / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].replace("\n", " ")


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("layers", Layers)
    return {"parallel_read_safe": True}
