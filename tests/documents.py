"""The code in our documents, as modules that tests can run and look into."""

import contextlib
import io
import re
import sys
import types
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the document it starts on."""

    language: str
    code: str
    line: int


def read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str) -> list[Block]:
    text = read(document)
    return [
        Block(match["language"], match["code"], text.count("\n", 0, match.start("code")) + 1)
        for match in BLOCK.finditer(text)
    ]


def printed_rows(document: str) -> dict[str, list[str]]:
    """First cell -> cells, for the rows of all printed tables that a document shows."""
    lines = [line for b in blocks(document) if b.language == "text" for line in b.code.splitlines()]
    rows = [re.split(r" {2,}", line.strip()) for line in lines]
    return {row[0]: row for row in rows}


def run_blocks(document: str) -> tuple[types.ModuleType, list[tuple[str, str]]]:
    """Execute the python blocks of a document, from its first to its last, as one module.

    Returns the module, and for each python block that a text block follows the pair (what it
    printed, what the document shows).
    """
    module = types.ModuleType(re.sub(r"\W", "_", document).lower())
    sys.modules[module.__name__] = module  # dataclasses and pickle look their module up
    shown = []
    found = blocks(document)
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block.language != "python":
            continue
        # Blank lines in front, so that a traceback names the line of the document.
        code = compile("\n" * (block.line - 1) + block.code, document, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, module.__dict__)
        if following is not None and following.language == "text":
            shown.append((printed.getvalue(), following.code))
    return module, shown
