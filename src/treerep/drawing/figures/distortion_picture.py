"""How well a tree keeps distances, at a glance: its distances against the true ones."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import positive_number
from ..._core.extras import require
from ..._core.typing import MetricLike, RNGLike
from ...embedding.embedding import Embedding
from ...metric._matching import matched
from ...metric.as_metric import as_metric
from ...metric.base import Metric
from ...tree.tree import Tree
from ._figures import linear_axes, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Whole distances up to this one have a column each.
_MOST_WHOLE = 60


def distortion_picture(
    tree: Metric,
    data: MetricLike,
    *,
    metric: str | None = None,
    pairs: int = 1_000_000,
    bins: int = 80,
    rng: RNGLike = 0,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a two-dimensional histogram of pairs of points: true distance to the right, that of the tree upwards.

    Parameters
    ----------
    tree : Tree, Embedding or another Metric
    data : anything `as_metric` takes, the same points
        Matched by label if both have labels, otherwise by position.
    metric : str, optional
        How to measure points, as in `as_metric`.
    pairs : int
        Where there are more pairs than that, so many are drawn at random.
    bins : int
        Cells in each direction; whole distances have cells of their own.
    rng : seed or numpy Generator
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Darker cells have more pairs, on a logarithmic scale. On the line tree and data agree.

    Examples
    --------
    >>> from treerep.tree.tree import Tree
    >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0])
    >>> distortion_picture(tree, tree.distances()).get_xlabel()
    'distance in the data'
    """
    if not isinstance(tree, Metric):
        kind = type(tree).__name__
        raise TypeError(
            f"the first of two is a tree, an embedding or another metric, not {kind}: fit one first"
        )
    truth = as_metric(data, metric=metric)
    tree = matched(tree, truth, ("the tree", "the data"))
    if len(tree) < 2:
        raise ValueError("one point has no distances: give a tree of at least two points")
    i, j = _pairs(len(tree), positive_number(pairs, "pairs"), np.random.default_rng(rng))
    given, found = (np.asarray(space.pairs(i, j), np.float64) for space in (truth, tree))
    axes = new_axes(5.4, 4.6) if ax is None else linear_axes(ax)
    cells = _edges(given, positive_number(bins, "bins")), _edges(found, bins)
    log = require("matplotlib.colors", "draw").LogNorm()
    *_, image = axes.hist2d(
        given, found, bins=list(cells), cmap="Blues", norm=log, rasterized=True
    )
    axes.axline((0.0, 0.0), slope=1.0, color="#D55E00", linewidth=1.0)
    axes.set(xlim=(cells[0][0], cells[0][-1]), ylim=(cells[1][0], cells[1][-1]))
    axes.set(xlabel="distance in the data", ylabel=f"distance in the {_kind(tree)}")
    axes.spines[["top", "right"]].set_visible(False)
    bar = axes.figure.colorbar(
        image, cax=axes.inset_axes((1.03, 0.0, 0.03, 1.0)), label="pairs"
    )
    bar.outline.set_visible(False)
    return axes


def _kind(metric: Metric) -> str:
    return (
        "embedding"
        if isinstance(metric, Embedding)
        else "tree"
        if isinstance(metric, Tree)
        else "model"
    )


def _pairs(
    n: int, most: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if n * (n - 1) // 2 <= most:
        first, second = np.triu_indices(n, 1)
        return first, second
    first = rng.integers(0, n, most)
    return first, (first + rng.integers(1, n, most)) % n  # never a point with itself


def _edges(values: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Limits of the cells, from 0 on, or around every whole number where all values are such, and not too large."""
    top = float(values.max())
    if 0 < top <= _MOST_WHOLE and np.array_equal(values, np.rint(values)):
        return np.arange(top + 2) - 0.5
    return np.linspace(0.0, top * 1.02 if top > 0 else 1.0, bins + 1)
