"""What is asked of a file, and how its content becomes a metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..metric.base import Metric

KINDS = ("distances", "points", "graph")


@dataclass(frozen=True)
class Request:
    """What the caller of `read` says about a file, options that were not given being None or False."""

    kind: str | None = None
    metric: str | None = None
    labels: Sequence[object] | None = None
    symmetrize: str | None = None
    weight: str | bool | None = None
    largest_component: bool = False
    use_rep: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in (None, *KINDS):
            raise ValueError(f"kind is one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.weight is True:
            raise ValueError(
                "weight names what holds the lengths, or is False to count edges: True says neither"
            )
        if self.metric is None:
            return
        implied = "distances" if self.metric == "precomputed" else "points"
        if self.kind is None:
            object.__setattr__(self, "kind", implied)
        elif self.kind != implied:
            raise ValueError(
                f"metric={self.metric!r} goes with kind={implied!r}, not with kind={self.kind!r}"
            )

    def distances(self, array: Any, labels: Sequence[object] | None = None) -> Metric:
        """Return the metric of a square array."""
        from ..metric.matrix import MatrixMetric

        self._refuse("a distance matrix", ("weight", "largest_component"))
        return MatrixMetric(array, labels=self._names(labels), symmetrize=self.symmetrize)

    def stored_distances(self, array: Any, labels: Sequence[object] | None = None) -> Metric:
        """Return the metric of a square array that is stored in chunks."""
        from ..metric.disk.stored import stored_matrix

        self._refuse("a distance matrix", ("weight", "largest_component"))
        return stored_matrix(array, labels=self._names(labels), symmetrize=self.symmetrize)

    def points(self, array: Any, labels: Sequence[object] | None = None) -> Metric:
        """Return the metric of points, Euclidean unless another one was named."""
        from ..metric.points import PointMetric

        self._refuse("points", ("symmetrize", "weight", "largest_component"))
        return PointMetric(array, self.metric or "euclidean", labels=self._names(labels))

    def graph(
        self, graph: Any, *, weights: Any = None, labels: Sequence[object] | None = None
    ) -> Metric:
        """Return the metric of a sparse matrix or of an array of edges."""
        from ..metric.graph import GraphMetric

        self._refuse("a graph", ("symmetrize",))
        names = self._names(labels)
        return GraphMetric(
            graph, weights=weights, labels=names, largest_component=self.largest_component
        )

    def not_a(self, what: str) -> ValueError:
        """Return the error for a file whose format cannot hold the kind that was asked for."""
        return ValueError(f"{what} holds no {self.kind}: leave kind={self.kind!r} out")

    def _names(self, labels: Sequence[object] | None) -> Sequence[object] | None:
        return labels if self.labels is None else self.labels

    def _refuse(self, what: str, options: tuple[str, ...]) -> None:
        for name in options:
            value = getattr(self, name)
            if value is not None and (value is not False or name == "weight"):
                raise ValueError(f"{name}={value!r} does not apply to {what}: leave it out")
