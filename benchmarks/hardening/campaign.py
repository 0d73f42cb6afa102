"""What a campaign is: numbered cases, each of which has one outcome."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

# Each of these modules beside this one has a `CAMPAIGN`.
NAMES = (
    "fits",
    "model_files",
    "json_files",
    "csv_files",
    "libsvm_files",
    "npz_files",
    "hostile_names",
    "interrupts",
    "kills",
    "memory",
    "threads",
    "dask_kills",
)


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes
    ----------
    group : str
        What was tried: an estimator, a reader, a way of export.
    result : str
        What came of it, in the few words that are counted: "a model", "an error".
    is_defect : bool, default=False
    detail : str, default=""
        Of a defect: what a developer has to know.
    """

    group: str
    result: str
    is_defect: bool = False
    detail: str = ""


@dataclass(frozen=True)
class Campaign:
    """Cases 0, 1, 2, ...; everything about a case follows from its number.

    Attributes
    ----------
    title : str
        One line about what is tried.
    case : callable
        ``case(number)`` returns an `Outcome`. An error that it raises is a defect.
    group_of : callable
        ``group_of(number)`` returns the group of a case that never ends, or ends its process.
    n : int
        How many cases a full run has.
    seconds : float
        A case without an answer after this time is a defect.
    batch : int
        Cases that a process is given at once; more than one where they are shorter than its answer
        takes on a busy machine.
    """

    title: str
    case: Callable[[int], Outcome]
    group_of: Callable[[int], str]
    n: int
    seconds: float = 60.0
    batch: int = 1


def get(name: str) -> Campaign:
    """Return a campaign by its name, or by that of any module that has one."""
    module = f"{__package__}.{name}" if name in NAMES else name
    campaign: Campaign = importlib.import_module(module).CAMPAIGN
    return campaign
