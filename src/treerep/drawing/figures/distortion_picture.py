"""Plot of tree distances against the distances in the data."""

from typing import TYPE_CHECKING

import numpy as np

from ..._core.checks import positive_number
from ..._core.extras import require
from ..._core.typing import MetricLike, RNGLike
from ...embedding.embedding import Embedding
from ...embedding.product import ProductEmbedding
from ...metric._matching import matched
from ...metric.as_metric import as_metric
from ...metric.base import Metric
from ...tree.tree import Tree
from .._arrays import FloatArray, IntArray
from ._figures import linear_axes, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Integer distances up to this number have one column each.
_MOST_COLUMNS = 60


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
    """Draw a histogram of pairs of points: x is the true distance, y the tree distance.

    Parameters
    ----------
    tree : Tree, Embedding or another Metric
    data : any input of `as_metric`
        The same points, matched by label if both have labels, otherwise by order.
    metric : str, optional
        The metric for points, as in `as_metric`.
    pairs : int
        If there are more pairs, this many are chosen at random.
    bins : int
        Cells in each direction. Integer distances have one cell each.
    rng : seed or numpy Generator
    ax : matplotlib Axes, optional
        Axes to draw on. By default a new figure is created.

    Returns
    -------
    Axes
        Darker cells contain more pairs, on a logarithmic scale. On the line, tree and data
        agree.

    Examples
    --------
    >>> from treerep.tree.tree import Tree
    >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0])
    >>> distortion_picture(tree, tree.distances()).get_xlabel()
    'distance in the data'
    """
    if not isinstance(tree, Metric):
        kind = type(tree).__name__
        raise TypeError(f"tree must be a tree, an embedding or another metric, got {kind}: fit a tree first")
    truth = as_metric(data, metric=metric)
    tree = matched(tree, truth, ("the tree", "the data"))
    if len(tree) < 2:
        raise ValueError("a single point has no distances: pass a tree of at least two points")
    i, j = _pairs(len(tree), positive_number(pairs, "pairs"), np.random.default_rng(rng))
    x = np.asarray(truth.pairs(i, j), np.float64)
    y = np.asarray(tree.pairs(i, j), np.float64)
    if truth.has_missing:
        measured = ~np.isnan(x)
        x = x[measured]
        y = y[measured]
    axes = new_axes(5.4, 4.6) if ax is None else linear_axes(ax)
    columns = _cell_limits(x, positive_number(bins, "bins"))
    rows = _cell_limits(y, bins)
    log = require("matplotlib.colors", "draw").LogNorm()
    *_, image = axes.hist2d(
        x,
        y,
        bins=[columns, rows],
        cmap="Blues",
        norm=log,
        rasterized=True,
    )
    axes.axline((0.0, 0.0), slope=1.0, color="#D55E00", linewidth=1.0)
    axes.set_xlim(columns[0], columns[-1])
    axes.set_ylim(rows[0], rows[-1])
    axes.set_xlabel("distance in the data")
    axes.set_ylabel(f"distance in the {_kind(tree)}")
    axes.spines[["top", "right"]].set_visible(False)
    bar = axes.figure.colorbar(image, cax=axes.inset_axes((1.03, 0.0, 0.03, 1.0)), label="pairs")
    bar.outline.set_visible(False)
    return axes


def _kind(metric: Metric) -> str:
    if isinstance(metric, Embedding | ProductEmbedding):
        return "embedding"
    return "tree" if isinstance(metric, Tree) else "model"


def _pairs(n: int, most: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    if n * (n - 1) // 2 <= most:
        first, second = np.triu_indices(n, 1)
        return first, second
    first = rng.integers(0, n, most)
    return first, (first + rng.integers(1, n, most)) % n  # never a pair of a point with itself


def _cell_limits(values: FloatArray, bins: int) -> FloatArray:
    """Return cell limits from 0 on, or around every integer if the values are integers."""
    top = float(values.max())
    if 0 < top <= _MOST_COLUMNS and np.array_equal(values, np.rint(values)):
        return np.arange(top + 2) - 0.5
    return np.linspace(0.0, top * 1.02 if top > 0 else 1.0, bins + 1)
