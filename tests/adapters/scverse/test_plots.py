"""Options of the plots that have the names of scanpy."""

from pathlib import Path

import anndata as ad
import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from treerep import pl
from treerep.adapters.scverse.plots.tree_plots import values_of


def test_panels_titles_and_files(marrow: ad.AnnData, tmp_path: Path) -> None:
    colors = ["type", "gene1", "day"]
    file = tmp_path / "tree.pdf"
    axes = pl.tree(marrow, color=colors, ncols=2, title=["a", "b", "c"], save=file)
    assert [ax.get_title() for ax in axes] == ["a", "b", "c"]
    rows = {round(ax.get_subplotspec().rowspan.start) for ax in axes}
    assert rows == {0, 1}
    assert file.read_bytes()[:4] == b"%PDF"
    assert pl.tree(marrow, color="type", title="one").get_title() == "one"
    for wrong, kind in ((True, TypeError), (3, TypeError)):
        with pytest.raises(kind, match="save must be the path of a file"):
            pl.tree(marrow, save=wrong)
    with pytest.raises(ValueError, match="got 2 titles for 1 pictures"):
        pl.tree(marrow, title=["a", "b"])
    with pytest.raises(ValueError, match="ncols"):
        pl.tree(marrow, color=colors, ncols=0)


def test_color_maps_and_palettes(marrow: ad.AnnData) -> None:
    axes = pl.tree(marrow, color=["type", "gene1"], cmap="magma", palette=["red", "lime", "blue"])
    legend = axes[0].get_legend()
    handles = legend.legend_handles
    shown = {mpl.colors.to_hex(handle.get_markerfacecolor()) for handle in handles}
    assert shown == {"#ff0000", "#00ff00", "#0000ff"}
    darkest = mpl.colormaps["magma"](0.0)
    drawn = np.concatenate([spots.get_facecolor() for spots in axes[1].collections[1:]])
    assert np.abs(drawn - darkest).sum(axis=1).min() < 0.02


def test_tables_of_genes(marrow: ad.AnnData) -> None:
    marrow.layers["tens"] = marrow.X * 10
    raw = marrow.copy()
    raw.X = raw.X + 1
    marrow.raw = raw
    assert_array_equal(values_of(marrow, "gene1"), marrow.X[:, 1] + 1)
    assert_array_equal(values_of(marrow, "gene1", use_raw=False), marrow.X[:, 1])
    assert_array_equal(values_of(marrow, "gene1", layer="tens"), marrow.X[:, 1] * 10)
    with pytest.raises(ValueError, match="layer and use_raw=True name different genes"):
        values_of(marrow, "gene1", "tens", True)
    with pytest.raises(ValueError, match="neither a column of adata.obs nor a gene"):
        values_of(marrow, "none", "tens")
