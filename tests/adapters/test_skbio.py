"""scikit-bio's distance matrices as input."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from skbio import DistanceMatrix
from skbio.tree import nj

import treerep as tr

DISTANCES = np.array(
    [[0, 5, 9, 9, 8], [5, 0, 10, 10, 9], [9, 10, 0, 8, 7], [9, 10, 8, 0, 3], [8, 9, 7, 3, 0]],
    float,
)


def test_ids_are_labels() -> None:
    names = ["a b", "it's", "<c>", "😀", "e"]
    metric = tr.as_metric(DistanceMatrix(DISTANCES, names))
    assert metric.labels == tuple(names)
    assert_array_equal(metric.block(range(5), range(5)), DISTANCES)
    assert tr.as_metric(DistanceMatrix(DISTANCES, names), labels="vwxyz").labels == tuple("vwxyz")


@pytest.mark.skipif(
    "condensed" not in inspect.signature(DistanceMatrix.__init__).parameters,
    reason="an older scikit-bio",
)
def test_condensed_matrices() -> None:
    condensed = DistanceMatrix(DISTANCES, list("abcde"), condensed=True)
    assert_array_equal(tr.as_metric(condensed).block(range(5), range(5)), DISTANCES)


def test_neighbor_joining_agrees_with_theirs() -> None:
    matrix = DistanceMatrix(DISTANCES, list("abcde"))
    ours = tr.fit(matrix, method="neighbor_joining")
    assert tr.Tree.from_skbio(nj(matrix)).difference(ours).path < 1e-9


def test_options_that_are_refused() -> None:
    matrix = DistanceMatrix(DISTANCES)
    for options in ({"metric": "euclidean"}, {"symmetrize": "mean"}, {"weight": "x"}):
        with pytest.raises(ValueError, match="scikit-bio DistanceMatrix.*: leave .*out"):
            tr.as_metric(matrix, **options)
    assert len(tr.as_metric(matrix, metric="precomputed")) == 5
