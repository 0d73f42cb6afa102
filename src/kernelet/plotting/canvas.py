"""matplotlib, imported when something is drawn, and the colours and marks of all pictures."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

from kernelet.machine.texts import visible

# Okabe and Ito's palette, whose colours people with any kind of colour vision can distinguish.
COLOURS = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # green
    "#CC79A7",  # purple
    "#D55E00",  # vermilion
    "#56B4E9",  # sky blue
    "#F0E442",  # yellow
    "#000000",  # black
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK = "#333333"
FAINT = "#888888"
CHOSEN = COLOURS[4]
_GRID = "#dddddd"


def colour(number: int) -> str:
    """The colour of the class or curve with this number."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """The mark of the class or curve with this number."""
    return MARKERS[number % len(MARKERS)]


def pale(name: str, share: float = 0.25) -> list[float]:
    """A colour mixed with white; marks of the same colour stand out on a quarter of it."""
    colors = importlib.import_module("matplotlib.colors")
    return [1.0 - share * (1.0 - part) for part in colors.to_rgb(name)]


def axes_for(display: object, ax: Any, figsize: tuple[float, float] = (6.0, 4.2)) -> Any:
    """The axes that are given, or those of a new figure.

    Parameters
    ----------
    display : object
        Named in the message if matplotlib is not installed.
    ax : matplotlib axes or None
    figsize : tuple, default=(6.0, 4.2)
        Inches of a new figure.
    """
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__} draws with matplotlib, which is not installed; "
            "install the extra: pip install 'kernelet[plot]'"
        ) from error
    if ax is not None:
        return ax
    _, new = pyplot.subplots(figsize=figsize, layout="constrained")
    return new


def as_written(texts: Iterable[Any]) -> None:
    """Show names and labels as they are: "$" begins no formula in them, and TeX is not used."""
    for text in texts:
        text.set_text(visible(text.get_text()))
        text.set_parse_math(False)
        text.set_usetex(False)


def plain(ax: Any) -> None:
    """Remove the upper and right side of the frame."""
    ax.spines[["top", "right"]].set_visible(False)


def with_grid(ax: Any, axis: str = "both") -> None:
    """A plain frame with faint lines behind what is drawn."""
    plain(ax)
    ax.grid(True, axis=axis, color=_GRID, linewidth=0.6)
    ax.set_axisbelow(True)


def legend_name(name: object) -> str:
    """A name as a legend shows it: matplotlib leaves out those that begin with "_"."""
    return f" {name}" if str(name).startswith("_") else f"{name}"


def add_legend(ax: Any, *entries: Any, **options: Any) -> None:
    """A legend without a frame; its names may come from a file, so they are shown as written."""
    legend = ax.legend(*entries, frameon=False, fontsize="small", **options)
    as_written(legend.get_texts())


def ticks_at(axis: Any, places: Sequence[float]) -> None:
    """Ticks of a logarithmic axis at these places, written as plain numbers."""
    _set_ticks(axis, "FixedLocator", list(places))


def plain_log_ticks(axis: Any, low: float, high: float) -> None:
    """Ticks of a logarithmic axis that read well for values from ``low`` to ``high``."""
    # within a decade powers of ten are too few; use the ticks of a linear axis
    if high < 10.0 * low:
        _set_ticks(axis, "MaxNLocator", 5)
    else:
        _set_ticks(axis, "LogLocator", subs=(1.0, 2.0, 5.0) if high < 100.0 * low else (1.0,))


def _set_ticks(axis: Any, locator: str, *arguments: Any, **options: Any) -> None:
    ticker = importlib.import_module("matplotlib.ticker")
    axis.set_major_locator(getattr(ticker, locator)(*arguments, **options))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: number_text(value)))
    axis.set_minor_locator(ticker.NullLocator())


def number_text(value: float) -> str:
    """A number with as many digits as a picture needs.

    Examples
    --------
    >>> [number_text(value) for value in (0.123456, 20.0, 1173.4, 2.5e6)]
    ['0.123', '20', '1173', '2.5 M']
    """
    if abs(value) < 1e3:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) < 1e6 else f"{value / 1e6:.3g} M"
