"""Trees of groups: known trees come back, and support is counted."""

from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import treedata as td
from numpy.testing import assert_allclose

import treerep as tr
from treerep import pl, tl
from treerep.drawing.figures._support import support_texts


def quartet(noise: float) -> ad.AnnData:
    """80 cells in four groups. In the plane of the means, a is near b, and c near d."""
    means = np.array([[0, 0], [1, 0], [10, 10], [11, 10]], float)
    codes = np.arange(80) % 4
    rng = np.random.default_rng(0)
    adata = ad.AnnData(obsm={"X_pca": means[codes] + noise * rng.normal(size=(80, 2))})
    adata.obs["group"] = pd.Categorical(np.array(list("abcd"))[codes], list("abcde"))
    return adata


def test_groups_and_support(tmp_path: Path) -> None:
    adata = quartet(0.1)
    tl.groups(adata, "group", n_bootstrap=20)
    tree = tl.get_tree(adata, key="treerep_group")
    assert tree.labels == tuple("abcd")
    means = pd.DataFrame(adata.obsm["X_pca"]).groupby(adata.obs["group"].to_numpy()).mean()
    assert tree.isclose(tr.fit(tr.PointMetric(means.to_numpy(), labels=list("abcd"))))
    inner = ~np.isnan(tree.support)
    assert inner.any()
    assert_allclose(tree.support[inner], 1.0)
    adata.write_h5ad(tmp_path / "x.h5ad")
    assert tl.get_tree(ad.read_h5ad(tmp_path / "x.h5ad"), key="treerep_group") == tree


def test_noise_lowers_the_support() -> None:
    adata = quartet(30.0)
    tl.groups(adata, "group", n_bootstrap=40, method="neighbor_joining", key_added="t")
    support = tl.get_tree(adata, key="t").support
    assert np.nanmin(support) < 0.95
    again = tl.groups(adata, "group", n_bootstrap=40, method="neighbor_joining", key_added="t", copy=True)
    assert np.array_equal(again.uns["t"]["support"], adata.uns["t"]["support"], equal_nan=True)


def test_cells_without_a_group_are_ignored() -> None:
    adata = quartet(0.1)
    adata.obs["group"] = adata.obs["group"].where(np.arange(80) > 3)
    tl.groups(adata, "group", n_bootstrap=0)
    rest = adata[4:].copy()
    tl.groups(rest, "group", n_bootstrap=0)
    key = "treerep_group"
    assert tl.get_tree(adata, key=key) == tl.get_tree(rest, key=key)
    assert tl.get_tree(adata, key=key).support is None


def test_a_treedata_keeps_the_tree_of_groups_in_uns() -> None:
    adata = quartet(0.1)
    tdata = td.TreeData(obs=adata.obs, obsm=dict(adata.obsm))
    tl.groups(tdata, "group", n_bootstrap=0)
    assert not tdata.obst


def test_the_picture_shows_groups_and_support(tmp_path: Path) -> None:
    adata = quartet(0.1)
    adata.uns["group_colors"] = ["red", "green", "blue", "gold", "gray"]
    tl.groups(adata, "group", n_bootstrap=5)
    tree = tl.get_tree(adata, key="treerep_group")
    texts = support_texts(tree, 0)
    assert texts[:4] == list("abcd")
    assert set(texts[4:]) <= {"", "100"}
    assert "100" in texts
    file = tmp_path / "groups.png"
    axes = pl.groups(adata, "group", save=file)
    assert axes.get_title() == "group"
    assert {text.get_text() for text in axes.texts} >= set("abcd")
    assert file.stat().st_size > 0


def test_errors() -> None:
    adata = quartet(0.1)
    with pytest.raises(ValueError, match=r"call treerep.tl.groups\(adata, 'group'\) first"):
        pl.groups(adata, "group")
    with pytest.raises(ValueError, match="n_bootstrap must be at least 0"):
        tl.groups(adata, "group", n_bootstrap=-1)
    with pytest.raises(ValueError, match="groupby='none' is not a column"):
        tl.groups(adata, "none")
    adata.obs["one"] = "x"
    with pytest.raises(ValueError, match="fewer than two groups"):
        tl.groups(adata, "one")
