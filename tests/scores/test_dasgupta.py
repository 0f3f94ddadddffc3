from itertools import combinations

import igraph
import networkit
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

import treerep as tr
from tests.scores.test_purity import QUARTET, clade_of, rooted_tree
from tests.scores.test_sampling import check_coverage
from tests.strategies import SHAPES
from treerep.metric.base import MetricError
from treerep.scores import _streaming as streaming
from treerep.scores.dasgupta import dasgupta_cost

PATH = nx.path_graph(4)


def naive(tree, similarity):
    """The definition, pair by pair."""
    clade = clade_of(tree)
    pairs = combinations(range(len(tree)), 2)
    return sum(similarity[i, j] * len(clade(i, j)) for i, j in pairs)


def random_similarity(rng, n, density):
    upper = np.triu(rng.uniform(0, 5, (n, n)) * (rng.random((n, n)) < density), 1)
    return upper + upper.T


def test_hand_worked():
    # The edges 01 and 23 are inside the cherries, with 2 points; 12 meets at the root, with 4.
    score = dasgupta_cost(QUARTET, PATH)
    assert (score, score.pairs, score.exact) == (8.0, 3, True)
    assert repr(score) == "8 (all 3 edges)"
    assert dasgupta_cost(QUARTET, PATH, normalize=True) == pytest.approx(8 / 12)
    caterpillar = tr.Tree(4, [[0, 4], [1, 4], [4, 5], [2, 5], [5, 6], [3, 6]], [1.0] * 6, root=6)
    assert dasgupta_cost(caterpillar, PATH) == 2 + 3 + 4
    # All trees have the same cost on a complete graph: (n^3 - n) / 3 for binary trees (Dasgupta, theorem 3).
    for tree in (QUARTET, caterpillar):
        assert dasgupta_cost(tree, nx.complete_graph(4)) == (4**3 - 4) / 3
    star = tr.Tree(4, [[i, 4] for i in range(4)], [1.0] * 4)
    assert dasgupta_cost(star, PATH) == 3 * 4
    assert dasgupta_cost(star, PATH, normalize=True) == 1.0


@settings(max_examples=100, deadline=None)
@given(
    nodes=st.integers(1, 16),
    seed=st.integers(0, 10**6),
    shape=st.sampled_from(SHAPES),
    density=st.sampled_from([0.0, 0.2, 1.0]),
    zeros=st.booleans(),
    data=st.data(),
)
def test_agrees_with_the_definition(nodes, seed, shape, density, zeros, data):
    rng = np.random.default_rng(seed)
    tree = rooted_tree(shape, nodes, data.draw(st.integers(1, nodes)), rng, zeros)
    n = len(tree)
    similarity = random_similarity(rng, n, density)
    expected = naive(tree, similarity)
    whole = n * similarity.sum() / 2
    for given_as in (similarity, csr_array(similarity), nx.from_numpy_array(similarity)):
        weight = "weight" if isinstance(given_as, nx.Graph) else None
        score = dasgupta_cost(tree, given_as, weight=weight)
        assert score == pytest.approx(expected, rel=1e-12)
        share = dasgupta_cost(tree, given_as, weight=weight, normalize=True)
        assert share == pytest.approx(expected / whole if whole else 0.0, rel=1e-12)


@pytest.mark.parametrize("n", [2, 17, 200])
def test_binary_trees_cost_the_same_on_complete_graphs(n):
    tree = tr.datasets.random_tree(n, rng=n).contracted()
    binary = tr.fit(tr.as_metric(tree.distances()), method="upgma")
    whole = 1 - np.eye(n)
    assert dasgupta_cost(binary, whole) == pytest.approx((n**3 - n) / 3, rel=1e-12)
    assert dasgupta_cost(binary, csr_array(whole)) == pytest.approx((n**3 - n) / 3, rel=1e-12)


def test_parallel_edges_are_added_up():
    edges = [(0, 1, 2.0), (1, 0, 3.0), (1, 2, 1.0), (2, 2, 9.0)]
    several = nx.MultiGraph()
    several.add_nodes_from(range(4))
    several.add_weighted_edges_from(edges)
    expected = (2 + 3) * 2 + 1 * 4
    assert dasgupta_cost(QUARTET, several, weight="weight") == expected
    assert dasgupta_cost(QUARTET, several) == 2 * 2 + 4
    other = igraph.Graph(4, [edge[:2] for edge in edges])
    other.es["strength"] = [edge[2] for edge in edges]
    assert dasgupta_cost(QUARTET, other, weight="strength") == expected
    third = networkit.Graph(4, weighted=True)
    for edge in edges:
        third.addEdge(*edge)
    assert dasgupta_cost(QUARTET, third, weight="weight") == expected
    both = [(i, j, w) for i, j, w in edges] + [(j, i, w) for i, j, w in edges]
    rows, columns, values = zip(*both, strict=True)
    assert dasgupta_cost(QUARTET, coo_array((values, (rows, columns)), shape=(4, 4))) == expected


def test_zero_and_missing_similarities_are_allowed():
    graph = nx.Graph()
    graph.add_nodes_from(range(4))
    graph.add_edge(0, 1, weight=0.0)
    graph.add_edge(2, 3, weight=2.0)  # not connected
    score = dasgupta_cost(QUARTET, graph, weight="weight")
    assert (score, score.pairs) == (4.0, 1)
    assert dasgupta_cost(QUARTET, nx.empty_graph(4), normalize=True) == 0.0


def test_points_are_matched_by_label():
    names = list("dcab")
    graph = nx.relabel_nodes(nx.path_graph(4), dict(enumerate("abcd")))
    tree = tr.Tree.from_newick("((d:1,c:1):1,(a:1,b:1):1);")
    assert dasgupta_cost(tree, graph) == 8.0
    table = pd.DataFrame(nx.to_numpy_array(graph, nodelist=names), names, names)
    assert dasgupta_cost(tree, table) == 8.0
    with pytest.raises(ValueError, match="tree has labels in the order of a text file"):
        dasgupta_cost(tree, nx.to_numpy_array(graph))


def test_takes_the_graph_that_the_tree_was_fitted_to():
    graph = nx.karate_club_graph()
    tree = tr.fit(graph)
    score = dasgupta_cost(tree, graph)
    assert score == dasgupta_cost(tree, tr.GraphMetric(graph))
    assert score == dasgupta_cost(tree, nx.to_scipy_sparse_array(graph, weight=None))
    # A tree with the points shuffled knows nothing of the graph.
    numbers = np.arange(tree.n_nodes)
    numbers[:34] = np.random.default_rng(0).permutation(34)
    shuffled = tr.Tree(34, numbers[tree.edges], tree.weights)
    assert dasgupta_cost(shuffled, graph) > 1.2 * score
    with pytest.raises(ValueError, match="the weights of a GraphMetric are lengths"):
        dasgupta_cost(tree, tr.GraphMetric(graph, weight="weight"))


@pytest.mark.parametrize("normalize", [False, True])
def test_intervals_contain_the_cost_of_all_rows(normalize):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(150, 2))
    tree = tr.fit(points, metric="euclidean", method="upgma")
    gaps = np.linalg.norm(points[:, None] - points, axis=-1)
    similarity = np.exp(-(gaps**2))
    exact = dasgupta_cost(tree, similarity, normalize=normalize)
    scores = [dasgupta_cost(tree, similarity, normalize=normalize, rows=40, rng=seed) for seed in range(200)]
    check_coverage(exact, scores)
    assert (scores[0].exact, scores[0].pairs) == (False, 40 * 149)


@pytest.mark.parametrize("rows", [None, 40])
def test_same_bits_for_every_number_of_threads_and_block_size(rows, monkeypatch):
    rng = np.random.default_rng(4)
    tree = tr.datasets.random_tree(150, rng=4)
    similarity = random_similarity(rng, 150, 0.5)
    results = set()
    for entries in (1, 2000, 1 << 18):
        monkeypatch.setattr(streaming, "BLOCK_ENTRIES", entries)
        for n_jobs in (1, 3):
            score = dasgupta_cost(tree, similarity, rows=rows, n_jobs=n_jobs)
            results.add((float(score).hex(), score.low.hex(), score.high.hex()))
    assert len(results) == 1


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_bad_similarities_are_named(kind):
    good = nx.to_numpy_array(PATH)
    for value in (-1.0, np.nan, np.inf):
        bad = good.copy()
        bad[1, 2] = bad[2, 1] = value
        with pytest.raises(MetricError, match=rf"^the similarity of 1 and 2 is {value}, but"):
            dasgupta_cost(QUARTET, kind(bad))
    uneven = good.copy()
    uneven[0, 3] = 2.0
    with pytest.raises(MetricError, match=r"^entry \(0, 3\) is 2.0 but \(3, 0\) is 0.0: "):
        dasgupta_cost(QUARTET, kind(uneven))
    # Rounding is no asymmetry, and the diagonal does not count.
    rounded = good.copy()
    rounded[0, 1] += 1e-15
    rounded[np.diag_indices(4)] = np.nan
    assert dasgupta_cost(QUARTET, kind(rounded)) == pytest.approx(8.0)


def test_bad_input_gets_one_clear_line():
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, -1, "weight")
    with pytest.raises(MetricError, match="similarities must be numbers of at least 0"):
        dasgupta_cost(QUARTET, graph, weight="weight")
    with pytest.raises(ValueError, match="only graphs of networkx, igraph and networkit have"):
        dasgupta_cost(QUARTET, np.ones((4, 4)), weight="weight")
    with pytest.raises(ValueError, match="rows applies only to an array"):
        dasgupta_cost(QUARTET, PATH, rows=2)
    with pytest.raises(ValueError, match="tree has 4 points and similarity has 5"):
        dasgupta_cost(QUARTET, nx.path_graph(5))
    with pytest.raises(ValueError, match="expected a square matrix of similarities, got 4 x 2"):
        dasgupta_cost(QUARTET, np.ones((4, 2)))
    with pytest.raises(ValueError, match="expected a square matrix of similarities, got 4 x 2"):
        dasgupta_cost(QUARTET, csr_array(np.ones((4, 2))))
    with pytest.raises(TypeError, match="cannot read similarities from PointMetric"):
        dasgupta_cost(QUARTET, tr.PointMetric(np.ones((4, 2))))
    with pytest.raises(TypeError, match="Dasgupta's cost needs a tree, not TreeSum"):
        dasgupta_cost(tr.TreeSum([QUARTET]), PATH)
    with pytest.raises(ValueError, match="normalize must be True or False"):
        dasgupta_cost(QUARTET, PATH, normalize="yes")
    names = pd.DataFrame(np.ones((4, 4)), list("abcd"), list("abdc"))
    with pytest.raises(ValueError, match="rows and columns of the table of similarities"):
        dasgupta_cost(QUARTET, names)
