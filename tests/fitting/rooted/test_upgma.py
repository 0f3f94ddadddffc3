"""UPGMA: the cophenetic distances of average linkage, exact on ultrametrics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

import treerep as tr
from tests.metrics import Table, uneven_table
from tests.strategies import any_symmetric, integer_metrics
from treerep._core import memory


def upgma(d: object, **options: object) -> tr.Tree:
    return tr.fit(d, method="upgma", **options)  # type: ignore[call-overload]


def root_of(tree: tr.Tree) -> int:
    """The one Steiner node with two neighbors."""
    (root,) = np.flatnonzero(tree.degrees[len(tree) :] == 2) + len(tree)
    return int(root)


@st.composite
def ultrametrics(draw: st.DrawFn) -> np.ndarray:
    """Cophenetic distances of some dendrogram, with ties or without, of any scale."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 30))
    pairs = n * (n - 1) // 2
    values = rng.integers(1, 9, pairs) if draw(st.booleans()) else rng.uniform(0.1, 1, pairs)
    method = draw(st.sampled_from(["single", "complete", "average"]))
    return squareform(cophenet(linkage(values.astype(float), method))) * draw(
        st.sampled_from([1e-150, 1.0, 1e150])
    )


def test_hand_worked_example() -> None:
    # 0 and 1 meet at 2, 3 and 4 at 4, then 2 joins the latter at (6 + 8) / 2 = 7. Across, the mean of six is 10.
    d = np.array(
        [
            [0, 2, 10, 11, 9],
            [2, 0, 10, 9, 11],
            [10, 10, 0, 6, 8],
            [11, 9, 6, 0, 4],
            [9, 11, 8, 4, 0],
        ],
        np.uint8,
    )
    tree = upgma(d)
    assert tree.newick(root=root_of(tree)) == "((0:1.0,1:1.0):4.0,(2:3.5,(3:2.0,4:2.0):1.5):1.5);"


@pytest.mark.parametrize("n", [2, 3, 50, 300])
def test_equals_scipys_average_linkage(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(n, 4))
    d = np.linalg.norm(x[:, None] - x[None], axis=-1)
    tree = upgma(d)
    assert_allclose(squareform(tree.distances()), cophenet(linkage(squareform(d), "average")), rtol=1e-12)
    assert tree.n_nodes == 2 * n - 1


@given(ultrametrics())
def test_ultrametrics_are_recovered_exactly(d: np.ndarray) -> None:
    assert_allclose(upgma(d).distances(), d, rtol=1e-12)


@given(st.one_of(integer_metrics(), any_symmetric()), st.sampled_from([0.0, 1e-12]))
def test_every_symmetric_matrix_gives_a_binary_tree_with_all_points_at_one_depth(
    d: np.ndarray, noise: float
) -> None:
    if len(d) < 2:
        return
    tree = upgma(uneven_table(d, noise))
    tr.Tree(
        tree.n_points, tree.edges, tree.weights
    )  # the constructor refuses cycles, forests, negative lengths
    assert sorted(tree.degrees.tolist()) == [1] * len(d) + [2] + [3] * (len(d) - 2)
    depths = tree.rooted(root_of(tree)).depth[: len(d)]
    assert_allclose(depths, depths[0], rtol=1e-12, atol=1e-300)


@given(integer_metrics())
def test_dtype_and_kind_of_metric_do_not_matter(d: np.ndarray) -> None:
    reference = upgma(d)
    for same in (d.astype(np.uint8), d.astype(np.float32), Table(d)):
        assert upgma(same) == reference


def test_duplicates_and_labels() -> None:
    assert_array_equal(upgma(np.zeros((40, 40))).weights, 0)
    assert upgma(tr.MatrixMetric([[0, 1], [1, 0]], labels=["a", "b"])).labels == ("a", "b")


def test_too_many_points_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="upgma on 50 points needs"):
        upgma(1 - np.eye(50))


def test_takes_no_trials() -> None:
    with pytest.raises(ValueError, match="upgma is not random"):
        upgma(1 - np.eye(3), trials=2)
