"""In which form machines are shipped, and how many vectors fit into bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelet.learners.direct.few_bits import round_and_solve
from kernelet.learners.direct.learn import LearnedVectors
from kernelet.machine import KernelMachine
from kernelet.machine.storage import storage, stored_bytes


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

    def machine(self, learned: LearnedVectors) -> KernelMachine:
        """What is shipped of a single search."""
        if self.bits is None:
            return learned.searches[0].best.machine
        return round_and_solve(learned, self.bits, drops_constant=self.drops_constant)[0]

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
    search: Callable[[int], LearnedVectors], budget: int, shipping: Shipping, most: int = 0
) -> LearnedVectors:
    """The search for this many vectors, or for fewer if its machine takes too many bytes.

    What is left of the bytes is spent on more vectors, up to ``most``.

    Raises
    ------
    ValueError
        If a single vector takes too many.
    """
    while True:
        learned = search(budget)
        machine = shipping.machine(learned)
        n_bytes, room = shipping.n_bytes(machine), shipping.room(machine)
        if n_bytes <= shipping.max_bytes:
            break
        if machine.n_vectors <= 1:
            raise ValueError(
                f"max_bytes={shipping.max_bytes:g} cannot be met: with one vector the machine "
                f"takes {n_bytes} bytes, the smallest number that can. Raise max_bytes, or try "
                "vector_bits=4, a smaller rank, or fewer features."
            )
        budget, most = int(max(1.0, min(room, machine.n_vectors - 1))), 0
    if min(room, most) > budget:
        larger = search(int(min(room, most)))
        if shipping.n_bytes(shipping.machine(larger)) <= shipping.max_bytes:
            return larger
    return learned
