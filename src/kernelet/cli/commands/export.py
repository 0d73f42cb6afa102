"""Write a model for other places: C, ONNX, JavaScript, JSON or LIBSVM.

What is written computes what `kernelet predict` does, to rounding. Text columns and scales of a
model go along where the format can hold them. Files are replaced as a whole.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelet.cli.arguments import add_model_argument
from kernelet.cli.errors import CommandError, ModelError, UsageError, nearest, one_line
from kernelet.cli.output import Output, size
from kernelet.cli.writing import check_output, writing_errors

if TYPE_CHECKING:
    from kernelet.export.formats import Format

USAGE = "kernelet export MODEL --to FORMAT [-o FILE] [options]"
EXAMPLES = """examples:
  kernelet export iris.kernelet --to c                      iris.c and iris.h
  kernelet export iris.kernelet --to c --dtype q15          in integers of 16 bits
  kernelet export iris.kernelet --to onnx -o model.onnx
  kernelet export iris.kernelet -o web/iris.mjs             the ending says JavaScript
  kernelet export iris.kernelet --to javascript --package   iris/, a package for npm"""


# The names and number types that `kernelet.export` registers, repeated because --help imports no
# NumPy; a test compares the two.
FORMATS = ("c", "onnx", "javascript", "json", "libsvm")
DTYPES = ("float32", "float64", "q15", "q7")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_model_argument(parser)
    text = (
        f"{', '.join(FORMATS)}, or one that is registered (default: what the ending of FILE says)"
    )
    add("--to", type=_format_name, metavar="FORMAT", help=text)
    text = (
        "default: MODEL's name with another ending, in this folder; C gets a header beside it, "
        "JavaScript the types for TypeScript"
    )
    add("-o", "--output", metavar="FILE", help=text)
    text = (
        f"type of stored numbers, {', '.join(DTYPES[:-1])} or {DTYPES[-1]} (default: q7 in C if "
        "the model is in few bits, otherwise float32 in C and ONNX, else the model's); q15 and q7 "
        "are for C"
    )
    add("--dtype", metavar="TYPE", help=text)
    text = "of JavaScript, write a folder that npm installs and publishes; FILE names the folder"
    add("--package", action="store_true", help=text)
    text = "of the package, as in @me/model (default: that of the folder)"
    add("--name", metavar="NAME", help=text)


def run(arguments: argparse.Namespace) -> None:
    """Read the model, export it, and print what was written."""
    from kernelet.cli.c_costs import costs_in_c, memory_text, own_dtype
    from kernelet.cli.model import read_model
    from kernelet.export import javascript_package
    from kernelet.export.formats import MemoryUse

    output = Output.from_arguments(arguments)
    form = _format(arguments)
    path, files = _package(arguments, form) if arguments.package else _files(arguments, form)
    model = read_model(arguments.model)
    machine = model.machine
    dtype = arguments.dtype or (own_dtype(machine) if form.name == "c" else None)
    given = {"dtype": dtype, "name": arguments.name}
    options = {key: value for key, value in given.items() if value is not None}
    with output.hearing_warnings(), writing_errors(path):
        write = javascript_package if arguments.package else form.write
        result = _written(model, write, path, options)
    n_bytes = [Path(file).stat().st_size for file in files]
    facts = [("file", f"{file} ({size(n)})") for file, n in zip(files, n_bytes, strict=True)]
    facts.append(("vectors", f"{machine.n_vectors} of {machine.n_features} features"))
    costs: dict[str, Any] = {}
    if isinstance(result, MemoryUse):
        costs = {"flash_bytes": result.flash_bytes, "ram_bytes": result.ram_bytes}
        facts.append(("flash", f"{size(result.flash_bytes)} of tables"))
        facts.append(("RAM", f"{size(result.ram_bytes)} of stack"))
    if form.name == "c":
        costs["c"] = costs_in_c(model.content)
        facts.insert(len(files), ("type", str(dtype)))
        facts += [
            (f"as {other}", memory_text(cost))
            for other, cost in costs["c"].items()
            if other != dtype and "refused" not in cost
        ]
    output.result(
        facts,
        {
            "model": arguments.model,
            "format": form.name,
            "dtype": dtype or form.dtype or str(machine.dtype),
            "files": files,
            "bytes": n_bytes,
            "vectors": machine.n_vectors,
            "features": machine.n_features,
            **costs,
        },
    )


def _files(arguments: argparse.Namespace, form: Format) -> tuple[str, list[str]]:
    """The file that is asked for, and all files that are written."""
    path = arguments.output or Path(arguments.model).with_suffix(form.endings[0]).name
    files = [path]
    if form.header is not None:
        header = form.header_path(Path(path))
        if header is None:
            ending = form.endings[0]
            named = Path(path).with_suffix(ending)
            raise UsageError(
                f"a file for {form.name} ends in {ending}, which another file shares: -o {named}"
            )
        files.append(str(header))
    for file in files:
        check_output(file, is_model=True)
    return path, files


def _package(arguments: argparse.Namespace, form: Format) -> tuple[str, list[str]]:
    """The folder that is asked for, and the files in it."""
    from kernelet.export.javascript_package import FILES, checked_package_name

    if form.name != "javascript":
        raise UsageError(f"--package is for javascript, not for {form.name}; leave it out")
    path = arguments.output or Path(arguments.model).stem
    try:
        checked_package_name(arguments.name or Path(path).resolve().name)
    except ValueError as error:
        raise UsageError(f"{one_line(error).rstrip('.')}; choose one with --name") from error
    files = [str(Path(path) / file) for file in FILES]
    for file in files if Path(path).is_dir() else [path]:
        check_output(file, is_model=True)
    return path, files


def _format(arguments: argparse.Namespace) -> Format:
    """The format that is asked for, which has the type of numbers that is asked for."""
    formats = _formats()
    if arguments.name and not arguments.package:
        raise UsageError("--name is that of a package, which --package writes")
    by_ending = _by_ending(Path(arguments.output or "").suffix.lower())
    name = arguments.to or ("javascript" if arguments.package else by_ending)
    if name is None:
        raise UsageError(f"choose a format with --to: {', '.join(formats)}")
    form = formats[name]
    if arguments.dtype is not None and arguments.dtype not in form.dtypes:
        hint = f"say one of {', '.join(form.dtypes)}" if form.dtypes else "leave it out"
        raise UsageError(f"--dtype {arguments.dtype} is not for {name}; {hint}")
    return form


def _formats() -> dict[str, Format]:
    """All formats that are registered, ours first."""
    from kernelet.export.formats import registered_formats

    known = registered_formats()  # ours register themselves when the package is imported
    return {name: known[name] for name in (*FORMATS, *sorted({*known} - {*FORMATS}))}


def _by_ending(ending: str) -> str | None:
    return next((name for name, form in _formats().items() if ending in form.endings), None)


def _format_name(text: str) -> str:
    """As it is called here: also "C", "JS" or the ending of a file."""
    name = text.lower()
    if name in FORMATS:
        return name
    formats = _formats()
    if name in formats:
        return name
    found = _by_ending(f".{name}")
    if found is None:
        near = nearest(text, list(formats))
        hint = f"do you mean {near!r}?" if near else f"known are {', '.join(formats)}"
        raise argparse.ArgumentTypeError(f"{text!r} is not known; {hint}")
    return found


def _written(model: Any, write: Callable[..., Any], path: str, options: dict[str, Any]) -> Any:
    try:
        return write(model.content, path, **options)
    except ImportError as error:
        raise CommandError(one_line(error).rstrip(".")) from error
    except (TypeError, ValueError) as error:
        raise ModelError(f"{model.path}: {one_line(error).rstrip('.')}") from error
