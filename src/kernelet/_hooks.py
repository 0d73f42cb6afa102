"""What lower layers may ask of higher ones without importing them.

The package puts the answers here when it is imported (`kernelet/__init__.py`, which runs before any
module in it): a machine can save itself though files are a layer above it, and a file of an
estimator can be read though files know of no estimators. Nobody below knows who answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn


@dataclass
class Hooks:
    """The answers.

    Attributes
    ----------
    version : str
        Of the package.
    save : callable
        Writes a model to a path.
    register_learners : callable
        Registers every kind of estimator with `kernelet.persistence`, which then can read it.
    savable : callable
        A model of another library as one that files can hold.
    """

    version: str
    save: Callable[[object, str | os.PathLike[str]], None]
    register_learners: Callable[[], object]
    savable: Callable[[object], object]


def _not_installed(*_: object) -> NoReturn:
    raise RuntimeError("kernelet/__init__.py has not run")


hooks = Hooks("", _not_installed, _not_installed, _not_installed)
