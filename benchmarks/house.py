"""The size of the source, and what it offers in public.

``python -m benchmarks.house`` prints files, lines of code, comments and docstrings of each folder,
the longest modules and functions, and functions with many parameters. ``--api`` prints public names
with their signatures, a line each, so that two versions can be compared by ``diff``.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import io
import statistics
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import kernelet

SOURCE = Path(kernelet.__file__).parent
PUBLIC = (
    "kernelet",
    "kernelet.datasets",
    "kernelet.export",
    "kernelet.kernels",
    "kernelet.learners",
    "kernelet.machine",
    "kernelet.persistence",
    "kernelet.plotting",
    "kernelet.rows",
    "kernelet.selection",
    "kernelet.solvers",
    "kernelet.subspace",
)
_LAYOUT = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.COMMENT,
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Function:
    """A function or method: its lines, docstring included, and its parameters without self."""

    name: str
    n_lines: int
    n_parameters: int


@dataclass(frozen=True)
class Module:
    """Lines of a module by what they hold."""

    path: Path
    n_lines: int
    n_code: int
    n_comments: int
    n_docstrings: int
    functions: list[Function] = field(repr=False)

    @property
    def name(self) -> str:
        """Such as ``solvers/rows``."""
        return self.path.relative_to(SOURCE).with_suffix("").as_posix()


def modules() -> list[Module]:
    """Every module of the package."""
    return [_measured(path) for path in sorted(SOURCE.rglob("*.py"))]


def _measured(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)) and ast.get_docstring(node):
            docstrings |= _lines(node.body[0])
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in _LAYOUT:
            code |= set(range(token.start[0], token.end[0] + 1))
    code -= docstrings
    return Module(
        path,
        len(text.splitlines()),
        len(code),
        len(comments - code),
        len(docstrings),
        [_function(node) for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)],
    )


def _lines(node: ast.AST) -> set[int]:
    return set(range(node.lineno, node.end_lineno + 1))  # type: ignore[attr-defined]


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    if given and given[0].arg in ("self", "cls"):
        given = given[1:]
    return Function(node.name, len(_lines(node)), len(given))


def public_names() -> Iterator[str]:
    """Every public name with its signature, and those of the public methods of classes."""
    for module_name in PUBLIC:
        module = importlib.import_module(module_name)
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            yield f"{module_name}.{name}{_signature(thing)}"
            if inspect.isclass(thing):
                for member, value in inspect.getmembers(thing):
                    if not member.startswith("_") and callable(value):
                        yield f"{module_name}.{name}.{member}{_signature(value)}"


def _signature(thing: object) -> str:
    try:
        return str(inspect.signature(thing)) if callable(thing) else ""
    except ValueError:  # some built-in ones have none
        return "(...)"


def report() -> Iterator[str]:
    """The lines that are printed."""
    found = modules()
    yield f"{'folder':<36} {'files':>5} {'code':>6} {'comments':>8} {'docstrings':>10}"
    folders: dict[str, list[Module]] = {}
    for module in found:
        folder = module.path.parent.relative_to(SOURCE).as_posix()
        folders.setdefault(folder, []).append(module)
    for folder, inside in sorted(folders.items()):
        yield _sums(folder, inside)
    yield _sums("all", found)
    lengths = [module.n_lines for module in found if module.path.name != "__init__.py"]
    yield f"lines of a module: median {statistics.median(lengths):.0f}, most {max(lengths)}"
    for module in sorted(found, key=lambda module: -module.n_lines)[:8]:
        yield f"  {module.n_lines:4d} lines       {module.name}"
    functions = [(each, module.name) for module in found for each in module.functions]
    for each, name in sorted(functions, key=lambda pair: -pair[0].n_lines)[:8]:
        yield f"  {each.n_lines:4d} lines       {name}.{each.name}"
    methods = [pair for pair in functions if pair[0].name != "__init__"]
    for each, name in sorted(methods, key=lambda pair: -pair[0].n_parameters)[:8]:
        yield f"  {each.n_parameters:4d} parameters  {name}.{each.name}"


def _sums(name: str, inside: list[Module]) -> str:
    code, comments, docstrings = (
        sum(getattr(module, kind) for module in inside)
        for kind in ("n_code", "n_comments", "n_docstrings")
    )
    return f"{name:<36} {len(inside):5d} {code:6d} {comments:8d} {docstrings:10d}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--api", action="store_true", help="list public names and signatures")
    for line in public_names() if parser.parse_args().api else report():
        print(line)
