import io
import pickle
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text

import treerep as tr
from treerep.drawing.draw import LAYOUTS
from treerep.drawing.figures._text import plain
from treerep.drawing.layouts.rectangular import rectangular

NASTY = [
    'it\'s "x"',
    "<b>bold</b>",
    "a$b$c",
    "under_score^2",
    "\N{SEAL} \N{GRINNING FACE}",
    "猫",
    r"\frac{1}{2}",
    "{}\t\x00",
]
TINY = [
    tr.Tree(1, np.empty((0, 2), int), [], labels=["only"]),
    tr.Tree(2, [[0, 1]], [3.0], labels=["a", "b"]),
    tr.Tree(2, [[0, 1]], [0.0], labels=["a", "b"]),
    tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 0.0, 0.0], labels=["a", "b", "c"]),
]


@pytest.fixture(scope="module")
def mammals():
    return tr.fit(tr.datasets.sarich(), trials=3)


def points_of(ax):
    """Positions of the points, without Steiner nodes, whose collection comes first."""
    scatters = [c for c in ax.collections if isinstance(c, PathCollection)]
    return np.concatenate([c.get_offsets() for c in scatters[1:]])


def names_of(ax):
    return {text.get_text() for text in ax.texts}


def boxes_of(ax):
    """Boxes of the names, without the lines that lead to their points."""
    ax.figure.canvas.draw()
    return [Text.get_window_extent(text) for text in ax.texts]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_names_neither_collide_nor_leave_the_axes(mammals, layout):
    ax = tr.draw(mammals, layout=layout, color=mammals.cut(3))
    boxes = boxes_of(ax)
    assert len(boxes) == 8
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
    frame = ax.get_window_extent()
    for box in boxes:
        assert frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1
        assert frame.y0 - 1 <= box.y0 and box.y1 <= frame.y1 + 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tree", TINY, ids=["one", "two", "two at one place", "zero lengths"])
def test_tiny_trees(tree, layout):
    ax = tr.draw(tree, layout=layout)
    ax.figure.canvas.draw()
    assert len(points_of(ax)) == len(tree)
    assert names_of(ax) == set(tree.labels)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_unit_of_length_does_not_change_the_picture(mammals, layout):
    units = [mammals.with_weights(factor * mammals.weights) for factor in (1.0, 1e-9, 1e9, 1e-200)]
    here, *there = ([box.bounds for box in boxes_of(tr.draw(tree, layout=layout))] for tree in units)
    for boxes in there:
        np.testing.assert_allclose(boxes, here, atol=0.1)


@pytest.mark.parametrize("longest", [5e-324, 5e307])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_lengths_at_the_ends_of_float64(layout, longest):
    weights = np.array([1.0, 0.5, 1e-9, 1.0, 0.0])
    tree = tr.Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], longest * weights, labels="abcd")
    ax = tr.draw(tree, layout=layout)
    ax.figure.canvas.draw()
    assert np.isfinite(points_of(ax)).all()
    assert len(np.unique(points_of(ax), axis=0)) >= 3


@pytest.mark.parametrize("layout", ["radial", "hyperbolic"])
def test_all_kinds_of_files(mammals, layout, tmp_path):
    figure = tr.draw(mammals, layout=layout, color=list("aabbccdd")).figure
    for kind, beginning in {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}.items():
        path = tmp_path / f"tree.{kind}"
        figure.savefig(path)
        content = path.read_bytes()
        assert content.startswith(beginning)
        assert len(content) > 2_000


def test_axes_that_are_given_are_used_and_pyplot_is_left_alone(mammals):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert tr.draw(mammals, ax=left, color=np.arange(8.0)) is left
    assert tr.draw(tr.embed(mammals, scale=0.05), ax=right) is right
    assert plt.get_fignums() == []
    other = plt.figure()
    tr.draw(mammals, ax=left)
    assert plt.gcf() is other
    figure.savefig(io.BytesIO())


def test_a_new_figure_by_default(mammals):
    ax = tr.draw(mammals)
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.get_aspect() == 1.0


def test_points_are_where_the_layout_puts_them_and_edges_join_them(mammals):
    from treerep.drawing.layouts.radial import radial

    ax = tr.draw(mammals, layout="radial")
    spots = radial(mammals)
    order = np.lexsort
    drawn = points_of(ax)
    np.testing.assert_allclose(drawn[order(drawn.T)], spots[:8][order(spots[:8].T)])
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    np.testing.assert_allclose(np.array(lines.get_segments()), spots[mammals.edges])


def test_edges_of_the_rectangular_layout_go_along_the_axes(mammals):
    (lines,) = (
        c for c in tr.draw(mammals, layout="rectangular").collections if isinstance(c, LineCollection)
    )
    for start, corner, end in lines.get_segments():
        assert start[0] == corner[0] and corner[1] == end[1] and end[0] >= corner[0]


def test_an_embedding_is_drawn_in_the_disk(mammals):
    embedding = tr.embed(mammals, scale=0.05)
    ax = tr.draw(embedding)
    assert names_of(ax) == set(mammals.labels)
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    spots = embedding.poincare
    ends = {tuple(np.round(line[k], 9)) for line in lines.get_segments() for k in (0, -1)}
    assert ends == {tuple(np.round(spot, 9)) for spot in spots}
    assert any(len(line) > 2 for line in lines.get_segments())


def test_points_of_an_embedding_without_a_tree():
    embedding = tr.Embedding.from_poincare([[0.0, 0.0], [0.5, 0.0], [0.0, -0.9]], labels=["a", "b", "c"])
    ax = tr.draw(embedding, color=["x", "y", "x"])
    assert len(points_of(ax)) == 3
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    assert len(lines.get_segments()) == 0


def test_categories_have_a_legend_and_numbers_a_color_bar(mammals):
    ax = tr.draw(mammals, color=list("ddccbbaa"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c", "d"]
    ax = tr.draw(mammals, color=np.linspace(0, 3, 8))
    assert ax.get_legend() is None
    (bar,) = ax.child_axes
    assert bar.get_ylim() == (0.0, 3.0)
    ax = tr.draw(mammals, color=np.linspace(0, 3, 8), legend=False)
    assert ax.child_axes == []
    assert tr.draw(mammals, color=list("ddccbbaa"), legend=False).get_legend() is None


def test_a_long_legend_is_not_cut():
    tree = tr.datasets.random_tree(90, rng=3)
    ax = tr.draw(tree, color=[f"a long name with a number {k}" for k in tree.cut(45)])
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1
    ax = tr.draw(tree, color=[f"class {k}" for k in tree.cut(61)])
    assert ax.get_legend() is None


def test_nothing_is_cut_from_a_tight_picture(mammals):
    ax = tr.draw(mammals)
    ax.figure.canvas.draw()
    frame = ax.figure.get_tightbbox().transformed(ax.figure.dpi_scale_trans)
    for box in boxes_of(ax):
        assert (
            frame.x0 - 1 <= box.x0
            and box.x1 <= frame.x1 + 1
            and frame.y0 - 1 <= box.y0
            and box.y1 <= frame.y1 + 1
        )


def test_colors_of_points_and_of_nodes(mammals):
    for count in (len(mammals), mammals.n_nodes):
        colors = ["red", "blue"] * count
        ax = tr.draw(mammals, color=colors[:count], palette={"red": "red", "blue": "blue"})
        drawn = np.concatenate(
            [c.get_facecolors() for c in ax.collections if isinstance(c, PathCollection)][1:]
        )
        assert len(drawn) == count
        assert {tuple(color) for color in drawn} == {to_rgba("red"), to_rgba("blue")}
    with pytest.raises(ValueError, match="3 colors do not match 8 points or"):
        tr.draw(mammals, color=[1.0, 2.0, 3.0])
    assert len(tr.draw(mammals, color="k").collections) == 3


def test_names_by_wish(mammals):
    assert names_of(tr.draw(mammals)) == set(mammals.labels)
    assert names_of(tr.draw(mammals, labels=False)) == set()
    assert names_of(tr.draw(mammals, labels=["A", "", None, *"DEFGH"])) == set("ADEFGH")
    assert names_of(tr.draw(mammals, labels=["A", *[float("nan")] * 7])) == {"A"}
    assert len(names_of(tr.draw(mammals, labels=range(mammals.n_nodes)))) == mammals.n_nodes
    with pytest.raises(ValueError, match="2 labels do not match 8 points"):
        tr.draw(mammals, labels=["a", "b"])
    with pytest.raises(ValueError, match="labels must be True, False, None, 'support' or a sequence"):
        tr.draw(mammals, labels="names")


def test_names_are_cut_where_they_would_leave_no_room(mammals):
    ax = tr.draw(
        mammals,
        labels=["x" * 300, "two\n" + "y" * 300, *"abcdef"],
        color=["z" * 300, *"abcdefg"],
    )
    assert {"x" * 44 + "…", "two\n" + "y" * 44 + "…"} < names_of(ax)
    assert ax.get_legend().get_texts()[-1].get_text() == "z" * 44 + "…"
    assert ax.get_position().width > 0.3


def test_names_of_no_width_are_no_trouble(mammals):
    ax = tr.draw(mammals, labels=["  ", "\n", "\t", "\u200b", *"abcd"])
    assert names_of(ax) - {"\u200b", "\u25a1"} == set("abcd")


def test_names_fit_into_the_rows_of_small_axes():
    tree = tr.Tree(40, [[k, 40] for k in range(40)], np.ones(40), labels=[f"name {k}" for k in range(40)])
    ax = tr.draw(tree, layout="rectangular", ax=plt.figure(figsize=(4, 3)).subplots())
    boxes = boxes_of(ax)
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_without_names_numbers_are_written_when_asked_for():
    tree = tr.Tree(3, [[0, 1], [1, 2]], [1.0, 1.0])
    assert names_of(tr.draw(tree)) == set()
    assert names_of(tr.draw(tree, labels=True)) == {"0", "1", "2"}


def test_many_names_are_left_out_by_default():
    tree = tr.datasets.random_tree(61, rng=0)
    named = tr.Tree(61, tree.edges, tree.weights, labels=[f"n{k}" for k in range(61)])
    assert names_of(tr.draw(named)) == set()
    assert len(names_of(tr.draw(named.restrict(range(60))))) == 60


def test_names_are_text_whatever_is_in_them():
    # Warnings are errors here: also that a sign is missing from the font.
    tree = tr.Tree(8, [[k, 8] for k in range(8)], np.ones(8), labels=NASTY)
    ax = tr.draw(tree, color=NASTY)
    for kind in ("svg", "pdf", "png"):
        ax.figure.savefig(io.BytesIO(), format=kind)
    assert r"a\$b\$c" in names_of(ax)
    assert NASTY[1] in names_of(ax)
    assert len(ax.get_legend().get_texts()) == 8


def test_dollars_are_shown_and_mathematics_is_not(mammals):
    assert plain("$x^2$ and \N{SEAL}") == r"\$x^2\$ and " + "\u25a1"
    ax = tr.draw(tr.Tree(1, np.empty((0, 2), int), [], labels=["$x^2$"]))
    buffer = io.BytesIO()
    with plt.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(buffer, format="svg")
    assert b">$x^2$<" in buffer.getvalue()


@pytest.mark.skipif(
    mpl.__version_info__ < (3, 10),
    reason="it asks TeX for the ticks of axes that are not shown",
)
def test_tex_does_not_read_names(mammals):
    with plt.rc_context(
        {"text.usetex": True}
    ):  # no TeX is called: it would stumble over "_" and "%", or be absent
        ax = tr.draw(mammals, labels=["a_b", "50%", *"cdefgh"], color=["x_y", "{", *"cccccc"])
        ax.figure.canvas.draw()
    assert ax.texts and not any(text.get_usetex() for text in ax.texts)


def test_a_figure_can_be_pickled(mammals):
    for color in (list("ddccbbaa"), np.arange(8.0)):
        again = pickle.loads(pickle.dumps(tr.draw(mammals, color=color).figure))
        again.savefig(io.BytesIO())
        assert len(again.axes[0].texts) == 8


def test_large_trees_are_pixels_in_vector_files():
    tree = tr.datasets.random_tree(6_000, rng=0)
    ax = tr.draw(tree, color=np.arange(6_000.0))
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, format="svg")
    assert all(c.get_rasterized() for c in ax.collections)
    assert b"<image" in buffer.getvalue()
    assert len(buffer.getvalue()) < 3_000_000
    assert not any(c.get_rasterized() for c in tr.draw(TINY[1]).collections)


def test_size_and_edges_by_wish(mammals):
    ax = tr.draw(mammals, size=50, edge_color="red", edge_width=3)
    lines, steiner, points = ax.collections
    assert points.get_sizes().tolist() == [50]
    assert steiner.get_sizes()[0] < 50
    assert lines.get_linewidths() == [3]
    assert lines.get_colors().tolist() == [list(to_rgba("red"))]


def test_what_cannot_be_drawn_is_refused(mammals):
    with pytest.raises(TypeError, match="draw expects a tree or an embedding, got ndarray: fit a tree first"):
        tr.draw(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="layout must be one of 'radial', .* not 'spiral'"):
        tr.draw(mammals, layout="spiral")
    with pytest.raises(ValueError, match="layout, root, lengths and collapse apply to trees only"):
        tr.draw(tr.embed(mammals), layout="radial")
    with pytest.raises(ValueError, match="cannot draw an embedding of dimension 3: embed in 2 dimensions"):
        tr.draw(tr.embed(mammals, dim=3))
    with pytest.raises(ValueError, match="'whale' is not in the tree"):
        tr.draw(mammals, root="whale")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": -1}, "size must be a number of at least 0, not -1"),
        ({"edge_width": "thin"}, "edge_width must be a number of at least 0, not 'thin'"),
        ({"color": list("ddccbbaa"), "palette": "nosuch"}, "no color map 'nosuch'"),
        ({"color": np.arange(8.0), "palette": "nosuch"}, "no color map 'nosuch'"),
        ({"color": np.arange(8.0), "palette": ["red"]}, "numbers need a matplotlib color map"),
    ],
    ids=str,
)
def test_options_that_make_no_sense(mammals, options, said):
    with pytest.raises(ValueError, match=said):
        tr.draw(mammals, **options)
    assert plt.get_fignums() == []


def test_axes_that_are_no_plane(mammals):
    figure = plt.figure()
    with pytest.raises(TypeError, match="ax must be one set of matplotlib Axes, got Figure"):
        tr.draw(mammals, ax=figure)
    with pytest.raises(ValueError, match="ax has the projection 'polar'"):
        tr.draw(mammals, ax=figure.add_subplot(projection="polar"))
    logarithmic = figure.add_subplot()
    logarithmic.set_yscale("log")
    with pytest.raises(ValueError, match="the y axis of ax is log, not linear"):
        tr.draw(mammals, ax=logarithmic)


def test_one_line_says_what_to_install():
    code = "import sys; sys.modules['matplotlib'] = None; import treerep as tr; tr.draw(tr.Tree(1, [], []))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.rstrip().endswith(
        "this needs matplotlib, which is not installed: pip install 'treerep[draw]'"
    )


def test_the_door_does_not_import_matplotlib():
    code = "import sys, treerep as tr; tr.draw; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_support_is_written_at_the_lower_ends_of_edges():
    tree = tr.Tree(
        4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0, 1.0, 2.0, 1.0, 1.0], labels="abcd"
    ).with_support([tr.Tree.from_newick("((a,b),(c,d));", default_length=1.0)] * 3)
    for root, node in (("c", 4), ("a", 5)):
        axes = tr.draw(tree, layout="rectangular", root=root, labels="support")
        texts = {text.get_text(): text for text in axes.texts}
        assert {"a", "b", "c", "d", "100"} <= set(texts)
        spots = rectangular(tree, root=root)
        others = np.delete(np.arange(6), node)
        here = np.linalg.norm(spots - texts["100"].xy, axis=1)
        assert here[node] <= here[others].min()
        plt.close(axes.figure)
    with pytest.raises(ValueError, match="needs a tree with support"):
        tr.draw(tr.Tree(2, [[0, 1]], [1.0]), labels="support")
