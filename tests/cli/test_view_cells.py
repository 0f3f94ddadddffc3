"""`treerep view` of an h5ad file: columns of `obs`, stored colors and genes."""

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest

import treerep as tr
from tests.cli.commands import assert_one_line_error
from tests.drawing.page.test_write import attribute, numbers, stored
from treerep.drawing.page.write import Page


@pytest.fixture
def cells(tmp_path):
    rng = np.random.default_rng(1)
    adata = ad.AnnData(rng.poisson(0.5, (40, 6)).astype(np.float32))
    adata.obs_names = [f"cell{i}" for i in range(40)]
    adata.var_names = [f"gene{i}" for i in range(6)]
    adata.obsm["X_pca"] = tr.datasets.branching_cells(40).points
    names = [str(i % 11) for i in range(40)]
    adata.obs["louvain"] = pd.Categorical(names, categories=[str(i) for i in range(11)])
    adata.obs["n_counts"] = rng.lognormal(size=40)
    adata.uns["louvain_colors"] = [f"#0000{i:02d}" for i in range(11)]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return adata


def shown(path) -> Page:
    page = Page.__new__(Page)
    page.html = path.read_text(encoding="utf-8")
    return page


def test_obs_colors_the_page(call, cells, tmp_path):
    done = call("view", "cells.h5ad", "--color", "louvain", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    page = shown(tmp_path / "page.html")
    names = [entry["name"] for entry in stored(page)["attributes"]]
    assert names[:2] == ["louvain", "n_counts"] and stored(page)["color"] == 0
    louvain = attribute(page, "louvain")
    assert louvain["categories"] == [str(i) for i in range(11)]
    assert louvain["colors"][10] == "#000010"
    assert numbers(louvain["values"], "<i4").tolist() == [i % 11 for i in range(40)]


def test_genes_and_a_table(call, cells, tmp_path):
    rows = "".join(f"cell{i},{i}.5\n" for i in range(40))
    (tmp_path / "more.csv").write_text(f"cell,age\n{rows}")
    done = call(
        *("view", "cells.h5ad", "--genes", "gene1,gene4", "--color", "gene2"),
        *("--table", "more.csv", "--palette", "magma", "-o", "page.html"),
    )
    assert done.returncode == 0, done.stderr
    page = shown(tmp_path / "page.html")
    assert {"louvain", "age", "gene1", "gene2", "gene4"} <= {
        entry["name"] for entry in stored(page)["attributes"]
    }
    gene = attribute(page, "gene2")
    assert gene["ramp"][0] == "#000004"
    np.testing.assert_array_equal(numbers(gene["rows"], "<u2"), np.flatnonzero(cells.X[:, 2]))


def test_colors_by_name(call, tmp_path, data_folder):
    (tmp_path / "tree.nwk").write_text("((a:1,b:2):1,c:3);")
    (tmp_path / "kinds.csv").write_text("label,kind\na,x\nb,y\nc,x\n")
    done = call(
        *("view", "tree.nwk", "--table", "kinds.csv", "--color", "kind"),
        *("--palette", "#ff0000,blue", "-o", "page.html"),
    )
    assert done.returncode == 0, done.stderr
    assert attribute(shown(tmp_path / "page.html"), "kind")["colors"] == ["#FF0000", "#0000FF"]


def test_errors_are_one_line(call, cells, tmp_path):
    (tmp_path / "tree.nwk").write_text("((a:1,b:2):1,c:3);")
    wrong = call("view", "cells.h5ad", "--color", "leiden", "-o", "page.html")
    assert_one_line_error(wrong, "--color leiden is neither a gene nor a column of obs")
    wrong = call("view", "tree.nwk", "--genes", "CD3D", "-o", "page.html")
    assert_one_line_error(wrong, "--genes needs an h5ad file")
    with h5py.File(tmp_path / "cells.h5ad", "a") as file:
        file["obs/secret"] = h5py.ExternalLink("other.h5", "/data")
    wrong = call("view", "cells.h5ad", "-o", "page.html")
    assert_one_line_error(wrong, "link to the file 'other.h5'")
