"""The sketches of the how-to, on a board of recorded sensors whose light is printed."""

import subprocess

from documents import blocks, run_blocks
from run_c import compilers

PAGE = "docs/howto/microcontroller.md"
DTYPES = ("q15", "float32")  # in the order of the page

# What such a board declares for every sketch, and what it does here.
_BOARD = """\
#include <stdint.h>

enum {{ A0 = 14, A1, LED_BUILTIN = 13, OUTPUT = 1 }};
void put_text(const char *text);
void setup();
void loop();

static const int16_t readings[{n}][2] = {{
{readings}
}};
static int moment;

static void pinMode(int pin, int mode)
{{
    put_text(pin == LED_BUILTIN && mode == OUTPUT ? "ready\\n" : "?");
}}

static int analogRead(int pin)
{{
    return readings[moment][pin - A0];
}}

static void digitalWrite(int pin, int value)
{{
    put_text(pin != LED_BUILTIN ? "?" : value ? "on\\n" : "off\\n");
}}

static void delay(unsigned long milliseconds)
{{
    (void)milliseconds;
}}

{sketch}
int main(void)
{{
    setup();
    for (moment = 0; moment < {n}; moment++)
        loop();
    return 0;
}}
"""
_HOST = "#include <stdio.h>\n\nvoid put_text(const char *text)\n{\n    fputs(text, stdout);\n}\n"


def write_sketches(folder):
    """The files of the page in a folder; the model and its readings, and what the page shows."""
    module, shown = run_blocks(PAGE)
    readings = ",\n".join(f"{{{a:.0f}, {b:.0f}}}" for a, b in module.counts)
    sketches = [block.code for block in blocks(PAGE) if block.language == "c"]
    for dtype, sketch in zip(DTYPES, sketches, strict=True):
        text = _BOARD.format(n=len(module.counts), readings=readings, sketch=sketch)
        (folder / f"sketch_{dtype}.c").write_text(text)
    (folder / "host.c").write_text(_HOST)
    return module, shown


def run_here(folder, dtype):
    """What the light does, with the sketch compiled for this machine."""
    sources = [f"sketch_{dtype}.c", f"hand_{dtype}.c", "host.c"]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-o", f"sketch_{dtype}"]
    subprocess.run([compilers()[0], *flags, *sources, "-lm"], check=True, cwd=folder)
    done = subprocess.run([folder / f"sketch_{dtype}"], check=True, capture_output=True, text=True)
    return done.stdout
