"""What a model takes as C on a small processor."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kernelet.cli.output import size
from kernelet.export.to_c.exporter import DTYPES, c_cost


def costs_in_c(model: Any) -> dict[str, dict[str, Any]]:
    """Flash, RAM and operations of a prediction for every type of numbers, or why there are none.

    Examples
    --------
    >>> from kernelet import KernelMachine
    >>> from kernelet.kernels import Laplacian
    >>> costs = costs_in_c(KernelMachine(Laplacian(0.5), [[0.0], [2.0]], [1.0, -1.0]))
    >>> costs["float32"]
    {'flash_bytes': 20, 'ram_bytes': 136, 'arithmetic': 10, 'calls': 2, 'common_bytes': 0}
    >>> costs["q15"]["refused"]
    'dtype="q15" is for Gaussian kernels, the model has Laplacian(gamma=0.5); use float32.'
    """
    costs: dict[str, dict[str, Any]] = {}
    for dtype in DTYPES:
        try:
            costs[dtype] = asdict(c_cost(model, dtype))
        except (TypeError, ValueError) as error:
            costs[dtype] = {"refused": str(error)}
    return costs


def memory_text(costs: dict[str, Any]) -> str:
    """The flash and RAM of one type.

    Examples
    --------
    >>> memory_text({"flash_bytes": 20, "ram_bytes": 136})
    '20 bytes of flash, 136 bytes of RAM'
    """
    return f"{size(costs['flash_bytes'])} of flash, {size(costs['ram_bytes'])} of RAM"


def own_dtype(machine: Any) -> str:
    """The type in which `kernelet.machine.stored_bytes` counts a machine: "q7" if in few bits."""
    from kernelet.kernels import Gaussian

    compact = machine.compact
    return "q7" if compact is not None and isinstance(compact.grid.kernel, Gaussian) else "float32"
