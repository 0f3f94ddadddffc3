"""Placement in true trees whose lengths have other units, or are those of a dated tree.

`python -m benchmarks.biology.placement_lengths` takes about three minutes. It stores its tables in
benchmarks/results/placement_lengths.md and .json.
"""

import time
import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import treerep as tr

from ..alignments import Simulation, sequence_metric, simulate
from ..common import Table, store
from .placement import Case as Placed
from .placement import Judge

#: Alignments of each kind, their taxa, and the taxa that are left out and placed.
SEEDS = 5
TAXA = 150
QUERIES = 40
KINDS = (
    Simulation(0, 1000, 0.2, 0.5),
    Simulation(0, 500, 1.0, 0.5),
    Simulation(0, 100, 0.3, 0.3),
    Simulation(0, 500, 0.5),
)
LENGTHS: tuple[Literal["given", "scale", "refit"], ...] = ("given", "scale", "refit")
#: Numbers of points of trees that are refitted.
SIZES = (2_000, 20_000, 50_000, 200_000)


class Case(NamedTuple):
    """Queries, the true tree of the other taxa, and all distances to these taxa."""

    placed: Placed
    distances: NDArray[np.float64]  # among the taxa of the tree
    rows: pd.DataFrame


def made_case(seed: int, what: Simulation = KINDS[1], *, taxa: int, queries: int) -> Case:
    alignment = simulate(what._replace(taxa=taxa), 2000 + seed)
    every = np.arange(taxa)
    block = sequence_metric(alignment.sequences, what.kappa).block(every, every)
    block = (block + block.T) / 2
    np.fill_diagonal(block, 0.0)
    order = np.random.default_rng(seed).permutation(taxa)
    new, old = np.sort(order[:queries]), np.sort(order[queries:])
    labels = [f"t{k}" for k in old]
    restricted = alignment.tree.restrict(old)
    backbone = tr.Tree(len(old), restricted.edges, restricted.weights, labels=labels)
    rows = pd.DataFrame(block[np.ix_(new, old)], [f"t{k}" for k in new], labels)
    placed = Placed(alignment.tree, old, new, backbone, rows.to_numpy())
    return Case(placed, block[np.ix_(old, old)], rows)


def backbones(case: Case) -> dict[str, tr.Tree]:
    """Return the true tree with its lengths and with other lengths."""
    tree = case.placed.backbone
    factors = {"true": 1.0, "x 2": 2.0, "x 0.1": 0.1, "x 100": 100.0}
    made = {name: tree.with_weights(factor * tree.weights) for name, factor in factors.items()}
    return {**made, "dated": dated(tree)}


def dated(tree: tr.Tree) -> tr.Tree:
    """Return a tree with all leaves at the same depth, 100 times as long.

    The root is the midpoint, and the height of a node is its mean distance to the leaves below
    it, or just below the height of its parent.
    """
    tree, root = tree.root_at_midpoint()
    view = tree._view_from(root)
    count = (view.order < len(tree)).astype(float)
    total = np.zeros(len(view.up))
    for k in range(len(view.up) - 1, 0, -1):
        total[view.up[k]] += total[k] + count[k] * view.length[k]
        count[view.up[k]] += count[k]
    height = total / count
    for k in range(1, len(view.up)):
        height[k] = min(height[k], 0.999 * height[view.up[k]])
    first, second = view.position[tree.edges].T
    return tree.with_weights(100 * np.abs(height[first] - height[second]))


def right_edges(case: Case, backbone: tr.Tree, lengths: str, judge: Judge | None = None) -> float:
    """Return the share of queries that are placed at the right edge."""
    data = tr.MatrixMetric(case.distances, labels=list(case.rows.columns))
    found = tr.placements(
        backbone,
        case.rows,
        data=data if lengths == "refit" else None,
        lengths=lengths,
        candidates=1,
        n_jobs=1,
    )
    judge = Judge(case.placed) if judge is None else judge
    errors = judge.errors(found.tree, found.nodes[:, 0])
    return float(np.mean(np.array(errors) <= 0))


def accuracy() -> list[dict[str, Any]]:
    shares: dict[tuple[str, str], list[float]] = {}
    for what in KINDS:
        for seed in range(SEEDS):
            case = made_case(seed, what, taxa=TAXA, queries=QUERIES)
            judge = Judge(case.placed)
            for name, tree in backbones(case).items():
                for lengths in LENGTHS:
                    share = right_edges(case, tree, lengths, judge)
                    shares.setdefault((name, lengths), []).append(share)
        print({key: round(float(np.mean(share)), 3) for key, share in shares.items()}, flush=True)
    names = dict.fromkeys(name for name, _ in shares)
    return [
        {
            "lengths of the tree": name,
            **{f'"{lengths}"': f"{np.mean(shares[name, lengths]):.2f}" for lengths in LENGTHS},
        }
        for name in names
    ]


def times() -> list[dict[str, Any]]:
    """Measure the processor seconds of placing ten points with coordinates, as given and refitted."""
    rows = []
    for n in SIZES:
        cells = tr.datasets.branching_cells(n + 10, dim=20)
        points = np.asarray(cells.points, np.float32)
        points = points[np.random.default_rng(0).permutation(n + 10)]
        tree = tr.fit(points[:n], metric="euclidean", method="treerep")
        row: dict[str, Any] = {"points of the tree": n}
        for lengths in ("given", "refit"):
            begin = time.process_time()
            tr.place(tree, points[n:], data=points[:n], metric="euclidean", lengths=lengths)
            row[f'"{lengths}", processor seconds'] = f"{time.process_time() - begin:.1f}"
        rows.append(row)
        print(row, flush=True)
    return rows


def measure() -> list[Table]:
    warnings.simplefilter("ignore", UserWarning)  # the lengths do not fit, as they should
    right_edges(
        made_case(0, taxa=50, queries=5),
        made_case(0, taxa=50, queries=5).placed.backbone,
        "refit",
    )
    return [
        Table(
            "Share of right edges by the lengths of the tree",
            accuracy(),
            f"{SEEDS * len(KINDS)} simulated alignments of {TAXA} taxa. {QUERIES} taxa are placed in "
            'the true tree of the others. The dated tree is 100 times as long. "scale" has only the '
            'distances of the new taxa, and "refit" also those within the tree.',
        ),
        Table("Processor seconds to place ten points in a tree", times(), "20 coordinates."),
    ]


if __name__ == "__main__":
    store(
        "placement_lengths",
        measure(),
        command="python -m benchmarks.biology.placement_lengths",
    )
