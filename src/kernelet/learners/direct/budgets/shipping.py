"""In which form machines are shipped, and how many vectors fit into bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernelet.learners.direct.few_bits import Rounded, round_and_solve
from kernelet.learners.direct.learn import LearnedVectors
from kernelet.machine import KernelMachine
from kernelet.machine.storage import storage, stored_bytes


@dataclass(frozen=True, eq=False)
class Shipped:
    """A search, and its machine in few bits if that is asked for."""

    learned: LearnedVectors
    rounded: Rounded | None = None

    @property
    def machine(self) -> KernelMachine:
        """What leaves."""
        return (
            self.learned.searches[0].best.machine if self.rounded is None else self.rounded.machine
        )

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search, or the rounding."""
        return self.learned.interrupted or (self.rounded is not None and self.rounded.interrupted)

    def interrupted_later(self) -> Shipped:
        """The same, where Ctrl-C came during a search that is given up."""
        ends = [end.interrupted_later() for end in self.learned.searches]
        learned = replace(self.learned, searches=ends, interrupted=True)
        rounded = None if self.rounded is None else replace(self.rounded, interrupted=True)
        return Shipped(learned, rounded)


@dataclass(frozen=True)
class Shipping:
    """In which form machines leave, and how many bytes they may take.

    Attributes
    ----------
    bits : int or None
        Those of the vectors; None leaves machines as they are.
    drops_constant : bool
        As in `round_and_solve`.
    target : str
        As in `stored_bytes`.
    n_labels : int
    max_bytes : float
    """

    bits: int | None
    drops_constant: bool
    target: str
    n_labels: int
    max_bytes: float = np.inf

    def ship(self, learned: LearnedVectors) -> Shipped:
        """What is shipped of a single search."""
        if self.bits is None:
            return Shipped(learned)
        drops = self.drops_constant
        return Shipped(learned, round_and_solve(learned, self.bits, drops_constant=drops))

    def n_bytes(self, machine: KernelMachine) -> int:
        """Bytes of its constants."""
        return stored_bytes(machine, self.target, n_labels=self.n_labels)

    def room(self, machine: KernelMachine) -> float:
        """How many vectors would fit, if each takes what those of the machine take."""
        parts = storage(machine, n_labels=self.n_labels)
        of_vectors = parts.vectors + parts.lengths + parts.coefficients
        each = max(of_vectors, 1) / max(machine.n_vectors, 1)
        return float(np.floor((self.max_bytes - (parts.total - of_vectors)) / each))


def within_limit(
    make: Callable[[int], Shipped], budget: int, shipping: Shipping, most: int = 0
) -> Shipped:
    """What is made with this many vectors, or with fewer if the machine takes too many bytes.

    What is left of the bytes is spent on more vectors, up to ``most``.

    Raises
    ------
    ValueError
        If a single vector takes too many.
    """
    while True:
        made = make(budget)
        n_bytes, room = shipping.n_bytes(made.machine), shipping.room(made.machine)
        if n_bytes <= shipping.max_bytes:
            break
        n_vectors = made.machine.n_vectors
        if n_vectors <= 1:
            raise ValueError(
                f"max_bytes={shipping.max_bytes:g} cannot be met: with one vector the machine "
                f"takes {n_bytes} bytes, the smallest number that can. Raise max_bytes, or try "
                "vector_bits=4, a smaller rank, or fewer features."
            )
        budget, most = int(max(1.0, min(room, n_vectors - 1))), 0
    if min(room, most) <= budget or made.interrupted:
        return made
    larger = make(int(min(room, most)))
    if larger.interrupted:
        return made.interrupted_later()
    return larger if shipping.n_bytes(larger.machine) <= shipping.max_bytes else made
