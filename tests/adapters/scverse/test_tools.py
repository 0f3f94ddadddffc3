"""Trees of single cells, read back by the real libraries: anndata, scanpy and treedata."""

import re
import warnings
from pathlib import Path
from typing import Any

import anndata as ad
import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import treedata as td
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.tree.strategies import trees
from treerep import pl, tl
from treerep._core import memory
from treerep.adapters.scverse._storage import rooted_graph
from treerep.adapters.scverse.plots.tree_plots import values_of
from treerep.fitting.methods import METHODS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # scanpy's own dependencies
    import scanpy as sc

NAMES = ["it's", "a b", "<b>", "🧬", "node7", 'say "x"', "x,y;(z)", "é"]


def cells(n: int = 60, kind: Any = ad.AnnData, **options: Any) -> Any:
    made = tr.datasets.branching_cells(n, dim=5, levels=2, rng=1)
    adata = kind(X=made.points * 2, obsm={"X_pca": made.points}, **options)
    adata.obs_names = [NAMES[i] if i < len(NAMES) else f"cell{i}" for i in range(n)]
    adata.obs["branch"] = pd.Categorical([f"b{b}" for b in made.branch])
    return adata


def same(first: tr.Tree, second: tr.Tree) -> bool:
    """Whether two trees are equal bit for bit, support included."""
    return (
        first == second
        and first.weights.tobytes() == second.weights.tobytes()
        and (first.support is None) == (second.support is None)
        and (first.support is None or np.array_equal(first.support, second.support, equal_nan=True))
    )


@pytest.fixture
def adata() -> ad.AnnData:
    return cells()


# tl.tree and where it puts things.


def test_the_tree_is_that_of_fit_with_the_names_of_the_cells(adata: ad.AnnData) -> None:
    assert tl.tree(adata, trials=3, rng=5) is None
    expected = tr.fit(tr.PointMetric(adata.obsm["X_pca"], labels=list(adata.obs_names)), trials=3, rng=5)
    assert same(tl.get_tree(adata), expected)
    assert tr.Tree.from_newick(adata.uns["treerep"]["newick"]).difference(expected).path < 1e-9
    params = {
        "use_rep": "X_pca",
        "metric": "euclidean",
        "method": "auto",
        "trials": 3,
        "refine": False,
        "rng": 5,
    }
    assert adata.uns["treerep"]["params"] == params


def test_options_reach_the_fit(adata: ad.AnnData) -> None:
    tl.tree(adata, use_rep="X", metric="manhattan", method="neighbor_joining", key_added="nj")
    assert same(
        tl.get_tree(adata, key="nj"),
        tr.fit(tr.as_metric(adata, metric="manhattan", use_rep="X"), method="neighbor_joining"),
    )
    tl.tree(adata, refine=True, trials=1)
    space = tr.as_metric(adata)
    assert tl.get_tree(adata) == tr.refine(tr.fit(space), space)


def test_root_and_clusters_on_the_way(adata: ad.AnnData) -> None:
    tl.tree(adata, root="🧬", n_clusters=4, key_added="t")
    tree = tl.get_tree(adata, key="t")
    assert_allclose(adata.obs["t_pseudotime"], tree.block([3], range(60))[0])
    assert adata.obs["t_lineage"].dtype == "category"
    assert_array_equal(adata.obs["t_lineage"].cat.codes, tree.cut(4))
    assert list(adata.obs["t_lineage"].cat.categories) == ["0", "1", "2", "3"]
    assert adata.uns["t"]["params"]["root"] == "🧬"
    assert adata.uns["t"]["newick"].endswith(",🧬:0.0);")


def test_a_copy_leaves_the_original_alone(adata: ad.AnnData) -> None:
    before = adata.copy()
    new = tl.tree(adata, n_clusters=2, root=0, copy=True)
    for tool, options in [
        (tl.pseudotime, {"root": 1}),
        (tl.lineages, {"n_clusters": 3}),
        (tl.embed, {}),
    ]:
        kept = new.copy()
        other = tool(new, **options, copy=True)
        assert set(other.uns) >= set(new.uns) and other is not new
        pd.testing.assert_frame_equal(new.obs, kept.obs)
        assert set(new.obsm) == {"X_pca"}
    assert not adata.uns and list(adata.obs) == ["branch"]
    pd.testing.assert_frame_equal(adata.obs, before.obs)
    assert len(tl.get_tree(new)) == 60


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_stored(method: str) -> None:
    tdata = cells(20, td.TreeData)
    tl.tree(tdata, method=method)
    tree, graph = tl.get_tree(tdata), tdata.obst["treerep"]
    assert {v for v in graph if graph.out_degree(v) == 0} == set(tdata.obs_names)
    assert tr.Tree.from_newick(tdata.uns["treerep"]["newick"]).difference(tree).path < 1e-6


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_cells(n: int, tmp_path: Path) -> None:
    tdata = td.TreeData(obsm={"X_pca": np.arange(2.0 * n).reshape(n, 2)})
    tl.tree(tdata, root=0, n_clusters=1)
    tl.embed(tdata)
    assert_allclose(tdata.obs["treerep_pseudotime"], np.sqrt(8) * np.arange(n))
    tdata.to_adata().write_h5ad(tmp_path / "few.h5ad")
    assert same(tl.get_tree(ad.read_h5ad(tmp_path / "few.h5ad")), tl.get_tree(tdata))
    pl.tree(tdata), pl.disk(tdata)


def test_duplicate_cells() -> None:
    adata = ad.AnnData(obsm={"X_pca": np.zeros((5, 2))})
    tl.tree(adata, root=0)
    tl.embed(adata)
    assert not adata.obs["treerep_pseudotime"].any()
    assert_array_equal(adata.obsm["X_treerep"], np.zeros((5, 2)))


# Files.


def test_scanpy_reads_the_same_tree_from_a_file(adata: ad.AnnData, tmp_path: Path) -> None:
    tl.tree(adata, root=2, n_clusters=3, trials=3)
    tl.embed(adata)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    back = sc.read_h5ad(tmp_path / "cells.h5ad")
    assert same(tl.get_tree(back), tl.get_tree(adata))
    assert tl.get_tree(back).support is not None
    assert back.uns["treerep"]["newick"] == adata.uns["treerep"]["newick"]
    assert dict(back.uns["treerep"]["params"]) == adata.uns["treerep"]["params"]
    assert_array_equal(back.obsm["X_treerep"], adata.obsm["X_treerep"])
    pd.testing.assert_frame_equal(back.obs, adata.obs)
    tl.pseudotime(back, root=3)


def test_treedata_reads_the_same_tree_from_a_file(tmp_path: Path) -> None:
    tdata = cells(kind=td.TreeData)
    tl.tree(tdata, root=4)
    tdata.write_h5td(tmp_path / "cells.h5td")
    back = td.read_h5td(tmp_path / "cells.h5td")
    assert same(tl.get_tree(back), tl.get_tree(tdata))
    found, stored = back.obst["treerep"], tdata.obst["treerep"]
    assert dict(found.nodes(data=True)) == dict(stored.nodes(data=True))
    assert sorted(found.edges(data="length")) == sorted(stored.edges(data="length"))


# TreeData.


@given(tree=trees(max_nodes=12, leaves=True))
@settings(max_examples=60)
def test_the_graph_keeps_all_distances_and_its_leaves_are_the_cells(tree: tr.Tree) -> None:
    n = len(tree)
    tree = tr.Tree(n, tree.edges, tree.weights, labels=[f"node{i}" for i in range(n)]).contracted()
    for root in (0, n - 1, tree.n_nodes - 1):
        graph = rooted_graph(tree, root)
        assert nx.is_arborescence(graph)
        assert {v for v in graph if graph.out_degree(v) == 0} == set(tree.labels or ())
        lengths = dict(nx.all_pairs_dijkstra_path_length(graph.to_undirected(), weight="length"))
        found = [[lengths[f"node{i}"][f"node{j}"] for j in range(n)] for i in range(n)]
        assert_allclose(found, tree.distances(), rtol=1e-9, atol=1e-9)
        (top,) = (v for v in graph if graph.in_degree(v) == 0)
        assert_allclose(
            [graph.nodes[v]["depth"] for v in graph],
            [lengths[top][v] for v in graph],
            atol=1e-9,
        )


def test_two_trees_in_one_treedata() -> None:
    tdata = cells(kind=td.TreeData)
    tl.tree(tdata)
    tl.tree(tdata, key_added="other", method="upgma")
    tl.tree(tdata, key_added="other", method="neighbor_joining")
    assert set(tdata.obst) == {"treerep", "other"}
    assert set(tdata.obs["tree"]) == {"other,treerep"}


def test_a_treedata_without_room_for_inner_nodes() -> None:
    tdata = cells(kind=td.TreeData, alignment="nodes")
    with pytest.raises(ValueError, match="set its alignment to 'leaves'"):
        tl.tree(tdata)
    assert not tdata.uns


def test_a_treedata_with_room_for_one_tree() -> None:
    tdata = cells(kind=td.TreeData, allow_overlap=False)
    tl.tree(tdata)
    tl.tree(tdata, rng=np.int64(1))
    assert tdata.uns["treerep"]["params"]["rng"] == 1
    with pytest.raises(
        ValueError,
        match="a tree 'treerep' of its cells: delete it, or set allow_overlap to True",
    ):
        tl.tree(tdata, key_added="other")
    assert "other" not in tdata.uns


def lineage(lengths: str | None = "length", **options: Any) -> Any:
    """A TreeData with a tree of another program: r -> p, C and p -> A, B."""
    tdata = td.TreeData(np.arange(3.0)[:, None], **options)
    tdata.obs_names = ["C", "A", "B"]
    graph = nx.DiGraph([("r", "p"), ("r", "C"), ("p", "A"), ("p", "B")])
    for name, depth in {"r": 0.0, "p": 1.0, "C": 4.0, "A": 3.0, "B": 4.0}.items():
        if lengths == "depth":
            graph.nodes[name]["depth"] = depth
        for parent in graph.predecessors(name) if lengths in ("length", "weight") else ():
            graph.edges[parent, name][lengths] = depth - (parent == "p")
    tdata.obst["lin"] = graph
    return tdata


@pytest.mark.parametrize("lengths", ["length", "weight", "depth", None])
def test_a_tree_of_another_program_is_read(lengths: str | None) -> None:
    tdata = lineage(lengths)
    tree = tl.get_tree(tdata, key="lin")
    assert tree.labels == ("C", "A", "B")
    assert tree.root is not None
    text = "(C:4.0,(A:2.0,B:3.0):1.0);" if lengths else "(C:1.0,(A:1.0,B:1.0):1.0);"
    assert tree.newick() == text
    assert tl.get_tree(tdata[["B", "C"]], key="lin").labels == ("B", "C")
    tl.pseudotime(tdata, key="lin", root="C")
    assert tdata.obs["lin_pseudotime"].tolist() == [0, *tree.pairs(0, [1, 2])]
    tl.lineages(tdata, key="lin", n_clusters=2)
    pl.tree(tdata, key="lin")


def test_a_tree_of_another_program_is_never_overwritten() -> None:
    tdata = lineage()
    tree = tl.get_tree(tdata, key="lin")
    before = sorted(tdata.obst["lin"].edges(data="length"))
    refusal = r"obst\['lin'\] is a tree that treerep did not write: choose another key_added"
    for write in (
        lambda: tl.tree(tdata, use_rep="X", key_added="lin"),
        lambda: tl.set_tree(tdata, tree, key_added="lin"),
    ):
        with pytest.raises(ValueError, match=refusal):
            write()
    assert sorted(tdata.obst["lin"].edges(data="length")) == before and not tdata.uns
    tl.set_tree(tdata, tree, key_added="mine")
    tl.set_tree(tdata, tree, root="A", key_added="mine")  # of treerep
    part = tdata[["A", "B"]].copy()
    tl.tree(part, use_rep="X", key_added="mine")
    # Another program replaces the tree that treerep stored.
    tdata.obst["mine"] = tdata.obst["lin"]
    with pytest.raises(ValueError, match="treerep did not write"):
        tl.tree(tdata, use_rep="X", key_added="mine")


def test_cells_outside_of_a_tree_of_another_program() -> None:
    tdata = lineage()
    tdata.obs_names = ["C", "A", "B"]
    graph = tdata.obst["lin"]
    more = td.TreeData(np.arange(4.0)[:, None], allow_overlap=True)
    more.obs_names = ["C", "A", "X", "B"]
    more.obst["lin"] = graph
    with pytest.raises(ValueError, match="cell 'X' is not in the tree adata.obst"):
        tl.get_tree(more, key="lin")
    assert tl.get_tree(more[["A", "B"]], key="lin").labels == ("A", "B")
    numbered = td.TreeData(np.arange(3.0)[:, None])
    numbered.obs_names = ["2", "0", "1"]
    numbered.obst["lin"] = nx.relabel_nodes(graph, {"C": "0", "A": "1", "B": "2"})
    tree = tl.get_tree(numbered, key="lin")
    assert tree.labels == ("2", "0", "1")
    assert_array_equal(tree.pairs([0, 0, 1], [1, 2, 2]), [8, 5, 7])


def test_deep_trees(tmp_path: Path) -> None:
    # Cells along a line: 2,000 inner nodes one below the other, twice what Python's recursion allows.
    n = 2_000
    tdata = td.TreeData(obsm={"X_pca": np.arange(n, dtype=float)[:, None]})
    tl.tree(tdata, method="minimum_spanning_tree", root=0)
    assert_array_equal(tdata.obs["treerep_pseudotime"], np.arange(n))
    tdata.write_h5td(tmp_path / "deep.h5td")
    back = td.read_h5td(tmp_path / "deep.h5td")
    assert tl.get_tree(back) == tl.get_tree(tdata)
    assert max(depth for _, depth in back.obst["treerep"].nodes(data="depth")) == n - 1
    assert len(tl.get_tree(back[::7])) == len(range(0, n, 7))


# Views and subsets.


@pytest.mark.parametrize("kind", [ad.AnnData, td.TreeData])
def test_of_a_view_anndata_makes_an_object_of_its_own(kind: Any) -> None:
    whole = cells(kind=kind)
    part = whole[10:40]
    with pytest.warns(ad.ImplicitModificationWarning) as caught:
        tl.tree(part, root=0, n_clusters=2)
    assert len(caught) == 1
    assert not part.is_view and not whole.uns and list(whole.obs) == ["branch"]
    assert tl.get_tree(part).labels == tuple(whole.obs_names[10:40])
    if kind is td.TreeData:
        assert "treerep" in part.obst and set(part.obs["tree"]) == {"treerep"}
        assert "treerep" not in whole.obst
    assert len(tl.get_tree(tl.tree(whole[:20], copy=True))) == 20


@pytest.mark.parametrize("kind", [ad.AnnData, td.TreeData])
def test_a_subset_has_the_part_of_the_tree_that_it_spans(kind: Any) -> None:
    adata = cells(kind=kind)
    tl.tree(adata, root=0, n_clusters=3)
    tree, keep = tl.get_tree(adata), np.array([50, 3, 17, 8, 59])
    part = adata[keep]
    found = tl.get_tree(part)
    assert found.labels == tuple(adata.obs_names[keep])
    assert_allclose(found.distances(), tree.distances()[np.ix_(keep, keep)], rtol=1e-12)
    assert_array_equal(part.obs["treerep_pseudotime"], adata.obs["treerep_pseudotime"].to_numpy()[keep])
    own = part.copy()
    tl.pseudotime(own, root="🧬")
    assert_allclose(own.obs["treerep_pseudotime"], tree.block([3], keep)[0], rtol=1e-12)


def test_cells_that_the_tree_does_not_know(adata: ad.AnnData) -> None:
    tl.tree(adata)
    adata.obs_names = [*adata.obs_names[:-1], "new"]
    with pytest.raises(
        ValueError,
        match="cell 'new' is not in the tree 'treerep', so it was added or renamed later",
    ):
        tl.get_tree(adata)


# Embeddings.


def test_coordinates_are_those_of_the_tree_at_its_scale(adata: ad.AnnData) -> None:
    tl.tree(adata)
    tl.embed(adata, scale=2.0, root="é", dim=3, key_added="X_ball")
    expected = tr.embed(tl.get_tree(adata), dim=3, scale=2.0, root=7)
    assert_array_equal(adata.obsm["X_ball"], expected.poincare[:60])
    assert not adata.obsm["X_ball"][7].any()
    assert adata.uns["X_ball"]["params"] == {
        "key": "treerep",
        "dim": 3,
        "scale": 2.0,
        "root": "é",
    }


@pytest.mark.filterwarnings(
    "ignore:The set_bad function:PendingDeprecationWarning"
)  # of matplotlib, in scanpy
def test_scanpy_draws_the_coordinates(adata: ad.AnnData) -> None:
    tl.tree(adata, n_clusters=3)
    tl.embed(adata)
    assert np.linalg.norm(adata.obsm["X_treerep"], axis=1).max() < 1
    axes = sc.pl.embedding(adata, basis="treerep", color="treerep_lineage", show=False)
    assert_allclose(
        np.sort(axes.collections[0].get_offsets(), axis=0),
        np.sort(adata.obsm["X_treerep"], axis=0),
    )


# Pictures.


def test_colors_are_those_of_scanpy(adata: ad.AnnData) -> None:
    tl.tree(adata)
    adata.uns["branch_colors"] = ["#ff0000", "#00ff00", "#0000ff"]
    shown = {
        text.get_text(): mpl.colors.to_hex(key.get_color())
        for ax in [pl.tree(adata, color="branch")]
        for text, key in zip(ax.get_legend().get_texts(), ax.get_legend().legend_handles, strict=True)
    }
    assert shown == dict(zip(adata.obs["branch"].cat.categories, adata.uns["branch_colors"], strict=True))
    adata.uns["branch_colors"] = ["#ff0000"]  # left over from fewer categories
    assert len(pl.tree(adata, color="branch").get_legend().get_texts()) == 3


def test_several_colors_several_axes_and_genes(adata: ad.AnnData) -> None:
    adata.var_names = ["g0", "g1", "g2", "g3", "branch"]
    tl.tree(adata, root=1)
    axes = pl.disk(adata, color=["branch", "g1", "treerep_pseudotime"])
    assert [ax.get_title() for ax in axes] == ["branch", "g1", "treerep_pseudotime"]
    assert len({ax.figure for ax in axes}) == 1
    assert isinstance(pl.tree(adata, color=["g1"]), list)
    own = mpl.pyplot.figure().subplots()
    assert pl.tree(adata, color="g1", layout="rectangular", ax=own, legend=False) is own
    assert isinstance(pl.tree(adata), mpl.axes.Axes)
    with pytest.raises(ValueError, match="color is an empty list"):
        pl.tree(adata, color=[])
    with pytest.raises(ValueError, match="2 colors need 2 axes"):
        pl.tree(adata, color=["g1", "g2"], ax=own)


def test_genes_come_from_raw_where_it_has_them(adata: ad.AnnData) -> None:
    raw = ad.AnnData(sp.csr_matrix(np.full((60, 1), 7.0)), obs=adata.obs[[]], var=pd.DataFrame(index=["1"]))
    adata.raw = raw
    assert_array_equal(values_of(adata, "1"), np.full(60, 7.0))
    assert_array_equal(values_of(adata, "2"), adata.X[:, 2])
    assert_array_equal(values_of(adata[:5], "1"), np.full(5, 7.0))


def test_the_disk_shows_what_embed_stored(adata: ad.AnnData) -> None:
    tl.tree(adata)
    tl.embed(adata, scale=0.7, root=5)
    drawn = np.concatenate([spots.get_offsets() for spots in pl.disk(adata).collections[1:]])
    for point in adata.obsm["X_treerep"]:
        assert np.abs(drawn - point).max(axis=1).min() < 1e-12
    pl.disk(adata[10:30])  # without the cell at the origin
    pl.disk(adata, root="é", scale="auto")


# as_metric.


def test_anndata_is_a_metric_of_its_cells(adata: ad.AnnData) -> None:
    metric = tr.as_metric(adata, metric="cosine")
    assert isinstance(metric, tr.PointMetric) and metric.labels == tuple(adata.obs_names)
    assert_array_equal(metric.points, adata.obsm["X_pca"])
    assert_array_equal(tr.as_metric(adata, use_rep="X").points, adata.X)
    assert tr.fit(adata, metric="euclidean") == tr.fit(adata) == tr.fit(tr.as_metric(cells(kind=td.TreeData)))
    del adata.obsm["X_pca"]
    assert_array_equal(tr.as_metric(adata).points, adata.X)
    assert_array_equal(tr.as_metric(adata[5:9]).points, adata.X[5:9])


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, pd.DataFrame, np.asfortranarray])
def test_tables_of_all_kinds(adata: ad.AnnData, kind: Any) -> None:
    table = adata.X.copy()
    frame = {"index": adata.obs_names} if kind is pd.DataFrame else {}
    adata.obsm["rep"] = kind(table, **frame)
    assert_array_equal(tr.as_metric(adata, use_rep="rep").points, table)


def test_x_in_a_file(adata: ad.AnnData, tmp_path: Path) -> None:
    for table in (adata.X, sp.csr_matrix(adata.X)):
        ad.AnnData(table).write_h5ad(tmp_path / "x.h5ad")
        backed = ad.read_h5ad(tmp_path / "x.h5ad", backed="r")
        assert_array_equal(tr.as_metric(backed).points, adata.X)
        backed.file.close()


def test_a_sparse_table_too_large_to_be_dense(adata: ad.AnnData, monkeypatch: pytest.MonkeyPatch) -> None:
    adata.X = sp.csr_matrix(adata.X)
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(
        MemoryError,
        match=r"adata.X, sparse, as a dense table of 60 x 5 needs .* sc.pp.pca\(adata\)",
    ):
        tl.tree(adata, use_rep="X")


# One line each.


def _line(error: pytest.ExceptionInfo[BaseException], said: str) -> None:
    assert re.search(said, str(error.value)) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"use_rep": "X_umap"},
            r"adata.obsm has no 'X_umap' \(it contains 'X_pca'\): choose one of them, or pass use_rep='X'",
        ),
        ({"root": "nobody"}, "root='nobody' is not in adata.obs_names"),
        ({"root": 60}, "root must be the name of a cell or its position, 0 to 59, got 60"),
        ({"root": -1}, "0 to 59, got -1"),
        ({"root": True}, "got True"),
        ({"root": 1.5}, "got 1.5"),
        ({"n_clusters": 61}, "n_clusters=61 exceeds the number of cells, 60"),
        ({"n_clusters": 0}, "n_clusters must be a positive whole number, not 0"),
        ({"trials": 0}, "trials must be a positive whole number"),
        ({"metric": "precomputed"}, "the cells of an AnnData are points"),
        ({"metric": "nosuch"}, "unknown metric 'nosuch'"),
        ({"key_added": "a/b"}, "key_added must be text without slashes, got 'a/b'"),
        ({"key_added": 3}, "key_added must be text without slashes, got 3"),
    ],
)
def test_what_cannot_be_done_changes_nothing(adata: ad.AnnData, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011
        tl.tree(adata, **options)
    _line(error, said)
    assert not adata.uns and list(adata.obs) == ["branch"]


def test_tables_that_are_missing_or_bad(adata: ad.AnnData) -> None:
    adata.obsm["X_pca"][4, 1] = np.nan
    with pytest.raises(tr.MetricError) as error:
        tl.tree(adata)
    _line(
        error,
        r"adata.obsm\['X_pca'\]: coordinate 1 of point 4 \('node7'\) is nan: replace it or drop the point",
    )
    del adata.obsm["X_pca"]
    with pytest.raises(
        ValueError, match=r"adata.obsm has no 'X_pca' \(it is empty\): run sc.pp.pca\(adata\)"
    ):
        tl.tree(adata)
    with pytest.raises(ValueError, match="this AnnData has no X"):
        tr.as_metric(ad.AnnData(obs=adata.obs))
    with pytest.raises(ValueError, match="this AnnData has no cells"):
        tr.as_metric(adata[:0])
    with pytest.raises(ValueError, match="symmetrize='mean' does not apply to an AnnData"):
        tr.as_metric(adata, symmetrize="mean")
    with pytest.raises(ValueError, match="use_rep='X' does not apply to a distance matrix"):
        tr.as_metric(np.zeros((2, 2)), use_rep="X")
    with pytest.raises(ValueError, match="use_rep does not apply to a networkx graph"):
        tr.as_metric(nx.path_graph(3), use_rep="X")


def test_names_twice(adata: ad.AnnData) -> None:
    adata.obs_names = ["same", "same", *adata.obs_names[2:]]
    with pytest.raises(
        ValueError,
        match=r"several cells are named 'same': call adata.obs_names_make_unique\(\)",
    ):
        tl.tree(adata)
    with pytest.raises(ValueError, match="several cells are named 'same'"):
        tl.tree(adata, root="same")
    adata.var_names = ["gene", "gene", "a", "b", "c"]
    with pytest.raises(
        ValueError,
        match=r"several genes are named 'gene': call adata.var_names_make_unique\(\)",
    ):
        values_of(adata, "gene")


def test_keys_that_files_do_not_take(adata: ad.AnnData) -> None:
    tl.tree(adata)
    for tool, options in [
        (tl.pseudotime, {"root": 0}),
        (tl.lineages, {"n_clusters": 2}),
        (tl.embed, {}),
    ]:
        with pytest.raises(ValueError, match="key_added must be text without slashes, got 'a/b'"):
            tool(adata, key_added="a/b", **options)
    assert list(adata.obs) == ["branch"] and list(adata.obsm) == ["X_pca"]


def test_no_tree_or_none_of_ours(adata: ad.AnnData) -> None:
    with pytest.raises(
        ValueError,
        match=r"adata.uns has no tree 'treerep': call treerep.tl.tree\(adata, key_added=",
    ):
        pl.tree(adata)
    adata.uns["treerep"] = {"params": {}}
    with pytest.raises(ValueError, match="is not a treerep tree, because it has no 'names'"):
        tl.embed(adata)
    tl.tree(adata)
    with pytest.raises(ValueError, match="scale must be a positive number or 'auto', not -1"):
        tl.embed(adata, scale=-1)
    with pytest.raises(ValueError, match="'nothing' is neither a column of adata.obs nor a gene"):
        pl.tree(adata, color="nothing")
    adata.uns["treerep"]["weights"][3] = -1
    with pytest.raises(ValueError, match=r"adata.uns\['treerep'\] is damaged: edge 3 .* weight -1.0"):
        tl.get_tree(adata)


@pytest.mark.parametrize("tool", [tl.tree, tl.get_tree, pl.disk])
def test_only_anndata(tool: Any) -> None:
    with pytest.raises(
        TypeError,
        match="expected an AnnData or TreeData, got ndarray: for other data use treerep.fit",
    ):
        tool(np.zeros((3, 3)))


def test_a_new_tree_takes_the_results_of_the_old_one_with_it(adata: ad.AnnData) -> None:
    tr.tl.tree(adata, root=0, n_clusters=3, trials=1)
    tr.tl.embed(adata)
    tr.tl.pseudotime(adata, root=1, key_added="kept")
    adata.obs["treerep_mine"] = 1.0
    tr.tl.tree(adata, trials=1, rng=5)
    assert set(adata.obs) & {"treerep_pseudotime", "treerep_lineage"} == set()
    assert "X_treerep" not in adata.obsm
    assert not {"treerep_pseudotime", "treerep_lineage", "X_treerep"} & set(adata.uns)
    assert {"kept", "treerep_mine"} <= set(adata.obs)


def test_columns_of_others_stay(adata: ad.AnnData) -> None:
    adata.obs["treerep_pseudotime"] = 1.0
    tr.tl.tree(adata, trials=1)
    tr.tl.tree(adata, trials=1)
    assert adata.obs["treerep_pseudotime"].eq(1.0).all()


def test_a_view_of_cells_with_an_old_tree(adata: ad.AnnData) -> None:
    tr.tl.tree(adata, root=0, trials=1)
    part = adata[:20]
    with pytest.warns(ad.ImplicitModificationWarning):
        tr.tl.tree(part, trials=1)
    assert "treerep_pseudotime" not in part.obs
    assert "treerep_pseudotime" in adata.obs
