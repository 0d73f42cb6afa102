"""Runs exported modules under node and brings back what they answer."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from kernelet.export import javascript

# JSON knows no NaN and no infinity, so numbers travel as texts.
_DRIVER = """
import { readFileSync } from "node:fs";
const text = (value) =>
  value === null || typeof value === "string" ? value
  : ArrayBuffer.isView(value) || Array.isArray(value) ? Array.from(value, text) : String(value);
const answers = [];
for (const { module, rows, calls } of JSON.parse(readFileSync(0, "utf8"))) {
  const machine = await import(module);
  const numbers = rows.map((row) => row.map(Number));
  const answer = { classes: machine.classes, metadata: machine.metadata };
  for (const call of calls) answer[call] = text(machine[call](numbers));
  answer.oneByOne = text(numbers.map((row) => machine.decisionFunction(Float64Array.from(row))));
  answers.push(answer);
}
console.log(JSON.stringify(answers));
"""


def need_node():
    if shutil.which("node") is None:
        pytest.fail("these tests run JavaScript: install node (Debian: apt install nodejs)")


def run_modules(tasks, folder):
    """Answers to ``(model, rows, calls, dtype)``, each a dict with what the calls return."""
    need_node()
    questions = []
    for place, (model, rows, calls, dtype) in enumerate(tasks):
        path = folder / f"machine_{place}.mjs"
        javascript(model, path, dtype=dtype)
        texts = [[repr(float(x)).replace("inf", "Infinity") for x in row] for row in rows]
        questions.append({"module": str(path), "rows": texts, "calls": list(calls)})
    driver = folder / "driver.mjs"
    driver.write_text(_DRIVER)
    done = subprocess.run(
        ["node", str(driver)], input=json.dumps(questions), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def numbers(texts):
    """An array of what came back as texts."""
    return np.array(
        [
            [_number(cell) for cell in row] if isinstance(row, list) else _number(row)
            for row in texts
        ]
    )


def _number(text):
    return float(text.replace("Infinity", "inf"))
