"""Look at a built site as a browser would: links lead somewhere, nothing comes from the network.

Run `python docs/check_site.py docs/_build/html`; `make docs` does.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself; a link that a person may follow is another thing.
FETCHED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
}
# Relations of <link>s that describe a page and are not loaded.
DESCRIPTIVE = {"canonical", "next", "prev", "index", "search", "author", "help", "top", "up"}


class Page(HTMLParser):
    """The anchors of a page, and what it points to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.anchors |= {attributes[key] for key in ("id", "name") if key in attributes}
        is_descriptive = tag == "link" and set(attributes.get("rel", "").split()) & DESCRIPTIVE
        for name, value in attributes.items():
            if (tag, name) in FETCHED and not is_descriptive:
                self.fetched.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


def problems(folder: Path) -> list[str]:
    """One sentence for each link that leads nowhere and each file that would be fetched."""
    pages = {
        path.resolve(): Page(path)
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.relative_to(folder).parts  # templates of the theme lie there
    }
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for url in (*page.links, *page.fetched):
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                if url in page.fetched and parts.scheme != "data":
                    found.append(f"{name}: fetches {url}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{name}: no such file {url}")
                continue
            place = unquote(parts.fragment)
            if place and target in pages and place not in pages[target].anchors:
                found.append(f"{name}: no such place {url}")
    if not pages:
        found.append(f"{folder}: no pages")
    return found


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    print("\n".join(wrong) if wrong else "all links lead somewhere, nothing is fetched")
    sys.exit(bool(wrong))
