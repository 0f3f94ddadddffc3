"""Edges have the colors of their clades, and clades can be collapsed."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba

import treerep as tr
from treerep.drawing.figures._colors import PALETTE
from treerep.drawing.figures.parts.edge_colors import EDGES

TREE = tr.Tree.from_newick("((((a:1,b:2):3,c:4)Canidae:1,d:6):1,(e:2,f:3):2);")
GROUPS = list("xxxyzz")


def colors_of_edges(ax, tree):
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    colors = np.broadcast_to(lines.get_colors(), (len(tree.edges), 4))
    return {frozenset(edge): tuple(color) for edge, color in zip(tree.edges.tolist(), colors, strict=True)}


def reference(tree, root, groups):
    """Return the category of each edge by walking over all points, None if they differ."""
    parent = tree.rooted(root).parent
    below = {node: set() for node in range(tree.n_nodes)}
    for point in range(tree.n_points):
        node = point
        while node >= 0:
            below[node].add(groups[point])
            node = parent[node]
    return {
        frozenset((node, int(parent[node]))): next(iter(found)) if len(found) == 1 else None
        for node, found in below.items()
        if parent[node] >= 0
    }


@given(st.integers(2, 25), st.integers(0, 50), st.sampled_from(["radial", "rectangular"]))
def test_an_edge_has_the_color_of_the_points_below(points, seed, layout):
    tree = tr.datasets.random_tree(points, hidden=0.5, rng=seed)
    groups = np.random.default_rng(seed).choice(list("uv"), points).tolist()
    ax = tr.draw(tree, layout=layout, root=0, color=groups, palette={"u": "red", "v": "blue"})
    plt.close(ax.figure)
    expected = reference(tree, 0, groups)
    named = {"u": to_rgba("red"), "v": to_rgba("blue"), None: to_rgba(EDGES)}
    for edge, color in colors_of_edges(ax, tree).items():
        assert color == named[expected[edge]]


def test_numbers_have_the_color_of_their_mean():
    values = [1.0, 3.0, np.nan, 5.0, 7.0, 9.0]
    ax = tr.draw(TREE, layout="rectangular", color=values, edge_color="clade")
    scale = plt.matplotlib.cm.ScalarMappable(plt.Normalize(1, 9), "viridis")
    drawn = colors_of_edges(ax, TREE)
    parent = TREE.rooted(TREE.root).parent
    both = int(parent[0])  # above a and b
    assert drawn[frozenset((both, int(parent[both])))] == pytest.approx(scale.to_rgba(2.0))
    above = int(parent[both])  # the mean of 1, 3 and a missing value
    assert drawn[frozenset((above, int(parent[above])))] == pytest.approx(scale.to_rgba(2.0))
    plain = colors_of_edges(tr.draw(TREE, color=values), TREE)
    assert set(plain.values()) == {to_rgba(EDGES)}


def test_one_color_for_all_edges():
    ax = tr.draw(TREE, color=GROUPS, edge_color="black")
    assert set(colors_of_edges(ax, TREE).values()) == {to_rgba("black")}


def test_embeddings_of_trees_have_colored_edges():
    ax = tr.draw(tr.embed(TREE, scale=0.5), color=GROUPS)
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    colors = {tuple(color) for color in lines.get_colors()}
    assert colors >= set(map(to_rgba, PALETTE[:3]))


def triangles_of(ax):
    found = [c for c in ax.collections if isinstance(c, PolyCollection)]
    return [path.vertices[:3] for c in found for path in c.get_paths()]


def test_a_collapsed_clade_by_hand():
    ax = tr.draw(TREE, layout="rectangular", collapse=["Canidae"], color=GROUPS)
    (corners,) = triangles_of(ax)
    # The clade starts at depth 2, and its longest path is 3 + 2 (to b).
    np.testing.assert_allclose(corners[:, 0], [2.0, 7.0, 7.0])
    names = {text.get_text() for text in ax.texts}
    assert names == {"Canidae (3)", "d", "e", "f"}
    (triangle,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    assert tuple(triangle.get_facecolors()[0]) == to_rgba(PALETTE[0])
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    assert len(lines.get_segments()) == len(TREE.edges) - 4


@pytest.mark.parametrize("layout", ["radial", "rectangular", "slanted", "circular", "equal_daylight"])
def test_clades_by_points_and_by_node(layout):
    node = next(iter(TREE.clade_names))
    for collapse in ({"dogs": ["c", "a", "b"]}, {"dogs": "Canidae"}, {"dogs": node}):
        ax = tr.draw(TREE, layout=layout, collapse=collapse)
        assert len(triangles_of(ax)) == 1
        assert "dogs (3)" in {text.get_text() for text in ax.texts}
        plt.close(ax.figure)
    unnamed = int(TREE.rooted(TREE.root).parent[4])
    ax = tr.draw(TREE, layout="rectangular", collapse=[unnamed])
    assert "2 points" in {text.get_text() for text in ax.texts}


def test_all_other_points_stay():
    tree = tr.datasets.random_tree(80, hidden=0.5, rng=4)
    view = tree._view_from(tree.n_points)
    sizes = view.size[view.position]
    inner = np.flatnonzero((sizes > 4) & (sizes < 20))
    node = int(inner[-1])
    at = view.position[node]
    inside = view.order[at : at + view.size[at]]
    ax = tr.draw(tree, layout="radial", root=tree.n_points, collapse=[node], color="red")
    drawn = sum(len(c.get_offsets()) for c in ax.collections[2:])
    assert drawn - (tree.n_points - (inside < tree.n_points).sum()) in (
        0,
        (~np.isin(np.arange(tree.n_points, tree.n_nodes), inside)).sum(),
    )


@pytest.mark.parametrize(
    ("collapse", "said"),
    [
        (["Felidae"], "no clade is named 'Felidae'"),
        ({"x": ["a", "c"]}, "2 points to collapse are not a clade: point 1 is between"),
        ({"x": ["a"]}, "at least two points"),
        ([0], "cannot collapse node 0"),
        ("Canidae", "collapse is 'Canidae': pass a list"),
        ({"x": ["a", "b"], "y": ["a", "b", "c"]}, "inside another collapsed clade"),
        (["Canidae", TREE.root], "cannot collapse node"),
    ],
    ids=str,
)
def test_clades_that_cannot_be_collapsed(collapse, said):
    with pytest.raises(ValueError, match=said):
        tr.draw(TREE, layout="rectangular", collapse=collapse)


def test_layouts_without_triangles():
    with pytest.raises(ValueError, match="'hyperbolic' has no collapsed clades"):
        tr.draw(TREE, layout="hyperbolic", collapse=["Canidae"])
    with pytest.raises(ValueError, match="apply to trees only"):
        tr.draw(tr.embed(TREE), collapse=["Canidae"])
