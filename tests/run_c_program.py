"""Exported C in one program that calls all of its functions: for sanitizers, and for gcov.

Every model is asked about rows that its caller gives. Of models in integers, the functions behind
``quantize`` are called once more with integers at the ends of their range.
"""

import subprocess
from dataclasses import dataclass, field

import numpy as np

from kernelet.export import c
from kernelet.export.model import exported_model
from run_c import FLAGS, Library, compilers

# What gcc does not count among undefined behaviour, but C does.
SANITIZED = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
{includes}

static void put(const void *data, size_t size)
{{
    if (fwrite(data, size, 1, stdout) != 1)
        abort();
}}

{functions}
int main(int n, char **words)
{{
    static void (*const runs[])(void) = {{ {runs} }};

    if (n != 2)
        return 1;
    runs[atoi(words[1])]();
    return 0;
}}
"""
_FLOATS = """\
static void run_{i}(void)
{{
    {real} x[{given}];
{declared}
    while (fread(x, sizeof x, 1, stdin) == 1)
        answer_{i}(x);
{categories}}}
"""
_INTEGERS = """\
static void run_{i}(void)
{{
    float x[{given}];
    int16_t q[{length}];
    int f, end, outside;

    while (fread(x, sizeof x, 1, stdin) == 1) {{
        outside = {name}_quantize(x, q);
        put(&outside, sizeof outside);
        answer_{i}(q);
    }}
    for (end = 0; end < 4; end++) {{
        for (f = 0; f < {length}; f++)
            q[f] = (f + end) % 3 == 0 || end == 3 ? INT16_MIN : INT16_MAX;
        put(&end, sizeof end);
        answer_{i}(q);
    }}
{categories}}}
"""
_ANSWER = """\
static void answer_{i}(const {row} *row)
{{
{answers}}}

"""
_ENDS = 4  # rows of integers that the program adds


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of rows; of its integers at the ends of their range come last."""

    outside: np.ndarray | None
    scores: np.ndarray
    labels: np.ndarray | None
    shares: np.ndarray | None
    categories: np.ndarray | None


@dataclass(frozen=True, eq=False)
class _Model:
    """One model of the program, and how its answers are written."""

    library: Library
    record: np.dtype
    asked: list[tuple[int, str]]
    text: str


@dataclass(frozen=True, eq=False)
class Program:
    """A compiled program of several models."""

    path: object
    models: list[_Model] = field(default_factory=list)

    def run(self, place, rows):
        """The answers of a model about rows; it fails if the program does."""
        model = self.models[place]
        real = np.dtype("f4") if model.library.is_fixed else model.library.row_type
        with np.errstate(over="ignore"):
            given = np.ascontiguousarray(rows, dtype=real).tobytes()
        done = subprocess.run([self.path, str(place)], input=given, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        n = len(rows) + (_ENDS if model.library.is_fixed else 0)
        table = np.frombuffer(done.stdout, model.record, count=n)
        codes = np.frombuffer(done.stdout[n * model.record.itemsize :], np.intc)
        assert len(codes) == len(model.asked)
        columns = {name: table[name] if name in model.record.names else None for name in _COLUMNS}
        return Answers(**columns, categories=codes if model.asked else None)


_COLUMNS = ("outside", "scores", "labels", "shares")


def program(models, folder, flags=(), *, compiler=None):
    """Compile ``(model, dtype)`` into one program."""
    folder.mkdir(exist_ok=True)
    made = [_model(i, model, dtype, folder) for i, (model, dtype) in enumerate(models)]
    names = [one.library.written.name for one in made]
    main = _MAIN.format(
        includes="\n".join(f'#include "{name}.h"' for name in names),
        functions="\n".join(one.text for one in made),
        runs=", ".join(f"run_{i}" for i in range(len(made))),
    )
    (folder / "main.c").write_text(main)
    sources = ["main.c", *(f"{name}.c" for name in names)]
    command = [compiler or compilers()[0], *FLAGS, *flags, *sources, "-o", "program", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Program(folder / "program", made)


def _model(i, model, dtype, folder):
    written = c(model, folder / f"machine_{i}.c", dtype=dtype)
    library, name, prefix = Library(None, written, dtype), written.name, written.name.upper()
    fields, answers = [], []

    def answer(function, column, kind, length):
        if f" {name}_{function}(" not in written.header:
            return
        count = int(library.constant(length)) if length else 1
        fields.append((column, kind, (count,) if length else ()))
        kind_in_c = {"f": "float", "d": "double", "i": "int", "H": "uint16_t"}[kind.char]
        if library.is_fixed and column == "scores":
            kind_in_c = "int32_t"
        answers.append(
            f"    {{\n        {kind_in_c} found[{count}];\n\n"
            f"        {name}_{function}_batch(row, 1, found);\n"
            "        put(found, sizeof found);\n    }\n"
        )

    if library.is_fixed:
        fields.append(("outside", np.dtype(np.intc), ()))
    answer("decision_function", "scores", library.score_type, "SCORES")
    answer("predict", "labels", np.dtype(np.intc), None)
    answer("predict_proba", "shares", library.share_type, "CLASSES")
    asked = _asked(model) if f"{name}_category(" in written.header else []
    lengths = ("COMBINATIONS", "USED_FEATURES", "FEATURES")
    values = {
        "i": i,
        "name": name,
        "real": "double" if dtype == "float64" else "float",
        "given": next(f"{prefix}_{w}" for w in ("COLUMNS", "FEATURES") if _has(written, w)),
        "length": next(f"{prefix}_{word}" for word in lengths if _has(written, word)),
        "declared": "    int outside;\n" if asked else "",
        "categories": _categories(name, asked),
    }
    row = "int16_t" if library.is_fixed else values["real"]
    text = _ANSWER.format(i=i, row=row, answers="".join(answers))
    text += (_INTEGERS if library.is_fixed else _FLOATS).format(**values)
    return _Model(library, np.dtype(fields), asked, text)


def _has(written, word):
    return f"#define {written.name.upper()}_{word} " in written.header


def _asked(model):
    """Columns and texts: those that are known, others, and columns that are none."""
    columns = exported_model(model, with_columns=True).columns
    known = {text for column in columns for text in getattr(column, "categories", ())}
    texts = [*sorted(known), *sorted({text + "x" for text in known}), "", "zz"]
    return [(place, text) for place in range(-1, len(columns) + 1) for text in texts]


def _categories(name, asked):
    lines = []
    for place, text in asked:
        quoted = "".join(f"\\{byte:03o}" for byte in text.encode())
        lines += [f'    outside = {name}_category({place}, "{quoted}");']
        lines += ["    put(&outside, sizeof outside);"]
    return "".join(f"{line}\n" for line in lines)
