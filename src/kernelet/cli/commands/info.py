"""Show what is in a model file.

Vectors, kernel, bytes, what a prediction costs here and as C on a small processor, and what the
model was trained on. Nothing in the file is executed.
"""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from kernelet.cli.arguments import add_model_argument
from kernelet.cli.errors import ModelError, one_line
from kernelet.cli.output import Output, kernel_text, size

USAGE = "kernelet info MODEL [options]"
EXAMPLES = """examples:
  kernelet info iris.kernelet
  kernelet info iris.kernelet --json"""
_MOST_SHOWN = 8  # names in a line, as in `errors.listed`


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_model_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read, measure, print."""
    import numpy as np

    from kernelet.cli.c_costs import costs_in_c
    from kernelet.cli.model import read_model
    from kernelet.kernels.used_features import used_features
    from kernelet.machine import stored_bytes
    from kernelet.persistence import ModelFileError, read_summary
    from kernelet.selection.cost import microseconds_per_row

    output = Output.from_arguments(arguments)
    model = read_model(arguments.model)
    try:
        summary = read_summary(arguments.model)
    except ModelFileError as error:  # the model is in a JSON file, which is readable as it is
        raise ModelError(one_line(error).rstrip(".")) from error
    machine = model.machine
    # there is no data here: the vectors serve as rows, since the time does not depend on values
    rows = machine.vectors if machine.n_vectors else np.zeros((1, machine.n_features))
    summary = {
        "model": arguments.model,
        **summary,
        "n_used_features": int(used_features(machine.kernel, machine.n_features).size),
        "machine_bytes": machine.nbytes,
        "stored_bytes": stored_bytes(machine),
        "kernel_evaluations_per_row": machine.n_vectors,
        "microseconds_per_row": microseconds_per_row(machine, rows),
        "c": costs_in_c(model.content),
    }
    output.facts(_facts(summary))
    output.document(summary)


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values for a person."""
    from kernelet.cli.labels import text_of

    inner, outer = summary["estimator"], summary["kind"]
    n_vectors, n_outputs = summary["kernel_evaluations_per_row"], summary["n_outputs"]
    n_used, n_features = summary["n_used_features"], summary["n_features"]
    in_use = "" if n_used == n_features else f" ({n_used} in use)"
    outputs = f"{n_outputs} output{'' if n_outputs == 1 else 's'}"
    time = f"{summary['microseconds_per_row']:.2g} us"
    facts = [
        ("file", f"{summary['model']} ({size(summary['file_bytes'])})"),
        ("model", inner if inner == outer else f"{inner} in a {outer}"),
        ("vectors", f"{n_vectors} of {n_features} features{in_use}, {summary['dtype']}"),
        ("kernel", kernel_text(summary["kernel"])),
        ("machine", f"{size(summary['machine_bytes'])} for {outputs}"),
        ("in few bits", _few_bits(summary)),
        ("cost", f"{n_vectors} kernel values and about {time} per row, in batches"),
    ]
    facts += [(f"C, {dtype}", _in_c(costs)) for dtype, costs in summary["c"].items()]
    classes = [text_of(label) for label in summary["classes"] or ()]
    version = f"kernelet {summary['kernelet_version']}, format {summary['format_version']}"
    columns = [_column(column) for column in summary["columns"] or ()]
    facts += [
        ("classes", f"{len(classes)}: {_shortened(classes)}" if classes else ""),
        ("target", summary["target"]),
        ("columns", f"{len(columns)}: {_shortened(columns)}" if columns else ""),
        ("columns", "" if columns else _shortened(summary["feature_names"] or [])),
        ("trained", _training(summary["training"], classes)),
        ("parameters", _parameters(inner, summary["params"], summary["cost"])),
        ("saved", f"{summary['saved']} by {version}"),
    ]
    return [(name, value) for name, value in facts if value]


def _few_bits(summary: dict[str, Any]) -> str:
    if summary["vector_bits"] is None:
        return ""
    return (
        f"{size(summary['stored_bytes'])} of constants where it runs: vectors in "
        f"{summary['vector_bits']} bits, coefficients in {summary['coefficient_bits']}"
    )


def _in_c(costs: dict[str, Any]) -> str:
    if "refused" in costs:
        return str(costs["refused"]).rstrip(".")
    from kernelet.cli.c_costs import memory_text

    calls = f" and {costs['calls']} calls of math.h" if costs["calls"] else ""
    return f"{memory_text(costs)}, {costs['arithmetic']} operations{calls} per row"


def _column(column: dict[str, Any]) -> str:
    n_values = f" ({len(column['categories'])} values)" if "categories" in column else ""
    return f"{column['name']}{n_values}"


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more


def _training(training: dict[str, Any] | None, classes: list[str]) -> str:
    if training is None:
        return ""
    counts = training.get("class_counts") or []
    of_each = ""
    if classes and 0 < len(counts) <= _MOST_SHOWN:
        pairs = zip(counts, classes, strict=True)
        of_each = f" ({', '.join(f'{count} of {name}' for count, name in pairs)})"
    return f"on {training['n_rows']} rows{of_each}, {training['date']}"


def _parameters(estimator: str, params: dict[str, Any] | None, cost: float | None) -> str:
    """C, and the parameters that are not the default."""
    import kernelet

    known = inspect.signature(getattr(kernelet, estimator)).parameters if params else {}
    shown = {
        name: value
        for name, value in (params or {}).items()
        if isinstance(value, str | int | float)
        and (name == "C" or value != known[name].default)
        and name != "n_vectors"
    }
    if shown.get("C") == "auto" and cost is not None:
        shown["C"] = f"auto, which chose {cost:g}"
    return ", ".join(f"{name} = {value}" for name, value in shown.items())
