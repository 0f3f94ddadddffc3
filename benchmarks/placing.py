"""Placing a fifth of the points, compared with fitting all points and with the nearest point."""

import time

import numpy as np

import treerep as tr

from .common import Table

SEEDS = 5
SETS = ("celegans", "krumsiek11", "pbmc68k", "zeisel")
WAYS = ("fitted together", "rows", "rows and new distances", "attached to nearest point")


def trees(distances: np.ndarray, n: int, seed: int) -> list[tr.Tree]:
    """Return one tree of all points for each of WAYS."""
    old = tr.fit(distances[:n, :n], rng=seed, method="treerep")
    news = distances[n:, :n]
    moved = old.edges + np.where(old.edges < n, 0, len(news))
    leaves = np.column_stack([np.arange(n, len(distances)), news.argmin(axis=1)])
    at_nearest = tr.Tree(len(distances), np.concatenate([moved, leaves]), [*old.weights, *news.min(axis=1)])
    return [
        tr.fit(distances, rng=seed, method="treerep"),
        tr.place(old, news, lengths="given"),
        tr.place(old, distances[n:], lengths="given"),
        at_nearest,
    ]


def quality() -> Table:
    rows = []
    for name in SETS:
        metric = tr.as_metric(tr.datasets.load(name))
        scores = []
        for seed in range(SEEDS):
            order = np.random.default_rng(seed).permutation(len(metric))
            distances = metric.block(order, order)
            truth = tr.MatrixMetric(distances)
            made = trees(distances, len(order) - len(order) // 5, seed)
            scores.append(
                [[tr.average_distortion(t, truth, scale=s) for s in ("none", "optimal")] for t in made]
            )
        means = np.mean(scores, axis=0)
        cells = {way: f"{plain:.3f} / {scaled:.3f}" for way, (plain, scaled) in zip(WAYS, means, strict=True)}
        rows.append({"data": name, "points": len(metric), **cells})
    note = "Average distortion of all pairs, without scaling / after optimal scaling."
    return Table(f"Placing a fifth of the points, mean of {SEEDS} seeds", rows, note)


def speed(n: int = 100_000) -> Table:
    cells = tr.datasets.branching_cells(2 * n, dim=50)
    points = np.asarray(cells.points)[np.random.default_rng(0).permutation(2 * n)]
    tree = tr.fit(points[:n], metric="euclidean", method="treerep")
    tr.place(tree, points[n : n + 100], data=points[:n], metric="euclidean", lengths="given")  # compile
    marks = [time.process_time()]
    tr.fit(points[:n], metric="euclidean", method="treerep")
    marks.append(time.process_time())
    tr.place(tree, points[n:], data=points[:n], metric="euclidean", lengths="given")
    marks.append(time.process_time())
    fitting, placing = (f"{took:.1f}" for took in np.diff(marks))
    row = {
        "old": n,
        "new": n,
        "dimensions": 50,
        "fit old points": fitting,
        "place new points": placing,
    }
    return Table("Doubling the number of cells: CPU seconds", [row])


def measure() -> list[Table]:
    return [quality(), speed()]
