"""Trees of incomplete data: exact recovery, and wrong splits on simulated alignments and characters.

`python -m benchmarks.biology.missing` takes about ten minutes. It stores its tables in
benchmarks/results/missing.md and .json.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.sparse.csgraph import connected_components, shortest_path

import treerep as tr
from treerep.fitting.missing.nj_star import nj_star

from ..alignments import Simulation, sequence_metric, simulate
from ..common import Table, store
from ..profiles import downward
from ..truth import split_errors, wrong_splits

#: Number of tree metrics, by number of points.
PATTERNS = {10: 200, 20: 100, 50: 40, 100: 20}
#: Shares of missing pairs.
EXACT_SHARES = (0.3, 0.5)
NOISY_SHARES = (0.0, 0.1, 0.3, 0.5)
#: Alignments with little noise, with much noise, and with more taxa.
KINDS = (Simulation(50, 1000, 0.5), Simulation(50, 300, 1.0), Simulation(100, 500, 0.5))
SEEDS = 10
#: The first seed. The seeds below served to choose the defaults.
FIRST = 1000
METHODS = ("auto", "minimum_evolution", "neighbor_joining")
# Errors below this share of the largest distance are due to the fit of the lengths.
_EQUAL = 1e-6


class Lineage(NamedTuple):
    """A simulation of characters, such as barcodes that are edited while cells divide."""

    rows: int
    loci: int
    states: int
    changes: float  # of a locus, from the root to a leaf


LINEAGES = (Lineage(200, 100, 20, 1.0), Lineage(200, 300, 4, 1.0), Lineage(1000, 60, 50, 0.7))
#: Mean shares of unknown entries. In the last pattern, the share differs between rows.
UNKNOWN = ((0.0, False), (0.1, False), (0.2, False), (0.4, False), (0.4, True))

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]


def measured_pairs(n: int, share: float, rng: np.random.Generator) -> Mask:
    """Return a random pattern that leaves out a share of the pairs and connects all points."""
    while True:
        missing = np.triu(rng.random((n, n)) < share, 1)
        measured = ~(missing | missing.T)
        if connected_components(measured)[0] == 1:
            return measured


def path_matrix(tree: tr.Tree) -> Matrix:
    """Return which edges the path of each pair of points contains, (n, n, edges)."""
    units = np.eye(len(tree.edges))
    return np.stack([tree.with_weights(unit).distances() for unit in units], axis=-1)


def undetermined(paths: Matrix, measured: Mask) -> Matrix:
    """Return the distances of changes of the lengths that no measured distance shows."""
    rows = paths[measured]
    hidden = paths @ null_space(rows.T @ rows)
    # Two edges at a root of degree 2 can change without any effect on distances.
    return hidden[..., np.abs(hidden).max(axis=(0, 1)) > 1e-6]


def determining(paths: Matrix, measured: Mask, rng: np.random.Generator) -> Mask:
    """Add random pairs until the measured pairs determine all lengths."""
    measured = measured.copy()
    while (hidden := undetermined(paths, measured)).shape[-1]:
        for k in range(hidden.shape[-1]):
            i, j = rng.permutation(np.argwhere(np.abs(hidden[..., k]) > 1e-6))[0]
            measured[i, j] = True
            measured[j, i] = True
    return measured


def exact(n: int, share: float) -> dict[str, Any]:
    """Fit tree metrics with random missing pairs, and with pairs that determine the tree."""
    determined, reproduced, recovered, added, wrong = [], [], [], [], []
    for seed in range(PATTERNS[n]):
        rng = np.random.default_rng(seed)
        truth = simulate(Simulation(n, 1, 1.0), seed).tree
        distances = truth.distances()
        paths = path_matrix(truth)
        random = measured_pairs(n, share, rng)
        determined.append(not undetermined(paths, random).shape[-1])
        tree, metric = fitted(distances, random)
        reproduced.append(tr.distance_error(tree, metric, norm="linf") < _EQUAL * distances.max())
        wrong.append(wrong_splits(tree, truth))
        enough = determining(paths, random, rng)
        tree, _ = fitted(distances, enough)
        recovered.append(np.abs(tree.distances() - distances).max() < _EQUAL * distances.max())
        added.append((enough.sum() - random.sum()) / (n * (n - 1)))
    return {
        "points": n,
        "missing": f"{share:.0%}",
        "patterns": len(wrong),
        "measured distances reproduced": f"{np.mean(reproduced):.1%}",
        "pattern determines the tree": f"{np.mean(determined):.1%}",
        "wrong splits": f"{np.mean(wrong):.3f}",
        "pairs added to determine it": f"{np.mean(added):.1%}",
        "tree recovered then": f"{np.mean(recovered):.1%}",
    }


def fitted(distances: Matrix, measured: Mask) -> tuple[tr.Tree, tr.Metric]:
    square = np.where(measured, distances, np.nan)
    metric = tr.MatrixMetric(square, missing=True)
    return tr.fit(metric, method="neighbor_joining"), metric


def noisy(what: Simulation, share: float) -> dict[str, Any]:
    """Compare the trees of simulated alignments with missing pairs."""
    found: dict[str, list[float]] = {}
    for seed in range(FIRST, FIRST + SEEDS):
        alignment = simulate(what, seed)
        every = np.arange(what.taxa)
        distances = sequence_metric(alignment.sequences, what.kappa).block(every, every)
        distances = (distances + distances.T) / 2
        rng = np.random.default_rng(seed)
        measured = measured_pairs(what.taxa, share, rng)
        for name, tree in trees(np.where(measured, distances, np.nan)).items():
            found.setdefault(name, []).append(wrong_splits(tree, alignment.tree))
    means = {name: f"{np.mean(values):.3f}" for name, values in found.items()}
    return {
        "taxa": what.taxa,
        "sites": what.sites,
        "depth": what.depth,
        "missing": f"{share:.0%}",
        **means,
    }


def trees(square: Matrix) -> dict[str, tr.Tree]:
    """Fit trees by our methods and after simple imputation."""
    metric = tr.MatrixMetric(square, missing=True)
    found = {name: tr.fit(metric, method=name) for name in METHODS}
    found["NJ*"] = nj_star(metric, square)
    imputed = {"mean": mean_imputation(square), "paths": path_imputation(square)}
    for name, complete in imputed.items():
        for method in METHODS[:2]:
            found[f"{name}, {method}"] = tr.fit(complete, method=method)
    return found


def mean_imputation(square: Matrix) -> Matrix:
    """Replace missing distances by the mean of all others."""
    apart = square[np.triu_indices(len(square), 1)]
    return np.where(np.isnan(square), np.nanmean(apart), square)


def path_imputation(square: Matrix) -> Matrix:
    """Replace missing distances by shortest paths along measured pairs."""
    missing = np.isnan(square)
    shortest = shortest_path(np.where(missing, np.inf, square))
    return np.where(missing, (shortest + shortest.T) / 2, square)


def characters(what: Lineage, share: float, uneven: bool, rng: int) -> tuple[NDArray[np.int64], tr.Tree]:
    """Simulate rows of characters with unknown entries, -1, and return the true tree."""
    evolved = tr.datasets.random_alignment(what.rows, sites=1, depth=1.0, extinction=0.3, rng=rng).tree
    truth = tr.Tree(what.rows, evolved.edges, evolved.weights)
    generator = np.random.default_rng(rng)
    length = dict(zip(map(frozenset, truth.edges.tolist()), truth.weights.tolist(), strict=True))
    states = np.empty((truth.n_nodes, what.loci), int)
    states[0] = generator.integers(what.states, size=what.loci)
    for node, parent in downward(truth):
        chance = 1 - np.exp(-what.changes * length[frozenset((node, parent))])
        changed = generator.random(what.loci) < chance
        new = generator.integers(what.states, size=what.loci)
        states[node] = np.where(changed, new, states[parent])
    rows = states[: what.rows]
    shares = generator.beta(2, 2 / share - 2, (what.rows, 1)).clip(0, 0.9) if uneven else share
    unknown = generator.random(rows.shape) < shares
    unknown[np.arange(what.rows), generator.integers(what.loci, size=what.rows)] = False
    return np.where(unknown, -1, rows), truth


def gaps(what: Lineage, share: float, uneven: bool) -> dict[str, Any]:
    """Compare the trees of characters with unknown entries."""
    found: dict[str, list[float]] = {}
    for seed in range(FIRST, FIRST + SEEDS):
        rows, truth = characters(what, share, uneven, seed)
        metric = tr.CharacterMetric(rows, saturated="cap")
        every = np.arange(what.rows)
        matrix = tr.MatrixMetric(metric.block(every, every))
        fits = {
            "auto": tr.fit(metric),
            "backbone": tr.fit(metric, method="backbone"),
            "minimum_evolution, matrix": tr.fit(matrix, method="minimum_evolution"),
            "neighbor_joining": tr.fit(metric, method="neighbor_joining"),
        }
        for name, tree in fits.items():
            errors = split_errors(tree, truth)
            found.setdefault(name, []).append(errors.wrong)
            found.setdefault(f"{name}: missed", []).append(errors.missed)
    return {
        "rows": what.rows,
        "loci": what.loci,
        "states": what.states,
        "unknown": f"{share:.0%}{', uneven' if uneven else ''}",
        **{name: f"{np.mean(values):.3f}" for name, values in found.items()},
    }


def measure() -> list[Table]:
    recovery = [exact(n, share) for n in PATTERNS for share in EXACT_SHARES]
    accuracy = [noisy(kind, share) for kind in KINDS for share in NOISY_SHARES]
    unknown = [gaps(what, *pattern) for what in LINEAGES for pattern in UNKNOWN]
    return [
        Table(
            "Tree metrics with missing pairs",
            recovery,
            "Yule trees, fitted by `neighbor_joining`. A random pattern rarely determines the "
            "tree: for example, the edge above two siblings is free if their distance is "
            "missing. The last two columns add random pairs until the lengths are determined.",
        ),
        Table(
            "Wrong splits of simulated phylogenies with missing pairs",
            accuracy,
            f"Mean normalized Robinson-Foulds distance to the true tree of {SEEDS} alignments: "
            "splits in only one of two trees, divided by the splits of both. Edges of length 0 "
            "are not splits. The first three methods use the measured pairs. The last "
            "four columns replace missing distances by their mean or by shortest paths.",
        ),
        Table(
            "Wrong splits of characters with unknown entries",
            unknown,
            f"Characters that change at random along {SEEDS} trees, with a share of unknown entries. If uneven, this "
            "share differs between rows, and rows without a common locus differ at all loci (`saturated='cap'`). "
            "missed: the share of the true splits that the tree lacks. `auto` compares means of rows, and "
            "`minimum_evolution, matrix` was given all distances.",
        ),
    ]


if __name__ == "__main__":
    store("missing", measure(), command="python -m benchmarks.biology.missing")
