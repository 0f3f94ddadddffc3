"""A tree of points on a cluster, written by its workers where it is learned: for trees too large for the client."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.io.archive import check_marks, checked_read, read_archive, write_archive
from ..._core.typing import RNGLike
from ...fitting.treerep._settings import checked_choices
from ...metric.base import MetricError
from ...tree.structure.canonical import canonical_edges
from ...tree.tree import Tree
from ._finish import Batch, Part, completed, twins_of
from ._run import Held, Run
from ._spread_points import Block, raise_first
from ._waves import Wave
from .cluster import client_for
from .fit import SpreadablePoints, run_on, spreadable_points

_MARK: dict[str, Any] = {"format": "treerep-parts", "version": 1}
_INDEX = "index.npz"

Edges = tuple[NDArray[np.int32], NDArray[np.float64]]


def fit_to_parts(
    data: Any,
    folder: str | os.PathLike[str],
    *,
    client: Any = None,
    metric: str | None = None,
    rng: RNGLike = 0,
    tol: float | str = "auto",
    pivot: str = "random",
) -> int:
    """Learn a tree with TreeRep on a Dask cluster, and leave it in a folder in parts; return the number of its edges.

    Every worker writes the edges that it finds, so the folder must be one that client and
    workers share. The client keeps 4 bytes a point and the large zones. The file that says
    which parts there are comes last: without it the folder is no tree.

    Parameters
    ----------
    data : dask array of points, or what `fit` takes for points
    folder : path
        It must be empty, or not exist yet.
    client : Client, optional
        By default the current one, or a cluster of this machine for the call.
    metric, rng, tol, pivot
        As in `fit`.
    """
    choices = checked_choices(tol, pivot)
    place = Path(folder).absolute()
    given = spreadable_points(data, metric)
    if not isinstance(given, SpreadablePoints):
        raise MetricError(
            "only trees of points are learned in parts: give coordinates and the name of their metric"
        )
    place.mkdir(parents=True, exist_ok=True)
    if any(place.iterdir()):
        raise FileExistsError(f"{place} is not empty: name a folder of its own")
    with client_for(client) as cluster:
        points, run = run_on(cluster, given, rng, choices, partial(_PartsRun, place))
    counts = {} if run is None else run.written
    if run is not None:
        edges, weights = (
            run.skeleton.all_edges()
            if run.skeleton.edges
            else (np.empty((0, 2), np.int32), np.empty(0))
        )
        counts["split.npz"] = _write(place / "split.npz", run.ids(edges), weights)
    total = sum(counts.values())
    labels = None if points.labels is None else list(points.labels)
    about = {"n_points": given.n, "edges": total, "parts": sorted(counts)}
    write_archive(place / _INDEX, {**_MARK, **about}, {"labels": labels})
    return total


def edges_in_parts(folder: str | os.PathLike[str]) -> Iterator[Edges]:
    """Yield edges (m, 2) and their lengths, part by part: points are 0 ... n-1, Steiner nodes n ... 2n-1 with gaps."""
    for name in _index(folder)["parts"]:
        path = Path(folder) / name
        part = checked_read(
            path, "treerep-parts", partial(read_archive, path, ("edges", "weights"), ())
        )
        yield part["edges"], part["weights"]


def read_parts(folder: str | os.PathLike[str]) -> Tree:
    """Return the tree that `fit_to_parts` left in a folder: that of `fit`, bit for bit."""
    index = _index(folder)
    n = index["n_points"]
    labels = index["labels"]
    if n == 1:
        return Tree(1, np.empty((0, 2), np.int64), np.empty(0), labels=labels)
    edges, weights = (
        np.concatenate(arrays) for arrays in zip(*edges_in_parts(folder), strict=True)
    )
    if len(edges) != index["edges"]:
        raise ValueError(
            f"{folder} is damaged: its parts have {len(edges):,} edges and not {index['edges']:,}"
        )
    names = None if labels is None else tuple(labels)
    return Tree._trusted(n, *canonical_edges(n, edges, weights), labels=names)


def _index(folder: str | os.PathLike[str]) -> Any:
    path = Path(folder) / _INDEX
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: no tree was completed in this folder")
    fields = checked_read(path, "treerep-parts", partial(read_archive, path, ()))
    check_marks(
        path, fields, mark=_MARK["format"], version=_MARK["version"], writer="fit_to_parts"
    )
    return fields


class _PartsRun(Run):
    """A run whose workers write down what they finish.

    Nodes get their final numbers at once: a point is itself, and the Steiner node of a step is
    n + its point z.
    """

    def __init__(self, folder: Path, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.folder = folder
        self.written: dict[str, int] = {}

    def ids(self, names: Any) -> NDArray[np.int32]:
        """Nodes of the split phase by their final numbers."""
        array = np.asarray(names, np.int64)
        named = np.array(self.skeleton.named)
        return (named[self.n - 1 - array % self.n] + self.n * (array >= self.n)).astype(
            np.int32
        )

    def _submit(self, batch: Batch) -> Any:
        ends = self.ids(
            [
                end
                for zone in batch.zones
                for end in (zone.a, zone.b if zone.kind == 2 else zone.a)
            ]
        )
        path = self.folder / f"zones-{batch.first:010}.npz"
        return self.client.submit(
            _finish_to, path, batch, ends, *self._parts(batch), pure=False
        )

    def _add(self, done: tuple[str, int, int]) -> None:
        name, size, points = done
        self.written[name] = size
        self.bar.update(points)

    def _add_twins(self, twins: list[Held], first: int) -> None:  # noqa: ARG002
        pieces = [held.piece for held in twins]
        ends = self.ids([held.zone.a for held in twins])
        common = self.gone, pieces, ends
        futures = [
            self._submit_to(
                b, _twins_to, self.states[b], self.folder / f"equals-{b:06}.npz", *common
            )
            for b in self._every
        ]
        for done in raise_first(self.client, futures):
            self._add(done)


# On the workers. A part that is written again, as its worker died, is the same file.


def _write(path: Path, edges: NDArray[np.int32], weights: NDArray[np.float64]) -> int:
    if not np.isfinite(weights.sum()):
        raise MetricError("the distances are so large that their sums overflow: rescale them")
    write_archive(path, _MARK, {"edges": edges, "weights": np.maximum(weights, 0.0)})
    return len(edges)


def _finish_to(
    path: Path, batch: Batch, ends: NDArray[np.int32], *parts: Part
) -> tuple[str, int, int]:
    done = completed(batch, *parts)
    who = np.empty(len(done.points), np.int32)
    who[done.nodes] = done.points
    table = np.concatenate([who, batch.n + who, ends]).astype(np.int32)
    return path.name, _write(path, table[done.edges], done.weights), len(who)


def _twins_to(
    block: Block,
    last: Wave,
    path: Path,
    gone: NDArray[np.int64],
    pieces: list[int],
    ends: NDArray[np.int32],
) -> tuple[str, int, int]:
    points, near_a, counts = twins_of(block, last, gone, pieces)
    edges = np.column_stack([np.repeat(ends, counts), points]).astype(np.int32)
    return path.name, _write(path, edges, near_a), len(points)
