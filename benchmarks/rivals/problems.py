"""Inputs of the comparison: distances and graphs, computed once and stored in a folder."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import treerep as tr
from treerep._core.io.files import atomic_write

#: A small graph for start-up, which needs no data.
LITTLE = "little graph"


@dataclass(frozen=True)
class Problem:
    """One input: a family, a size, and its files."""

    family: str
    n: int
    folder: Path

    @property
    def path(self) -> Path:
        """Path of the files without suffix."""
        return self.folder / f"{self.family.replace(' ', '_')}-{self.n}"

    def matrix(self) -> np.ndarray:
        """Return a writable array of distances."""
        return np.load(self.path.with_suffix(".npy"))

    def edges(self) -> np.ndarray | None:
        """Return the edges of the graph without duplicates, or None if there is no graph."""
        path = self.path.with_suffix(".edges.npy")
        return np.load(path) if path.exists() else None

    def graph(self) -> tr.GraphMetric:
        """Return the graph as a metric without cached results."""
        return tr.GraphMetric(self.edges())

    def phylip(self) -> Path:
        """Return a PHYLIP file of the distances, with labels p0, p1, ..., written at the first call."""
        path = self.path.with_suffix(".phylip")
        if not path.exists():
            _write_phylip(self.matrix(), path)
        return path


def _write_phylip(d: np.ndarray, path: Path) -> None:
    # ccphylo only accepts tabs. clearcut would read labels without a letter as distances.
    with atomic_write(path) as file:
        file.write(f"{len(d)}\n")
        for i, row in enumerate(d.tolist()):
            file.write(f"p{i}\t" + "\t".join(map(repr, row)) + "\n")


def random_tree(n: int) -> np.ndarray:
    """Return distances between the leaves of a random binary tree, a tree metric."""
    return tr.datasets.random_tree(n, shape="binary", rng=n).distances()


def noisy_tree(n: int) -> np.ndarray:
    """Return the same with each distance increased by up to 10%."""
    noise = np.triu(np.random.default_rng(n).uniform(0, 0.1, (n, n)), 1)
    return random_tree(n) * (1 + noise + noise.T)


def proteins(n: int, sites: int = 400) -> np.ndarray:
    """Return Poisson-corrected distances of simulated proteins that evolve along a Yule tree."""
    generator = np.random.default_rng(n)
    tree = tr.datasets.random_tree(n, shape="binary", weights=(0.01, 0.15), rng=n)
    rooted = tree.rooted()
    letters = np.empty((tree.n_nodes, sites), np.int8)
    for node in rooted.order.tolist():
        above = rooted.parent[node]
        if above < 0:
            letters[node] = generator.integers(0, 20, sites)
            continue
        # Drawn from all twenty letters: a repeated letter is not a change, which the correction
        # accounts for.
        drawn = generator.random(sites) < 1 - np.exp(-rooted.length[node])
        letters[node] = np.where(drawn, generator.integers(0, 20, sites), letters[above])
    differ = np.array([(letters[:n] != row).mean(axis=1) for row in letters[:n]])
    # The correction is not meaningful beyond 0.9. Programs truncate it.
    return -0.95 * np.log1p(-np.minimum(differ, 0.9) / 0.95)


def cells(n: int) -> np.ndarray:
    """Return Euclidean distances between some of Zeisel's cells."""
    metric = tr.datasets.load("zeisel").metric
    chosen = np.sort(np.random.default_rng(0).choice(len(metric), min(n, len(metric)), replace=False))
    return metric.block(chosen, chosen)


MATRICES: dict[str, Callable[[int], np.ndarray]] = {
    "random tree": random_tree,
    "noisy tree": noisy_tree,
    "proteins": proteins,
    "zeisel": cells,
}


def _grid(side: int) -> np.ndarray:
    """Return the edges of a grid, which is far from a tree and so exercises all code."""
    place = np.arange(side * side).reshape(side, side)
    across, down = (place[:, :-1], place[:, 1:]), (place[:-1], place[1:])
    return np.vstack([np.column_stack([u.ravel(), v.ravel()]) for u, v in (across, down)])


def _adjacency(name: str) -> Any:
    if name == LITTLE:
        return tr.GraphMetric(_grid(5)).adjacency
    return tr.datasets.load(name).metric.adjacency


def graph_distances(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return edges and distances of a graph.

    SciPy computes the distances, as a neutral reference.
    """
    from scipy.sparse.csgraph import shortest_path

    adjacency = _adjacency(name)
    entries = adjacency.tocoo()
    upper = entries.row < entries.col
    edges = np.column_stack([entries.row[upper], entries.col[upper]]).astype(np.int64)
    return edges, shortest_path(adjacency, method="D", directed=False, unweighted=True)


def make(family: str, n: int, folder: str | os.PathLike[str]) -> Problem:
    """Compute an input and store it. For a graph, `family` is its name and n may be 0."""
    edges: Any = None
    if family in MATRICES:
        d = MATRICES[family](n)
        d = np.maximum(d, d.T)  # exactly symmetric, as some libraries require
        np.fill_diagonal(d, 0)
    else:
        edges, d = graph_distances(family)
    problem = Problem(family, len(d), Path(folder))
    np.save(problem.path.with_suffix(".npy"), d)
    if edges is not None:
        np.save(problem.path.with_suffix(".edges.npy"), edges)
    return problem
