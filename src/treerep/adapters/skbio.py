"""Conversion of distance matrices from and to scikit-bio."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.extras import require
from ..metric.base import Metric
from ..metric.matrix import MatrixMetric

if TYPE_CHECKING:
    import skbio


def read_distances(matrix: "skbio.DistanceMatrix", **options: Any) -> MatrixMetric:
    """Return a skbio.DistanceMatrix as a metric. Its ids are the labels."""
    return MatrixMetric(matrix.redundant_form(), **{"labels": matrix.ids, **options})


def to_distance_matrix(metric: Metric) -> "skbio.DistanceMatrix":
    """Return the distances of a metric as a skbio.DistanceMatrix.

    Its ids are the labels, or numbers if there are no labels.

    >>> from treerep import Tree
    >>> to_distance_matrix(Tree(2, [[0, 1]], [1.5], labels="ab")).ids
    ('a', 'b')
    """
    points = np.arange(len(metric))
    ids = metric.labels or [str(i) for i in points]
    return require("skbio", "scikit-bio").DistanceMatrix(metric.block(points, points), ids)
