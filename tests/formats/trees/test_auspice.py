"""auspice v2: what nextstrain's schema asks for."""

import json
import re

import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from treerep.formats._node_attributes import check_attributes
from treerep.formats.trees.auspice import write
from treerep.tree.tree import Tree

from ..strategies import named_trees


def nodes_of(text: str) -> list[dict]:
    found, waiting = [], [json.loads(text)["tree"]]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += node.get("children", [])
    return found


@settings(max_examples=40)
@given(named_trees())
def test_what_the_schema_asks_for(tree: Tree) -> None:
    text = write(tree, attributes=check_attributes({"size": [1.5] * len(tree)}, tree))
    whole = json.loads(text)
    assert set(whole) == {"version", "meta", "tree"} and whole["version"] == "v2"
    assert re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", whole["meta"]["updated"]) and whole["meta"][
        "panels"
    ] == ["tree"]
    assert whole["meta"]["colorings"] == [{"key": "size", "title": "size", "type": "continuous"}]
    nodes = nodes_of(text)
    names = [node["name"] for node in nodes]
    assert len(set(names)) == len(names) == tree.n_nodes
    for node in nodes:
        assert set(node) <= {"name", "node_attrs", "branch_attrs", "children"}
        assert node["name"] and not re.search(r"\s", node["name"])
        assert isinstance(node["node_attrs"]["div"], float)
        assert "children" not in node or node["children"]
        assert all(set(trait) == {"value"} for key, trait in node["node_attrs"].items() if key != "div")


@settings(max_examples=25)
@given(named_trees())
def test_div_is_the_distance_from_the_root(tree: Tree) -> None:
    labels = tree.labels or tuple(map(str, range(len(tree))))
    root = len(tree) - 1
    nodes = nodes_of(write(tree, root=root))
    named = {node["node_attrs"].get("label", {"value": node["name"]})["value"]: node for node in nodes}
    for point, label in enumerate(labels):
        assert_allclose(named[label]["node_attrs"]["div"], tree.pairs(root, point), atol=1e-12)


def test_by_hand() -> None:
    nan = float("nan")
    tree = Tree(
        3,
        [[0, 3], [1, 3], [3, 4], [4, 2]],
        [1.0, 2, 3, 4],
        ["a b", "a_b", "NODE_1"],
        support=[nan, nan, 0.5, nan],
    )
    attributes = check_attributes({"group": ["x", None, "y"], "seen": [True, False, None]}, tree)
    whole = json.loads(write(tree, root="NODE_1", attributes=attributes))
    assert whole["meta"]["display_defaults"]["tip_label"] == "label"
    assert [coloring["type"] for coloring in whole["meta"]["colorings"]] == [
        "categorical",
        "boolean",
    ]
    assert whole["tree"]["name"] == "NODE_1"
    (top,) = whole["tree"]["children"]
    assert top["name"] == "_NODE_0000001" and top["node_attrs"] == {"div": 4.0}
    (pair,) = top["children"]
    assert pair["branch_attrs"] == {"labels": {"support": "0.5"}}
    first, second = pair["children"]
    traits = {
        "div": 8.0,
        "group": {"value": "x"},
        "seen": {"value": True},
        "label": {"value": "a b"},
    }
    assert first == {"name": "a_b_2", "node_attrs": traits}
    assert second["node_attrs"] == {
        "div": 9.0,
        "seen": {"value": False},
        "label": {"value": "a_b"},
    }


def test_names_of_auspice_itself_are_refused() -> None:
    tree = Tree(1, [], [])
    with pytest.raises(
        ValueError,
        match="the attribute name 'div' is reserved in auspice: rename the attribute",
    ):
        write(tree, attributes=check_attributes({"div": [1]}, tree))


def test_support_and_names_of_clades_are_branch_labels() -> None:
    tree = Tree.from_newick("(((a:1,b:1)Canidae:1,c:1)80:1,(d:1,e:1):1);")
    marks = [node["branch_attrs"]["labels"] for node in nodes_of(write(tree)) if "branch_attrs" in node]
    assert sorted(marks, key=str) == [{"clade": "Canidae"}, {"support": "0.8"}]
