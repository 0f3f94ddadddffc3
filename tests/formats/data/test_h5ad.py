"""h5ad files, as anndata writes them."""

import os
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
    points = formats.read(cells, use_rep="X")
    assert isinstance(points, PointMetric)
    np.testing.assert_array_equal(points.points, X)
    assert points.labels == ("c0", "c1", "it's", "\N{DECIDUOUS TREE}")
    np.testing.assert_array_equal(formats.read(cells, use_rep="X_pca", metric="manhattan").points, PCA)


def test_what_is_not_there(cells):
    with pytest.raises(
        ValueError,
        match=re.escape("the file has no obsm['X_umap']: use_rep must be one of X, X_pca"),
    ):
        formats.read(cells, use_rep="X_umap")
    with pytest.raises(ValueError, match="an h5ad file cannot hold a graph"):
        formats.read(cells, kind="graph")


def test_memory_is_checked_before_reading(cells, monkeypatch):
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 40)
    with pytest.raises(MemoryError, match=re.escape("X of ")):
        formats.read(cells, use_rep="X")


def test_files_of_old(tmp_path):
    with h5py.File(tmp_path / "old.h5ad", "w") as file:
        file["X"] = X
        file["obs"] = np.array(
            [(b"c0", 1), (b"c1", 2), (b"c2", 3), (b"c3", 4)], [("index", "S5"), ("n", int)]
        )
        file["obsm"] = np.array([(row,) for row in PCA], [("X_pca", float, (2,))])
    old = formats.read(tmp_path / "old.h5ad", use_rep="X_pca")
    assert old.labels == ("c0", "c1", "c2", "c3")
    np.testing.assert_array_equal(old.points, PCA)


@pytest.mark.parametrize("size", [8, 100, 1000, 3000])
def test_a_cut_file_is_refused(cells, tmp_path, size):
    with pytest.raises(ValueError, match="cells.h5ad"):
        read(tmp_path, cells.read_bytes()[:size], "cells.h5ad")


@pytest.mark.parametrize(
    "damage",
    ["no X", "text", "wrong shape", "no encoding", "bad indices", "no indptr", "no names"],
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


def refers(path: Path, item: str, kind: str) -> None:
    """Move an item to another file or, if the kind is "inside", to another place in the same file."""
    other = path.parent / "other.h5"
    with h5py.File(path, "a") as file:
        parent, name = file[item].parent, item.rpartition("/")[2]
        if kind == "inside":
            parent.move(name, "/elsewhere")
            parent[name] = h5py.SoftLink("/elsewhere")
            return
        shape, dtype = getattr(file[item], "shape", (4, 3)), getattr(file[item], "dtype", "f8")
        dtype = "f8" if h5py.check_string_dtype(np.dtype(dtype)) else dtype
        with h5py.File(other, "w") as apart:
            file.copy(item, apart, "there")
        (path.parent / "bytes").write_bytes(bytes(1000))
        del parent[name]
        if kind == "external link":
            parent[name] = h5py.ExternalLink(other, "/there")
        elif kind == "soft link":
            file["away"] = h5py.ExternalLink(other, "/")
            parent[name] = h5py.SoftLink("/away/there")
        elif kind == "storage":
            parent.create_dataset(
                name, shape, dtype, external=[(path.parent / "bytes", 0, h5py.h5f.UNLIMITED)]
            )
        else:
            layout = h5py.VirtualLayout(shape, dtype)
            layout[...] = h5py.VirtualSource(other, "there", shape)
            parent.create_virtual_dataset(name, layout)


ARRAYS = ("X", "X/data", "X/indices", "obsm/X_pca", "obs/_index")
LINKED = [(item, kind) for item in (*ARRAYS, "obs", "obsm") for kind in ("external link", "soft link")]


@pytest.mark.parametrize(
    ("item", "kind"),
    [*LINKED, *((item, kind) for item in ARRAYS for kind in ("storage", "virtual"))],
)
def test_data_in_other_files_are_refused(tmp_path, item, kind):
    path = tmp_path / "cells.h5ad"
    sparse = item.startswith("X/")
    table = anndata.AnnData(sp.csr_matrix(X) if sparse else X, obs=pd.DataFrame(index=list("abcd")))
    table.obsm["X_pca"] = PCA
    table.write_h5ad(path)
    refers(path, item, kind)
    with pytest.raises(
        ValueError, match=r"cells.h5ad: .* (is a link to the file|is in another file)"
    ) as caught:
        formats.read(path, use_rep="X_pca" if "obsm" in item else "X")
    assert "\n" not in str(caught.value)
    assert item.rpartition("/")[2] in str(caught.value)


def test_the_other_file_is_not_even_opened(cells, tmp_path):
    """A link to a pipe would wait for a writer forever."""
    os.mkfifo(tmp_path / "pipe")
    with h5py.File(cells, "a") as file:
        del file["X"]
        file["X"] = h5py.ExternalLink("pipe", "/X")
    with pytest.raises(ValueError, match="X is a link to the file 'pipe': copy the data into this file"):
        formats.read(cells, use_rep="X")


@pytest.mark.parametrize("item", ["X", "obsm", "obsm/X_pca", "obs", "obs/_index"])
def test_links_within_the_file_are_followed(cells, item):
    refers(cells, item, "inside")
    np.testing.assert_array_equal(formats.read(cells, use_rep="X").points, X)
    assert formats.read(cells, use_rep="X_pca").labels[:2] == ("c0", "c1")


def test_a_circle_of_links_ends(cells):
    with h5py.File(cells, "a") as file:
        del file["X"]
        file["X"], file["Y"] = h5py.SoftLink("/Y"), h5py.SoftLink("X")
    with pytest.raises(ValueError, match="X is a cycle of links"):
        formats.read(cells, use_rep="X")
