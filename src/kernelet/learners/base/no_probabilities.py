"""What classifiers that have scores only say when they are asked for probabilities."""

from __future__ import annotations

from typing import Any, NoReturn


class NoProbabilities:
    """In the place of ``predict_proba``: there is no such attribute, and the error gives advice.

    scikit-learn's `available_if` would raise the same type of error, but with words of its own.

    Parameters
    ----------
    advice : str
        What to do instead; ``{name}`` is the class of the model.
    """

    def __init__(self, advice: str) -> None:
        self.advice = advice

    def __get__(self, model: Any, kind: type) -> NoReturn:
        name = kind.__name__
        raise AttributeError(
            f"{name} has no predict_proba, since its scores are not probabilities; "
            + self.advice.format(name=name)
        )


ONE_SCORE_A_CLASS: Any = NoProbabilities(
    "kernelet.calibrate(model, X, y) adds them to the fitted model, on rows that it has not seen, "
    "and scikit-learn's CalibratedClassifierCV({name}()) fits and calibrates in folds."
)
CANNOT_BE_FITTED: Any = NoProbabilities(
    "kernelet.calibrate(model, X, y) adds them, on rows that the model has not seen."
)
