"""
From a csv file to C on a board
===============================

A table lies in a csv file. `TableModel` learns from it as it is, and `kernelet.export.c` writes two
files of C that need a few hundred bytes of flash. If there is a C compiler, they are built into a
program, which reads the rows of another csv file as a board would read its sensors.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

import kernelet

scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)
cells = load_breast_cancer(as_frame=True)
columns = ["mean texture", "mean concave points", "worst radius", "worst smoothness", "target"]
table = cells.frame[columns].sample(frac=1, random_state=0)
table["target"] = cells.target_names[table["target"]]
table[:400].to_csv(folder / "cells.csv", index=False)
table[400:].to_csv(folder / "new.csv", index=False)

# Learn from the file: three vectors, in 5 bits.
rows, new_rows = pd.read_csv(folder / "cells.csv"), pd.read_csv(folder / "new.csv")
svc = kernelet.SparseSVC(3, vector_bits=5, random_state=0)
model = kernelet.TableModel.fit(rows, "target", svc)
predicted = model.predict(new_rows)
error = 100 * (predicted != new_rows["target"]).mean()
print(f"test error {error:.1f} %")

# Every type of numbers that C can have; the scaling of the columns is included.
flash = {}
for dtype in ("float64", "float32", "q15", "q7"):
    cost = kernelet.export.c(model, folder / "cells.c", dtype=dtype).cost
    flash[dtype] = cost.flash_bytes
    print(f"{dtype}: {cost.flash_bytes} bytes of flash, {cost.ram_bytes} of RAM")

# The program of the board, which reads lines instead of sensors.
PROGRAM = r"""
#include <stdio.h>
#include "cells.h"

int main(void)
{
    float x[CELLS_COLUMNS];
    int16_t q[CELLS_FEATURES];

    while (scanf("%f,%f,%f,%f\n", x, x + 1, x + 2, x + 3) == CELLS_COLUMNS) {
        cells_quantize(x, q);
        printf("%d\n", cells_predict(q));
    }
    return 0;
}
"""
compiler = shutil.which("cc")
if compiler is not None:
    (folder / "main.c").write_text(PROGRAM)
    build = [compiler, "-std=c99", "-Os", "main.c", "cells.c", "-o", "board", "-lm"]
    subprocess.run(build, cwd=folder, check=True)
    lines = new_rows.drop(columns="target").to_csv(header=False, index=False)
    answers = subprocess.run([folder / "board"], input=lines, capture_output=True, text=True).stdout
    labels = model.classes_[np.array(answers.split(), dtype=int)]
    same = np.count_nonzero(labels == predicted)
    print(f"{same} of {len(predicted)} answers of the program are those of Python")

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, group in new_rows.groupby(predicted):
    axes[0].plot(group["worst radius"], group["mean concave points"], "o", alpha=0.6, label=name)
axes[0].set(xlabel="worst radius", ylabel="mean concave points", title="answers for new rows")
axes[0].legend()
bars = axes[1].barh(list(flash), list(flash.values()), color=["0.75", "0.75", "0.75", "C3"])
axes[1].bar_label(bars, padding=3)
axes[1].set(title="bytes of flash", xlim=(0, 1.15 * max(flash.values())))
plt.show()
