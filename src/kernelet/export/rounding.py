"""How far floating point may be from the model: a bound that is computed, and stated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelet.machine import KernelMachine


def rounding_units(machine: KernelMachine) -> int:
    r"""The number c of unit round-offs u in the bound of a score f(x).

    .. math:: c u \, (1 + \gamma (|x|^2 + \max_j |z_j|^2)) (\sum_j |\beta_j| k_j + |b|)

    Rounding a vector, and a sum over d squares of differences, move the squared distance by no
    more than (2 d + 8) u (\|x\|^2 + \|z\|^2), and a sum of m products is exact to m + 6 units.
    A power or a product of kernels feels the first once for each factor. gamma is the sum of those
    of all parts; k_j is made of absolute values where it is made of products x'z.

    Parameters
    ----------
    machine : KernelMachine

    Returns
    -------
    int

    Examples
    --------
    >>> from kernelet.kernels import Gaussian
    >>> rounding_units(KernelMachine(Gaussian(0.5), [[0.0, 1.0]], [1.0]))
    19
    """
    factors = _factors(machine.kernel.specification())
    return machine.n_vectors + 6 + (2 * machine.n_features + 8) * factors


def _factors(part: Mapping[str, Any]) -> int:
    if part["name"] == "sum":
        return max(_factors(term) for term in part["terms"])
    if part["name"] == "product":
        return sum(_factors(factor) for factor in part["factors"])
    if part["name"] == "scaled":
        return _factors(part["kernel"])
    return max(1, int(part.get("degree", 1)))
