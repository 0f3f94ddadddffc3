"""Exact recovery of random tree metrics: must be within 1e-9 (float32: 1e-5), with the original number of nodes."""

import numpy as np

import treerep as tr

from .common import Table

SCALES = (1e-9, 1e-3, 1.0, 1e3, 1e9)
#: Largest number of points whose full float32 matrix is made.
MATRIX_POINTS = 4000


def inputs(scale: float) -> list[tuple[str, tr.Tree]]:
    """The paper's random metrics, and every shape of random tree, hidden nodes included."""
    trees = [(f"paper, depth {depth}", tr.datasets.random_tree_metric(depth, rng=depth)) for depth in range(1, 11)]
    trees += [
        (f"{shape}, n = {n}", tr.datasets.random_tree(n, shape=shape, hidden=0.5, rng=n))
        for shape in ("random", "binary", "caterpillar", "path", "star")
        for n in (11, 300, 3000, 10_000)
    ]
    return [(name, tree.with_weights(tree.weights * scale)) for name, tree in trees]


def worst_relative_error(tree: tr.Tree, truth: tr.Tree, rng: np.random.Generator) -> float:
    """Over all pairs of up to 1,000 rows."""
    n = len(truth)
    rows = rng.permutation(n)[:1000]
    worst = 0.0
    for part in np.array_split(rows, max(1, len(rows) * n // 2**22)):
        ours, true = tree.block(part, np.arange(n)), truth.block(part, np.arange(n))
        apart = true > 0
        worst = max(worst, float(np.max(np.abs(ours - true)[apart] / true[apart], initial=0.0)))
    return worst


def measure() -> list[Table]:
    rows = []
    for dtype in ("float64", "float32"):
        errors, wrong, count, largest = [], 0, 0, 0
        for scale in SCALES:
            for name, truth in inputs(scale):
                if dtype == "float32" and len(truth) > MATRIX_POINTS:
                    continue
                # A tree answers in float64 without a matrix; float32 needs one.
                data = truth if dtype == "float64" else truth.distances().astype(np.float32)
                for seed in range(3 if len(truth) < 2000 else 1):
                    tree = tr.fit(data, rng=seed)
                    errors.append((worst_relative_error(tree, truth, np.random.default_rng(0)), name, scale))
                    wrong += tree.n_nodes != truth.contracted().n_nodes
                    count += 1
                    largest = max(largest, len(truth))
        worst, where, scale = max(errors)
        rows.append(
            {
                "input": dtype, "fits": count, "points": f"2 ... {largest:,}", "scales": "1e-9 ... 1e9",
                "worst relative error": worst, "at": f"{where}, scale {scale:g}", "wrong number of nodes": wrong,
            }
        )  # fmt: skip
    note = "Must: 1e-9 for float64, 1e-5 for float32, none wrong."
    return [Table("Exact recovery of random tree metrics", rows, note)]
