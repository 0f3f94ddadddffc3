"""The class itself: what it accepts, refuses and promises."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from treerep.metric.base import Metric, MetricError
from treerep.tree.tree import Tree

from .strategies import trees

STAR = [[0, 3], [1, 3], [2, 3]]


def star() -> Tree:
    return Tree(3, STAR, [1.0, 2.0, 3.0], labels=["a", "b", "c"])


def test_by_hand() -> None:
    tree = star()
    assert isinstance(tree, Metric)
    assert (len(tree), tree.n_points, tree.n_nodes, tree.labels) == (3, 3, 4, ("a", "b", "c"))
    assert tree.total_length == 6.0
    assert_array_equal(tree.degrees, [1, 1, 1, 3])
    assert_array_equal(tree.distances(), [[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    assert_array_equal(tree.distances(["c", 0]), [[0, 4], [4, 0]])
    assert_array_equal(tree.pairs([0, 3], [3, 2]), [1, 3])


def test_single_point() -> None:
    tree = Tree(1, [], [])
    assert (len(tree), tree.n_nodes) == (1, 1)
    assert tree.edges.shape == (0, 2)
    assert_array_equal(tree.distances(), [[0.0]])
    assert_array_equal(tree.pairs([0], [0]), [0.0])
    assert_array_equal(tree.path(0, 0), [0])
    assert tree.rooted().parent.tolist() == [-1]
    assert tree.canonical() == tree.contracted() == tree.restrict([0]) == tree


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Tree(1, [], []), "Tree(1 point, 0 Steiner nodes)"),
        (star(), "Tree(3 points, 1 Steiner node)"),
        (
            Tree(1, [[k, k + 1] for k in range(1200)], np.ones(1200)),
            "Tree(1 point, 1,200 Steiner nodes)",
        ),
    ],
)
def test_repr(tree: Tree, text: str) -> None:
    assert repr(tree) == text


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((0, [], []), ValueError, "at least one data point, not n_points=0"),
        ((True, [], []), TypeError, "n_points must be a whole number, not True"),
        ((2.0, [[0, 1]], [1]), TypeError, "n_points must be a whole number, not 2.0"),
        (
            (3, [[0, 1]], [1]),
            ValueError,
            "a tree with 3 points needs at least 2 edges, got 1",
        ),
        (
            (3, [[0, 1], [1, 3]], [1, 1]),
            ValueError,
            r"edge 1 is \(1, 3\), .* node ids must be 0 to 2",
        ),
        ((3, [[0, 1], [-1, 2]], [1, 1]), ValueError, r"edge 1 is \(-1, 2\)"),
        ((2, [[0.0, 1.0]], [1]), TypeError, "integer node ids, not float64"),
        ((2, [[0, 1, 2]], [1]), ValueError, r"shape \(E, 2\), not \(1, 3\)"),
        (
            (3, [[0, 1], [1, 2]], [1]),
            ValueError,
            r"got weights of shape \(1,\) for 2 edges",
        ),
        ((3, [[0, 1], [1, 2]], [1, -0.5]), ValueError, r"edge 1 \(1, 2\) has weight -0.5"),
        ((3, [[0, 1], [1, 2]], [np.nan, 1]), ValueError, r"edge 0 \(0, 1\) has weight nan"),
        ((3, [[0, 1], [1, 2]], [1, np.inf]), ValueError, r"edge 1 \(1, 2\) has weight inf"),
        (
            (3, [[0, 1], [1, 2]], [1e308, 1e308]),
            ValueError,
            "the sum of the weights exceeds the range of float64: rescale",
        ),
        ((3, [[0, 1], [1, 2]], ["a", "b"]), TypeError, "weights must be real numbers"),
        (
            (4, [[0, 1], [1, 2], [2, 0]], [1, 1, 1]),
            ValueError,
            r"edge 2 \(2, 0\) closes a cycle and node 3 is not connected to node 0",
        ),
        (
            (3, [[0, 1], [1, 0]], [1, 1]),
            ValueError,
            r"edge 1 \(1, 0\) closes a cycle and node 2 is not connected",
        ),
        (
            (2, [[1, 1]], [1]),
            ValueError,
            r"edge 0 \(1, 1\) closes a cycle and node 1 is not connected",
        ),
        (
            (2, [[0, 0]], [1]),
            ValueError,
            r"edge 0 \(0, 0\) closes a cycle and node 1 is not connected",
        ),
        (
            (5, [[2, 3], [3, 4], [4, 2], [0, 1]], np.ones(4)),
            ValueError,
            r"edge 2 \(4, 2\) closes a cycle and node 2 is not connected",
        ),
        ((2, [[0, 1]], [1], ["a"]), MetricError, "1 labels were given for 2 points"),
        ((2, [[0, 1]], [1], ["a", "a"]), MetricError, "points 0 and 1 share the label 'a'"),
    ],
)
def test_refuses(arguments: tuple, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as error:
        Tree(*arguments)
    assert "\n" not in str(error.value)


@given(trees(), st.data())
def test_any_moved_edge_is_judged_rightly(tree: Tree, data: st.DataObject) -> None:
    import networkx as nx

    edges = tree.edges.copy()
    if len(edges):
        row, column = data.draw(st.integers(0, len(edges) - 1)), data.draw(st.integers(0, 1))
        edges[row, column] = data.draw(st.integers(0, tree.n_nodes - 1))
    graph = nx.MultiGraph(edges.tolist())
    graph.add_nodes_from(range(tree.n_nodes))
    if nx.is_tree(graph):
        assert_array_equal(Tree(tree.n_points, edges, tree.weights).edges, edges)
    else:
        with pytest.raises(ValueError, match="closes a cycle and node [0-9]+ is not connected"):
            Tree(tree.n_points, edges, tree.weights)


def test_never_changes() -> None:
    edges, weights = np.array(STAR), np.array([1.0, 2.0, 3.0])
    tree = Tree(3, edges, weights)
    edges[0], weights[0] = 2, 9.0
    assert tree == Tree(3, STAR, [1.0, 2.0, 3.0])
    for array in (tree.edges, tree.weights, *tree.rooted()[1:], *tree.oracle):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError, match="trees are immutable: create a new one with another weights"):
        tree.weights = weights  # type: ignore[misc]


@pytest.mark.parametrize("name", ["labels", "edges", "oracle"])
def test_nothing_can_be_deleted(name: str) -> None:
    tree = star()
    assert getattr(tree, name) is not None
    with pytest.raises(AttributeError, match=f"trees are immutable: {name} cannot be deleted"):
        delattr(tree, name)
    assert tree == star()


def test_any_integer_and_float_type() -> None:
    for dtype in (np.int8, np.uint16, np.int32, np.uint64, ">i4"):
        assert Tree(3, np.array(STAR, dtype), np.array([1, 2, 3], np.float32)) == Tree(3, STAR, [1, 2, 3])
    assert Tree(3, np.asfortranarray(STAR), [1, 2, 3]).edges.flags.c_contiguous


def test_equality_is_exact() -> None:
    tree = star()
    assert tree == star()
    assert tree != Tree(3, STAR, [1.0, 2.0, np.nextafter(3.0, 4.0)], labels=["a", "b", "c"])
    assert tree != Tree(3, STAR, [1.0, 2.0, 3.0])
    assert tree != Tree(4, STAR, [1.0, 2.0, 3.0])
    assert tree != "tree"
    with pytest.raises(TypeError, match="unhashable"):
        hash(tree)


def test_with_weights() -> None:
    tree = star().with_weights([3, 2, 1])
    assert tree == Tree(3, STAR, [3.0, 2.0, 1.0], labels=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"edge 2 \(2, 3\) has weight -1.0"):
        tree.with_weights([1, 2, -1])
    with pytest.raises(ValueError, match="the sum of the weights exceeds the range of float64"):
        tree.with_weights([1e308, 1e308, 0])


def test_pickles_without_its_caches() -> None:
    tree = star()
    size = len(pickle.dumps(tree))
    tree.oracle, tree.rooted()
    assert len(pickle.dumps(tree)) == size
    copy = pickle.loads(pickle.dumps(tree))
    assert copy == tree
    assert not copy.weights.flags.writeable


@given(trees())
def test_networkx(tree: Tree) -> None:
    graph = Tree(
        tree.n_points, tree.edges, tree.weights, [f"p{i}" for i in range(tree.n_points)]
    ).to_networkx()
    assert sorted(graph.nodes) == list(range(tree.n_nodes))
    assert {(*sorted(e[:2]), e[2]) for e in graph.edges.data("weight")} == {
        (*sorted(e), w) for e, w in zip(tree.edges.tolist(), tree.weights.tolist(), strict=True)
    }
    for node, attributes in graph.nodes.items():
        assert attributes == (
            {"steiner": True} if node >= len(tree) else {"steiner": False, "label": f"p{node}"}
        )


def test_names_and_numbers() -> None:
    tree = star()
    assert_array_equal(tree.path("a", "c"), [0, 3, 2])
    assert_array_equal(tree.path(np.int32(3), "b"), [3, 1])
    with pytest.raises(ValueError, match="'z' is not in the tree: no point has this label"):
        tree.path("a", "z")
    with pytest.raises(ValueError, match="'a' is not in the tree: the tree has no labels"):
        tree.with_weights([1, 1, 1]).restrict([0, 1]).__class__(2, [[0, 1]], [1]).path("a", 0)
    with pytest.raises(IndexError, match="point 4 does not exist: the 4 points"):
        tree.path(0, 4)
    with pytest.raises(IndexError, match="point 4 does not exist"):
        tree.pairs([0], [4])
    with pytest.raises(IndexError, match="point 3 does not exist: the 3 points"):
        tree.distances([0, 3])
    with pytest.raises(TypeError, match="a node must be a whole number, not 1.5"):
        tree.path(0, 1.5)  # type: ignore[arg-type]


def test_import_brings_no_compiler() -> None:
    script = "import sys, treerep.tree.tree; assert 'numba' not in sys.modules; assert 'networkx' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
