"""Builds C for a Cortex-M4F, or a Cortex-M0, and runs it in QEMU."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from kernelet.export import c
from run_c import FIXED

HERE = Path(__file__).parent / "cortex"
PROGRAMS = ("arm-none-eabi-gcc", "arm-none-eabi-size", "qemu-system-arm")
PACKAGES = "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
FLAGS = ["-std=c99", "-ffunction-sections", "-fdata-sections"]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"]


@dataclass(frozen=True)
class Processor:
    """What code is compiled for, and the board of QEMU that runs it."""

    flags: tuple[str, ...]
    machine: str


M4 = Processor(
    ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"), "mps2-an386"
)
# Its instructions are a part of those of the Cortex-M3 on this board, whose memory is that of M4.
M0 = Processor(("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft"), "mps2-an385")

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


def build(sources, folder, target, *flags, cpu=M4, optimize="-O2"):
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
    command = ["arm-none-eabi-gcc", *cpu.flags, optimize, *FLAGS, *flags]
    done = subprocess.run(
        [*command, *map(str, sources), *board, *linked], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def emulate(target, *flags, cpu=M4):
    """What the program says."""
    command = ["qemu-system-arm", "-machine", cpu.machine, "-nographic", "-monitor", "none"]
    command += ["-serial", "none", "-semihosting-config", "enable=on,target=native", *flags]
    done = subprocess.run(
        [*command, "-kernel", str(target)], capture_output=True, text=True, timeout=120
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "fault" not in said, said
    return said


# The calls one after the other, each between two places that the trace of QEMU shows.
_COUNTED = """\
#include "board.h"
{declarations}

__attribute__((noinline)) void counting_ends(void)
{{
    __asm__ volatile("nop");
}}
{functions}

int main(void)
{{
{calls}
    return 0;
}}
"""


def instructions_of(sources, folder, declarations, calls, *, cpu=M4, optimize="-Os"):
    """How many instructions each of some calls executes, those of functions of libraries included.

    QEMU runs the program an instruction at a time and writes down where it is. The count is exact,
    and the same in every run; a Cortex-M0 takes one clock cycle for most of them, two for loads
    and stores, and three for a branch that is taken.

    Parameters
    ----------
    sources : list of path
        C files besides the program that is made here, those of an exported model or of any other.
    folder : path
        Where that program and the trace are written; its headers are found.
    declarations : str
        C in front of the calls: what they include and the rows that they take.
    calls : list of str
        Statements of C, executed in this order.
    cpu : Processor, default=M4
    optimize : str, default="-Os"

    Returns
    -------
    list of int
    """
    need_programs()
    functions = [
        f"__attribute__((noinline)) void counted_{i}(void)\n{{\n    {call}\n}}"
        for i, call in enumerate(calls)
    ]
    program = _COUNTED.format(
        declarations=declarations,
        functions="\n".join(functions),
        calls="\n".join(f"    counted_{i}();\n    counting_ends();" for i in range(len(calls))),
    )
    source, target, trace = (Path(folder) / f"counted.{ending}" for ending in ("c", "elf", "log"))
    source.write_text(program)
    build([source, *sources], folder, target, cpu=cpu, optimize=optimize)
    emulate(target, "-singlestep", "-d", "exec,nochain", "-D", str(trace), cpu=cpu)
    places = _places(target)
    starts = {places[f"counted_{i}"] for i in range(len(calls))}
    counts, n = [], 0
    for found in re.finditer(r"/([0-9a-f]{8})/", trace.read_text()):
        place = int(found[1], 16)
        if place in starts:
            n = 0
        elif place == places["counting_ends"]:
            counts.append(n)
        n += 1
    trace.unlink()
    assert len(counts) == len(calls)
    return counts


def _places(target):
    """Addresses of functions."""
    listed = subprocess.run(
        ["arm-none-eabi-nm", str(target)], check=True, capture_output=True, text=True
    ).stdout
    found = re.findall(r"^([0-9a-f]+) [Tt] (\w+)$", listed, re.MULTILINE)
    return {name: int(place, 16) & ~1 for place, name in found}


class Board:
    """A model on the board: its sections, its stack and its answers to some rows."""

    def __init__(self, model, rows, dtype, folder, *, cpu=M4, optimize="-O2"):
        need_programs()
        folder.mkdir(exist_ok=True)
        self.written = c(model, folder / "machine.c", dtype=dtype)
        header = self.written.header
        is_fixed = dtype in FIXED
        real = "double" if dtype == "float64" else "float"
        has = {name: f"machine_{name}(" in header for name in ("predict", "predict_proba")}
        self.object = folder / "machine.o"
        # An optimising compiler makes small tables part of the code; this object has all of them.
        self.unoptimised = folder / "machine-O0.o"
        for level, target in ((optimize, self.object), ("-O0", self.unoptimised)):
            command = ["arm-none-eabi-gcc", *cpu.flags, level, *FLAGS, *WARNINGS]
            command += ["-c", str(folder / "machine.c"), "-o", str(target)]
            subprocess.run(command, check=True)
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
        lengths = ["COMBINATIONS", "USED_FEATURES"] if is_fixed else ["COLUMNS"]
        lengths = [name for name in lengths if f"MACHINE_{name} " in header]
        length = [*lengths, "FEATURES"][0]
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
        target = folder / "machine.elf"
        build([folder / "main.c", folder / "machine.c"], folder, target, cpu=cpu, optimize=optimize)
        self.said = emulate(target, cpu=cpu)
        self.score_type = np.dtype("int32" if is_fixed else dtype)
        self.share_type = np.dtype("uint16" if is_fixed else dtype)
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
