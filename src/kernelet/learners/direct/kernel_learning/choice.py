"""What the parameter ``learn_kernel`` asks to be learned of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.radial import RadialKernel
from kernelet.kernels.width import require_width
from kernelet.learners.base.parameters import count

# With at most 20 features and at least 40 rows for each, a projection is worth learning: on the
# training rows of 30 sets, by validation, it is better than scales there, and worse on the others.
_FEW_FEATURES = 20
_ROWS_PER_FEATURE = 40


@dataclass(frozen=True, eq=False)
class KernelTask:
    """The kernel given, and what is learned of it.

    Attributes
    ----------
    kernel : Kernel
    learn : {"features", "width", "projection", "nothing"}
    rank : int or None
        Of a projection.
    vectors_alone : bool
        Whether steps are those of the vectors alone where nothing is learned of the kernel, as in
        the paper's search for Fisher directions.
    """

    kernel: Kernel
    learn: str = "nothing"
    rank: int | None = None
    vectors_alone: bool = False


def learned_part(
    estimator: Any,
    kernel: Kernel,
    shape: tuple[int, int],
    n_searches: int = 1,
    is_smooth: bool = True,
    learns_features: bool = True,
) -> str:
    """What to learn: "features", "width", "projection" or "nothing".

    Parameters
    ----------
    estimator : estimator with ``learn_kernel``; without, nothing is learned
    kernel : Kernel
    shape : tuple of int
        Rows and features.
    n_searches : int, default=1
        Sets of vectors; all would have to share the kernel.
    is_smooth : bool, default=True
        Whether the loss is, or has a twin that is.
    learns_features : bool, default=True
        Whether more than one width can be learned.
    """
    asked = getattr(estimator, "learn_kernel", False)
    known: dict[Any, str] = {True: "width", False: "nothing"}
    if learns_features:
        known |= {"auto": "auto", "features": "features", "projection": "projection"}
    if not isinstance(asked, str | bool | np.bool_) or asked not in known:
        raise ValueError(
            f"learn_kernel must be one of {', '.join(map(repr, known))}; got {asked!r}."
        )
    learn = known[asked]
    if learn == "nothing":
        return learn
    if learn == "auto":
        if not (isinstance(kernel, RadialKernel) and n_searches == 1 and is_smooth):
            return "nothing"
        n, d = shape
        is_wide = d > _FEW_FEATURES or n < _ROWS_PER_FEATURE * d
        return "features" if is_wide else "projection"
    text = f"learn_kernel={asked!r}"
    require_width(kernel, f"{type(estimator).__name__} with {text}")
    if n_searches > 1:
        raise ValueError(f'{text} learns one kernel for all classes; give vectors="shared".')
    if learn == "projection" and not is_smooth:
        raise ValueError(f"{text} needs a loss that is smooth; give learn_kernel=True.")
    return learn


def kernel_task(
    estimator: Any, kernel: Kernel, shape: tuple[int, int], n_searches: int = 1, **loss: bool
) -> KernelTask:
    """What an estimator's ``learn_kernel`` and ``rank`` ask for; see `learned_part`."""
    rank = getattr(estimator, "rank", None)
    return KernelTask(
        kernel,
        learned_part(estimator, kernel, shape, n_searches, **loss),
        None if rank is None else count("rank", rank),
    )
