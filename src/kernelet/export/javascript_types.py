"""The types of an exported module for TypeScript: a file of declarations beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kernelet._hooks import hooks
from kernelet.export.documents import script_value

# TypeScript looks for the declarations of "model.mjs" in "model.d.mts".
HEADERS = {".mjs": ".d.mts", ".js": ".d.ts"}
_ARRAYS = ("Float64Array", "Float64Array[]")

_DECLARATIONS = """\
// Types of a kernel machine in JavaScript, made by kernelet {version}.
{row}{functions}

export declare const classes: {classes};

export declare const metadata: {{
  readonly kernelet: string;
  readonly kernel: {{ readonly name: string; readonly [parameter: string]: unknown }};
  readonly usedFeatures: readonly number[] | null;
  readonly nFeatures: number;
  readonly nVectors: number;
  readonly nOutputs: number;
  readonly dtype: "float32" | "float64";
  readonly vectorBits: number | null;
  readonly nBytes: number;
  readonly reading: string;
  readonly featureNames: readonly string[] | null;
}};
"""
_NUMBERS = """
/** The numbers of a row, one for each feature. */
export type Numbers =
  | readonly number[]
  | Float64Array | Float32Array
  | Int8Array | Int16Array | Int32Array
  | Uint8Array | Uint8ClampedArray | Uint16Array | Uint32Array;
"""
_CELLS = """
/** A cell of a table; null, undefined, NaN and "" are missing values. */
export type Cell = number | string | boolean | null | undefined;
/** A row of a table by the names of its columns. */
export interface Named {{
{members}
}}
/** A row: an object, or its cells in the order of the columns. */
export type Row = Named | readonly Cell[];"""
_NAMED = f"""{_NUMBERS}\
/** A row by the names of its features. */
export interface Named {{{{
{{members}}
}}}}
/** A row: an object, or its numbers in the order of the features. */
export type Row = Named | Numbers;"""
_PLAIN = f"""{_NUMBERS}\
/** A row. */
export type Row = Numbers;"""
_FUNCTION = """

/** {comment} */
export declare function {name}(row: Row): {one};
export declare function {name}(rows: readonly Row[]): {many};"""


def declarations_path(path: Path) -> Path | None:
    """Where the declarations of a module go; None where TypeScript looks for none.

    Examples
    --------
    >>> declarations_path(Path("web/iris.mjs")).name
    'iris.d.mts'
    """
    ending = HEADERS.get(path.suffix)
    return None if ending is None else path.with_suffix(ending)


def declarations(document: dict[str, Any]) -> str:
    """The text of the declarations for a `model_document`.

    Names and labels are in it as string literals only, escaped as in the module.
    """
    names, classes, columns = (document[key] for key in ("featureNames", "classes", "columns"))
    row = _PLAIN
    if names is not None:
        cell, form = ("number", _NAMED) if columns is None else ("Cell", _CELLS)
        members = [f"  readonly {script_value(name)}: {cell};" for name in dict.fromkeys(names)]
        row = form.format(members="\n".join(members))
    if classes is not None:
        labels = " | ".join(map(script_value, classes))
        row += f"\n\n/** The label of a class. */\nexport type Label = {labels};"
    values = ("number", "Float64Array") if document["nOutputs"] == 1 else _ARRAYS
    predicted = {
        "values": ("The output.", *values),
        "outliers": ("1 inside, -1 outside; null for a row with NaN.", "1 | -1 | null"),
    }.get(document["reading"], ("The label; null for a row with NaN.", "Label | null"))
    functions = [
        _function("decisionFunction", "The scores.", *values),
        _function("predict", *predicted),
    ]
    if document["calibration"] is not None:
        functions.append(_function("predictProba", "The probability of each class.", *_ARRAYS))
    return _DECLARATIONS.format(
        version=hooks.version,
        row=row,
        functions="".join(functions),
        classes="null" if classes is None else "readonly Label[]",
    )


def _function(name: str, comment: str, one: str, many: str | None = None) -> str:
    return _FUNCTION.format(name=name, comment=comment, one=one, many=many or f"({one})[]")
