"""The options of `read`, and the metric of a file's content."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..metric.base import Metric

if TYPE_CHECKING:
    import numpy as np
    import zarr
    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import sparray

    from ..metric.sequences.packing import PackedSequences

KINDS = ("distances", "points", "graph", "sequences")


@dataclass(frozen=True)
class Request:
    """The options of `read`. Options that were not set are None or False."""

    kind: str | None = None
    metric: str | None = None
    labels: Sequence[object] | None = None
    symmetrize: str | None = None
    weight: str | bool | None = None
    largest_component: bool = False
    use_rep: str | None = None
    gamma: float | None = None
    saturated: str | None = None
    missing: bool = False
    alphabet: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in (None, *KINDS):
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.weight is True:
            raise ValueError(
                "weight must be the name of an attribute, or False to count edges: it cannot be True"
            )
        if self.metric is None:
            return
        implied = _implied_kind(self.metric)
        if self.kind is None:
            object.__setattr__(self, "kind", implied)
        elif self.kind != implied:
            raise ValueError(f"metric={self.metric!r} requires kind={implied!r}, not kind={self.kind!r}")

    def distances(self, array: "ArrayLike", labels: Sequence[object] | None = None) -> Metric:
        """Return the metric of a square array."""
        from ..metric.matrix import MatrixMetric

        self._refuse("a distance matrix", ("weight", "largest_component"))
        return MatrixMetric(
            array,
            labels=self._names(labels),
            symmetrize=self.symmetrize,
            missing=self.missing,
        )

    def square(self, array: "NDArray[Any]", labels: Sequence[object] | None = None) -> Metric:
        """Return the metric of a square array that may also be an adjacency matrix."""
        self._refuse_adjacency(array)
        return self.distances(array, labels)

    def _refuse_adjacency(self, array: "NDArray[Any]") -> None:
        from ..metric._graph_arrays import refuse_adjacency

        if self.kind is None:
            refuse_adjacency(
                array,
                "for a graph save a list of edges, for distances pass kind='distances'",
            )

    def stored_distances(self, array: "zarr.Array[Any]", labels: Sequence[object] | None = None) -> Metric:
        """Return the metric of a square array stored in chunks."""
        from ..metric.disk.stored import stored_matrix

        self._refuse("a distance matrix", ("weight", "largest_component"))
        metric = stored_matrix(
            array,
            labels=self._names(labels),
            symmetrize=self.symmetrize,
            missing=self.missing,
        )
        self._refuse_adjacency(metric.distances)
        return metric

    def points(self, array: "ArrayLike", labels: Sequence[object] | None = None) -> Metric:
        """Return the metric of points, Euclidean by default."""
        from ..metric.characters import CharacterMetric
        from ..metric.points import PointMetric

        self._refuse("points", ("symmetrize", "missing", "weight", "largest_component"))
        if self.metric == "hamming":
            saturated = self.saturated or "raise"
            return CharacterMetric(array, saturated=saturated, labels=self._names(labels))
        return PointMetric(array, self.metric or "euclidean", labels=self._names(labels))

    def graph(
        self,
        graph: "sparray | NDArray[Any]",
        *,
        weights: "NDArray[np.float64] | None" = None,
        labels: Sequence[object] | None = None,
    ) -> Metric:
        """Return the metric of a sparse matrix or of an array of edges."""
        from ..metric.graph import GraphMetric

        self._refuse("a graph", ("symmetrize", "missing"))
        names = self._names(labels)
        return GraphMetric(graph, weights=weights, labels=names, largest_component=self.largest_component)

    def sequences(self, packed: "PackedSequences", labels: Sequence[object]) -> Metric:
        """Return the metric of aligned sequences."""
        from ..metric.sequences.metric import SequenceMetric

        self._refuse("sequences", ("symmetrize", "weight", "largest_component"))
        return SequenceMetric(
            packed,
            self.metric,
            gamma=self.gamma,
            saturated=self.saturated,
            missing=self.missing,
            labels=self._names(labels),
        )

    def not_a(self, what: str) -> ValueError:
        """Return the error for a file whose format cannot hold the requested kind."""
        content = "a graph" if self.kind == "graph" else self.kind
        return ValueError(f"{what} cannot hold {content}: leave out kind={self.kind!r}")

    def _names(self, labels: Sequence[object] | None) -> Sequence[object] | None:
        return labels if self.labels is None else self.labels

    def _refuse(self, what: str, options: tuple[str, ...]) -> None:
        for name in options:
            value = getattr(self, name)
            if value is not None and (value is not False or name == "weight"):
                raise ValueError(f"{name}={value!r} does not apply to {what}: leave it out")


def _implied_kind(metric: str) -> str:
    """Return the kind of data that a metric needs."""
    from ..metric.sequences.models import MODELS

    if metric == "precomputed":
        return "distances"
    return "sequences" if metric in MODELS else "points"
