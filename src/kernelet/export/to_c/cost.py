"""What an exported model costs where it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelet.export.to_c.pieces import Table


@dataclass(frozen=True)
class Cost:
    """Memory and work of one prediction on a 32-bit processor.

    Attributes
    ----------
    flash_bytes : int
        Size of the constant tables, texts included, which stay in flash. The code and the
        functions of math.h that it calls come on top.
    ram_bytes : int
        Largest use of the stack, functions of math.h included. The row and the results belong to
        the caller. No other memory is used.
    arithmetic : int
        Number of additions, subtractions and multiplications.
    calls : int
        Number of calls of functions of math.h.
    common_bytes : int, default=0
        Size of tables that are the same for all models, where ``flash_bytes`` leaves them out.
    """

    flash_bytes: int
    ram_bytes: int
    arithmetic: int
    calls: int
    common_bytes: int = 0

    @property
    def operations(self) -> str:
        """The arithmetic and the calls in words."""
        called = f", {self.calls} calls of math.h" if self.calls else ""
        return f"{self.arithmetic} additions and multiplications{called}"

    def lines(self) -> list[str]:
        """Lines of the comment on top of the header."""
        common = f", {self.common_bytes} bytes of tables of powers" if self.common_bytes else ""
        return [
            # the code is that of a Cortex-M4, without math.h; `make test-cortex` measures it
            f"Flash: {self.flash_bytes} bytes of tables{common}, and about 1 kB of code.",
            f"RAM: {self.ram_bytes} bytes of stack, and no other.",
            f"One prediction: {self.operations}.",
        ]


def flash_bytes(tables: Iterable[Table]) -> int:
    """Total size of constant tables."""
    return sum(table.nbytes for table in tables)
