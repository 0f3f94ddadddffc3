"""Curves of methods over the dimension or the scale, as in Figure 2 of the paper."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import FloatArray
from ._colors import MARKERS, PALETTE
from ._figures import flat_axes, new_axes
from ._text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL_SIZE = 9.0


def curves(
    x: ArrayLike,
    series: Mapping[str, ArrayLike],
    *,
    xlabel: str = "",
    ylabel: str = "",
    log_y: bool = False,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw one curve per method over a logarithmic x axis, labeled at its right end.

    Parameters
    ----------
    x : (k,) positive numbers
        Powers of two are shown as powers.
    series : mapping of names to (k,) numbers
        NaN means that the method has no value.
    xlabel, ylabel : str
    log_y : bool
        Whether the y axis is logarithmic as well.
    ax : matplotlib Axes, optional
        Axes to draw on. By default a new figure is created.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = curves([2, 4, 8], {"treerep": [0.3, 0.2, 0.1], "mst": [0.4, 0.4, 0.5]}, xlabel="dimension")
    >>> [text.get_text() for text in ax.texts]
    ['treerep', 'mst']
    """
    at = np.asarray(x, np.float64)
    positive = (at > 0) & (at < np.inf)
    if at.ndim != 1 or len(at) == 0 or not positive.all():
        raise ValueError("x must be a sequence of positive numbers, because its axis is logarithmic")
    lines = {str(name): _values(name, values, len(at)) for name, values in series.items()}
    axes = new_axes(5.4, 3.6) if ax is None else flat_axes(ax)
    for k, (name, values) in enumerate(lines.items()):
        style: dict[str, Any] = {
            "color": PALETTE[k % len(PALETTE)],
            "marker": MARKERS[k % len(MARKERS)],
        }
        axes.plot(at, values, linewidth=1.4, markersize=4, label=plain(name), **style)
    powers_of_two = bool((np.log2(at) % 1 == 0).all())
    axes.set_xscale("log", base=2 if powers_of_two else 10)
    if log_y:
        axes.set_yscale("log")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.spines[["top", "right"]].set_visible(False)
    _name_ends(axes, at, lines)
    return axes


def _values(name: object, values: ArrayLike, count: int) -> FloatArray:
    numbers = np.asarray(values, np.float64)
    if numbers.shape != (count,):
        raise ValueError(
            f"{name} has {numbers.shape} values for {count} values of x: pass one value for each x"
        )
    return numbers


def _name_ends(axes: "Axes", at: FloatArray, lines: Mapping[str, FloatArray]) -> None:
    """Write each name to the right of the axes, near the height of its last value."""
    ends = []
    for k, (name, values) in enumerate(lines.items()):
        drawn = np.isfinite(values)
        if axes.get_yscale() == "log":
            drawn &= values > 0
        known = np.flatnonzero(drawn)
        if len(known):
            last = known[-1]
            ends.append((name, PALETTE[k % len(PALETTE)], at[last], values[last]))
    if not ends:
        return
    axes.autoscale_view()
    pixels = axes.transData.transform([(x, y) for *_, x, y in ends])
    point = axes.figure.dpi / 72  # pixels
    heights = pixels[:, 1]
    places = spread_out(heights, 1.3 * _LABEL_SIZE * point)
    offsets = (places - heights) / point
    for (name, color, _, y), offset in zip(ends, offsets, strict=True):
        axes.annotate(
            plain(name),
            (1.0, y),
            (6.0, offset),
            axes.get_yaxis_transform(),
            "offset points",
            color=color,
            fontsize=_LABEL_SIZE,
            va="center",
            ha="left",
            annotation_clip=False,
            usetex=False,
        )


def spread_out(heights: Sequence[float] | FloatArray, least: float) -> FloatArray:
    """Move heights by least squares until neighbors are at least `least` apart.

    The order does not change.

    >>> spread_out([0.0, 10.0, 10.0], 4.0)
    array([ 0.,  8., 12.])
    """
    order = np.argsort(heights, kind="stable")
    # After subtracting `least` per rank, heights must not decrease, which is isotonic
    # regression. Adjacent pools (mean and count) are merged while they decrease.
    pools: list[tuple[float, int]] = []
    for rank, k in enumerate(order):
        pools.append((float(heights[k]) - least * rank, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            second, count_second = pools.pop()
            first, count_first = pools.pop()
            count = count_first + count_second
            pools.append(((count_first * first + count_second * second) / count, count))
    places = np.empty(len(order))
    level = [mean for mean, count in pools for _ in range(count)]
    places[order] = np.array(level) + least * np.arange(len(order))
    return places
