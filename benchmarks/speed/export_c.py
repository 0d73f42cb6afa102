"""Our C, m2cgen's and micromlgen's in one program that clocks them in turns."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from kernelet.export import c

FLAGS = ("-O2",)
# what each prints for a row: its label, or its first decision value
_PROGRAM = """\
#include <stdio.h>
#include <time.h>
#include "ours.h"
{declarations}

static const float rows[{n}][{d}] = {{
{rows}
}};
static double doubles[{n}][{d}];
static volatile double sink;

static double now(void)
{{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}}

static double run_ours(int i) {{ return ours_labels[ours_predict(rows[i])]; }}
{runs}

static double seconds(double (*run)(int), double best)
{{
    double start = now();
    int i;

    for (i = 0; i < {n}; i++)
        sink = run(i);
    start = (now() - start) / {n};
    return start < best ? start : best;
}}

int main(void)
{{
    double (*runs[])(int) = {{ {names} }};
    double best[{n_runs}];
    int i, j, turn;

    for (i = 0; i < {n}; i++)
        for (j = 0; j < {d}; j++)
            doubles[i][j] = rows[i][j];
    for (j = 0; j < {n_runs}; j++)
        best[j] = 1e9;
    for (turn = 0; turn < 100; turn++)
        for (j = 0; j < {n_runs}; j++)
            best[j] = seconds(runs[j], best[j]);
    for (j = 0; j < {n_runs}; j++) {{
        printf("%.9g", best[j]);
        for (i = 0; i < {n}; i++)
            printf(" %.9g", runs[j](i));
        printf("\\n");
    }}
    return 0;
}}
"""
_M2CGEN = (
    "void score(double *input, double *output);",
    "static double run_m2cgen(int i)\n{{\n    double output[{pairs}];\n\n"
    "    score(doubles[i], output);\n    return output[0];\n}}",
)
_MICROMLGEN = (
    "int micromlgen_predict(float *x);",
    "static double run_micromlgen(int i) {{ return micromlgen_predict((float *)rows[i]); }}",
)
_WRAPPER = """\
#include <cmath>
#include <cstdint>
using std::exp;
using std::pow;
#include "micromlgen.h"
static Eloquent::ML::Port::SVM machine;
extern "C" int micromlgen_predict(float *x) { return machine.predict(x); }
"""


def compare_c(
    ours: Any, svc: SVC, X: np.ndarray, folder: Path
) -> Iterator[tuple[str, tuple[Any, Any] | str]]:
    """(what, (our seconds, theirs)), (bytes: what, (ours, theirs)) or (what, why it is missing)."""
    if shutil.which("gcc") is None or shutil.which("g++") is None:
        yield "C", "there is no gcc and g++"
        return
    c(ours, folder / "ours.c", dtype="float32")
    others, objects = {}, {"ours": _compiled("gcc", folder / "ours.c")}
    for name, write, texts in (
        ("m2cgen", _write_m2cgen, _M2CGEN),
        ("micromlgen", _write_micromlgen, _MICROMLGEN),
    ):
        try:
            objects[name] = write(svc, folder)
            others[name] = texts
        except ImportError:
            yield name, f"it is not installed: pip install {name}"
    seconds = _clocked(ours, svc, X, folder, objects, others)
    for name in others:
        yield f"{name}'s C / our C, one row", (seconds["ours"], seconds[name])
        yield f"bytes: {name}'s object / our object", (_size(objects["ours"]), _size(objects[name]))


def _write_m2cgen(svc: SVC, folder: Path) -> Path:
    import m2cgen

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)  # it walks down a sum of all kernel values
    try:
        (folder / "m2cgen.c").write_text(m2cgen.export_to_c(svc))
    finally:
        sys.setrecursionlimit(limit)
    return _compiled("gcc", folder / "m2cgen.c")


def _write_micromlgen(svc: SVC, folder: Path) -> Path:
    from micromlgen import port

    (folder / "micromlgen.h").write_text(port(svc))
    (folder / "micromlgen.cpp").write_text(_WRAPPER)
    return _compiled("g++", folder / "micromlgen.cpp")


def _compiled(compiler: str, source: Path) -> Path:
    target = source.with_suffix(".o")
    command = [compiler, *FLAGS, "-c", source.name, "-o", target.name]
    subprocess.run(command, cwd=source.parent, check=True)
    return target


def _clocked(
    ours: Any,
    svc: SVC,
    X: np.ndarray,
    folder: Path,
    objects: dict[str, Path],
    others: dict[str, tuple[str, str]],
) -> dict[str, float]:
    """Seconds of each for a row, after all have said what they should."""
    rows = X.astype(np.float32)
    pairs = len(svc.classes_) * (len(svc.classes_) - 1) // 2
    program = _PROGRAM.format(
        declarations="\n".join(texts[0] for texts in others.values()),
        rows="\n".join("{" + ", ".join(f"{float(x)!r}f" for x in row) + "}," for row in rows),
        runs="\n".join(texts[1].format(pairs=pairs) for texts in others.values()),
        names=", ".join(f"run_{name}" for name in ("ours", *others)),
        n_runs=1 + len(others),
        n=rows.shape[0],
        d=rows.shape[1],
    )
    (folder / "program.c").write_text(program)
    objects = {**objects, "program": _compiled("gcc", folder / "program.c")}
    linked = ["g++", *(path.name for path in objects.values()), "-o", "program", "-lm"]
    subprocess.run(linked, cwd=folder, check=True)
    done = subprocess.run([str(folder / "program")], capture_output=True, text=True, check=True)
    seconds = {}
    for name, line in zip(("ours", *others), done.stdout.splitlines(), strict=True):
        seconds[name], *answers = (float(text) for text in line.split())
        _check(name, np.array(answers), ours, svc, rows.astype(np.float64))
    return seconds


def _check(name: str, answers: np.ndarray, ours: Any, svc: SVC, X: np.ndarray) -> None:
    """Times mean nothing unless the results are right."""
    if name == "m2cgen":
        first = svc.set_params(decision_function_shape="ovo").decision_function(X)[:, 0]
        svc.set_params(decision_function_shape="ovr")
        np.testing.assert_allclose(answers, first, atol=1e-5)
    else:
        expected = (ours if name == "ours" else svc).predict(X)
        assert np.mean(answers == expected) > 0.99, name


def _size(path: Path) -> int:
    """Bytes of code and constants in an object, without what is only for linkers."""
    shown = subprocess.run(["size", path], capture_output=True, text=True, check=True).stdout
    numbers = re.findall(r"\d+", shown.splitlines()[1])
    return int(numbers[0]) + int(numbers[1])
