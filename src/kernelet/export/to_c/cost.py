"""What an exported model costs where it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelet.export.to_c.pieces import Table


@dataclass(frozen=True)
class Cost:
    """Memory and work of one prediction, as a 32-bit processor has them.

    Attributes
    ----------
    flash_bytes : int
        Of the tables, which are constant and stay in flash, texts included. Code comes on top,
        and what it calls of math.h.
    ram_bytes : int
        Of stack at most, what is called of math.h included; the row and the results are the
        caller's. There is no other memory.
    arithmetic : int
        Additions, subtractions and multiplications.
    calls : int
        Of functions of math.h.
    """

    flash_bytes: int
    ram_bytes: int
    arithmetic: int
    calls: int

    @property
    def operations(self) -> str:
        """What there is to compute, for a person."""
        called = f", {self.calls} calls of math.h" if self.calls else ""
        return f"{self.arithmetic} additions and multiplications{called}"

    def lines(self) -> list[str]:
        """For the comment on top of the files."""
        return [
            # the code is that of a Cortex-M4, without math.h; `make test-cortex` measures it
            f"Flash: {self.flash_bytes} bytes of tables, and about 1 kB of code.",
            f"RAM: {self.ram_bytes} bytes of stack, and no other.",
            f"One prediction: {self.operations}.",
        ]


def flash_bytes(tables: Iterable[Table]) -> int:
    """Bytes of constant tables."""
    return sum(table.nbytes for table in tables)
