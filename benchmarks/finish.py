"""TreeRep's small zones, finished by TreeRep itself or by neighbor joining."""

import numpy as np

import treerep as tr
from treerep.refinement.lengths.weights import fit_weights

from .common import Table, seconds

SEEDS = 5
GRAPHS = ("celegans", "diseasome", "csphd", "yeast", "grid_worm", "grqc", "enron")
SIZES = (0, 30, 100, 300, 1000)


def fitted(metric: tr.Metric, seed: int, size: int) -> tr.Tree:
    return (
        tr.fit(metric, rng=seed, finish="nj", zone_size=size, method="treerep")
        if size
        else tr.fit(metric, rng=seed, method="treerep")
    )


def scores(metric: tr.Metric, size: int, seeds: int) -> str:
    rows = "all" if len(metric) <= 5000 else 256
    found = []
    for seed in range(seeds):
        tree = fitted(metric, seed, size)
        better = fit_weights(tree, metric, rows=rows, tol=1e-6).tree
        precision = "all" if len(metric) <= 5000 else 500
        found.append(
            (
                float(tr.average_distortion(better, metric, rows=rows, rng=1)),
                float(tr.mean_average_precision(tree, metric, rows=precision))
                if isinstance(metric, tr.GraphMetric)
                else np.nan,
            )
        )
    distortion, precision = np.mean(found, axis=0)
    return f"{distortion:.3f}" if np.isnan(precision) else f"{distortion:.3f} / {precision:.3f}"


def measure() -> list[Table]:
    data: dict[str, tr.Metric] = {name: tr.datasets.load(name).metric for name in GRAPHS}
    data["H^2, 20,000 points"] = tr.datasets.hyperbolic_points(20_000, 2, rng=0)
    rows, times = [], []
    for name, metric in data.items():
        names = {size: f"nj, {size:,}" if size else "treerep" for size in SIZES}
        seeds = SEEDS if len(metric) <= 5000 else 2
        rows.append({"data": name, **{names[size]: scores(metric, size, seeds) for size in SIZES}})
        print(rows[-1], flush=True)
        if len(metric) > 5000:
            times.append(
                {
                    "data": name,
                    **{names[size]: seconds(lambda s=size, m=metric: fitted(m, 0, s)) for size in SIZES},
                }
            )
    note = (
        f"Mean of {SEEDS} seeds (2 beyond 5,000 points): average distortion after least-squares "
        "weights / MAP by definition before. Rows are sampled beyond 5,000 points."
    )
    return [
        Table("Small zones finished by neighbor joining, by maximum zone size", rows, note),
        Table(
            "Seconds per fit",
            times,
            "After warm-up, without the time for hub labels of graphs.",
        ),
    ]
