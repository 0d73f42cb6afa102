"""Models as packages for npm: the JavaScript module, its types, and what npm asks for."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from kernelet._hooks import hooks
from kernelet.export.documents import script_json
from kernelet.export.javascript import document_with_warnings, module_text, summary
from kernelet.export.javascript_types import declarations
from kernelet.persistence.atomic import write_atomically

# npm's rules for new packages: no more than 214 characters that are the same in an address, no
# capitals, and no point or underscore in front; a scope and a slash may come first.
_PART = r"[a-z0-9][a-z0-9._-]*"
_NAME = re.compile(rf"(@{_PART}/)?{_PART}")
_LONGEST_NAME = 214
# Semantic versions, as in 1.0.0 or 2.1.0-beta.1
_WHOLE = r"(0|[1-9]\d{0,8})"
_VERSION = re.compile(rf"{_WHOLE}\.{_WHOLE}\.{_WHOLE}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?", re.ASCII)
# What `import` would not find in a package: npm's own folder, and the modules of node.
_NODE = (
    "assert async_hooks buffer child_process cluster console constants crypto dgram "
    "diagnostics_channel dns domain events fs http http2 https inspector module net os path "
    "perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls "
    "trace_events tty url util v8 vm wasi worker_threads zlib"
)
_TAKEN = {"node_modules", "favicon.ico", *_NODE.split()}
FILES = ("index.mjs", "index.d.ts", "README.md", "package.json")

_README = """\
# {name}

A kernel machine: {summary}. It has no dependencies and runs in browsers and in Node.js.

```javascript
import {{ predict }} from "{name}";

const row = {row};
console.log(predict(row)); // one answer
console.log(predict([row, row])); // an answer for each row
```

{also}

Made by kernelet {version}. Before you publish it, add a licence and the address of your repository
to `package.json`.
"""
_MOST_CELLS = 20  # of the example row


def javascript_package(
    model: Any,
    folder: str | os.PathLike[str],
    *,
    name: str | None = None,
    version: str = "1.0.0",
    dtype: str | None = None,
) -> None:
    """Write a model as a package for npm: a folder that can be installed and published.

    It holds ``index.mjs``, which is what `javascript` writes, ``index.d.ts`` with the types,
    ``package.json`` and ``README.md``. Afterwards ``npm install ./folder`` makes
    ``import { predict } from "name"`` work.

    Parameters
    ----------
    model : object
        As in `javascript`.
    folder : path-like
        Made if it does not exist; the four files in it are replaced.
    name : str or None, default=None
        Of the package, by the rules of npm; None takes that of the folder.
    version : str, default="1.0.0"
    dtype : {"float32", "float64"} or None, default=None
        As in `javascript`.

    Raises
    ------
    TypeError, ValueError
        As `javascript` does, or if the name or the version is not one for npm.
    OSError
        If something cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> import kernelet
    >>> from kernelet.kernels import Gaussian
    >>> machine = kernelet.KernelMachine(Gaussian(0.5), [[0.0], [2.0]], [1.0, -1.0], 0.25)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kernelet.export.javascript_package(machine, folder, name="@me/my-model")
    ...     sorted(os.listdir(folder))
    ['README.md', 'index.d.ts', 'index.mjs', 'package.json']
    """
    target = Path(folder)
    name = checked_package_name(target.resolve().name if name is None else name)
    if not _VERSION.fullmatch(str(version)):
        raise ValueError(f"version must be a semantic version such as 1.0.0, got {version!r}.")
    document = document_with_warnings(model, dtype)
    manifest = json.dumps(_manifest(name, version, document), indent=2) + "\n"
    texts = (module_text(document), declarations(document), _readme(name, document), manifest)
    target.mkdir(exist_ok=True)
    for file, text in zip(FILES, texts, strict=True):
        write_atomically(target / file, text.encode("utf-8"))


def checked_package_name(name: str) -> str:
    """The name, if npm takes it for a new package.

    Examples
    --------
    >>> checked_package_name("@me/digits-20")
    '@me/digits-20'
    >>> checked_package_name("My model")
    Traceback (most recent call last):
        ...
    ValueError: name must be one that npm takes for a package, got 'My model': lower-case letters, \
digits, hyphens, points and underscores, such as my-model or @me/my-model.
    """
    given: object = name
    if not isinstance(given, str) or not _NAME.fullmatch(given) or len(given) > _LONGEST_NAME:
        raise ValueError(
            f"name must be one that npm takes for a package, got {name!r}: lower-case letters, "
            "digits, hyphens, points and underscores, such as my-model or @me/my-model."
        )
    if name in _TAKEN:
        raise ValueError(f"name must not be {name!r}, which node takes for itself; choose another.")
    return name


def _manifest(name: str, version: str, document: dict[str, Any]) -> dict[str, Any]:
    types, module = "./index.d.ts", "./index.mjs"
    return {
        "name": name,
        "version": version,
        "description": f"A kernel machine: {summary(document)}",
        "type": "module",
        "main": module,
        "types": types,
        "exports": {
            ".": {"types": types, "default": module},
            "./package.json": "./package.json",
        },
        "files": ["index.mjs", "index.d.ts"],
        "sideEffects": False,
        # the first with all that the module uses
        "engines": {"node": ">=16.9"},
    }


def _readme(name: str, document: dict[str, Any]) -> str:
    also = ["`decisionFunction` gives the scores."]
    if document["calibration"] is not None:
        also.append("`predictProba` gives probabilities.")
    if document["classes"] is not None:
        also.append("`classes` holds the labels.")
    also.append("`metadata` describes the model.")
    return _README.format(
        name=name,
        summary=summary(document),
        version=hooks.version,
        row=_example(document),
        also=" ".join(also),
    )


def _example(document: dict[str, Any]) -> str:
    """A row in JavaScript, whose names are strings that end no block of Markdown."""
    columns, names = document["columns"], document["featureNames"]
    if names is None or len(names) > _MOST_CELLS:
        return f"new Array({document['nFeatures'] if columns is None else len(columns)}).fill(0)"
    cells = dict.fromkeys(names, 0.0) if columns is None else {c["name"]: _cell(c) for c in columns}
    lines = [f"  {script_json(name)}: {script_json(cell)}," for name, cell in cells.items()]
    return "\n".join(["{", *lines, "}"]).replace("`", r"\u0060")


def _cell(column: dict[str, Any]) -> float | str | None:
    """A value of the column that the model knows: what stands for a missing number, or a text."""
    if column["kind"] == "number":
        return float(f"{column['fill']:.6g}")
    return column["categories"][0] if column["categories"] else None
