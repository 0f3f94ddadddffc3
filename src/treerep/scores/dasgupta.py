"""Dasgupta's cost of a tree as a hierarchical clustering of a graph or of similarities."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.checks import check_flag
from .._core.parallel import ThreadRunner
from .._core.progress import progress_bar
from .._core.typing import DataFrame, RNGLike
from ..metric._labels import is_frame
from ..metric._matching import Points, point_order, points_of
from ..metric._registry import find_graph_reader
from ..metric.base import MetricError, check_labels
from ..metric.graph import GraphMetric
from ..tree.tree import Tree
from ._clades import Clades, clades_of
from ._sampling import Rows, half_width, sample_rows
from ._streaming import row_slices
from .score import Score

#: Number of rows sampled of the similarities of more than EXACT_POINTS points, unless `rows` is
#: given.
SAMPLED_ROWS = 1024

# Similarities may differ from their transpose by rounding, relative to the largest of a block.
_ROUNDING = 1e-9


def dasgupta_cost(
    tree: Tree,
    similarity: Any,
    *,
    weight: str | None = None,
    normalize: bool = False,
    rows: Rows = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> Score:
    """Return Dasgupta's cost: the sum, over edges, of the points in the smallest clade with both ends.

    The size of the clade is multiplied by the similarity of the two ends. A low cost means that
    similar points meet in small clades.

    Parameters
    ----------
    tree : Tree
        The tree. Clades are below its root, or below the midpoint of its longest path if it has
        no root (`Tree.root_at_midpoint`). Points are matched by label if both have labels,
        otherwise by position.
    similarity : graph of networkx, igraph or networkit, scipy sparse matrix, array or DataFrame
        A graph, or a symmetric (n, n) matrix of similarities of at least 0. The diagonal does not
        count. Parallel edges are added up. The graph need not be connected.
    weight : str, optional
        (graphs of other libraries only) The edge attribute that holds the similarities. By
        default every edge has similarity 1.
    normalize : bool
        Divide by n times the sum of all similarities. The result is the mean share of the points
        in the smallest clade, from 2 / n to 1. One minus this share is the score of scikit-network.
    rows : int, "all" or None
        (arrays and DataFrames only) Number of points whose similarities to all others are summed,
        drawn without replacement. None uses all points up to 20,000, and 1,024 points above; the
        score then has a 95% confidence interval.
    rng : int, numpy Generator or None
        Seed for sampling points.
    n_jobs : int, optional
        Number of threads; None uses all cores. It does not change the result.

    Returns
    -------
    Score
        The cost. `Score.pairs` is the number of edges, or of pairs of points. Without any
        similarity, the cost is 0.

    See Also
    --------
    scores.dendrogram_purity : Separation of classes in a tree.
    mean_average_precision : Precision of the neighbors in a graph.
    Tree.root_at_midpoint : Root a tree.
    Tree.cut : Cut a tree into clusters.
    Score : The result.

    Notes
    -----
    Exact over all edges: O(N + m log N) time and memory for a graph with m edges and a tree with
    N nodes. An array takes O(N) time per row, and memory for a few rows.

    A clade consists of the points at or below a node, so a point that is an internal node belongs
    to the clade of this node. Edges of length 0 are contracted first: they separate no points.
    Clades with more than two branches are allowed.

    The cost is defined in Dasgupta, A cost function for similarity-based hierarchical clustering
    (STOC 2016). It needs similarities. Distances are not similarities, and the weights of a graph
    are not read as lengths here.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> tree = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5, root=5)
    >>> dasgupta_cost(tree, path)  # 2 + 4 + 4
    10 (all 3 edges)
    >>> dasgupta_cost(tree, path, normalize=True)  # 10 / (4 * 3)
    0.8333 (all 3 edges)
    """
    check_flag("normalize", normalize)
    clades = clades_of(tree, "Dasgupta's cost")
    matrix, names = _read(similarity, weight)
    n = matrix.shape[0]
    labels = check_labels(names, n)
    order = point_order(points_of(tree), Points(n, labels), ("tree", "similarity"))
    if order is not None:
        clades = clades._replace(position=clades.position[order])
    if isinstance(matrix, np.ndarray):
        sample = sample_rows(n, rows, rng, SAMPLED_ROWS)
        return _cost_of_rows(clades, matrix, sample, normalize, n_jobs)
    if rows not in (None, "all"):
        raise ValueError("rows applies only to an array: leave it out, a graph is summed exactly")
    return _cost_of_edges(clades, matrix, normalize)


def _cost_of_edges(clades: Clades, matrix: Any, normalize: bool) -> Score:
    """Return the cost of a sparse matrix."""
    entries = matrix.tocoo()
    upper = (entries.row < entries.col) & (entries.data > 0)
    ends = (clades.position[entries.row[upper]], clades.position[entries.col[upper]])
    weights = entries.data[upper]
    value = math.fsum(weights * clades.below[clades.meetings(*ends)])
    if normalize and value:
        value /= matrix.shape[0] * math.fsum(weights)
    count = len(weights)
    return Score(value, pairs=count, basis=f"all {count:,} edge{'s' * (count != 1)}")


class _Shared(NamedTuple):
    """The clades, the similarities, and the rows to sum."""

    clades: Clades
    matrix: NDArray[Any]
    rows: NDArray[np.int64]


def _cost_of_rows(
    clades: Clades,
    matrix: NDArray[Any],
    sample: NDArray[np.int64] | None,
    normalize: bool,
    n_jobs: int | None,
) -> Score:
    """Return the cost of the rows of an array, or an estimate from a sample of them."""
    n = len(matrix)
    rows = np.arange(n) if sample is None else sample
    count = len(rows)
    parts = []
    with progress_bar(count, "summing similarities", "row") as bar:
        shared = _Shared(clades, matrix, rows)
        for part in ThreadRunner(n_jobs).map(_row_costs, shared, row_slices(count, n)):
            parts.append(part)
            bar.update(len(part))
    costs, weights = np.concatenate(parts).T
    costs = costs / 2  # every pair is in two rows
    weights = weights * (n / 2) if normalize else np.ones(count)
    scale = 1 if normalize else n  # an estimate of a mean, or of a sum
    weight = math.fsum(weights)
    value = scale * math.fsum(costs) / weight if weight > 0 else 0.0
    if sample is None:
        pairs = n * (n - 1) // 2
        return Score(value, pairs=pairs, basis=f"all {pairs:,} pair{'s' * (pairs != 1)}")
    width = scale * half_width(costs - value / scale * weights, weight, n)
    return Score(
        value,
        low=max(0.0, value - width),
        high=value + width,
        exact=False,
        pairs=count * (n - 1),
        basis=f"from {count:,} of {n:,} rows",
    )


def _row_costs(shared: _Shared, part: slice) -> NDArray[np.float64]:
    """Return the costs and the similarities of a slice of the rows, (rows, 2)."""
    from ._clade_kernels import row_costs

    rows = shared.rows[part]
    block, back = (np.array(x, np.float64) for x in (shared.matrix[rows], shared.matrix[:, rows].T))
    for each in (block, back):
        each[np.arange(len(rows)), rows] = 0.0  # the diagonal does not count
    for a, b in np.argwhere(~(np.isfinite(block) & (block >= 0)))[:1]:
        _refuse_value(rows[a], b, block[a, b])
    same = np.abs(block - back) <= _ROUNDING * block.max(initial=0.0)
    for a, b in np.argwhere(~same)[:1]:
        _refuse_direction(rows[a], b, block[a, b], back[a, b])
    clades = shared.clades
    tables = clades.position, clades.view.up, clades.view.size, clades.below
    out = np.empty((len(rows), 2))
    row_costs(block, rows, *tables, out)
    return out


def _read(similarity: Any, weight: str | None) -> tuple[Any, Sequence[object] | None]:
    """Return a sparse matrix or an array of similarities, and the names of the points."""
    from scipy.sparse import issparse

    reader = find_graph_reader(similarity)
    if reader is not None:
        matrix, names = reader(similarity, weight, similarity=True)
        return matrix, names
    if weight is not None:
        raise ValueError(
            f"weight={weight!r} names an edge attribute, but only graphs of networkx, igraph and "
            "networkit have edge attributes: leave it out"
        )
    if isinstance(similarity, GraphMetric):
        if similarity.weighted:
            raise ValueError(
                "the weights of a GraphMetric are lengths, not similarities: pass a networkx graph "
                "or a sparse matrix of similarities"
            )
        return similarity.adjacency, similarity.labels
    if issparse(similarity):
        return _checked(similarity), None
    names = _names(similarity) if is_frame(similarity) else None
    if not hasattr(similarity, "__array__") and not isinstance(similarity, (list, tuple)):
        raise TypeError(
            f"cannot read similarities from {type(similarity).__name__}: pass a graph, a sparse "
            "matrix or an array"
        )
    array = np.asarray(similarity)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind not in "biuf":
        shape = " x ".join(map(str, array.shape))
        raise ValueError(
            f"expected a square matrix of similarities, got {shape} of dtype {array.dtype}: "
            "pass a graph, or one similarity for each pair of points"
        )
    return array, names


def _names(frame: DataFrame) -> list[str]:
    names = [str(name) for name in frame.index]
    if names != [str(name) for name in frame.columns]:
        raise ValueError(
            "the rows and columns of the table of similarities have different names: give both "
            "the same names in the same order"
        )
    return names


def _checked(matrix: Any) -> Any:
    """Return a sparse matrix of similarities in rows; raise an error for the first invalid entry."""
    from scipy.sparse import csr_array

    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        shape = " x ".join(map(str, matrix.shape))
        raise ValueError(f"expected a square matrix of similarities, got {shape} of dtype {matrix.dtype}")
    # Convert to float64 first: csr adds up entries given twice, and small integers would wrap.
    rows = csr_array(matrix.astype(np.float64))
    rows.sum_duplicates()
    entries = rows.tocoo()
    proper = entries.row != entries.col
    wrong = proper & ~(np.isfinite(entries.data) & (entries.data >= 0))
    for k in np.flatnonzero(wrong)[:1]:
        _refuse_value(entries.row[k], entries.col[k], entries.data[k])
    values = entries.data[proper], (entries.row[proper], entries.col[proper])
    rows = csr_array(values, shape=rows.shape)
    gap = abs(rows - rows.T.tocsr()).tocoo()
    largest = rows.data.max(initial=0.0)
    for k in np.flatnonzero(gap.data > _ROUNDING * largest)[:1]:
        i, j = gap.row[k], gap.col[k]
        _refuse_direction(i, j, rows[i, j], rows[j, i])
    return rows


def _refuse_value(i: int, j: int, value: float) -> None:
    raise MetricError(
        f"the similarity of {i} and {j} is {value}, but similarities are finite and at least 0: correct it"
    )


def _refuse_direction(i: int, j: int, there: float, back: float) -> None:
    raise MetricError(
        f"entry ({i}, {j}) is {there} but ({j}, {i}) is {back}: similarities must be symmetric; "
        "(A + A.T) / 2 averages both"
    )
