"""DOT, read back by a reader of its own."""

import re

import pytest
from hypothesis import given, settings

from treerep.formats._node_attributes import check_attributes
from treerep.formats.trees.dot import write
from treerep.tree.tree import Tree

from ..strategies import named_trees

NODE = re.compile(r'  ([0-9]+) \["shape"="plaintext", "label"="((?:[^"\\]|\\.)*)"\];\n', re.DOTALL)
EDGE = re.compile(r"  ([0-9]+) -- ([0-9]+) \[len=([^\],]+)(?:, support=([^\]]+))?\];\n")


@settings(max_examples=40)
@given(named_trees(controls=False))
def test_everything_is_there_and_nothing_else(tree: Tree) -> None:
    text = write(tree)
    nodes, edges = NODE.findall(text), EDGE.findall(text)
    assert NODE.sub("", EDGE.sub("", text)) == "graph tree {\n  node [shape=point];\n}\n"
    plain = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
    labels = [re.sub(r"\\.", lambda found: plain[found.group()], label) for _, label in nodes]
    assert labels == list(tree.labels or map(str, range(len(tree))))
    support = [None] * len(edges) if tree.support is None else tree.support.tolist()
    for (u, v, length, share), edge, weight, known in zip(
        edges, tree.edges, tree.weights, support, strict=True
    ):
        assert ([int(u), int(v)], float(length)) == (edge.tolist(), weight)
        assert share == ("" if known is None or known != known else str(known))


def test_attributes() -> None:
    tree = Tree(1, [], [], labels=['say "hi"\\\n'])
    text = write(
        tree,
        attributes=check_attributes({"fill color": ["red"], "seen": [True], "x": [None]}, tree),
    )
    assert (
        '  0 ["shape"="plaintext", "label"="say \\"hi\\"\\\\\\n", "fill color"="red", "seen"="true"];' in text
    )
    for attributes, label, message in [
        ({"label": ["x"]}, "a", "the attribute name 'label' is reserved in DOT"),
        ({}, "\0", "a null character, which DOT does not allow"),
    ]:
        tree = Tree(1, [], [], labels=[label])
        with pytest.raises(ValueError, match=message):
            write(tree, attributes=check_attributes(attributes, tree))


def test_names_of_clades_are_written_at_steiner_nodes() -> None:
    tree = Tree.from_newick("((a:1,b:1)'x y':1,(c:1,d:1):1);")
    node = next(iter(tree.clade_names))
    assert f'  {node} [xlabel="x y"];' in write(tree)
