"""What the page stores for its tools: support, clades, dates and other trees."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest

import treerep as tr
from treerep.drawing.page._dates import as_years
from treerep.drawing.page.write import Page

TEXT = "((a:1,(b:2,c:1)0.75:1)0.9:2,((d:1,e:2)clade:3,(f:1,g:1)0.5:1)1.0:1,h:9);"


def stored(page: Page) -> dict:
    (data,) = re.findall(
        r'<script id="data" type="application/json">(.*?)</script>', page.html, flags=re.DOTALL
    )
    return json.loads(data)


def numbers(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype)


@pytest.mark.parametrize("root", [None, "b", "h"])
def test_support_is_that_of_the_edge_above_each_position(root):
    tree = tr.Tree.from_newick(TEXT)
    data = stored(tr.page(tree, root=root))
    node, up = numbers(data["node"], "<i4"), numbers(data["up"], "<i4")
    support = numbers(data["support"], "<f8")
    expected = {
        frozenset(edge): share for edge, share in zip(tree.edges.tolist(), tree.support.tolist(), strict=True)
    }
    assert np.isnan(support[0])
    for k in range(1, len(node)):
        np.testing.assert_equal(support[k], expected[frozenset((node[k], node[up[k]]))])
    assert list(data["clades"].values()) == ["clade"]


def test_support_is_stored_as_in_the_file():
    data = stored(tr.page(tr.Tree.from_newick("((a:1,b:1)98.7/100:1,(c:1,d:1)95:2);")))
    assert sorted(filter(None, data["support_texts"])) == ["95", "98.7/100"]
    assert sorted(x for x in numbers(data["support"], "<f8") if x == x) == [0.95, 1.0]
    data = stored(tr.page(tr.Tree.from_newick("((a:1,b:1):1,c:1);")))
    assert data["support"] is None and data["support_texts"] is None and data["clades"] == {}


def test_years_of_dates():
    given = pd.to_datetime(["2020-01-01", "2021-07-02 12:00", None], format="ISO8601")
    years = as_years(np.asarray(given))
    np.testing.assert_allclose(years, [2020, 2021.5, np.nan])
    np.testing.assert_array_equal(as_years(np.array([1999.5, np.nan])), [1999.5, np.nan])
    np.testing.assert_allclose(as_years(np.array(["0900", "2024-12-31"])), [900, 2025], atol=0.01)
    with pytest.raises(ValueError, match="dates must be dates, ISO texts .* or years"):
        as_years(np.array(["last Tuesday"]))


def test_dates_are_matched_by_label():
    tree = tr.Tree.from_newick(TEXT)
    names = list(reversed(tree.labels))
    table = pd.DataFrame({"when": np.arange(8.0) + 2000}, index=names)
    years = numbers(stored(tr.page(tree, table=table, dates="when"))["dates"], "<f8")
    np.testing.assert_array_equal(years, table["when"].loc[list(tree.labels)])
    assert stored(tr.page(tree))["dates"] is None
    with pytest.raises(ValueError, match="dates='then' is not a column of the table"):
        tr.page(tree, table=table, dates="then")
    with pytest.raises(ValueError, match="there must be one date per point"):
        tr.page(tree, dates=[2000.0, 2001.0])


def test_other_trees_have_the_points_of_the_first():
    tree = tr.Tree.from_newick(TEXT)
    other = tree.restrict(list(reversed(tree.labels)))
    (data,) = stored(tr.page(tree, other=other))["others"]
    node, up = numbers(data["node"], "<i4"), numbers(data["up"], "<i4")
    length = numbers(data["length"], "<f8")
    ids = np.arange(len(node))
    edges = np.column_stack([node[1:], node[up[1:]]])
    again = tr.Tree(8, edges, length[1:], labels=tree.labels)
    assert len(ids) == other.n_nodes
    np.testing.assert_allclose(again.distances(), tree.distances())


def test_pages_of_two_trees():
    tree = tr.Tree.from_newick(TEXT)
    assert stored(tr.page(tree, other=tree))["layout"] == "tanglegram"
    assert stored(tr.page(tree, other=[tree, tree], layout="disk"))["layout"] == "disk"
    names = [part["name"] for part in stored(tr.page(tr.TreeSum([tree] * 3)))["others"]]
    assert names == ["tree 2", "tree 3"]
    names = [part["name"] for part in stored(tr.page(tree, other={"NJ": tree}))["others"]]
    assert names == ["NJ"]
    with pytest.raises(ValueError, match="layout='tanglegram' needs a second tree"):
        tr.page(tree, layout="tanglegram")
    with pytest.raises(TypeError, match="'tree 2' is a str"):
        tr.page(tree, other=["b.nwk"])
    with pytest.raises(ValueError, match="the other tree"):
        tr.page(tree, other=tr.Tree.from_newick("(a:1,(x:1,y:2):1);"))
