"""`as_metric`: conversion of arrays, tables, graphs and files to a Metric."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.typing import DataFrame, MetricLike
from ._graph_arrays import ADJACENCY, edge_columns, refuse_adjacency
from ._labels import is_frame
from ._registry import find_converter
from .base import Metric, MetricError
from .characters import CharacterMetric
from .matrix import MatrixMetric
from .points import PointMetric
from .sequences.models import MODELS


def as_metric(
    data: MetricLike,
    *,
    metric: str | None = None,
    alphabet: str | None = None,
    labels: Sequence[object] | None = None,
    symmetrize: str | None = None,
    missing: bool = False,
    weight: str | None = None,
    largest_component: bool = False,
    use_rep: str | None = None,
) -> Metric:
    """Convert data to a `Metric`.

    All public functions convert their data with this function.

    Parameters
    ----------
    data : Metric, array, DataFrame, sparse matrix, graph, AnnData or path
        - A `Metric`, or a data set of `datasets.load`: returned unchanged.
        - An array or DataFrame: a distance matrix if `metric` is None or "precomputed", and
          points (rows) otherwise. An array that looks like the adjacency matrix of a graph raises
          an error, unless `metric` is "precomputed". A DataFrame of distances has the same labels on rows and
          columns. Torch tensors, zarr arrays and h5py data sets are arrays. Stored distances of
          more than 1 GiB stay on disk.
        - A scipy sparse matrix, or a graph of networkx, igraph or networkit: a graph.
        - A scikit-bio DistanceMatrix: a distance matrix.
        - An AnnData: its cells are points, Euclidean if `metric` is None.
        - A string or path: a file. Its content and extension determine the format.
          `formats.read` has more options.
        - A list of strings, with the name of a model as `metric` or with `alphabet`: aligned
          sequences.

        Installed packages can add types.
    metric : str, optional
        One of the metrics of `PointMetric`, "hamming" (see `CharacterMetric`), one of the models of
        `SequenceMetric`, or "precomputed".
    alphabet : "dna" or "protein", optional
        (sequences only) The alphabet, if neither `metric` nor the characters determine it. See
        `SequenceMetric`.
    labels : sequence, optional
        Labels of the points.
    symmetrize : "mean", optional
        (distance matrices only) Average d(i, j) and d(j, i).
    missing : bool
        (distance matrices and sequences only) Whether distances may be missing: NaN in a matrix,
        and pairs of sequences that have no distance. See `MatrixMetric` and `SequenceMetric`.
    weight : str, optional
        (graphs of other libraries and GraphML files only) The edge attribute with the lengths.
        By default all edges have length 1.
    largest_component : bool
        (graphs only) Keep the largest connected component of a disconnected graph.
    use_rep : str, optional
        (AnnData only) The coordinates of the cells, "X" or a key of `obsm`. The default is
        "X_pca" if present, otherwise "X".

    Returns
    -------
    Metric
        A `MatrixMetric`, `PointMetric`, `GraphMetric` or `SequenceMetric`, or the given metric.

    See Also
    --------
    formats.read : Read data from a file, with more options.
    MatrixMetric : A distance matrix.
    PointMetric : Points.
    GraphMetric : A graph.
    SequenceMetric : Aligned sequences.

    Notes
    -----
    The data is validated once, here. Validation takes O(n^2) time for a matrix, O(n k) for
    points and O(edges) for a graph. Distances are kept exactly. An array is copied only if its
    type or layout requires it.

    Without `metric`, a matrix is taken for an adjacency matrix if some d(i, j) = 0 but
    d(i, k) != d(j, k), which no metric allows, and if all entries are 0 or 1, or most entries off
    the diagonal are 0.

    Examples
    --------
    >>> as_metric([[0, 2], [2, 0]])
    MatrixMetric(2 points)
    >>> as_metric([[0, 2], [2, 0], [1, 1]], metric="euclidean")
    PointMetric(3 points)
    """
    options: dict[str, Any] = {
        "alphabet": alphabet,
        "labels": labels,
        "symmetrize": symmetrize,
        "weight": weight,
        "use_rep": use_rep,
    }
    options = {name: value for name, value in options.items() if value is not None}
    if largest_component:
        options["largest_component"] = True
    if missing:
        options["missing"] = missing
    if isinstance(data, Metric):
        _refuse({"metric": metric, **options}, f"a {type(data).__name__}, which is already a metric")
        return data
    if isinstance(getattr(data, "metric", None), Metric):  # a data set
        return as_metric(data.metric, metric=metric, **options)
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        first = tuple(np.argwhere(np.ma.getmaskarray(data))[0].tolist())
        raise MetricError(f"entry {first} is masked: fill it, or drop the points with missing entries")
    converter = find_converter(data)
    if converter is not None:
        metric_of: Metric = converter(data, metric=metric, **options)
        return metric_of
    if metric in MODELS or alphabet is not None:
        from .sequences.metric import SequenceMetric

        _refuse(options, "sequences", allowed=("alphabet", "labels", "missing"))
        return SequenceMetric(data, metric, **options)
    if _is_sparse(data):
        return _graph(data, metric, options)
    if is_frame(data):
        if metric is None:
            _refuse_edge_table(data)
        return _from_array(data, metric, options)
    if isinstance(data, (str, bytes)) or not (hasattr(data, "__array__") or isinstance(data, (list, tuple))):
        raise TypeError(
            f"cannot read distances from {type(data).__name__}: pass an array, a "
            "DataFrame, a graph, a Metric or the path of a file as a str or Path"
        )
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise MetricError(
            f"cannot read distances from this {type(data).__name__}, because its rows have different "
            "lengths or kinds: pass a table of distances, or of points with metric="
        ) from error
    return _from_array(array, metric, options)


def _from_array(array: "NDArray[Any] | DataFrame", metric: str | None, options: dict[str, Any]) -> Metric:
    if metric is None or metric == "precomputed":
        _refuse(options, "a distance matrix", allowed=("labels", "symmetrize", "missing"))
        if metric is None:
            refuse_adjacency(np.asarray(array), ADJACENCY)
        return MatrixMetric(array, **options)
    _refuse(options, "points", allowed=("labels",))
    if metric == "hamming":
        return CharacterMetric(array, **options)
    return PointMetric(array, metric, **options)


def _refuse(options: dict[str, Any], what: str, allowed: tuple[str, ...] = ()) -> None:
    """Raise a ValueError for the first given option that does not apply to this kind of data."""
    for name, value in options.items():
        if value is not None and name not in allowed:
            raise ValueError(f"{name}={value!r} does not apply to {what}: leave it out")


def _is_sparse(data: MetricLike) -> bool:
    # If this is a sparse matrix, scipy.sparse is already imported. Otherwise its slow import is
    # avoided.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))


def _graph(data: MetricLike, metric: str | None, options: dict[str, Any]) -> Metric:
    from .graph import GraphMetric

    if metric is not None:
        raise MetricError(
            f"a sparse matrix is read as a graph: for points with metric={metric!r} pass data.toarray()"
        )
    _refuse(options, "a sparse matrix", allowed=("labels", "largest_component"))
    return GraphMetric(data, **options)


def _refuse_edge_table(frame: DataFrame) -> None:
    """Raise a MetricError if the rows of a DataFrame are edges."""
    columns = edge_columns(frame.to_numpy())
    if columns:
        first, second, *length = (repr(name) for name in frame.columns)
        weight = "".join(f" and weight={name}" for name in length)
        raise MetricError(
            f"expected a square distance table, got {len(frame)} x {columns}: for edges pass "
            f"networkx.from_pandas_edgelist(df, {', '.join([first, second, *length])}){weight}, "
            "for points add metric='euclidean'"
        )
