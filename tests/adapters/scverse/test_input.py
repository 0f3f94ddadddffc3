"""What `tl.tree` reads: neighbor graphs, matrices, layers, raw and trees from elsewhere."""

import re
import warnings
from typing import Any

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import treedata as td
from numpy.testing import assert_allclose

import treerep as tr
from treerep import tl
from treerep.adapters.scverse._input import pairwise_metric

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # scanpy's own dependencies
    import scanpy as sc


def find_neighbors(adata: ad.AnnData, k: int, use_rep: str | None = None) -> None:
    """Store graphs of the kinds that scanpy stores by default, with other weights."""
    # Gaussian weights: numba compiles those of umap first, which takes seconds.
    sc.pp.neighbors(adata, n_neighbors=k, use_rep=use_rep, method="gauss")
    adata.obsp["connectivities"] = adata.obsp["connectivities"].astype(np.float32)
    # With umap, the neighbors of a cell are in the order of their distances, not of their numbers.
    graph = adata.obsp["distances"]
    order = np.lexsort((graph.data, graph.tocoo().row))
    adata.obsp["distances"] = sp.csr_matrix(
        (graph.data[order], graph.indices[order], graph.indptr), graph.shape
    )


def with_neighbors(n: int = 60, k: int = 8) -> ad.AnnData:
    made = tr.datasets.branching_cells(n, dim=5, levels=2, rng=1)
    adata = ad.AnnData(X=made.points, obsm={"X_pca": made.points})
    find_neighbors(adata, k)
    return adata


@pytest.mark.parametrize("key", ["distances", "connectivities"])
def test_a_neighbor_graph_has_the_shortest_paths_of_scipy(key: str) -> None:
    adata = with_neighbors()
    graph = adata.obsp[key].astype(float)
    if key == "connectivities":
        graph.data = 1 / graph.data
    expected = sp.csgraph.shortest_path(graph.maximum(graph.T), directed=False)
    everyone = range(adata.n_obs)
    assert_allclose(pairwise_metric(adata, key).block(everyone, everyone), expected, rtol=1e-6)
    tl.tree(adata, obsp=key, method="treerep", rng=3)
    metric = pairwise_metric(adata, key)
    assert tl.get_tree(adata) == tr.fit(metric, method="treerep", rng=3)
    assert tl.get_tree(adata).labels == tuple(adata.obs_names)
    assert adata.uns["treerep"]["params"]["obsp"] == key
    assert "use_rep" not in adata.uns["treerep"]["params"]


def test_a_tree_graph_comes_back_exactly() -> None:
    tree = tr.datasets.random_tree(30, rng=1).restrict(range(30))
    spanning = tr.fit(tree.distances(), method="minimum_spanning_tree")
    u, v = spanning.edges.T
    adata = ad.AnnData(obs={"x": np.zeros(30)})
    adata.obsp["t_distances"] = sp.csr_matrix((spanning.weights, (u, v)), shape=(30, 30))
    tl.tree(adata, obsp="t_distances", method="treerep")
    assert_allclose(tl.get_tree(adata).distances(), spanning.distances(), atol=1e-9)


def test_a_dense_matrix_has_all_distances() -> None:
    tree = tr.datasets.random_tree(20, rng=1)
    adata = ad.AnnData(obs={"x": np.zeros(20)})
    adata.obsp["all"] = tree.distances()
    tl.tree(adata, obsp="all", method="treerep")
    assert_allclose(tl.get_tree(adata).distances(), tree.distances(), atol=1e-9)


def test_equal_cells_are_neighbors() -> None:
    points = np.random.default_rng(0).normal(size=(30, 3))
    points[1] = points[0]
    adata = ad.AnnData(points)
    find_neighbors(adata, 5, use_rep="X")
    metric = pairwise_metric(adata, "distances")
    assert metric.pairs(0, 1) < 1e-8 * metric.pairs(0, 2)


def test_layers_and_raw() -> None:
    adata = with_neighbors(30)
    adata.raw = adata.copy()
    adata.layers["double"] = sp.csr_matrix(adata.X * 2)
    names = list(adata.obs_names)
    tl.tree(adata, layer="double", method="treerep")
    doubled = tr.PointMetric(adata.X * 2, labels=names)
    assert tl.get_tree(adata) == tr.fit(doubled, method="treerep")
    assert adata.uns["treerep"]["params"]["layer"] == "double"
    tl.tree(adata, use_raw=True, metric="manhattan", method="treerep")
    plain = tr.PointMetric(adata.X, "manhattan", labels=names)
    assert tl.get_tree(adata) == tr.fit(plain, method="treerep")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"obsp": "none"}, "adata.obsp has no 'none': choose one of"),
        ({"obsp": "distances", "use_rep": "X"}, "use_rep and obsp name different data"),
        ({"obsp": "distances", "metric": "cosine"}, "metric='cosine' does not apply to obsp"),
        ({"layer": "none"}, "adata.layers has no 'none'"),
        ({"use_raw": True}, "adata.raw is empty"),
        ({"obsp": "bad"}, "adata.obsp['bad']: "),
        ({"stages": "none"}, "stages='none' is not a column of adata.obs"),
        ({"root": "x", "groupby": "none"}, "groupby='none' is not a column"),
    ],
)
def test_errors_are_one_line(options: dict[str, Any], said: str) -> None:
    adata = with_neighbors(30)
    adata.obsp["bad"] = np.full((30, 30), np.nan)
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        tl.tree(adata, **options)
    assert "\n" not in str(error.value)
    assert "treerep" not in adata.uns


def test_a_disconnected_graph_is_refused() -> None:
    points = np.r_[np.zeros((20, 1)), np.full((10, 1), 100.0)]
    adata = ad.AnnData(points + np.random.default_rng(0).normal(size=(30, 1)))
    find_neighbors(adata, 4, use_rep="X")
    with pytest.raises(ValueError, match=r"has \d components, of .* n_neighbors=\.\.\."):
        tl.tree(adata, obsp="distances")


def test_a_tree_from_elsewhere_is_matched_by_name() -> None:
    tdata = td.TreeData(X=np.zeros((3, 1)))
    tdata.obs_names = ["a", "b", "c"]
    tl.set_tree(tdata, tr.Tree.from_newick("((c:1,x:9):2,(a:1,b:3):1);"), root="c")
    assert tl.get_tree(tdata).labels == ("a", "b", "c")
    assert tdata.obs["treerep_pseudotime"].tolist() == [5.0, 7.0, 0.0]
    assert set(tdata.obst["treerep"]) >= {"a", "b", "c"}
    unnamed = tr.Tree(3, [[0, 1], [1, 2]], [1.0, 2.0])
    with pytest.warns(UserWarning, match="the tree has no labels, so its points are taken"):
        copied = tl.set_tree(tdata, unnamed, copy=True)
    assert tl.get_tree(copied).newick("a") == "(a:0.0,(b:0.0,c:2.0):1.0);"
    assert "treerep_pseudotime" not in copied.obs
    assert "treerep_pseudotime" in tdata.obs


def test_a_tree_of_a_table_in_another_order_is_matched_by_name() -> None:
    rng = np.random.default_rng(0)
    names = [f"cell{i}" for i in range(30)]
    states = pd.DataFrame(rng.integers(0, 5, (30, 12)), index=names)
    adata = ad.AnnData(np.zeros((30, 1), np.float32))
    adata.obs_names = names
    shuffled = states.sample(frac=1, random_state=0)
    expected = tr.fit(tr.CharacterMetric(shuffled)).restrict(names).distances()
    for metric in (tr.CharacterMetric(shuffled), tr.PointMetric(shuffled, "manhattan")):
        tree = tr.fit(metric)
        tl.set_tree(adata, tree)
        assert_allclose(tl.get_tree(adata).distances(), tree.restrict(names).distances())
        if isinstance(metric, tr.CharacterMetric):
            assert_allclose(tl.get_tree(adata).distances(), expected)
    # Cells that are named by their positions have no other order.
    adata.obs_names = [str(i) for i in range(30)]
    tl.set_tree(adata, tr.fit(states.to_numpy(), metric="hamming"))


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (tr.Tree.from_newick("(a:1,b:1,x:1);"), "cell 'c' is not in the tree"),
        (tr.Tree(2, [[0, 1]], [1.0]), "the tree has no labels and 2 points for 3 cells"),
        ("(a,b,c);", "expected a Tree, got str"),
    ],
)
def test_trees_that_do_not_match(tree: Any, said: str) -> None:
    adata = ad.AnnData(np.zeros((3, 1)))
    adata.obs_names = ["a", "b", "c"]
    with pytest.raises((ValueError, TypeError), match=said):
        tl.set_tree(adata, tree)
