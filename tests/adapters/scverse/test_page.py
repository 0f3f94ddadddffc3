"""The page of the tree of the cells."""

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import treerep as tr
from tests.drawing.page.test_write import attribute, numbers, stored


def test_columns_and_stored_colors(marrow: ad.AnnData, tmp_path) -> None:
    marrow.uns["type_colors"] = ["#112233", "red", "#00ff0080"]
    marrow.obs["part"] = [float("inf"), *np.linspace(0, 1, 39)]
    marrow.obs["odd"] = pd.Series([[1, 2]] * 40, index=marrow.obs_names, dtype=object)
    path = tmp_path / "cells.html"
    page = tr.pl.page(marrow, path, color="type", title="marrow")
    assert path.read_text(encoding="utf-8") == page.html
    data = stored(page)
    names = [entry["name"] for entry in data["attributes"]]
    assert names[:-1] == ["type", "day", "drug", "donor", "part"]
    assert names[data["color"]] == "type"
    kind = attribute(page, "type")
    assert kind["categories"] == ["B", "HSC", "T"]
    assert kind["colors"] == ["#112233", "#FF0000", "#00FF00"]
    assert attribute(page, "drug")["colors"] is None
    assert np.isnan(numbers(attribute(page, "part")["values"], "<f8")[0])
    given = tr.pl.page(marrow, color="type", palette=["#000001", "#000002", "#000003"])
    assert attribute(given, "type")["colors"] == ["#000001", "#000002", "#000003"]


@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
def test_genes_are_stored_sparsely(marrow: ad.AnnData, make) -> None:
    expected = np.asarray(marrow.X)
    marrow.X = make(expected)
    page = tr.pl.page(marrow, color="gene3", genes=["gene1", "gene7"], cmap="magma")
    for name in ("gene1", "gene3", "gene7"):
        entry = attribute(page, name)
        values = np.zeros(40)
        values[numbers(entry["rows"], "<u2")] = numbers(entry["values"], "<u1")
        np.testing.assert_array_equal(values, expected[:, int(name[4:])])
        assert entry["ramp"][0] == "#000004"
    names = [entry["name"] for entry in stored(page)["attributes"]]
    assert names[stored(page)["color"]] == "gene3"
    everything = tr.pl.page(marrow, genes="all")
    assert sum("rows" in entry for entry in stored(everything)["attributes"]) == 12


def test_genes_come_from_raw_or_a_layer(marrow: ad.AnnData) -> None:
    marrow.layers["tens"] = marrow.X * 10
    marrow.raw = marrow[:, :6].copy()
    marrow.obs["gene2"] = marrow.obs["type"]

    def total(page, name):
        return float(numbers(attribute(page, name)["values"], "<u1").sum())

    tens = tr.pl.page(marrow, genes=["gene1"], layer="tens")
    assert total(tens, "gene1") == float(marrow.X[:, 1].sum()) * 10
    assert total(tr.pl.page(marrow, genes=["gene9"]), "gene9") == float(marrow.X[:, 9].sum())
    assert "rows" in attribute(tr.pl.page(marrow, genes="gene2"), "gene2 (gene)")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": "none"}, "'none' is neither a column of adata.obs nor a gene"),
        ({"genes": ["none"]}, "'none' is neither a column of adata.obs nor a gene"),
        ({"key": "other"}, "adata.uns has no tree 'other'"),
    ],
)
def test_wrong_names(marrow: ad.AnnData, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        tr.pl.page(marrow, **options)


def test_a_tree_of_groups_is_refused(marrow: ad.AnnData) -> None:
    tr.tl.groups(marrow, "type", key_added="groups")
    with pytest.raises(ValueError, match="the tree 'groups' has 3 groups, not cells"):
        tr.pl.page(marrow, key="groups")
