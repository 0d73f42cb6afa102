"""A package for npm, imported by its name from another folder, as node finds it there."""

import json
import shutil
import subprocess

import pytest

import kernelet
from hostile_texts import hostile, named, of_table
from kernelet.cli import main
from kernelet.export import javascript_package
from run_node import need_node

TABLE = {
    "length": [1.5, 2.5, 3.0, 2.0, 8.5, 7.0, 9.0, 6.5],
    "colour": ["red", "blue", "", "red", "blue", "grey", "grey", "blue"],
    "fruit": ["fig", "fig", "fig", "fig", "plum", "plum", "plum", "plum"],
}


def installed(package, project, name):
    """What `npm install` does of a folder without dependencies: the files that it lists."""
    manifest = json.loads((package / "package.json").read_text())
    target = project / "node_modules" / name
    target.mkdir(parents=True)
    for file in ["package.json", *manifest["files"]]:
        shutil.copy(package / file, target / file)


def run(project, code):
    need_node()
    (project / "app.mjs").write_text(code)
    done = subprocess.run(["node", "app.mjs"], cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("name", ["fruit", "@orchard/fruit_2.0"])
def test_it_is_imported_by_its_name(name, tmp_path):
    model = kernelet.TableModel.fit(TABLE, "fruit", kernelet.ReducedSVC(4, random_state=0))
    model.save(tmp_path / "model.kernelet")
    words = ["export", str(tmp_path / "model.kernelet"), "--to", "javascript", "--package", "-q"]
    assert main([*words, "-o", str(tmp_path / "made"), "--name", name]) == 0
    project = tmp_path / "project"
    installed(tmp_path / "made", project, name)
    printed = run(
        project,
        f'import {{ predict, classes }} from "{name}";\n'
        f'import manifest from "{name}/package.json" with {{ type: "json" }};\n'
        'console.log(predict({ length: 8, colour: "grey" }), classes.join(), manifest.name);',
    )
    assert printed == f"plum fig,plum {name}\n"


def test_the_code_of_its_readme_runs(tmp_path):
    texts = hostile(60, seed=3)
    models = {
        "named": named(texts[:15], ["a", "b"])[0],
        "plain": kernelet.KernelMachine(kernelet.kernels.Linear(), [[1.0, 2.0]], [1.0]),
        "of-table": of_table(texts[20:30], {texts[30]: texts[31:60]}, ["u", "v"]),
    }
    for name, model in models.items():
        javascript_package(model, tmp_path / name)
        installed(tmp_path / name, tmp_path, name)
        readme = (tmp_path / name / "README.md").read_text()
        head, code, tail = readme.split("```")  # no name ends the block, none is outside of it
        assert code.startswith("javascript\n")
        assert head.startswith(f"# {name}\n\nA kernel machine: ") and "`metadata`" in tail
        assert len(run(tmp_path, code.removeprefix("javascript\n")).splitlines()) == 2
