"""Names and labels that try to leave the place they are put in, and models that have them."""

import numpy as np
import pandas
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelet import KernelMachine, TableModel
from kernelet.kernels import Gaussian
from kernelet.learners.compression.compressed_models import CompressedClassifier
from kernelet.machine.columns import Category, ColumnEncoder, Number

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
    """n different texts, the two above first."""
    rng = np.random.default_rng(seed)
    found = dict.fromkeys([INJECTED, FORGED, *_PIECES][:count])
    while len(found) < count:
        parts = list(rng.choice(_PIECES, rng.integers(1, 7)))
        code = (
            int(rng.integers(1, 0x10FFFF)) if rng.random() < 0.5 else int(rng.integers(1, 0x3000))
        )
        if not 0xD800 <= code < 0xE000:  # no half of a character
            parts.insert(int(rng.integers(len(parts) + 1)), chr(code))
        found["".join(parts)] = None
    return list(found)


def named(names, classes):
    """A classifier with given numbers of features and classes, and rows of some classes."""
    rng = np.random.default_rng(0)
    chosen = np.linspace(0, len(classes) - 1, min(8, len(classes))).astype(int)
    rows = (
        rng.integers(0, 2, size=(len(chosen), len(names))) + 2.0 * np.arange(len(chosen))[:, None]
    )
    beta = np.zeros((len(chosen), len(classes)))
    beta[np.arange(len(chosen)), chosen] = 1.0
    if len(classes) == 2:
        beta = np.array([[-1.0], [1.0]])
    machine = KernelMachine(Gaussian(4.0 / len(names)), rows, beta, np.zeros(beta.shape[1]))
    labels = np.array(classes, dtype=object)
    model = CompressedClassifier.from_machine(machine, None, classes_=labels)
    model.feature_names_in_ = np.array(names, dtype=object)
    scores = machine.decision_function(rows)
    codes = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(int)
    assert_array_equal(codes, chosen)
    return model, rows, labels[chosen]


def of_table(numbers, categories, classes):
    """The same for a table: columns of numbers, and columns of several texts each."""
    columns = [Number(name, 0.5, 0.5, 0.5) for name in numbers]
    columns += [Category(name, tuple(texts), True) for name, texts in categories.items()]
    encoder = ColumnEncoder(tuple(columns))
    inner, _, _ = named([f"f{i}" for i in range(encoder.n_features)], classes)
    del inner.feature_names_in_
    return TableModel(encoder, inner, "target")


def piped(names, classes):
    """The same behind a scaler."""
    model, rows, _ = named(names, classes)
    del model.feature_names_in_
    return make_pipeline(StandardScaler().fit(pandas.DataFrame(rows, columns=names)), model)
