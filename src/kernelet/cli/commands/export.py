"""Write a model for other places: C, ONNX, JavaScript, JSON or LIBSVM.

What is written computes what `kernelet predict` does, to rounding. Text columns and scales of a
model go along where the format can hold them. Files are replaced as a whole.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelet.cli.arguments import add_model_argument
from kernelet.cli.errors import CommandError, ModelError, UsageError, one_line
from kernelet.cli.output import Output, size
from kernelet.cli.writing import check_output, writing_errors

USAGE = "kernelet export MODEL --to FORMAT [-o FILE] [options]"
EXAMPLES = """examples:
  kernelet export iris.kernelet --to c                      iris.c and iris.h, in float
  kernelet export iris.kernelet --to c --dtype q15          in integers of 16 bits
  kernelet export iris.kernelet --to onnx -o model.onnx
  kernelet export iris.kernelet -o web/iris.mjs             the ending says JavaScript"""


@dataclass(frozen=True)
class Format:
    """Where a model can go.

    Attributes
    ----------
    endings : tuple of str
        Of file names; the first is the default.
    dtypes : tuple of str
        What numbers can be stored in, if there is a choice.
    dtype : str or None
        The default; None is the model's own.
    header : str or None
        Ending of a second file, which has the name of the first: its own ending must then be that
        of the format.
    """

    endings: tuple[str, ...]
    dtypes: tuple[str, ...] = ("float32", "float64")
    dtype: str | None = None
    header: str | None = None


FORMATS = {
    "c": Format((".c",), ("float32", "float64", "q15"), "float32", header=".h"),
    "onnx": Format((".onnx",), dtype="float32"),
    "javascript": Format((".mjs", ".js")),
    "json": Format((".json",)),
    "libsvm": Format((".model", ".libsvm"), ()),
}
ENDINGS = {ending: name for name, form in FORMATS.items() for ending in form.endings}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_model_argument(parser)
    add(
        "--to",
        type=_known_name,
        choices=list(FORMATS),
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default: what the ending of FILE says)",
    )
    text = "default: MODEL's name with another ending, in this folder; C gets a header beside it"
    add("-o", "--output", metavar="FILE", help=text)
    text = "type of stored numbers (default: float32 in C and ONNX, else the model's); q15 is for C"
    add("--dtype", choices=FORMATS["c"].dtypes, help=text)


def run(arguments: argparse.Namespace) -> None:
    """Read the model, export it, and print what was written."""
    from kernelet.cli.model import read_model

    output = Output.from_arguments(arguments)
    name = arguments.to or ENDINGS.get(Path(arguments.output or "").suffix.lower())
    if name is None:
        raise UsageError(f"choose a format with --to: {', '.join(FORMATS)}")
    form = FORMATS[name]
    if arguments.dtype is not None and arguments.dtype not in form.dtypes:
        hint = f"say one of {', '.join(form.dtypes)}" if form.dtypes else "leave it out"
        raise UsageError(f"--dtype {arguments.dtype} is not for {name}; {hint}")
    path = arguments.output or Path(arguments.model).with_suffix(form.endings[0]).name
    files = [path]
    if form.header is not None:
        if not path.endswith(form.endings):
            named = Path(path).with_suffix(form.endings[0])
            raise UsageError(f"a C source ends in .c, and the header gets its name: -o {named}")
        files.append(str(Path(path).with_suffix(form.header)))
    for file in files:
        check_output(file, is_model=True)
    model = read_model(arguments.model)
    options = {} if arguments.dtype is None else {"dtype": arguments.dtype}
    with output.hearing_warnings(), writing_errors(path):
        result = _written(model, name, path, options)
    n_bytes = [Path(file).stat().st_size for file in files]
    machine = model.machine
    facts = [("file", f"{file} ({size(n)})") for file, n in zip(files, n_bytes, strict=True)]
    facts.append(("vectors", f"{machine.n_vectors} of {machine.n_features} features"))
    costs = {}
    if result is not None:  # only what becomes C knows its memory
        costs = {"flash_bytes": result.flash_bytes, "ram_bytes": result.ram_bytes}
        facts.append(("flash", f"{size(result.flash_bytes)} of tables"))
        facts.append(("RAM", f"{size(result.ram_bytes)} of stack"))
    output.result(
        facts,
        {
            "model": arguments.model,
            "format": name,
            "dtype": arguments.dtype or form.dtype or str(machine.dtype),
            "files": files,
            "bytes": n_bytes,
            "vectors": machine.n_vectors,
            "features": machine.n_features,
            **costs,
        },
    )


def _known_name(text: str) -> str:
    """As it is called here: also "C", "JS" or the ending of a file."""
    return ENDINGS.get(f".{text.lower()}", text.lower())


def _written(model: Any, name: str, path: str, options: dict[str, Any]) -> Any:
    from kernelet import export

    try:
        return getattr(export, name)(model.content, path, **options)
    except ImportError as error:
        raise CommandError(one_line(error).rstrip(".")) from error
    except (TypeError, ValueError) as error:
        raise ModelError(f"{model.path}: {one_line(error).rstrip('.')}") from error
