"""Range of tolerances that recover a tree, and results on rounded tables."""

import numpy as np

import treerep as tr

from .common import Table

SHAPES = ("random", "binary", "caterpillar", "path")
POWERS = range(-2, 22)
POINTS = 1500
TREES = 10


def recovered(tree: tr.Tree, truth: tr.Tree) -> bool:
    """Return whether the number of nodes is right and the distances are accurate."""
    return tree.n_nodes == truth.n_nodes and tr.distance_error(tree, truth, norm="linf") < 1e-3


def window(truth: tr.Tree, dtype: str) -> dict[str, object]:
    """Return the tolerances at which three seeds recover the tree, relative to the largest distance."""
    distances = truth.distances().astype(dtype)
    unit = float(np.finfo(dtype).eps) * float(distances.max())
    good = [
        p
        for p in POWERS
        if all(
            recovered(tr.fit(distances, tol=2.0**p * unit, rng=s, method="treerep"), truth) for s in range(3)
        )
    ]
    automatic = 8 + 64 * len(truth) ** 0.5 * float(np.finfo(float).eps) / float(np.finfo(dtype).eps)
    return {
        "smallest": f"2^{min(good)}" if good else "none",
        "largest": (f"2^{max(good)}" + " or more" * (max(good) == POWERS[-1])) if good else "none",
        "automatic": f"2^{np.log2(automatic):.1f}",
        "one term, 64 sqrt(n)": f"2^{np.log2(64 * len(truth) ** 0.5):.1f}",
    }


def rounding(shape: str) -> dict[str, str]:
    """Return mean and worst average distortion, with the tolerance for exact numbers and with ours."""
    found: dict[str, list[float]] = {"rounding ignored": [], "automatic": []}
    for seed in range(TREES):
        truth = tr.datasets.random_tree(POINTS, shape=shape, hidden=0.5, rng=seed)
        table = tr.MatrixMetric(np.round(truth.distances(), 6))
        unrounded = (8 + 64 * POINTS**0.5) * float(np.finfo(float).eps) * float(table.distances.max())
        for name, tol in (("rounding ignored", unrounded), ("automatic", "auto")):
            found[name].append(
                float(tr.average_distortion(tr.fit(table, tol=tol, rng=seed, method="treerep"), truth))
            )
    return {name: f"{np.mean(values):.2g} (worst {max(values):.2g})" for name, values in found.items()}


def measure() -> list[Table]:
    windows, rounded = [], []
    for shape in SHAPES:
        truth = tr.datasets.random_tree(POINTS, shape=shape, hidden=0.5, weights=(0.02, 2.0), rng=1)
        windows += [
            {"tree": shape, "input": dtype, **window(truth, dtype)} for dtype in ("float64", "float32")
        ]
        rounded.append({"tree": shape, **rounding(shape)})
    return [
        Table(
            f"Tolerances that recover a tree of {POINTS:,} points, in units of eps * max d, three seeds",
            windows,
            f"Tested tolerances are powers of two from 2^{POWERS[0]} to 2^{POWERS[-1]}.",
        ),
        Table(
            f"Average distortion of tree metrics of {POINTS:,} points rounded to six digits, {TREES} trees each",
            rounded,
        ),
    ]
