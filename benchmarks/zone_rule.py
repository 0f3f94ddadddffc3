"""Rule for attaching a point to a pivot: one Gromov product agrees, or both.

The definition in the paper needs both, and its pseudocode one. Measured with the reference
implementation in the tests, which supports both rules.
"""

import numpy as np

import treerep as tr
from tests.fitting.treerep.naive_treerep import treerep

from .common import Table

SEEDS = 20
GRAPHS = ("celegans", "diseasome", "csphd", "yeast", "grid_worm", "grqc")


def tree_of(distances: np.ndarray, seed: int, needed: object) -> tr.Tree:
    n = len(distances)
    edges = treerep(distances, np.random.default_rng(seed).permutation(n).tolist(), 0.1, "closest", needed)
    names = {node: k for k, node in enumerate(sorted({v for edge in edges for v in edge[:2]}))}
    return tr.Tree(n, [[names[u], names[v]] for u, v, _ in edges], [max(w, 0.0) for _, _, w in edges])


def measure() -> list[Table]:
    rows = []
    for name in GRAPHS:
        graph = tr.datasets.load(name).metric
        every = np.arange(len(graph))
        distances = graph.block(every, every)
        truth = tr.MatrixMetric(distances)
        row: dict[str, object] = {"graph": name}
        for title, needed in (("one agrees", any), ("both agree", all)):
            trees = [tree_of(distances, seed, needed) for seed in range(SEEDS)]
            values = [tr.average_distortion(tree, truth, scale="optimal") for tree in trees]
            row[f"distortion, {title}"] = f"{np.mean(values):.3f} ± {np.std(values) / SEEDS**0.5:.3f}"
            row[f"MAP, {title}"] = (
                f"{np.mean([tr.mean_average_precision(tree, graph) for tree in trees]):.3f}"
            )
        rows.append(row)
    note = (
        "Scaled average distortion ± standard error, and MAP by definition, with the pivot rule and tolerance of the "
        "paper."
    )
    return [Table(f"One product or both agree, mean of {SEEDS} seeds", rows, note)]
