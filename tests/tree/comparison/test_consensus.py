"""Consensus trees: by hand, against DendroPy, and properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from treerep import Tree, consensus

from ..strategies import naive_splits

TWO = "((a:1,b:1):1,(c:1,d:1):1);"
ONE = "((a:3,c:1):1,(b:1,d:1):1);"


def random_tree(n: int, rng: np.random.Generator) -> Tree:
    """Return a random binary tree with all points as leaves."""
    edges = [[0, n], [1, n], [2, n]]
    for point in range(3, n):
        k = int(rng.integers(len(edges)))
        u, v = edges[k]
        new = n + point - 2
        edges[k] = [u, new]
        edges += [[new, v], [point, new]]
    lengths = rng.integers(1, 9, len(edges)).astype(float)
    return Tree(n, edges, lengths, labels=[f"t{i}" for i in range(n)])


def clusters(tree: Tree) -> dict[frozenset[int], float]:
    """Return the points on the side without point 0 of each inner edge, with its support."""
    found = {}
    rooted = tree.rooted(0)
    for k, (u, v) in enumerate(tree.edges.tolist()):
        low = u if rooted.parent[u] == v else v
        below = frozenset(i for i in range(len(tree)) if low in tree.path(i, 0))
        if 2 <= len(below) <= len(tree) - 2:
            found[below] = 1.0 if tree.support is None else float(tree.support[k])
    return found


def test_by_hand() -> None:
    trees = [Tree.from_newick(text) for text in (TWO, TWO, ONE)]
    for method in ("greedy", "majority"):
        found = consensus(trees, method=method)
        assert found.newick(digits=3) == "(a:1.67,b:1,(c:1,d:1)0.6667:2);"
    star = consensus(trees, method="strict")
    assert star.n_nodes == 5 and np.isnan(star.support).all()


def test_greedy_adds_compatible_splits_of_few_trees() -> None:
    texts = [
        "((a:1,b:1):1,c:1,d:1,e:1);",
        "((d:1,e:1):1,a:1,b:1,c:1);",
        "((a:1,c:1):1,b:1,d:1,e:1);",
    ]
    trees = [Tree.from_newick(text) for text in texts]
    names = {
        frozenset(found.labels[i] for i in cluster)
        for found in [consensus(trees)]
        for cluster in clusters(found)
    }
    assert names == {frozenset("cde"), frozenset("de")}  # ab | cde and de | abc; ac conflicts
    assert clusters(consensus(trees, method="majority")) == {}


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 12), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_equals_a_plain_implementation(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pool = [random_tree(n, rng) for _ in range(3)]
    trees = [pool[int(rng.integers(3))] for _ in range(k)]
    counts: dict[frozenset[int], int] = {}
    for tree in trees:
        for cluster in clusters(tree):
            counts[cluster] = counts.get(cluster, 0) + 1
    found = clusters(consensus(trees))
    # Compatible: nested or disjoint.
    assert all(a <= b or b <= a or not a & b for a in found for b in found)
    assert all(share == pytest.approx(counts[cluster] / k) for cluster, share in found.items())
    for cluster, count in counts.items():
        if cluster not in found:
            rivals = [c for c in found if c & cluster and not (c <= cluster or cluster <= c)]
            assert any(counts[c] >= count for c in rivals)
    majority = {cluster for cluster, count in counts.items() if 2 * count > k}
    assert set(clusters(consensus(trees, method="majority"))) == majority
    everywhere = {cluster for cluster, count in counts.items() if count == k}
    assert set(clusters(consensus(trees, method="strict"))) == everywhere


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 10), st.integers(1, 5), st.integers(0, 2**32 - 1), st.booleans())
def test_edges_of_length_0_count_on_request(n: int, k: int, seed: int, zero_edges: bool) -> None:
    rng = np.random.default_rng(seed)
    pool = [random_tree(n, rng) for _ in range(2)]
    trees = []
    for _ in range(k):
        tree = pool[int(rng.integers(2))]
        trees.append(tree.with_weights(tree.weights * (rng.random(len(tree.edges)) < 0.6)))
    lengths: dict[frozenset[int], list[float]] = {}
    for tree in trees:
        for cluster, length in naive_splits(tree).items():
            if 2 <= len(cluster) <= n - 2 and (zero_edges or length > 0):
                lengths.setdefault(cluster, []).append(length)
    for method, least in (("majority", k // 2 + 1), ("strict", k)):
        found = consensus(trees, method=method, zero_edges=zero_edges)
        expected = {c: len(own) / k for c, own in lengths.items() if len(own) >= least}
        assert clusters(found) == pytest.approx(expected)
        splits = naive_splits(found)
        assert all(splits[c] == pytest.approx(np.mean(lengths[c])) for c in expected)
        singles = np.mean([[naive_splits(t)[s] for s in point_splits(n)] for t in trees], axis=0)
        assert [splits.get(s, 0) for s in point_splits(n)] == pytest.approx(singles)
    greedy = clusters(consensus(trees, zero_edges=zero_edges))
    assert greedy.items() <= {c: len(own) / k for c, own in lengths.items()}.items()


def point_splits(n: int) -> list[frozenset[int]]:
    """Return the divisions of one point from the others, as the side without point 0."""
    return [frozenset(range(1, n)), *(frozenset([i]) for i in range(1, n))]


def test_an_edge_of_length_0_is_no_vote() -> None:
    zero = TWO.replace(":1)", ":0)").replace("):1", "):0")
    trees = [Tree.from_newick(text) for text in (zero, zero, ONE)]
    assert clusters(consensus(trees)) == {frozenset({1, 3}): 1 / 3}
    assert clusters(consensus(trees, method="majority")) == {}
    assert clusters(consensus(trees, zero_edges=True)) == {frozenset({2, 3}): 2 / 3}


def test_few_points() -> None:
    for zero_edges in (False, True):
        pairs = [Tree.from_newick(f"(a:{length},b:{length});") for length in (1, 3)]
        pair = consensus(pairs, zero_edges=zero_edges)
        assert pair == Tree(2, [[0, 1]], [4.0], labels="ab")
        single = consensus([Tree(1, [[0, 1]], [2.0])], zero_edges=zero_edges)
        assert single == Tree(1, np.empty((0, 2), int), [])


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 30), st.integers(0, 2**32 - 1))
def test_trees_that_agree_give_the_same_tree(n: int, seed: int) -> None:
    tree = random_tree(n, np.random.default_rng(seed))
    other = tree.restrict(tree.labels[::-1])
    assert consensus([tree, other, tree]).isclose(tree)


def test_points_inside_trees() -> None:
    path = Tree(4, [[0, 1], [1, 2], [2, 3]], [1.0, 2.0, 3.0])
    assert consensus([path, path]) == path.canonical()


def test_majority_consensus_of_dendropy() -> None:
    dendropy = pytest.importorskip("dendropy")
    rng = np.random.default_rng(3)
    base = random_tree(20, rng)
    noisy = base.distances() * (1 + 0.15 * rng.standard_normal((20, 20)))
    trees = []
    for _ in range(25):
        noisy = base.distances() * np.exp(0.15 * rng.standard_normal((20, 20)))
        metric = tr.MatrixMetric((noisy + noisy.T) / 2, labels=base.labels)
        trees.append(tr.fit(metric, method="neighbor_joining"))
    text = "\n".join(tree.newick() for tree in trees)
    theirs = dendropy.TreeList.get(data=text, schema="newick", rooting="force-unrooted")
    expected = theirs.consensus(min_freq=0.5001)
    expected.encode_bipartitions()
    names = {taxon.label for taxon in theirs.taxon_namespace}
    splits = set()
    for split in expected.bipartition_encoding:
        side = {taxon.label for taxon in split.leafset_taxa(theirs.taxon_namespace)}
        side = names - side if base.labels[0] in side else side
        if 2 <= len(side) <= 18:
            splits.add(frozenset(base.labels.index(name) for name in side))
    assert set(clusters(consensus(trees, method="majority"))) == splits


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="a consensus needs at least one tree"):
        consensus([])
    with pytest.raises(ValueError, match="method"):
        consensus([Tree.from_newick(TWO)], method="most")
    with pytest.raises(ValueError, match=r"trees\[1\] has no point 'a'"):
        consensus([Tree.from_newick(TWO), Tree.from_newick("((x:1,b:1):1,(c:1,d:1):1);")])
