"""scikit-bio's distance matrices in and out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.extras import require
from ..metric.base import Metric
from ..metric.matrix import MatrixMetric

if TYPE_CHECKING:
    import skbio


def read_distances(matrix: "skbio.DistanceMatrix", **options: Any) -> MatrixMetric:
    """Return a skbio.DistanceMatrix as a metric; its ids are the labels."""
    return MatrixMetric(matrix.redundant_form(), **{"labels": matrix.ids, **options})


def to_distance_matrix(metric: Metric) -> "skbio.DistanceMatrix":
    """Return the distances of any metric, a tree say, as a skbio.DistanceMatrix; labels, or else numbers, are its ids.

    >>> from treerep import Tree
    >>> to_distance_matrix(Tree(2, [[0, 1]], [1.5], labels="ab")).ids
    ('a', 'b')
    """
    everyone = np.arange(len(metric))
    ids = metric.labels or [str(i) for i in everyone]
    return require("skbio", "scikit-bio").DistanceMatrix(metric.block(everyone, everyone), ids)
