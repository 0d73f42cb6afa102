"""What the parameter ``learn_kernel`` asks to be learned of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from kernelet.kernels import Kernel
from kernelet.kernels.radial import RadialKernel
from kernelet.kernels.width import require_width
from kernelet.learners.base.parameters import count
from kernelet.learners.direct.kernel_learning.input_stage import InputStage, StandardRows
from kernelet.learners.direct.kernel_learning.projection_stage import DEFAULT_RANK, ProjectionStage
from kernelet.learners.direct.kernel_learning.scales_stage import (
    CommonScale,
    FeatureScales,
    FixedScales,
)

# With at most 20 features and at least 40 rows for each, a projection is worth learning: on the
# training rows of 30 sets, by validation, it is better than scales there, and worse on the others.
_FEW_FEATURES = 20
_ROWS_PER_FEATURE = 40


class LearnedPart(StrEnum):
    """What is learned of a kernel."""

    NOTHING = "nothing"
    WIDTH = "width"
    FEATURES = "features"
    PROJECTION = "projection"

    @property
    def is_nothing(self) -> bool:
        """Whether the kernel stays as it is given."""
        return self is LearnedPart.NOTHING

    @property
    def has_scale_per_feature(self) -> bool:
        """Whether features can be left out, by a scale of zero."""
        return self is LearnedPart.FEATURES

    def stage(self, rows: StandardRows, kernel: RadialKernel, rank: int | None) -> InputStage:
        """The parameters of the kernel in a search; ``rank`` is that of a projection."""
        if self is LearnedPart.PROJECTION:
            return ProjectionStage(rows, kernel, min(rank or DEFAULT_RANK, rows.centre.size))
        return _SCALES[self](rows, kernel)


_SCALES: dict[LearnedPart, Callable[[StandardRows, RadialKernel], InputStage]] = {
    LearnedPart.NOTHING: FixedScales,
    LearnedPart.WIDTH: CommonScale,
    LearnedPart.FEATURES: FeatureScales,
}


@dataclass(frozen=True, eq=False)
class KernelTask:
    """The kernel given, and what is learned of it.

    Attributes
    ----------
    kernel : Kernel
    learn : LearnedPart
    rank : int or None
        Of a projection.
    vectors_alone : bool
        Whether steps are those of the vectors alone where nothing is learned of the kernel, as in
        the paper's search for Fisher directions.
    """

    kernel: Kernel
    learn: LearnedPart = LearnedPart.NOTHING
    rank: int | None = None
    vectors_alone: bool = False

    @property
    def text(self) -> str:
        """What is learned, for a line of text."""
        return self.learn.value + ("" if self.rank is None else f" of rank {self.rank}")


def kernel_task(
    estimator: object,
    kernel: Kernel,
    shape: tuple[int, int],
    n_searches: int = 1,
    is_smooth: bool = True,
    learns_features: bool = True,
) -> KernelTask:
    """What the parameters ``learn_kernel`` and ``rank`` of an estimator ask for.

    Parameters
    ----------
    estimator : estimator
        Without ``learn_kernel`` nothing is learned.
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
    known: dict[Any, LearnedPart | None] = {True: LearnedPart.WIDTH, False: LearnedPart.NOTHING}
    if learns_features:
        known |= {
            "auto": None,
            "features": LearnedPart.FEATURES,
            "projection": LearnedPart.PROJECTION,
        }
    if not isinstance(asked, str | bool | np.bool_) or asked not in known:
        raise ValueError(
            f"learn_kernel must be one of {', '.join(map(repr, known))}; got {asked!r}."
        )
    part = known[asked]
    text = f"learn_kernel={asked!r}"
    if part is None:
        can_learn = isinstance(kernel, RadialKernel) and n_searches == 1 and is_smooth
        part = _worth_learning(*shape) if can_learn else LearnedPart.NOTHING
    elif not part.is_nothing:
        require_width(kernel, f"{type(estimator).__name__} with {text}")
        if n_searches > 1:
            raise ValueError(f'{text} learns one kernel for all classes; give vectors="shared".')
        if part is LearnedPart.PROJECTION and not is_smooth:
            raise ValueError(f"{text} needs a loss that is smooth; give learn_kernel=True.")
    rank = getattr(estimator, "rank", None)
    return KernelTask(kernel, part, None if rank is None else count("rank", rank))


def _worth_learning(n_rows: int, n_features: int) -> LearnedPart:
    """What ``learn_kernel="auto"`` learns of a radial kernel."""
    is_wide = n_features > _FEW_FEATURES or n_rows < _ROWS_PER_FEATURE * n_features
    return LearnedPart.FEATURES if is_wide else LearnedPart.PROJECTION
