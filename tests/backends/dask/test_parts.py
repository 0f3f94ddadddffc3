"""Trees that workers write down in parts: together they are the tree of one machine."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treerep as tr
from tests.backends.dask.local import local_client
from tests.backends.dask.traps import Trap, die
from tests.trees import assert_same
from treerep.backends.dask import parts as dask_parts
from treerep.backends.dask.parts import edges_in_parts, fit_to_parts, read_parts

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.usefixtures("many_waves")

CLUSTER = {"processes": False}


@pytest.mark.parametrize("pivot", ["random", "near", "closest"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 90])
def test_the_tree_is_that_of_fit(client: Any, tmp_path: Path, n: int, pivot: str) -> None:
    points = np.random.default_rng(n).normal(size=(n, 3))
    options: dict[str, Any] = {"metric": "euclidean", "rng": 3, "pivot": pivot}
    count = fit_to_parts(da.from_array(points, chunks=40), tmp_path / "tree", client=client, **options)
    expected = tr.fit(points, method="treerep", **options)
    assert_same(read_parts(tmp_path / "tree"), expected)
    assert count == len(expected.edges)


@pytest.mark.parametrize("seed", range(4))
def test_duplicates_and_labels(client: Any, tmp_path: Path, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 3, size=(80, 2))
    metric = tr.PointMetric(points, "manhattan", labels=[f"<{i}> 🌲" for i in range(80)])
    fit_to_parts(metric, tmp_path, client=client)
    assert_same(read_parts(tmp_path), tr.fit(metric, method="treerep"))
    # Whoever reads part by part meets every point, and no edge twice.
    edges = np.concatenate([edges for edges, _ in edges_in_parts(tmp_path)])
    assert len(np.unique(np.sort(edges), axis=0)) == len(edges)
    assert np.array_equal(np.unique(edges[edges < 80]), np.arange(80))


def test_a_worker_dies_and_its_part_is_written_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = np.random.default_rng(0).normal(size=(200, 3))
    (tmp_path / "marks").mkdir()
    trap = Trap(dask_parts._finish_to_file, die, tmp_path / "marks", 2)
    monkeypatch.setattr(dask_parts, "_finish_to_file", trap)
    with local_client() as client:
        fit_to_parts(
            da.from_array(points, chunks=50),
            tmp_path / "tree",
            metric="euclidean",
            client=client,
        )
    assert trap.sprung
    assert_same(read_parts(tmp_path / "tree"), tr.fit(points, metric="euclidean", method="treerep"))


def test_a_folder_without_a_complete_tree_is_none(client: Any, tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    points[7] = np.nan
    with pytest.raises(tr.MetricError, match="of point 7 is nan"):
        fit_to_parts(points, tmp_path, client=client, metric="euclidean")
    with pytest.raises(FileNotFoundError, match="index.npz does not exist: the tree"):
        read_parts(tmp_path)
    fit_to_parts(points[8:], tmp_path, client=client, metric="euclidean")
    with pytest.raises(FileExistsError, match="is not empty: use an empty or a new folder$"):
        fit_to_parts(points[8:], tmp_path, client=client, metric="euclidean")
    part = next(tmp_path.glob("zones-*"))
    part.write_bytes(part.read_bytes()[:-30])
    with pytest.raises(
        ValueError,
        match=r"zones-\d+.npz cannot be read: it is not a treerep-parts file, or it is trun",
    ):
        read_parts(tmp_path)
    part.unlink()
    with pytest.raises(FileNotFoundError):
        read_parts(tmp_path)


def test_what_has_no_points_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        tr.MetricError, match="^only trees of points can be written in parts: pass coordinates"
    ):
        fit_to_parts(1.0 - np.eye(4), tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
