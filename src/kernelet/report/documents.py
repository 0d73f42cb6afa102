"""The documents that the demo's page leads to, where they lie beside it."""

from __future__ import annotations

from html import escape
from pathlib import Path

# Title, and path in kernelet's folder, where `make demo` writes the page.
_DOCUMENTS = (
    ("Start here", "README.md"),
    ("Which method should I use?", "docs/choosing.md"),
    ("Choose the number of vectors", "docs/howto/budget.md"),
    ("Run a model on a web page", "docs/howto/browser.md"),
    ("Run a model on a microcontroller", "docs/howto/microcontroller.md"),
    ("All how-tos", "docs/howto/index.md"),
    ("The command line", "docs/reference/command_line.md"),
)
_SITE = "docs/_build/html"  # of `make docs`, which reads better than its sources


def document_list(folder: Path | None) -> str:
    """The items of a list in HTML: links where the documents are in the folder, else their paths.

    Parameters
    ----------
    folder : Path or None
        Where the page will be.
    """
    return "".join(f"<li>{_item(title, path, folder)}</li>" for title, path in _DOCUMENTS)


def _item(title: str, path: str, folder: Path | None) -> str:
    built = path.replace("docs/", f"{_SITE}/").replace(".md", ".html")
    for target in (built, path):
        if folder is not None and (folder / target).is_file():
            return f'<a href="{escape(target)}">{escape(title)}</a>'
    return f"{escape(title)}: <code>{escape(path)}</code>"
