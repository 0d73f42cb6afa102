"""
From a csv file to a web page
=============================

A table of wines becomes a page that names the cultivar as you type: `TableModel` learns from the
csv file, `kernelet.export.javascript` writes a module without dependencies, and the page imports
it. No server predicts, and no data leave the visitor's device. If there is Node.js, it runs the
same module here.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

import kernelet

scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)
columns = ["alcohol", "flavanoids", "color_intensity", "proline"]
wines = load_wine(as_frame=True).frame[[*columns, "target"]].sample(frac=1, random_state=0)
wines["target"] = np.array(["Barolo", "Grignolino", "Barbera"])[wines["target"]]
wines.to_csv(folder / "wines.csv", index=False)

# Learn from two thirds of the file, and see how right the model is about the others.
table = pd.read_csv(folder / "wines.csv")
rows, new_rows = table[:120], table[120:]
model = kernelet.TableModel.fit(rows, "target", kernelet.SparseSVC(6, random_state=0))
predicted = model.predict(new_rows)
print(f"test error {100 * (predicted != new_rows['target']).mean():.1f} %")

# The module, and a page with a field for each column.
kernelet.export.javascript(model, folder / "wine.mjs", dtype="float32")
FIELD = '  <label>{0} <input name="{0}" type="number" step="any" value="{1}"></label>'
fields = "\n".join(FIELD.format(name, rows[name].median()) for name in columns)
PAGE = f"""<!DOCTYPE html>
<meta charset="utf-8">
<title>Which wine is it?</title>
<form>
{fields}
</form>
<p>This is a <output></output>.</p>
<script type="module">
  import {{ predict }} from "./wine.mjs";

  const form = document.querySelector("form");
  const answer = () => {{
    const row = Object.fromEntries(new FormData(form));
    document.querySelector("output").textContent = predict([row])[0];
  }};
  form.addEventListener("input", answer);
  answer();
</script>
"""
(folder / "index.html").write_text(PAGE, encoding="utf-8")
sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
print(", ".join(f"{name}: {size / 1000:.1f} kB" for name, size in sizes.items()))
print("python -m http.server --bind 127.0.0.1 shows the page")

node = shutil.which("node")
if node is not None:
    records = json.dumps(new_rows[columns].to_dict("records"))
    program = f"""import {{ predict }} from "./wine.mjs";
    console.log(JSON.stringify(predict({records})));"""
    (folder / "check.mjs").write_text(program)
    done = subprocess.run([node, "check.mjs"], cwd=folder, capture_output=True, check=True)
    same = sum(a == b for a, b in zip(json.loads(done.stdout), predicted, strict=True))
    print(f"{same} of {len(predicted)} answers of the module are those of Python")

# What the page answers where two fields are changed, and the others are those of the middle wine.
x, y = (np.linspace(rows[name].min(), rows[name].max(), 120) for name in ("proline", "flavanoids"))
plane = pd.DataFrame(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
plane.columns = ["proline", "flavanoids"]
for name in ("alcohol", "color_intensity"):
    plane[name] = rows[name].median()
names = sorted(set(table["target"]))
answers = np.searchsorted(names, model.predict(plane[columns])).reshape(120, 120)

figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
axis.contourf(x, y, answers, levels=[-0.5, 0.5, 1.5, 2.5], colors=["C0", "C1", "C2"], alpha=0.25)
for number, name in enumerate(names):
    group = table[table["target"] == name]
    axis.plot(group["proline"], group["flavanoids"], "o", color=f"C{number}", label=name)
axis.set(xlabel="proline", ylabel="flavanoids", title="what the page answers")
axis.legend()
plt.show()
