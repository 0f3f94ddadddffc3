"""Newick in and out."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treerep.tree.tree import Tree

from ..strategies import trees

LABELS = st.one_of(st.text(max_size=8), st.text("ab_'\"()[]{}=\\:;, \t\n0.-", max_size=6))


def parts(text: str, **options: object) -> tuple:
    tree = Tree.from_newick(text, **options)  # type: ignore[arg-type]
    return tree.labels, tree.edges.tolist(), tree.weights.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A;", (("A",), [], [])),
        ("(A:1,B:2);", (("A", "B"), [[0, 2], [1, 2]], [1, 2])),
        (
            "((A:1,B:2):0.5,C:3);",
            (("A", "B", "C"), [[0, 3], [1, 3], [2, 4], [3, 4]], [1, 2, 3, 0.5]),
        ),
        (" ( A : 1 ,\n\tB:2 ) \n;\n", (("A", "B"), [[0, 2], [1, 2]], [1, 2])),
        (
            "(A:1e-3,B:2.5E+2,C:.5,D:+3.);",
            (tuple("ABCD"), [[k, 4] for k in range(4)], [1e-3, 250, 0.5, 3]),
        ),
        (
            "('it''s':1,'':2,'a b(c)[d]':3);",
            (("it's", "", "a b(c)[d]"), [[k, 3] for k in range(3)], [1, 2, 3]),
        ),
        ("(a_b:1,'c_d':2);", (("a_b", "c_d"), [[0, 2], [1, 2]], [1, 2])),
        ("[&R](A[x]:[y[z]]1,B:2[it's])[;];", (("A", "B"), [[0, 2], [1, 2]], [1, 2])),
        ("('[x]':1,B:2);", (("[x]", "B"), [[0, 2], [1, 2]], [1, 2])),
        ("(A:0,B:2):0.0;", (("A", "B"), [[0, 2], [1, 2]], [0, 2])),
        ("(ä:1,日本:2);", (("ä", "日本"), [[0, 2], [1, 2]], [1, 2])),
        ("(2:1,0:2,1:3);", (None, [[0, 3], [1, 3], [2, 3]], [2, 3, 1])),
        ("(2:1,3:2,1:3);", (("2", "3", "1"), [[0, 3], [1, 3], [2, 3]], [1, 2, 3])),
        ("(0:1,01:2);", (("0", "01"), [[0, 2], [1, 2]], [1, 2])),
    ],
)
def test_reads(text: str, expected: tuple) -> None:
    assert parts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "(A:1,B:2,C:3,D:4)E;",
            (tuple("ABCDE"), [[0, 4], [1, 4], [2, 4], [3, 4]], [1, 2, 3, 4]),
        ),
        ("((A:1)B:2)C;", (tuple("ABC"), [[0, 1], [1, 2]], [1, 2])),
        ("((2:1)0:2,1:3);", (None, [[0, 2], [0, 3], [1, 3]], [1, 2, 3])),
    ],
)
def test_reads_inner_names_as_points(text: str, expected: tuple) -> None:
    assert parts(text, inner_labels="points") == expected


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "the text is empty"),
        (" \n ", 0, "the text is empty"),
        (";", 0, "a leaf has no name"),
        ("(A:1,B:2)", 9, "the text ends without a semicolon"),
        ("((A:1,B:2);", 10, "ends with 1 open parentheses"),
        ("(A:1,B:2));", 9, r"'\)' outside all parentheses"),
        ("A,B;", 1, "',' outside all parentheses"),
        ("(A:1,B:2); x", 11, "other text, after the semicolon"),
        ("(A:1,B:2);(C:1,D:2);", 10, "a second tree, or"),
        ("(A:1,:2);", 5, "a leaf has no name"),
        ("(A:1,);", 5, "a leaf has no name"),
        ("();", 1, "a leaf has no name"),
        ("(A:1,B:-2);", 7, "length -2.0 is negative"),
        ("(A:1,B:1e999);", 7, "the length is infinite: correct it"),
        ("(A:1,B:nan);", 7, "unexpected 'n'"),
        ("(A:1,B:1_0);", 8, "unexpected '_'"),
        ("(A:1,B:);", 7, "expected a length after the colon, not ''"),
        ("(A:1,B:1e);", 7, "expected a length after the colon, not '1e'"),
        ("(A:1,B);", 5, "missing length: add one, or pass default_length=1.0 for all"),
        ("(A:1,A:2);", 5, "the name 'A' occurs twice"),
        ("(A:1,B(C:1):2);", 6, "expected a comma or a closing parenthesis"),
        ("(A:1)(B:1);", 5, "expected a comma or a closing parenthesis"),
        ("(Homo sapiens:1,B:2);", 6, "put names that contain blanks .* in single quotes"),
        ("('A:1,B:2);", 1, "unclosed quote"),
        ("(A'b:1,B:2);", 2, "unclosed quote, or a quote in the middle of a name"),
        ("(A:1,B:2)[x;", 9, "this comment is not closed"),
        ("(A:1,B]:2);", 6, "unexpected ']'"),
        ("(A:1,B:2):-3;", 10, "length -3.0 is negative: correct it, or pass negative_lengths="),
        ("(A:1,B:2):1e999;", 10, "the length is infinite: correct it"),
        ("(A:1:2,B:2);", 4, "unexpected ':'"),
    ],
)
def test_refuses(text: str, position: int, message: str) -> None:
    with pytest.raises(ValueError, match=rf"\(character {position}\): .*{message}") as error:
        Tree.from_newick(text)
    assert "\n" not in str(error.value)


def test_error_names_line_and_column() -> None:
    with pytest.raises(ValueError, match=r"line 2 column 3 \(character 8\): "):
        Tree.from_newick("(A:1,\nB:-2);")


def test_missing_lengths() -> None:
    assert parts("((A,B),C:3);", default_length=2.0)[2] == [2, 2, 3, 2]
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="default_length must be a finite length of at least 0, not"):
            Tree.from_newick("(A,B);", default_length=wrong)


def test_text_only() -> None:
    with pytest.raises(TypeError, match="Newick must be a string, not bytes"):
        Tree.from_newick(b"A;")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["(A:1e308,B:1e308);", "((A:1e308)B:1e308)C;"])
def test_lengths_that_add_up_to_infinity(text: str) -> None:
    with pytest.raises(ValueError, match="the sum of the weights exceeds the range of float64: rescale them"):
        Tree.from_newick(text)


@pytest.mark.parametrize(
    ("support", "shares"),
    [
        (("95", "95"), [0.95, 0.95]),
        (("100", "95"), [1.0, 0.95]),
        (("98.7/100", "80/99"), [1.0, 0.99]),
        (("0.5", "95"), [0.005, 0.95]),
        (("1", "0"), [1.0, 0.0]),
        (("1", "101"), []),  # programs that number inner nodes
    ],
)
def test_support_of_other_programs(support: tuple[str, str], shares: list[float]) -> None:
    text = "((A:1,B:2){}:1,(C:1,D:1){}:1);".format(*support)
    tree = Tree.from_newick(text)
    found = [] if tree.support is None else tree.support[~np.isnan(tree.support)].tolist()
    assert found == pytest.approx(shares)
    assert tree.labels == tuple("ABCD")
    assert Tree.from_newick(text, inner_labels="ignore").support is None
    quoted = Tree.from_newick("((A:1,B:2)'{}':1,(C:1,D:1)'{}':1);".format(*support))
    assert sorted(quoted.clade_names.values()) == sorted(support)
    assert quoted.support is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("((1:1,2:1)6:1,(3:1,4:1)7:1)5;", ["5", "6", "7"]),
        ("((0:1,1:1)4:1,(2:1,3:1)5:1);", ["4", "5"]),
        ("((1:1,2:1)60:1,(3:1,4:1)7:1)5;", []),
        ("((1:1,2:1)4:1,(3:1,4:1)5:1);", []),
    ],
)
def test_numbers_of_all_nodes_are_not_support(text: str, names: list[str]) -> None:
    tree = Tree.from_newick(text)
    assert sorted(tree.clade_names.values()) == names
    assert (tree.support is None) == bool(names)


@pytest.mark.parametrize("labels", [("a", "95", "c"), ("10", "20", "30"), ("1", "2", "3"), ("a", "1/2", "c")])
def test_points_with_numbers_for_names_come_back_from_inner_nodes(
    labels: tuple[str, ...],
) -> None:
    tree = Tree(3, [[0, 1], [1, 2]], [1, 2], labels=labels)
    text = tree.newick(leaves=False)
    for back in (
        Tree.from_newick(text, inner_labels="points"),
        Tree.from_newick(tree.newick()),
    ):
        assert set(back.labels or ()) == set(labels)
        assert back.distances(labels).tolist() == tree.distances().tolist()
    assert ("'" in text) == (labels != ("1", "2", "3"))


def test_writes() -> None:
    tree = Tree(3, [[0, 3], [1, 3], [3, 2]], [0.1, 1 / 3, 2.0], labels=["a", "b c", "it's"])
    assert tree.newick() == "(a:0.1,'b c':0.3333333333333333,'it''s':2.0);"
    assert tree.newick(digits=3) == "(a:0.1,'b c':0.333,'it''s':2);"
    assert tree.newick("a", leaves=False) == "(('b c':0.3333333333333333,'it''s':2.0):0.1)a;"
    assert tree.newick("a", digits=1) == "(a:0,('b c':0.3,'it''s':2):0.1);"
    star = Tree(3, [[0, 3], [1, 3], [3, 2]], [1, 2, 3])
    assert star.newick(root=2, leaves=False) == "((0:1.0,1:2.0):3.0)2;"
    path = Tree(3, [[0, 1], [1, 2]], [1, 2])
    assert path.newick(leaves=False) == "((2:2.0)1:1.0)0;"
    assert path.newick() == "(0:1.0,1:0.0,2:2.0);"
    assert Tree(1, [], [], labels=["x"]).newick() == "x;"
    assert Tree(2, [[0, 2], [2, 3], [3, 1]], [1, 2, 3]).newick() == "(0:1.0,(1:3.0):2.0);"


@pytest.mark.parametrize(
    ("digits", "kind", "message"),
    [
        (-1, ValueError, "digits must be at least 1, not -1"),
        (0, ValueError, "digits must be at least 1, not 0"),
        ("x", TypeError, "digits must be a whole number, not 'x'"),
        (2.0, TypeError, "digits must be a whole number, not 2.0"),
    ],
)
def test_wrong_digits(digits: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^{message}$"):
        Tree(2, [[0, 1]], [1.0]).newick(digits=digits)  # type: ignore[arg-type]


def test_a_steiner_leaf_has_no_name_to_write() -> None:
    tree = Tree(2, [[0, 2], [1, 2], [2, 3]], [1, 1, 1])
    with pytest.raises(ValueError, match=r"Steiner node 3 is a leaf, .* with tree.contracted\(\)"):
        tree.newick()
    assert tree.contracted().newick() == "(0:0.0,1:2.0);"


@given(trees(leaves=True), st.data())
def test_round_trip_is_exact(tree: Tree, data: st.DataObject) -> None:
    n = len(tree)
    labels = data.draw(st.lists(LABELS, min_size=n, max_size=n, unique=True))
    named = Tree(n, tree.edges, tree.weights, labels)
    root = data.draw(st.one_of(st.none(), st.integers(0, tree.n_nodes - 1)))
    back = Tree.from_newick(named.newick(root, leaves=False), inner_labels="points")
    names = back.labels or [str(i) for i in range(n)]
    assert sorted(names) == sorted(labels)
    # The text orders the points; Steiner nodes on a line survive it.
    number = np.array([labels.index(label) for label in names] + list(range(n, back.n_nodes)))
    assert Tree(n, number[back.edges], back.weights, labels).canonical() == named.canonical()


@given(trees(leaves=True), st.data())
def test_a_tree_without_labels_comes_back(tree: Tree, data: st.DataObject) -> None:
    root = data.draw(st.one_of(st.none(), st.integers(0, tree.n_nodes - 1)))
    text = tree.newick(root, leaves=False)
    assert Tree.from_newick(text, inner_labels="points") == tree.canonical()


@given(st.text("()[]',:; ab1-.e\n", max_size=25))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    problem, tree = "", None
    try:
        tree = Tree.from_newick(text)
    except ValueError as error:
        problem = str(error)
    if tree is None:
        assert problem.startswith("Newick, line ")
        assert "\n" not in problem
    else:
        assert Tree(tree.n_points, tree.edges, tree.weights, tree.labels) == tree


@pytest.mark.parametrize("sign", [*'"{}=\\/*+-<>|~!?&%$#@^`._'])
def test_other_libraries_read_names_with_any_sign(sign: str) -> None:
    dendropy = pytest.importorskip("dendropy")
    treeswift = pytest.importorskip("treeswift")
    skbio = pytest.importorskip("skbio")
    labels = [f"x{sign}y", f"{sign}y", f"x{sign}"]
    text = Tree(3, [[0, 3], [1, 3], [2, 3]], [1, 2, 3], labels=labels).newick()
    theirs = dendropy.Tree.get(data=text, schema="newick", preserve_underscores=True)
    assert [leaf.taxon.label for leaf in theirs.leaf_node_iter()] == labels
    leaves = treeswift.read_tree_newick(text).traverse_leaves()
    assert sorted(leaf.label.strip("'") for leaf in leaves) == sorted(labels)
    read = skbio.TreeNode.read([text], format="newick", convert_underscores=False)
    assert [tip.name for tip in read.tips()] == labels


def test_a_length_of_the_root_is_kept() -> None:
    tree = Tree.from_newick("((A:1,B:2):0.5,C:3):0.25;")
    assert tree.root_length == 0.25
    assert tree.newick() == "((A:1.0,B:2.0):0.5,C:3.0):0.25;"
    assert tree.newick(digits=1) == "((A:1,B:2):0.5,C:3):0.2;"
    assert tree.distances().tolist() == parts_distances("((A:1,B:2):0.5,C:3);")
    named = Tree.from_newick("(A:1,B:2)Felidae:0.5;")
    assert named.newick() == "(A:1.0,B:2.0)Felidae:0.5;"
    assert Tree.from_newick("A:2;").newick() == "A:2.0;"


@pytest.mark.parametrize("end", [";", ":0;", ":0.0;"])
def test_a_root_of_length_0_has_none(end: str) -> None:
    tree = Tree.from_newick("(A:1,B:2)" + end)
    assert tree.root_length is None
    assert tree.newick() == "(A:1.0,B:2.0);"


def test_options_apply_to_the_root() -> None:
    assert Tree.from_newick("(A:1,B:2):-3;", negative_lengths="zero").root_length is None
    assert Tree.from_newick("(A,B);", default_length=2.0).root_length is None


def parts_distances(text: str) -> list[list[float]]:
    return Tree.from_newick(text).distances().tolist()


SAFE = st.text("abcXYZ019.|-", min_size=1, max_size=6)


@given(trees(leaves=True, min_points=2), st.data())
def test_scikit_bio_reads_it(tree: Tree, data: st.DataObject) -> None:
    skbio = pytest.importorskip("skbio")
    n = len(tree)
    labels = data.draw(st.lists(SAFE, min_size=n, max_size=n, unique=True))
    text = Tree(n, tree.edges, tree.weights, labels).newick()
    parsed = skbio.TreeNode.read(io.StringIO(text), format="newick", convert_underscores=False)
    named = {node.name: node for node in parsed.traverse() if node.name is not None}
    assert set(named) == set(labels)
    expected = tree.distances()
    for i in range(min(n, 4)):
        for j in range(min(n, 4)):
            if i != j:
                assert named[labels[i]].distance(named[labels[j]]) == pytest.approx(expected[i, j], abs=1e-12)


@given(trees(leaves=True, min_points=2))
def test_treeswift_reads_it(tree: Tree) -> None:
    treeswift = pytest.importorskip("treeswift")
    parsed = treeswift.read_tree_newick(tree.newick())
    assert parsed.edge_length_sum() == pytest.approx(tree.total_length)
    names = {node.label for node in parsed.traverse_preorder() if node.label}
    assert names == {str(i) for i in range(len(tree))}
