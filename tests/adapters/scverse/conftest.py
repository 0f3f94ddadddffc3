"""Cells with a known tree, so that most tests need no fit."""

import anndata as ad
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import treerep as tr

mpl.use("agg")


@pytest.fixture
def marrow() -> ad.AnnData:
    """40 cells on a random tree, with genes, types, days and samples."""
    rng = np.random.default_rng(5)
    drawn = tr.datasets.random_tree(40, rng=2)
    labels = [f"cell{i}" for i in range(40)]
    tree = tr.Tree(40, drawn.edges, drawn.weights, labels=labels)
    adata = ad.AnnData(rng.poisson(1.0, (40, 12)).astype(np.float32))
    adata.obs_names = labels
    adata.var_names = [f"gene{i}" for i in range(12)]
    adata.obsm["X_pca"] = rng.normal(size=(40, 5))
    adata.obs["type"] = pd.Categorical(np.array(["HSC", "B", "T"])[np.arange(40) % 3])
    adata.obs["day"] = np.arange(40) % 4
    adata.obs["drug"] = np.where(np.arange(40) % 8 < 4, "no", "yes")
    adata.obs["donor"] = (np.arange(40) % 8).astype(str)
    tr.tl.set_tree(adata, tree)
    return adata
