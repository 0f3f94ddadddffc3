"""Differential abundance against scipy."""

import anndata as ad
import numpy as np
import pytest
import scipy.stats

from treerep import tl
from treerep.adapters.scverse._statistics import benjamini_hochberg


def test_cells_are_compared_by_fisher(marrow: ad.AnnData) -> None:
    tl.lineages(marrow, n_clusters=3)
    tl.abundance(marrow, "drug")
    table = marrow.uns["treerep_abundance"]["table"]
    assert table["condition"].unique().tolist() == ["yes"]
    treated = (marrow.obs["drug"] == "yes").to_numpy()
    for row in table.itertuples():
        inside = (marrow.obs["treerep_lineage"] == row.group).to_numpy()
        counts = [[(inside & side).sum(), (~inside & side).sum()] for side in (treated, ~treated)]
        assert row.pvals == pytest.approx(scipy.stats.fisher_exact(counts).pvalue)
        assert row.share == pytest.approx(inside[treated].mean())
        assert row.share_others == pytest.approx(inside[~treated].mean())
    assert table["pvals_adj"].tolist() == benjamini_hochberg(table["pvals"]).tolist()


def test_samples_are_compared_by_welch(marrow: ad.AnnData) -> None:
    tl.lineages(marrow, n_clusters=2)
    copied = tl.abundance(marrow, "drug", sample="donor", copy=True, key_added="a")
    assert "a" not in marrow.uns
    table = copied.uns["a"]["table"]
    for row in table.itertuples():
        inside = marrow.obs["treerep_lineage"] == row.group
        shares = inside.groupby(marrow.obs["donor"]).mean()
        angles = np.arcsin(np.sqrt(shares))
        treated = shares.index.astype(int) >= 4
        expected = scipy.stats.ttest_ind(angles[treated], angles[~treated], equal_var=False)
        assert row.pvals == pytest.approx(expected.pvalue)
        assert row.share == pytest.approx(shares[treated].mean())


def test_more_conditions_and_other_groups(marrow: ad.AnnData) -> None:
    tl.abundance(marrow, "type", groupby="drug")
    table = marrow.uns["treerep_abundance"]["table"]
    assert len(table) == 3 * 2
    assert table.groupby("condition")["share"].sum().tolist() == pytest.approx([1, 1, 1])


def test_errors(marrow: ad.AnnData) -> None:
    with pytest.raises(ValueError, match="call treerep.tl.lineages first"):
        tl.abundance(marrow, "drug")
    with pytest.raises(ValueError, match="sample '0' has several conditions"):
        tl.abundance(marrow, "type", sample="donor", groupby="day")
    with pytest.raises(ValueError, match="at least two samples"):
        tl.abundance(marrow, "drug", sample="drug", groupby="day")
    marrow.obs["one"] = "x"
    with pytest.raises(ValueError, match="fewer than two conditions"):
        tl.abundance(marrow, "one", groupby="day")
