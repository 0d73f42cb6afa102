"""What a prediction costs."""

from __future__ import annotations

import time
from typing import Any

_ROWS = 1000
_SECONDS = 0.2  # of measuring


def microseconds_per_row(machine: Any) -> float:
    """On one thread, in batches; the least of some runs, as other work can only add to it.

    The rows are the machine's own vectors with noise: where there is no data, they stand for it.
    """
    import numpy as np
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(_ROWS, machine.n_features))
    if machine.n_vectors:
        rows += np.asarray(machine.vectors)[rng.integers(machine.n_vectors, size=_ROWS)]
    best = float("inf")
    with threadpool_limits(1):
        end = time.perf_counter() + _SECONDS
        while True:
            start = time.perf_counter()
            machine.decision_function(rows, n_threads=1)
            best = min(best, time.perf_counter() - start)
            if time.perf_counter() > end:
                return 1e6 * best / _ROWS


def costs_in_c(model: Any) -> dict[str, dict[str, Any]]:
    """Flash, RAM and operations of a prediction for every type of numbers, or why there are none.

    Examples
    --------
    >>> from kernelet import KernelMachine
    >>> from kernelet.kernels import Laplacian
    >>> costs = costs_in_c(KernelMachine(Laplacian(0.5), [[0.0], [2.0]], [1.0, -1.0]))
    >>> costs["float32"]
    {'flash_bytes': 20, 'ram_bytes': 136, 'arithmetic': 10, 'calls': 2}
    >>> costs["q15"]["refused"]
    'dtype="q15" is for Gaussian kernels, the model has Laplacian(gamma=0.5); use float32.'
    """
    import dataclasses

    from kernelet.export.to_c.exporter import DTYPES, c_cost

    costs: dict[str, dict[str, Any]] = {}
    for dtype in DTYPES:
        try:
            costs[dtype] = dataclasses.asdict(c_cost(model, dtype))
        except (TypeError, ValueError) as error:
            costs[dtype] = {"refused": str(error)}
    return costs


def kernel_text(specification: dict[str, Any]) -> str:
    """A kernel in words.

    Examples
    --------
    >>> kernel_text({"name": "rbf", "gamma": 0.125})
    'rbf, gamma = 0.125'
    >>> inner = {"name": "rbf", "gamma": 0.5}
    >>> kernel_text({"name": "scaled_features", "kernel": inner, "scales": [0.1, 2.0]})
    'rbf, gamma = 0.5, on 2 features scaled by 0.1 to 2'
    >>> kernel_text({"name": "scaled_features", "kernel": inner, "scales": [0.0, 2.0, 0.1]})
    'rbf, gamma = 0.5, on 2 of 3 features scaled by 0.1 to 2'
    >>> kernel_text({"name": "projected_features", "kernel": inner, "matrix": [[1.0, 0.5, 2.0]]})
    'rbf, gamma = 0.5, on 1 combination of 3 features'
    """
    if specification.get("name") == "scaled_features":
        scales = specification["scales"]
        inner = kernel_text(specification["kernel"])
        used = [scale for scale in scales if scale > 0.0] or scales
        some = "" if len(used) == len(scales) else f"{len(used)} of "
        least, most = f"{min(used):.3g}", f"{max(used):.3g}"
        return f"{inner}, on {some}{len(scales)} features scaled by {least} to {most}"
    if specification.get("name") == "projected_features":
        matrix = specification["matrix"]  # itself, or its shape, as a file's summary has it
        rank, d = (len(matrix), len(matrix[0])) if isinstance(matrix, list) else matrix["shape"]
        many = "combination" if rank == 1 else "combinations"
        return f"{kernel_text(specification['kernel'])}, on {rank} {many} of {d} features"
    parts = [
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in specification.items()
        if name != "name" and not isinstance(value, dict | list)
    ]
    return ", ".join([str(specification.get("name")), *parts])
