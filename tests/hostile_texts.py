"""Names and labels that try to leave the place they are put in."""

import numpy as np

# A function of the attacker's own in C: gcc takes a backslash before "\r" as the end of a line.
INJECTED = "*\\\r/int evil(void){return 42;}/\\\r*"
# The colour of a terminal, a forged line, another direction of writing, markup of rich.
FORGED = "red\x1b[31m\nkernelet info: all is well\r\u202eabc\u2066\u200b\x9b2J[bold]x[/bold]"
_PIECES = [
    *"*/\\?\"'<>&;{}()$`%#_@=~^|-+,.:[] 0178afnuxUN\n\r\t\v\f\b\a\x01\x1b\x7f\x85\x9b",
    *"éßя日א\u0301\u00a0\u00ad\u034f\u061c\u115f\u200b\u200d\u200e\u200f\u2028\u2029\u202a\u202e",
    *"\u2060\u2066\u2069\u2800\u3164\ufe0f\ufeff\ufffe\U0001d538\U0001f600\U000e0001\U000e0100",
    *("*/", "/*", "//", "??/", "??'", "<:", "%:", "\\\n", "\\\r", "\\\r\n", "*\\\n/", "*??/\n/"),
    *("</script>", "<script>", "<!--", "-->", "]]>", "&lt;", "${x}", "@@table@@", "\\u002a/"),
    *("\n#include <stdio.h>\n", "\n#error no\n", '_Pragma("x")', "#define if while", "\x1b]0;x\a"),
    *(
        "int evil(void){return 42;}",
        ";process.exit(3);",
        "__proto__",
        "constructor",
        "%s%n",
        "\\101",
    ),
    *("[red]", "[link=https://example.org]", "[/]", ":smile:", "NaN", "null", "\\x41", "\\0"),
]


def hostile(count, seed=0):
    """So many different texts, the two above first."""
    rng = np.random.default_rng(seed)
    found = dict.fromkeys([INJECTED, FORGED, *_PIECES][:count])
    while len(found) < count:
        found["".join(rng.choice(_PIECES, rng.integers(1, 7)))] = None
    return list(found)
