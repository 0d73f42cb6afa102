"""Show what is in a model file.

Vectors, kernel, bytes, what a prediction costs here and as C on a small processor, and what the
model was trained on. Nothing in the file is executed.
"""

from __future__ import annotations

import argparse
from typing import Any

from kernelet.cli.cost import costs_in_c, kernel_text, microseconds_per_row
from kernelet.cli.errors import ModelError, one_line
from kernelet.cli.labels import text_of
from kernelet.cli.model import read_model
from kernelet.cli.output import Output, add_output_options, size

USAGE = "kernelet info MODEL [options]"
EXAMPLES = """examples:
  kernelet info iris.kernelet
  kernelet info iris.kernelet --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="a file that `kernelet fit` has saved")
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read, measure, print."""
    from kernelet.kernels.used_features import used_features
    from kernelet.persistence import ModelFileError, read_summary

    output = Output.from_arguments(arguments)
    model = read_model(arguments.model)
    try:
        summary = read_summary(arguments.model)
    except ModelFileError as error:  # JSON, which a person can read as it is
        raise ModelError(one_line(error).rstrip(".")) from error
    microseconds = microseconds_per_row(model.machine)
    kernel, d = model.machine.kernel, model.machine.n_features
    summary = {
        "model": arguments.model,
        **summary,
        "n_used_features": int(used_features(kernel, d).size),
        "machine_bytes": model.machine.nbytes,
        "kernel_evaluations_per_row": model.machine.n_vectors,
        "microseconds_per_row": microseconds,
        "c": costs_in_c(model.content),
    }
    output.facts(_facts(summary, model.machine.n_vectors, microseconds))
    output.document(summary)


def _facts(summary: dict[str, Any], n_vectors: int, microseconds: float) -> list[tuple[str, str]]:
    facts = [
        ("file", f"{summary['model']} ({size(summary['file_bytes'])})"),
        ("model", _nested(summary)),
        ("vectors", f"{n_vectors} of {_features(summary)}, {summary['dtype']}"),
        ("kernel", kernel_text(summary["kernel"])),
        ("machine", f"{size(summary['machine_bytes'])} for {_outputs(summary['n_outputs'])}"),
        ("cost", f"{n_vectors} kernel values and about {microseconds:.2g} us per row, in batches"),
    ]
    facts += [(f"C, {dtype}", _in_c(costs)) for dtype, costs in summary["c"].items()]
    if summary["classes"] is not None:
        names = [text_of(label) for label in summary["classes"]]
        facts.append(("classes", f"{len(names)}: {_shortened(names)}"))
    if summary["target"]:
        facts.append(("target", summary["target"]))
    if summary["columns"]:
        facts.append(("columns", _columns(summary["columns"])))
    elif summary["feature_names"]:
        facts.append(("columns", _shortened(summary["feature_names"])))
    if summary["training"]:
        facts.append(("trained", _training(summary["training"], summary["classes"])))
    chosen = _parameters(summary["estimator"], summary["params"], summary["cost"])
    if chosen:
        facts.append(("parameters", chosen))
    version = f"kernelet {summary['kernelet_version']}, format {summary['format_version']}"
    facts.append(("saved", f"{summary['saved']} by {version}"))
    return facts


def _in_c(costs: dict[str, Any]) -> str:
    if "refused" in costs:
        return str(costs["refused"]).rstrip(".")
    memory = f"{size(costs['flash_bytes'])} of flash, {size(costs['ram_bytes'])} of RAM"
    calls = f" and {costs['calls']} calls of math.h" if costs["calls"] else ""
    return f"{memory}, {costs['arithmetic']} operations{calls} per row"


def _features(summary: dict[str, Any]) -> str:
    n_used, n_features = summary["n_used_features"], summary["n_features"]
    left_out = "" if n_used == n_features else f" ({n_used} in use)"
    return f"{n_features} features{left_out}"


def _outputs(number: int) -> str:
    return "1 output" if number == 1 else f"{number} outputs"


def _nested(summary: dict[str, Any]) -> str:
    inner, outer = str(summary["estimator"]), str(summary["kind"])
    return inner if inner == outer else f"{inner} in a {outer}"


def _columns(columns: list[dict[str, Any]]) -> str:
    texts = [
        f"{column['name']} ({len(column['categories'])} values)"
        if column["kind"] == "category"
        else str(column["name"])
        for column in columns
    ]
    return f"{len(columns)}: {_shortened(texts)}"


def _shortened(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _training(training: dict[str, Any], classes: list[Any] | None) -> str:
    text = f"on {training['n_rows']} rows"
    counts = training.get("class_counts")
    if counts and classes and len(counts) <= 8:
        pairs = zip(counts, classes, strict=True)
        text += f" ({', '.join(f'{count} of {text_of(label)}' for count, label in pairs)})"
    return f"{text}, {training['date']}"


def _parameters(estimator: str, params: dict[str, Any] | None, cost: float | None) -> str:
    """C, and the parameters that are not the default."""
    import inspect

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
