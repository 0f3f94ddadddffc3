"""Support: the share of trees that contain the split of an edge, and where it goes with a tree."""

import copy
import json
import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from treerep.tree.comparison.support import split_support
from treerep.tree.exchange.newick_text import parse_newick
from treerep.tree.tree import Tree

from ..strategies import caterpillar, naive_splits, renumbered, trees

SEEDS = st.integers(0, 2**32 - 1)
NAN = float("nan")


def far_sides(tree: Tree) -> list[frozenset[int]]:
    """Points beyond each edge, seen from point 0, in the order of the edges."""
    graph = tree.to_networkx()
    sides = []
    for u, v in tree.edges.tolist():
        cut = graph.copy()
        cut.remove_edge(u, v)
        side = nx.node_connected_component(cut, u)
        sides.append(frozenset(i for i in range(len(tree)) if (i in side) != (0 in side)))
    return sides


def naive_support(tree: Tree, others: list[Tree], zero_edges: bool) -> list[float]:
    def splits(tree: Tree) -> set[frozenset[int]]:
        found = naive_splits(tree).items()
        return {s for s, w in found if 2 <= len(s) <= len(tree) - 2 and (zero_edges or w > 0)}

    found, own = [splits(other) for other in others], splits(tree)
    return [
        sum(side in sides for sides in found) / len(others) if side in own else NAN
        for side in far_sides(tree)
    ]


def with_support(tree: Tree, rng: np.random.Generator, labels: list[str] | None = None) -> Tree:
    """Some support, the same for all edges that make the same split, in steps of a thousandth."""
    values: dict[frozenset[int], float] = {}
    for side in far_sides(tree):
        values.setdefault(side, NAN if rng.random() < 0.2 else float(rng.integers(0, 1001)) / 1000)
    support = [values[side] for side in far_sides(tree)]
    return Tree(len(tree), tree.edges, tree.weights, labels or tree.labels, support=support)


def by_split(tree: Tree) -> dict[frozenset[int], float]:
    assert tree.support is not None
    return dict(zip(far_sides(tree), tree.support.tolist(), strict=True))


def by_edge(tree: Tree) -> dict[tuple[int, int], float]:
    assert tree.support is not None
    return {(min(e), max(e)): s for e, s in zip(tree.edges.tolist(), tree.support.tolist(), strict=True)}


# The shares.


def test_by_hand() -> None:
    # ((a,b),(c,d),e) in three forms; the first has the splits ab|cde and cd|abe.
    first = Tree.from_newick("((0:1,1:1):1,(2:1,3:1):1,4:1);")
    second = Tree.from_newick("((0:1,1:1):1,(2:1,4:1):1,3:1);")  # ab|cde, ce|abd
    third = Tree.from_newick("(((0:1,4:1):1,1:1):1,2:1,3:1);")  # ae|bcd, abe|cd
    star = Tree.from_newick("(0:1,1:1,2:1,3:1,4:1);")
    support = split_support(first, [first, second, third, star])
    expected = {frozenset({2, 3, 4}): 2 / 4, frozenset({2, 3}): 2 / 4}
    for side, share in zip(far_sides(first), support, strict=True):
        assert_array_equal(share, expected.get(side, NAN))
    assert np.isnan(split_support(star, [first])).all()
    assert_array_equal(split_support(third, [second])[~np.isnan(split_support(third, [second]))], [0, 0])


def test_data_points_inside() -> None:
    path = Tree(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])  # 01|23 in the middle
    assert_array_equal(split_support(path, [path]), [NAN, 1, NAN])
    quartet = Tree.from_newick("((0:1,1:1):1,(2:1,3:1):1);")  # its root lies on a line: two edges, one split
    assert_array_equal(split_support(path, [quartet, quartet.contracted()]), [NAN, 1, NAN])
    assert np.nansum(split_support(quartet, [path])) == 2


def test_edges_of_length_0_have_and_give_no_support() -> None:
    edges = [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]]
    zero, one = (Tree(4, edges, [1, 1, length, 1, 1]) for length in (0, 1))
    assert_array_equal(split_support(zero, [zero, one])[2], NAN)
    assert split_support(one, [zero, one, one, one])[2] == 3 / 4
    assert zero.with_support([zero, one], zero_edges=True).support[2] == 1
    assert zero.with_support([zero, one.contracted(2)], zero_edges=True).support[2] == 1 / 2


def test_an_edge_of_length_0_next_to_a_longer_one_has_the_support_of_their_split() -> None:
    rooted = Tree.from_newick("((0:1,1:1):0,(2:1,3:1):1);")
    star = Tree.from_newick("(0:1,1:1,2:1,3:1);")
    support = split_support(rooted, [rooted, star])
    assert sorted(support[~np.isnan(support)].tolist()) == [0.5, 0.5]


def test_identical_sequences_have_no_support() -> None:
    """Binary trees of programs join identical points by edges of length 0."""
    tree = Tree.from_newick("(((a:0,b:0):0,c:0):1,(d:1,e:1):1);")
    replicates = [
        Tree.from_newick(text)
        for text in ("(((a:0,c:0):0,b:0):1,(d:1,e:1):1);", "(((b:0,c:0):0,a:0):1,(d:1,e:1):1);")
    ]
    shares = by_split(tree.with_support(replicates))
    assert shares[frozenset({3, 4})] == 1
    assert np.isnan(shares[frozenset({2, 3, 4})])
    counted = tree.with_support(replicates, zero_edges=True)
    assert by_split(counted)[frozenset({2, 3, 4})] == 0


@settings(max_examples=60)
@given(trees(max_nodes=14, min_points=4), st.integers(1, 4), SEEDS, st.booleans())
def test_agrees_with_sets(tree: Tree, count: int, seed: int, zero_edges: bool) -> None:
    rng = np.random.default_rng(seed)
    others = []
    for _ in range(count):
        # Like the tree, but for a few points that have changed places.
        number = np.arange(tree.n_nodes)
        moved = rng.choice(len(tree), size=rng.integers(1, 4), replace=False)
        number[moved] = rng.permutation(moved)
        weights = np.where(rng.random(len(tree.edges)) < 0.2, 0.0, tree.weights)
        others.append(renumbered(Tree(len(tree), number[tree.edges], weights), rng))
    expected = naive_support(tree, others, zero_edges)
    assert_array_equal(split_support(tree, others, zero_edges), expected)


@given(trees(min_points=2), SEEDS)
def test_a_tree_supports_itself_and_numbering_does_not_matter(tree: Tree, seed: int) -> None:
    again = renumbered(tree, np.random.default_rng(seed))
    support = split_support(tree, [tree, again])
    assert ((support == 1) | np.isnan(support)).all()


def test_agrees_with_robinson_foulds() -> None:
    rng = np.random.default_rng(0)
    n = 400
    first = caterpillar(n).contracted()
    number = np.concatenate([np.arange(n), np.arange(n, first.n_nodes)])
    number[:n][50:90] = 50 + rng.permutation(40)
    second = Tree(n, number[first.edges], first.weights)
    shared = np.nansum(split_support(first, [second]))
    # All points are leaves of both and both have n-3 inner splits.
    assert first.difference(second, path=False).robinson_foulds == 2 * (n - 3 - shared)
    assert 0 < shared < n - 3


def test_agrees_with_scikit_bio() -> None:
    skbio = pytest.importorskip("skbio")
    first = "((((a:1,b:1):1,c:1):1,d:1):1,e:1,f:1);"
    others = [
        first,
        "((((a:1,c:1):1,b:1):1,d:1):1,e:1,f:1);",
        "((((a:1,b:1):1,d:1):1,c:1):1,f:1,e:1);",
    ]
    tree = Tree.from_newick(first).restrict("abcdef")
    theirs = [skbio.TreeNode.read([text]).biparts() for text in others]
    assert tree.labels is not None
    for side, share in zip(
        far_sides(tree),
        split_support(tree, [Tree.from_newick(t).restrict("abcdef") for t in others]),
        strict=True,
    ):
        if not np.isnan(share):
            names = frozenset(tree.labels[i] for i in side)
            rest = frozenset("abcdef") - names
            assert share == sum(names in splits or rest in splits for splits in theirs) / 3


def test_refuses_trees_on_other_points() -> None:
    tree = caterpillar(4)
    with pytest.raises(ValueError, match="there are no other trees"):
        split_support(tree, [])
    with pytest.raises(ValueError, match=r"others\[1\] has 5 points and the tree has 4"):
        split_support(tree, [tree, caterpillar(5)])
    one, two = (Tree(4, tree.edges, tree.weights, labels=names) for names in ("abcd", "abcx"))
    with pytest.raises(ValueError, match=r"others\[0\] has no point 'd'"):
        split_support(one, [two])


# In the tree.


@pytest.mark.parametrize(
    ("support", "kind", "message"),
    [
        (
            [0.5],
            ValueError,
            r"got support of shape \(1,\) for 2 edges: give one number per edge",
        ),
        (
            [0.5, 1.5],
            ValueError,
            "edge 1 has support 1.5: support must be between 0 and 1, or NaN",
        ),
        ([-0.1, 1], ValueError, "edge 0 has support -0.1"),
        ([0.5, np.inf], ValueError, "edge 1 has support inf"),
        (["a", "b"], TypeError, "support must be real numbers"),
        (0.5, ValueError, r"support of shape \(\)"),
    ],
)
def test_refuses(support: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as error:
        Tree(3, [[0, 1], [1, 2]], [1.0, 1.0], support=support)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_never_changes_and_is_not_compared() -> None:
    given_ = np.array([0.5, NAN])
    tree = Tree(3, [[0, 1], [1, 2]], [1.0, 1.0], support=given_)
    given_[0] = 1.0
    assert tree.support is not None
    assert_array_equal(tree.support, [0.5, NAN])
    with pytest.raises(ValueError, match="read-only"):
        tree.support[0] = 0
    plain = Tree(3, [[0, 1], [1, 2]], [1.0, 1.0])
    assert plain.support is None
    assert plain == tree and plain.isclose(tree)


@given(trees(max_nodes=12), SEEDS)
def test_survives(tree: Tree, seed: int) -> None:
    tree = with_support(tree, np.random.default_rng(seed))
    for other in (
        pickle.loads(pickle.dumps(tree)),
        copy.copy(tree),
        copy.deepcopy(tree),
        tree.with_weights(tree.weights),
    ):
        assert_array_equal(other.support, tree.support)
    canonical = tree.canonical()
    assert canonical == Tree(len(tree), tree.edges, tree.weights).canonical()
    for side, share in by_split(tree).items():
        assert_array_equal(by_split(canonical)[side], share)


def test_canonical_moves_support_with_its_edge() -> None:
    tree = Tree(3, [[3, 2], [3, 0], [1, 3]], [3.0, 1.0, 2.0], support=[0.3, 0.1, 0.2]).canonical()
    assert by_edge(tree) == {(0, 3): 0.1, (1, 3): 0.2, (2, 3): 0.3}
    assert tree.weights.tolist() == [1, 2, 3]


@given(trees(max_nodes=14), SEEDS)
def test_contracted_keeps_support(tree: Tree, seed: int) -> None:
    tree = with_support(tree, np.random.default_rng(seed))
    small = tree.contracted(0.3)
    assert small == Tree(len(tree), tree.edges, tree.weights).contracted(0.3)
    before = by_split(tree)
    for side, share in by_split(small).items():
        assert_array_equal(share, before[side])


def test_contracted_takes_what_is_known_on_a_line() -> None:
    tree = Tree.from_newick("((0:1,1:1)0.9:1,(2:1,3:1):1);").contracted()
    assert by_split(tree)[frozenset({2, 3})] == 0.9


@pytest.mark.parametrize(("left", "right"), [(0.3, 0.9), (0.9, 0.3)])
def test_contracted_takes_the_largest_support_on_a_line(left: float, right: float) -> None:
    tree = Tree.from_newick(f"((0:1,1:1){left}:1,(2:1,3:1){right}:1);").contracted()
    assert by_split(tree)[frozenset({2, 3})] == 0.9


@given(trees(max_nodes=12, min_points=2), SEEDS)
def test_restrict_keeps_support_of_all_points_only(tree: Tree, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = with_support(tree, rng)
    order = rng.permutation(len(tree))
    turned = tree.restrict(order)
    before = by_split(tree)
    everyone = frozenset(range(len(tree)))
    for side, share in by_split(turned).items():
        points = frozenset(order[list(side)].tolist())
        assert_array_equal(share, before[everyone - points if 0 in points else points])
    assert tree.restrict(order[:-1]).support is None


# In files.


@settings(max_examples=25)
@given(trees(max_nodes=12), SEEDS)
@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files(suffix: str, tmp_path_factory: pytest.TempPathFactory, tree: Tree, seed: int) -> None:
    path = tmp_path_factory.mktemp("trees") / f"tree{suffix}"
    tree = with_support(tree, np.random.default_rng(seed))
    tree.save(path)
    back = Tree.load(path)
    assert back == tree
    assert_array_equal(back.support, tree.support)


def test_files_without_support_have_no_such_field(tmp_path: Path) -> None:
    tree = Tree(2, [[0, 1]], [1.0])
    tree.save(tmp_path / "t.json")
    assert "support" not in json.loads((tmp_path / "t.json").read_text())
    tree.save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as archive:
        assert "support" not in archive
    assert Tree.load(tmp_path / "t.json").support is Tree.load(tmp_path / "t.npz").support is None


def test_json_is_strict(tmp_path: Path) -> None:
    Tree(3, [[0, 1], [1, 2]], [1.0, 1.0], support=[NAN, 0.5]).save(tmp_path / "t.json")
    text = (tmp_path / "t.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail)["support"] == [None, 0.5]


@pytest.mark.parametrize("support", [[2.0], [0.5, 0.5], ["a"], "no", {"a": 1}])
def test_damaged_files(tmp_path: Path, support: object) -> None:
    path = tmp_path / "t.json"
    Tree(2, [[0, 1]], [1.0]).save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "support": support}))
    with pytest.raises(ValueError, match="is damaged: .*support") as error:
        Tree.load(path)
    assert "\n" not in str(error.value)


# In Newick.


def test_newick_by_hand() -> None:
    tree = Tree(
        4,
        [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]],
        [1, 2, 3, 4, 5],
        "abcd",
        support=[NAN, NAN, 1 / 3, NAN, NAN],
    )
    assert tree.newick(digits=1) == "(a:1,b:2,(c:4,d:5)0.3333:3);"
    assert (
        tree.newick(root="c") == "(((a:1.0,b:2.0)0.3333:3.0,d:5.0):4.0,c:0.0);"
    )  # from c the edge cuts off a and b
    assert tree.with_weights([0] * 5).newick(digits=1) == "(a:0,b:0,(c:0,d:0)0.3333:0);"


@pytest.mark.parametrize(
    ("share", "text"),
    [(1, "1.0"), (0, "0.0"), (-0.0, "0.0"), (1e-5, "0.0"), (1e-4, "0.0001"), (19 / 20, "0.95")],
)
def test_numbers_have_a_point(share: float, text: str) -> None:
    tree = Tree(
        4,
        [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]],
        [1] * 5,
        support=[NAN, NAN, share, NAN, NAN],
    )
    assert tree.newick(digits=1) == f"(0:1,1:1,(2:1,3:1){text}:1);"
    back = Tree.from_newick(tree.newick())
    assert back.support is not None
    assert_array_equal(back.support[~np.isnan(back.support)], [float(text)])


def test_an_inner_data_point_keeps_its_name() -> None:
    path = Tree(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1], support=[NAN, 0.5, NAN])
    assert path.newick(digits=1, leaves=False) == "(((3:1)2:1)'1':1)'0';"
    back = Tree.from_newick(path.newick(leaves=False), inner_labels="points")
    assert back == path
    assert back.support is None


@pytest.mark.parametrize(
    ("text", "names", "shares"),
    [
        ("((A:1,B:1)0.5:1,(C:1,D:1)1.00:1);", "ABCD", [0.5, 1]),
        ("((A:1,B:1).5:1,(C:1,D:1)1.:1);", "ABCD", [0.5, 1]),
        ("((A:1,B:1)5e-5:1,(C:1,D:1)5.0E-1:1);", "ABCD", [5e-5, 0.5]),
        ("((A:1,B:1)1:1,(C:1,D:1)1:1,(E:1,F:1)0.9:1);", "ABCDEF", [1, 1, 0.9]),  # 1 in company
        ("((A:1,B:1)0.5:1,(C:1,D:1)0.5:1)0.7;", "ABCD", [0.5, 0.5]),  # nothing above the root
        ("((A:1,B:1)X:1,(C:1,D:1)0.5:1);", "ABCD", [0.5]),
        ("((A:1,B:1)[50 %]0.5[x]:1,C:1);", "ABC", [0.5]),
        ("((A:1,B:1)'0.5':1,C:1);", "ABC", []),
        ("((A:1,B:1)-0.5:1,C:1);", "ABC", []),
        ("(0.5:1,0.25:1,C:1);", ["0.5", "0.25", "C"], []),  # leaves are points
    ],
)
def test_reads(text: str, names: list[str], shares: list[float]) -> None:
    parsed = parse_newick(text)
    labels, support = parsed.labels, parsed.support
    assert labels == tuple(names)
    assert ([] if support is None else support[~np.isnan(support)].tolist()) == shares
    tree = Tree.from_newick(text)
    assert (tree.support is None) == (not shares)
    assert Tree.from_newick(text, inner_labels="ignore").support is None


@given(trees(leaves=True, max_nodes=16), st.data())
def test_newick_round_trip(tree: Tree, data: st.DataObject) -> None:
    n = len(tree)
    names = st.one_of(
        st.sampled_from(["0", "1", "0.5", "1.0", ".5", "1e-3", "0.5e0"]),
        st.text("01.e-'", max_size=4),
    )
    labels = data.draw(st.one_of(st.none(), st.lists(names, min_size=n, max_size=n, unique=True)))
    tree = with_support(tree, np.random.default_rng(data.draw(SEEDS)), labels)
    root = data.draw(st.one_of(st.none(), st.integers(0, tree.n_nodes - 1)))
    back = Tree.from_newick(tree.newick(root, leaves=False), inner_labels="points")
    if sorted(back.labels or map(str, range(n))) != sorted(tree.labels or map(str, range(n))):
        pytest.fail("the names have changed")
    # The text may number the points anew. What is read must be what was written: all but that of inner data points.
    order = [
        (back.labels or [str(i) for i in range(n)]).index(name) for name in tree.labels or map(str, range(n))
    ]
    number = np.empty(back.n_nodes, int)
    number[order] = np.arange(n)
    number[n:] = np.arange(n, back.n_nodes)
    support = back.support if back.support is not None else np.full(len(back.edges), NAN)
    same = Tree(n, number[back.edges], back.weights, tree.labels, support=support).canonical()
    assert same == tree.canonical()
    rooted = tree.rooted(tree._default_root() if root is None else root)
    lower = np.array([u if rooted.parent[u] == v else v for u, v in tree.edges.tolist()], int)
    assert tree.support is not None
    kept = np.where(lower >= n, tree.support, NAN)
    expected = Tree(n, tree.edges, tree.weights, support=kept).canonical()
    assert_array_equal(same.support, expected.support)


def test_scikit_bio_reads_it() -> None:
    skbio = pytest.importorskip("skbio")
    tree = Tree.from_newick("((A:1,B:2)0.95:3,C:1,D:1);")
    parsed = skbio.TreeNode.read([tree.newick()])
    parsed.assign_supports()
    assert [(node.support, {tip.name for tip in node.tips()}) for node in parsed.non_tips()] == [
        (0.95, {"A", "B"})
    ]


def test_deep_trees() -> None:
    deep = caterpillar(100_000).canonical()  # 200,000 nodes
    others = [deep, renumbered(deep, np.random.default_rng(0))]
    deep = Tree(len(deep), deep.edges, deep.weights, support=split_support(deep, others))
    back = Tree.from_newick(deep.newick())
    assert back == deep
    assert_array_equal(back.support, deep.support)
    assert deep.support is not None and back.support is not None
    assert np.nansum(deep.support) == len(deep) - 3
    assert_allclose(np.nansum(back.contracted().support), len(deep) - 3)


def test_a_tree_takes_the_support_of_others() -> None:
    paired = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5)
    crossed = Tree(4, [[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]], [1.0] * 5)
    supported = paired.with_support([paired, crossed, crossed, paired])
    assert supported == paired
    assert supported.newick() == "(0:1.0,1:1.0,(2:1.0,3:1.0)0.5:1.0);"
