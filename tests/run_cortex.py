"""Builds exported C for a Cortex-M4F and runs it in QEMU."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kernelet.export import c

HERE = Path(__file__).parent / "cortex"
PROGRAMS = ("arm-none-eabi-gcc", "arm-none-eabi-size", "qemu-system-arm")
PACKAGES = "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
CPU = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
FLAGS = ["-std=c99", "-O2", "-ffunction-sections", "-fdata-sections"]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"]

# Scores, label and probabilities of every row, and the stack of each function.
_MAIN = """\
#include "board.h"
#include "machine.h"

static const {given} rows[{n}][{columns}] = {{
{numbers}
}};
static {row} {q}[MACHINE_{length}];
static {score} scores[MACHINE_SCORES];
{declared}

static void decide(void)
{{
    machine_decision_function_batch({q}, 1, scores);
    machine_decision_function({q}, scores);
}}
{functions}

int main(void)
{{
    int i;
    uint32_t stack;

    for (i = 0; i < {n}; i++) {{
        {prepare};
        stack = stack_of(decide);
        put_text("scores ");
        put_words(scores, sizeof scores);
        {calls}
        if (i == 0) {{
            put_text("stack ");
            put_words(&stack, sizeof stack);
        }}
    }}
    return 0;
}}
"""
_CALL = """if (stack_of({name}) > stack)
            stack = stack_of({name});
        put_text("{name} ");
        put_words({result}, sizeof {size});"""


def need_programs():
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        pytest.fail(f"{', '.join(missing)} missing; on Debian: apt install {PACKAGES}")


def sections(path):
    """Bytes of code, of constants and of variables in an object file."""
    listed = subprocess.run(
        ["arm-none-eabi-size", "-A", str(path)], check=True, capture_output=True, text=True
    ).stdout
    sizes = re.findall(r"^(\.\S+)\s+(\d+)", listed, re.MULTILINE)

    def total(*prefixes):
        return sum(int(n) for name, n in sizes if name.startswith(prefixes))

    return {
        "code": total(".text"),
        "constants": total(".rodata"),
        "variables": total(".data", ".bss"),
    }


def build(sources, folder, target, *flags):
    """Compile and link for the board."""
    board = [
        str(HERE / "board.c"),
        "-T",
        str(HERE / "board.ld"),
        "-I",
        str(HERE),
        "-I",
        str(folder),
    ]
    linked = ["-nostartfiles", "--specs=nosys.specs", "-Wl,--gc-sections", "-lm", "-o", str(target)]
    command = ["arm-none-eabi-gcc", *CPU, *FLAGS, *flags, *map(str, sources), *board, *linked]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def emulate(target):
    """What the program says."""
    command = ["qemu-system-arm", "-machine", "mps2-an386", "-nographic", "-monitor", "none"]
    command += ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*command, "-kernel", str(target)], capture_output=True, text=True, timeout=120
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "fault" not in said, said
    return said


class Board:
    """A model on the board: its sections, its stack and its answers to some rows."""

    def __init__(self, model, rows, dtype, folder):
        need_programs()
        folder.mkdir(exist_ok=True)
        self.written = c(model, folder / "machine.c", dtype=dtype)
        header = self.written.header
        is_fixed = dtype == "q15"
        real = "double" if dtype == "float64" else "float"
        has = {name: f"machine_{name}(" in header for name in ("predict", "predict_proba")}
        self.object = folder / "machine.o"
        command = ["arm-none-eabi-gcc", *CPU, *FLAGS, *WARNINGS, "-c", str(folder / "machine.c")]
        subprocess.run([*command, "-o", str(self.object)], check=True)
        q = "q" if is_fixed else "x"
        share = "uint16_t" if is_fixed else real
        declared, functions, calls = [], [], []
        if has["predict"]:
            declared.append("static int label;")
            functions.append(
                f"static void predict(void)\n{{\n    machine_predict_batch({q}, 1, &label);\n"
                f"    label = machine_predict({q});\n}}\n"
            )
            calls.append(_CALL.format(name="predict", result="&label", size="label"))
        if has["predict_proba"]:
            declared.append(f"static {share} shares[MACHINE_CLASSES];")
            functions.append(
                f"static void proba(void)\n{{\n    machine_predict_proba_batch({q}, 1, shares);\n"
                f"    machine_predict_proba({q}, shares);\n}}\n"
            )
            calls.append(_CALL.format(name="proba", result="shares", size="shares"))
        length = "FEATURES" if is_fixed or "MACHINE_COLUMNS" not in header else "COLUMNS"
        copy = f"int k; for (k = 0; k < MACHINE_{length}; k++) x[k] = rows[i][k];"
        prepare = "machine_quantize(rows[i], q)" if is_fixed else f"{{ {copy} }}"
        main = _MAIN.format(
            given="float" if is_fixed else real,
            n=len(rows),
            columns=rows.shape[1],
            numbers=",\n".join("{" + ", ".join(map(_literal, row)) + "}" for row in rows),
            row="int16_t" if is_fixed else real,
            q=q,
            length=length,
            score="int32_t" if is_fixed else real,
            declared="\n".join(declared),
            functions="\n".join(functions),
            prepare=prepare,
            calls="\n        ".join(calls),
        )
        (folder / "main.c").write_text(main)
        build([folder / "main.c", folder / "machine.c"], folder, folder / "machine.elf")
        self.said = emulate(folder / "machine.elf")
        self.score_type = np.dtype({"q15": "int32"}.get(dtype, dtype))
        self.share_type = np.dtype({"q15": "uint16"}.get(dtype, dtype))
        self.is_fixed = is_fixed

    def _answers(self, word, kind):
        found = re.findall(rf"^{word} ([0-9a-f]+)$", self.said, re.MULTILINE)
        return np.array([np.frombuffer(bytes.fromhex(text), dtype=kind) for text in found])

    @property
    def stack(self):
        return int(self._answers("stack", "uint32")[0, 0])

    @property
    def labels(self):
        return self._answers("predict", "int32")[:, 0]

    @property
    def scores(self):
        scores = self._answers("scores", self.score_type).astype(float)
        if self.is_fixed:
            line = self.written.header.split("MACHINE_SCORE_UNIT ")[1]
            scores *= float(line.split()[0].rstrip("f"))
        return scores

    @property
    def probabilities(self):
        shares = self._answers("proba", self.share_type).astype(float)
        return shares / 32768 if self.is_fixed else shares


def _literal(number):
    if np.isnan(number):
        return "(0.0f / 0.0f)"
    return repr(float(number))
