"""Trees that are too large for the client. The workers of a cluster write them to files."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._core.io.archive import check_marks, checked_read, read_archive, write_archive
from ..._core.typing import DaskClient, DaskFuture, MetricLike, RNGLike
from ...fitting.treerep._settings import checked_choices
from ...metric.base import MetricError
from ...tree.structure.canonical import canonical_edges
from ...tree.tree import Tree
from ._finish import Batch, Part, completed, duplicates_of
from ._spread_points import Block, raise_first
from ._treerep_run import Run, SpreadZone
from ._waves import Wave
from .cluster import client_for
from .fit import SpreadablePoints, run_on, spreadable_points

_MARK: dict[str, Any] = {"format": "treerep-parts", "version": 1}
_INDEX = "index.npz"

Edges = tuple[NDArray[np.int32], NDArray[np.float64]]


def fit_to_parts(
    data: MetricLike,
    folder: str | os.PathLike[str],
    *,
    client: "DaskClient | None" = None,
    metric: str | None = None,
    rng: RNGLike = 0,
    tol: float | str = "auto",
    pivot: str = "random",
) -> int:
    """Learn a tree with TreeRep on a Dask cluster and write it to a folder in parts.

    Every worker writes its edges, so client and workers must share the folder. The client stores 4
    bytes per point and the large zones. The list of all parts is written last. Without this list,
    the tree is not complete.

    Parameters
    ----------
    data : dask array of points, or points as in `fit`
    folder : path
        An empty folder, or one that does not exist yet.
    client : Client, optional
        The default is the current client, or a temporary cluster on this machine.
    metric, rng, tol, pivot
        As in `fit`.

    Returns
    -------
    int
        Number of edges.
    """
    choices = checked_choices(tol, pivot)
    target = Path(folder).absolute()
    source = spreadable_points(data, metric)
    if not isinstance(source, SpreadablePoints):
        raise MetricError(
            "only trees of points can be written in parts: pass coordinates and the name of their metric"
        )
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        raise FileExistsError(f"{target} is not empty: use an empty or a new folder")
    with client_for(client) as cluster:
        points, run = run_on(cluster, source, rng, choices, partial(_PartsRun, target))
    counts = {} if run is None else run.written
    if run is not None:
        edges = np.empty((0, 2), np.int32)
        weights = np.empty(0)
        if run.skeleton.edges:
            edges, weights = run.skeleton.all_edges()
        counts["split.npz"] = _write(target / "split.npz", run.final_numbers(edges), weights)
    total = sum(counts.values())
    labels = None if points.labels is None else list(points.labels)
    about = {"n_points": source.n, "edges": total, "parts": sorted(counts)}
    write_archive(target / _INDEX, {**_MARK, **about}, {"labels": labels})
    return total


def edges_in_parts(folder: str | os.PathLike[str]) -> Iterator[Edges]:
    """Yield edges (m, 2) and their lengths, part by part.

    Points are 0 ... n-1, and Steiner nodes n ... 2n-1, with gaps.
    """
    for name in _index(folder)["parts"]:
        path = Path(folder) / name
        part = checked_read(path, "treerep-parts", partial(read_archive, path, ("edges", "weights"), ()))
        yield part["edges"], part["weights"]


def read_parts(folder: str | os.PathLike[str]) -> Tree:
    """Return the tree written by `fit_to_parts`. The tree is bitwise identical to that of `fit`."""
    index = _index(folder)
    n = index["n_points"]
    labels = index["labels"]
    if n == 1:
        return Tree(1, np.empty((0, 2), np.int64), np.empty(0), labels=labels)
    edges, weights = (np.concatenate(arrays) for arrays in zip(*edges_in_parts(folder), strict=True))
    if len(edges) != index["edges"]:
        raise ValueError(
            f"{folder} is damaged: its parts have {len(edges):,} edges instead of {index['edges']:,}"
        )
    names = None if labels is None else tuple(labels)
    return Tree._trusted(n, *canonical_edges(n, edges, weights), labels=names)


def _index(folder: str | os.PathLike[str]) -> dict[str, Any]:
    path = Path(folder) / _INDEX
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: the tree in this folder was not completed")
    fields = checked_read(path, "treerep-parts", partial(read_archive, path, ()))
    check_marks(path, fields, mark=_MARK["format"], version=_MARK["version"], writer="fit_to_parts")
    return fields


class _PartsRun(Run):
    """A run whose workers write their edges to files.

    Nodes have their final numbers from the start: a point keeps its number, and the Steiner
    node of a step is n + its point z.
    """

    def __init__(self, folder: Path, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.folder = folder
        self.written: dict[str, int] = {}

    def final_numbers(self, nodes: ArrayLike) -> NDArray[np.int32]:
        """Return the final numbers of nodes of the split phase.

        These nodes are n - 1, n - 2, ... in the order of `skeleton.named`, plus n for Steiner
        nodes.
        """
        given = np.asarray(nodes, np.int64)
        named = np.array(self.skeleton.named)
        points = named[self.n - 1 - given % self.n]
        is_steiner = given >= self.n
        return (points + self.n * is_steiner).astype(np.int32)

    def _submit(self, batch: Batch) -> DaskFuture:
        ends = []
        for zone in batch.zones:
            # A zone attached to a node has no second end.
            ends += [zone.a, zone.b if zone.kind == 2 else zone.a]
        path = self.folder / f"zones-{batch.first:010}.npz"
        numbers = self.final_numbers(ends)
        return self.client.submit(_finish_to_file, path, batch, numbers, *self._parts(batch), pure=False)

    def _add(self, done: "_Written") -> None:
        self.written[done.name] = done.n_edges
        self.bar.update(done.n_points)

    def _add_duplicates(self, duplicates: list[SpreadZone], first: int) -> None:  # noqa: ARG002
        pieces = [spread.piece for spread in duplicates]
        ends = self.final_numbers([spread.zone.a for spread in duplicates])
        futures = []
        for b in self._blocks:
            path = self.folder / f"equals-{b:06}.npz"
            arguments = (self.states[b], path, self.became_r, pieces, ends)
            futures.append(self._submit_to(b, _duplicates_to_file, *arguments))
        for done in raise_first(self.client, futures):
            self._add(done)


# Code that runs on the workers. If a worker dies and a part is written again, the file is
# identical.


class _Written(NamedTuple):
    """A part of the tree."""

    name: str
    n_edges: int
    n_points: int


def _write(path: Path, edges: NDArray[np.int32], weights: NDArray[np.float64]) -> int:
    if not np.isfinite(weights.sum()):
        raise MetricError("the distances are so large that their sums overflow: rescale them")
    write_archive(path, _MARK, {"edges": edges, "weights": np.maximum(weights, 0.0)})
    return len(edges)


def _finish_to_file(path: Path, batch: Batch, ends: NDArray[np.int32], *parts: Part) -> _Written:
    done = completed(batch, *parts)
    points = np.empty(len(done.points), np.int32)
    points[done.nodes] = done.points
    # The final number of each node: points, Steiner nodes, and ends of zones.
    number = np.concatenate([points, batch.n + points, ends]).astype(np.int32)
    n_edges = _write(path, number[done.edges], done.weights)
    return _Written(path.name, n_edges, len(points))


def _duplicates_to_file(
    block: Block,
    last: Wave,
    path: Path,
    became_r: NDArray[np.int64],
    pieces: list[int],
    ends: NDArray[np.int32],
) -> _Written:
    found = duplicates_of(block, last, became_r, pieces)
    nodes = np.repeat(ends, found.counts)
    edges = np.column_stack([nodes, found.points]).astype(np.int32)
    return _Written(path.name, _write(path, edges, found.near_a), len(found.points))
