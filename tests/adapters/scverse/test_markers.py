"""Markers against scanpy, and splits of lineages and edges."""

import inspect
import sys
import warnings
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_allclose

import treerep as tr
from tests.tree.strategies import trees
from treerep import pl, tl
from treerep.adapters.scverse.markers import edge_sides

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # scanpy's own dependencies
    import scanpy as sc


@pytest.fixture
def uncompiled_scanpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scanpy rank in Python: numba would compile its functions for ten seconds, for a few cells."""
    for place in ("tools._rank_genes_groups", "preprocessing._utils"):
        module = sys.modules[f"scanpy.{place}"]
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__:
                monkeypatch.setattr(module, name, inspect.unwrap(function))


@pytest.mark.usefixtures("uncompiled_scanpy")
@pytest.mark.parametrize("method", ["wilcoxon", "t-test"])
@pytest.mark.parametrize("sparse", [False, True])
def test_scanpy_finds_the_same_markers(marrow: ad.AnnData, method: str, sparse: bool) -> None:
    sc.pp.log1p(marrow)
    if sparse:
        marrow.X = sp.csr_matrix(marrow.X)
    tl.lineages(marrow, n_clusters=3)
    tl.markers(marrow, method=method)
    table = marrow.uns["treerep_markers"]["table"]
    splits = marrow.uns["treerep_lineage"]["splits"]
    assert list(dict.fromkeys(table["split"])) == [f"{a}-{b}" for a, b in splits]
    assert len(splits) == 2
    for a, b in splits.astype(str):
        options = {"tie_correct": True} if method == "wilcoxon" else {}
        sc.tl.rank_genes_groups(marrow, "treerep_lineage", groups=[b], reference=a, method=method, **options)
        expected = sc.get.rank_genes_groups_df(marrow, b).set_index("names")
        found = table[table["split"] == f"{a}-{b}"].set_index("names").loc[expected.index]
        for column in ("scores", "pvals", "pvals_adj", "logfoldchanges"):
            assert_allclose(found[column], expected[column], rtol=1e-4, atol=1e-6)


def test_lineages_are_joined_by_cut_edges(marrow: ad.AnnData) -> None:
    tl.set_tree(marrow, tl.get_tree(marrow), root=7)
    tl.lineages(marrow, n_clusters=5)
    splits = marrow.uns["treerep_lineage"]["splits"]
    assert len(splits) == 4
    lineage = marrow.obs["treerep_lineage"].astype(int).to_numpy()
    # A tree of lineages, rooted at the lineage of the root cell.
    assert sorted([*splits[:, 1].tolist(), lineage[7]]) == list(range(5))


@given(trees(min_points=2))
def test_the_sides_of_an_edge(tree: tr.Tree) -> None:
    distances = tree.block(range(tree.n_nodes), range(len(tree)))
    for (u, v), weight in zip(tree.edges.tolist(), tree.weights.tolist(), strict=True):
        sides = edge_sides(tree, (u, v))
        assert_allclose(np.where(sides, weight, -weight), distances[u] - distances[v], atol=1e-9)
        assert (edge_sides(tree, (v, u)) == ~sides).all()


def test_an_edge_divides_all_cells(marrow: ad.AnnData) -> None:
    tree = tl.get_tree(marrow)
    sizes = [edge_sides(tree, edge).sum() for edge in tree.edges]
    edge = tuple(tree.edges[int(np.argmin(np.abs(np.array(sizes) - 20)))].tolist())
    copied = tl.markers(marrow, edge=edge, method="t-test", copy=True, key_added="m")
    assert "m" not in marrow.uns
    table = copied.uns["m"]["table"].set_index("names")
    sides = edge_sides(tree, edge)
    change = marrow.X[sides].mean(axis=0) - marrow.X[~sides].mean(axis=0)
    assert min(sides.sum(), (~sides).sum()) > 1
    assert (np.sign(table.loc[marrow.var_names, "scores"]) == np.sign(change)).all()


def test_the_heat_map_and_its_file(marrow: ad.AnnData, tmp_path: Path) -> None:
    marrow.raw = marrow.copy()
    tl.lineages(marrow, n_clusters=3)
    tl.markers(marrow)
    marrow.write_h5ad(tmp_path / "x.h5ad")
    saved = ad.read_h5ad(tmp_path / "x.h5ad")
    axes = pl.markers(saved, n_genes=2, title="genes", save=tmp_path / "x.png")
    shown = [text.get_text() for text in axes.get_yticklabels()]
    table = marrow.uns["treerep_markers"]["table"]
    assert set(shown) == set(table.groupby("split").head(2)["names"])
    values = axes.images[0].get_array()
    assert values.shape == (len(shown), 40)
    assert values.min() == 0
    assert values.max() == 1
    assert axes.get_title() == "genes"
    assert (tmp_path / "x.png").stat().st_size > 0


def test_a_new_tree_removes_markers_and_abundances(marrow: ad.AnnData) -> None:
    tl.lineages(marrow, n_clusters=3)
    tl.markers(marrow)
    tl.abundance(marrow, "drug")
    tl.set_tree(marrow, tl.get_tree(marrow))
    assert set(marrow.uns) == {"treerep"}


def test_new_lineages_remove_markers_of_old_ones(marrow: ad.AnnData) -> None:
    tl.lineages(marrow, n_clusters=3)
    tl.markers(marrow)
    tl.abundance(marrow, "drug", groupby="day")
    tl.markers(marrow, key_added="mine")
    tl.lineages(marrow, n_clusters=4)
    assert set(marrow.uns) == {"treerep", "treerep_lineage", "treerep_abundance", "mine"}
    tl.markers(marrow, edge=tl.get_tree(marrow).edges[-1])
    tl.lineages(marrow, n_clusters=3)
    assert "treerep_markers" in marrow.uns


def test_errors(marrow: ad.AnnData) -> None:
    with pytest.raises(ValueError, match="call treerep.tl.lineages first"):
        tl.markers(marrow)
    tl.lineages(marrow, n_clusters=1)
    with pytest.raises(ValueError, match="no neighboring lineages"):
        tl.markers(marrow)
    with pytest.raises(ValueError, match=r"the tree has no edge \(0, 0\)"):
        tl.markers(marrow, edge=(0, 0))
    with pytest.raises(ValueError, match="edge must be two nodes"):
        tl.markers(marrow, edge=3)
    with pytest.raises(ValueError, match="method"):
        tl.markers(marrow, method="logreg")
    with pytest.raises(ValueError, match="call treerep.tl.markers first"):
        pl.markers(marrow)
