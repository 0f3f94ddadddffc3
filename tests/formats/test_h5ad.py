"""h5ad files, as anndata writes them."""

import re
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tests.formats.files import read
from treerep import formats
from treerep.metric.points import PointMetric

X = np.array([[0, 1, 2], [3, 0, 0], [0, 0, 5], [1, 1, 1]], np.float32)
PCA = np.arange(8.0).reshape(4, 2)


@pytest.fixture(params=["dense", "csr", "csc"])
def cells(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    values = {"dense": X, "csr": sp.csr_matrix(X), "csc": sp.csc_matrix(X)}[request.param]
    table = anndata.AnnData(values, obs=pd.DataFrame(index=["c0", "c1", "it's", "\N{DECIDUOUS TREE}"]))
    table.obsm["X_pca"] = PCA
    table.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def test_cells_are_points(cells):
    points = formats.read(cells)
    assert isinstance(points, PointMetric)
    np.testing.assert_array_equal(points.points, X)
    assert points.labels == ("c0", "c1", "it's", "\N{DECIDUOUS TREE}")
    np.testing.assert_array_equal(formats.read(cells, use_rep="X_pca", metric="manhattan").points, PCA)


def test_what_is_not_there(cells):
    with pytest.raises(ValueError, match=re.escape("it has no obsm['X_umap']: use_rep is one of X, X_pca")):
        formats.read(cells, use_rep="X_umap")
    with pytest.raises(ValueError, match="an h5ad file holds no graph"):
        formats.read(cells, kind="graph")


def test_memory_is_checked_before_reading(cells, monkeypatch):
    monkeypatch.setattr("treerep.common.memory.available_memory", lambda: 40)
    with pytest.raises(MemoryError, match=re.escape("X of ")):
        formats.read(cells)


def test_files_of_old(tmp_path):
    with h5py.File(tmp_path / "old.h5ad", "w") as file:
        file["X"] = X
        file["obs"] = np.array([(b"c0", 1), (b"c1", 2), (b"c2", 3), (b"c3", 4)], [("index", "S5"), ("n", int)])
        file["obsm"] = np.array([(row,) for row in PCA], [("X_pca", float, (2,))])
    old = formats.read(tmp_path / "old.h5ad", use_rep="X_pca")
    assert old.labels == ("c0", "c1", "c2", "c3")
    np.testing.assert_array_equal(old.points, PCA)


@pytest.mark.parametrize("size", [8, 100, 1000, 3000])
def test_a_cut_file_is_refused(cells, tmp_path, size):
    with pytest.raises(ValueError, match="cells.h5ad"):
        read(tmp_path, cells.read_bytes()[:size], "cells.h5ad")


@pytest.mark.parametrize(
    "damage", ["no X", "text", "wrong shape", "no encoding", "bad indices", "no indptr", "no names"]
)
def test_a_foreign_file_is_refused(tmp_path, damage):
    table = anndata.AnnData(sp.csr_matrix(X))
    table.write_h5ad(tmp_path / "d.h5ad")
    with h5py.File(tmp_path / "d.h5ad", "a") as file:
        if damage == "no names":
            del file["obs"]["_index"]
        elif damage in ("no X", "text"):
            del file["X"]
            if damage == "text":
                file["X"] = "text"
        elif damage == "wrong shape":
            file["X"].attrs["shape"] = [2, 2]
        elif damage == "no encoding":
            del file["X"].attrs["encoding-type"]
        elif damage == "bad indices":
            file["X"]["indices"][0] = 10**6
        else:
            del file["X"]["indptr"]
    with pytest.raises(ValueError, match="d.h5ad: ") as caught:
        formats.read(tmp_path / "d.h5ad")
    assert "\n" not in str(caught.value)
