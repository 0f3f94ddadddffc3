"""h-MDS of points of hyperbolic space, graphs and cells, with and without weights of the points."""

import time
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import treerep as tr
from treerep.embedding.hmds import _spectrum as spectrum
from treerep.metric.base import Metric

from .common import Table

GRAPHS = ("celegans", "diseasome", "csphd", "yeast")
DIMENSIONS = (2, 10, 200)
# The paper has no scores of h-MDS. PT is the other method of Sala et al.: average distortion and MAP.
PAPER = {
    ("celegans", 2): (0.236, 0.098),
    ("celegans", 200): (0.096, 0.857),
    ("diseasome", 2): (0.227, 0.392),
    ("diseasome", 200): (0.05, 0.868),
    ("csphd", 2): (0.295, 0.190),
    ("csphd", 200): (0.105, 0.556),
    ("yeast", 2): (0.230, 0.235),
    ("yeast", 200): (0.089, 0.658),
    ("zeisel", 2): (0.531, "-"),
}


def unweighted(matrix: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Replace `spectrum._weigh` by weights of 1: h-MDS as published, except that eigenvalues are chosen by sign."""
    # Scaled to a largest entry of 1, so that no scale overflows.
    top = float(scale * matrix.max())
    matrix *= scale
    matrix[:] = (np.exp(matrix - top) + np.exp(-matrix - top)) / 2
    return np.full(len(matrix), top / 2)


def placed(metric: Metric, dim: int, *, weights: bool = True) -> tuple[tr.Embedding, float]:
    start = time.perf_counter()
    if weights:
        return tr.embed(metric, method="hmds", dim=dim), time.perf_counter() - start
    with mock.patch.object(spectrum, "_weigh", unweighted):
        return tr.embed(metric, method="hmds", dim=dim), time.perf_counter() - start


def distortion(embedding: tr.Embedding, metric: Metric) -> float:
    return float(tr.average_distortion(embedding, metric))


def hyperbolic() -> list[dict[str, Any]]:
    rows = []
    for dim, scale in ((2, 1.0), (10, 1.0), (64, 1.0), (10, 32.0), (10, 1024.0)):
        points = [tr.datasets.hyperbolic_points(100, dim, scale=scale, rng=seed) for seed in range(3)]
        exact = [placed(metric, dim) for metric in points]
        flat = [placed(metric, 2)[0] for metric in points]
        rows.append(
            {
                "space": f"H^{dim}",
                "coordinate scale": scale,
                "distortion, same dim": max(map(distortion, (e for e, _ in exact), points)),
                "distortion, dim 2": float(np.mean(list(map(distortion, flat, points)))),
                "seconds": min(seconds for _, seconds in exact),
            }
        )
    return rows


def measured(name: str, metric: Metric, dim: int) -> dict[str, Any]:
    embedding, seconds = placed(metric, dim)
    plain, _ = placed(metric, dim, weights=False)
    graph = isinstance(metric, tr.GraphMetric)
    paper = PAPER.get((name, dim), ("-", "-"))
    return {
        "data": name,
        "n": len(metric),
        "dim": dim,
        "seconds": seconds,
        "distortion, unscaled": distortion(embedding, metric),
        "without weights": distortion(plain, metric),
        "PT (paper)": paper[0],
        "MAP": float(tr.mean_average_precision(embedding, metric)) if graph else "-",
        "MAP of PT (paper)": paper[1],
        "scale": embedding.scale,
        "dims used": int(embedding.directions.any(axis=0).sum()),
    }


def measure() -> list[Table]:
    real = [measured(name, tr.datasets.load(name).metric, dim) for name in GRAPHS for dim in DIMENSIONS]
    cells = tr.PointMetric(tr.datasets.branching_cells(3000).points)
    real += [
        measured(name, metric, dim)
        for name, metric in (
            ("zeisel", tr.datasets.load("zeisel").metric),
            ("branching cells", cells),
        )
        for dim in DIMENSIONS[:2]
    ]
    return [
        Table(
            "h-MDS of 100 points of hyperbolic space",
            hyperbolic(),
            "Average distortion: the worst of three draws, and the mean for dim 2.",
        ),
        Table(
            "h-MDS of graphs and cells",
            real,
            "Average distortion without scaling. The search for the scale makes it equal to the optimally scaled "
            "one. MAP is by definition. Without weights: all weights are 1, as published, but eigenvalues are "
            "chosen by sign. Seconds of one run with one thread for linear algebra (OMP_NUM_THREADS=1).",
        ),
    ]
