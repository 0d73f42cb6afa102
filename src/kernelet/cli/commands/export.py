"""Write a model for other places: C, ONNX, JavaScript, JSON or LIBSVM.

What is written computes what `kernelet predict` does, to rounding. Text columns and scales of a
model go along where the format can hold them. Files are replaced as a whole.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kernelet.cli.arguments import add_model_argument
from kernelet.cli.errors import Check, ModelError, UsageError
from kernelet.cli.exporting import Export, PackageExport
from kernelet.cli.formats import (
    FORMATS,
    add_dtype_option,
    check_dtype,
    ending_of,
    endings_text,
    format_name,
    formats,
    name_by_ending,
)
from kernelet.cli.output import Output
from kernelet.cli.tables.sources import check_file

if TYPE_CHECKING:
    from kernelet.export.formats import Format

USAGE = "kernelet export MODEL (--to FORMAT | -o FILE) [options]"
EXAMPLES = """examples:
  kernelet export iris.kernelet --to c                      iris.c and iris.h
  kernelet export iris.kernelet -o iris.h --dtype q15       both, in integers of 16 bits
  kernelet export iris.kernelet -o model.onnx
  kernelet export iris.kernelet -o web/iris.mjs             the ending says JavaScript
  kernelet export iris.kernelet --to javascript --package   iris/, a package for npm"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_model_argument(parser)
    text = (
        f"{', '.join(FORMATS)}, or one that is registered (default: what the ending of FILE says)"
    )
    add("--to", type=format_name, metavar="FORMAT", help=text)
    text = (
        "default: MODEL's name with another ending, in this folder; C gets a header beside it, "
        "JavaScript the types for TypeScript"
    )
    add("-o", "--output", metavar="FILE", help=text)
    add_dtype_option(parser)
    text = "of JavaScript, write a folder that npm installs and publishes; FILE names the folder"
    add("--package", action="store_true", help=text)
    text = "of the package, as in @me/model (default: that of the folder)"
    add("--name", metavar="NAME", help=text)


def checks(arguments: argparse.Namespace) -> list[Check]:
    """What can be wrong before the model is read."""
    return [
        (("to", "output"), lambda: _require_format(arguments)),
        (("to", "package", "name"), lambda: _check_package(arguments)),
        (("to", "output", "package"), lambda: _check_ending(arguments)),
        (("to", "output", "dtype"), lambda: check_dtype(arguments.dtype, _format(arguments))),
        (("to", "output", "model", "package", "name"), lambda: _check_files(arguments)),
        (("model",), lambda: check_file(arguments.model, ModelError)),
    ]


def _require_format(arguments: argparse.Namespace) -> None:
    if _format(arguments) is not None:
        return
    output = arguments.output
    ending = "" if output is None else ending_of(output)
    known = f"choose a format with --to: {', '.join(formats())}"
    if ending:
        raise UsageError(
            f"the ending {ending} of {output} is not known; {known}; or say -o with one of the "
            f"endings {endings_text()}"
        )
    raise UsageError(known)


def _check_package(arguments: argparse.Namespace) -> None:
    if arguments.name and not arguments.package:
        raise UsageError("--name is that of a package, which --package writes")
    if arguments.package and arguments.to not in (None, "javascript"):
        raise UsageError(f"--package is for javascript, not for {arguments.to}; leave it out")


def _check_ending(arguments: argparse.Namespace) -> None:
    """An ending that means another format was hardly meant."""
    if arguments.to is None or arguments.output is None or arguments.package:
        return
    ending = ending_of(arguments.output)
    other = name_by_ending(ending)
    if other not in (None, arguments.to):
        own = Path(arguments.output).with_suffix(formats()[arguments.to].endings[0])
        raise UsageError(
            f"--to {arguments.to} and the ending {ending} of {arguments.output}, which is that of "
            f"{other}, do not agree; leave --to out, or say -o {own}"
        )


def _check_files(arguments: argparse.Namespace) -> None:
    form = _format(arguments)
    if form is not None:
        _export(arguments, form).check()


def _format(arguments: argparse.Namespace) -> Format | None:
    """The format that is asked for, by its name or by an ending."""
    by_ending = name_by_ending(ending_of(arguments.output or ""))
    name = arguments.to or ("javascript" if arguments.package else by_ending)
    return None if name is None else formats()[name]


def _export(arguments: argparse.Namespace, form: Format) -> Export:
    if arguments.package:
        folder = arguments.output or Path(arguments.model).stem
        return PackageExport(form, folder, arguments.dtype, arguments.name)
    path = arguments.output or Path(arguments.model).with_suffix(form.endings[0]).name
    return Export(form, path, arguments.dtype)


def run(arguments: argparse.Namespace) -> None:
    """Read the model, export it, and print what was written."""
    from kernelet.cli.c_costs import costs_in_c, memory_text
    from kernelet.cli.model import read_model

    output, form = Output.from_arguments(arguments), _format(arguments)
    assert form is not None  # as `checks` has seen
    export = _export(arguments, form)
    model = read_model(arguments.model)
    machine = model.machine
    with output.hearing_warnings():
        written = export.write(model)
    facts = written.facts()
    facts.append(("vectors", f"{machine.n_vectors} of {machine.n_features} features"))
    facts += written.memory_facts()
    costs = {}
    if form.name == "c":
        costs["c"] = costs_in_c(model.content)
        facts.insert(len(written.files), ("type", written.dtype))
        facts += [
            (f"as {other}", memory_text(cost))
            for other, cost in costs["c"].items()
            if other != written.dtype and "refused" not in cost
        ]
    output.result(
        facts,
        {
            "model": arguments.model,
            "format": form.name,
            "dtype": written.dtype,
            "files": written.files,
            "bytes": written.n_bytes,
            "vectors": machine.n_vectors,
            "features": machine.n_features,
            **written.memory_document(),
            **costs,
        },
    )
