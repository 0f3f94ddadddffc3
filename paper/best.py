"""Tables of the appendix: the best of 20 trees, and what optimizing the edge weights gains.

python -m paper.best --only celegans
"""

import math
import time
from typing import Any

import treerep as tr

from . import published
from .cells import Key, Store
from .graphs import SMALL, load
from .methods import METHODS, SEEDS, best_of, scores, summary
from .tables import Note, Table, beside

#: How the weights of the best tree are improved. "full" is what the paper's 5,000 gradient steps aim at, exactly.
STEPS = {
    "none": "No Opt",
    "heuristic": "Heuristic Opt",
    "full": "Full Opt",
    "distortion": "Least distortion",
    "refined": "Refined",
}
#: The heuristic for every one of 20 trees, on the mean.
MEANS = {"tr": "TreeRep", "mst": "MST"}


def keys() -> list[Key]:
    """Return all cells."""
    return [Key(name, step) for name in SMALL for step in (*STEPS, *MEANS)]


def measure(name: str, step: str) -> dict[str, Any]:
    """Measure one cell."""
    return _mean(name, step) if step in MEANS else _best(name, step)


def _best(name: str, step: str) -> dict[str, Any]:
    """Improve the best of 20 trees of the paper's rule: that of lowest distortion after scaling."""
    graph, truth, _ = load(name)
    tree = best_of(truth, pivot="closest", tol=0.1)
    start = time.perf_counter()
    improved = _improve(tree, graph, step)
    return {**scores(improved, truth, graph), "seconds": time.perf_counter() - start}


def _improve(tree: tr.Tree, graph: tr.GraphMetric, step: str) -> tr.Tree:
    if step == "none":
        return tree
    if step == "refined":
        return tr.refine(tree, graph)
    weights = {"heuristic": "heuristic", "full": "l2", "distortion": "l1"}[step]
    balance = {"balance": 0.0} if step == "distortion" else {}
    return tr.refine(tree, graph, weights=weights, moves=False, **balance)


def _mean(name: str, method: str) -> dict[str, Any]:
    """Apply the heuristic to 20 trees."""
    graph, truth, _ = load(name)
    data = graph if method == "mst" else truth
    runs = []
    for seed in range(SEEDS):
        start = time.perf_counter()
        tree = tr.refine(
            METHODS[method].learn(data, seed), truth, weights="heuristic", moves=False
        )
        seconds = time.perf_counter() - start
        runs.append({**scores(tree, truth, graph), "seconds": seconds})
    return summary(runs)


def _scale(step: str) -> str:
    """Return the score that the paper reports: unscaled after the full optimization, scaled elsewhere."""
    return "plain" if step in ("full", "distortion", "refined") else "scaled"


def tables(store: Store) -> list[Table]:
    """Return both tables of the appendix."""
    best, mean = [], []
    for name in SMALL:
        row: list[Any] = [name]
        for step in STEPS:
            row.append(
                beside(
                    store.get(name, step, "map_rank"),
                    published.BEST_MAP[name].get(step),
                    "higher",
                )
            )
            row.append(
                beside(
                    store.get(name, step, _scale(step)),
                    published.BEST_DISTORTION[name].get(step),
                    "lower",
                )
            )
        best.append(row)
        row = [
            name,
            beside(store.get(name, "tr", "seconds"), published.HEURISTIC_SECONDS[name], "time"),
        ]
        for method in MEANS:
            row.append(
                beside(
                    store.get(name, method, "scaled"),
                    published.HEURISTIC_DISTORTION[name][method],
                    "lower",
                )
            )
            row.append(
                beside(
                    store.get(name, method, "map_rank"),
                    published.HEURISTIC_MAP[name][method],
                    "higher",
                )
            )
        mean.append(row)
    heads = [
        "graph",
        *(f"{title}, {what}" for title in STEPS.values() for what in ("MAP", "distortion")),
    ]
    means = [
        "graph",
        "seconds",
        *(f"{title}, {what}" for title in MEANS.values() for what in ("distortion", "MAP")),
    ]
    return [
        Table(
            "The best of 20 trees",
            heads,
            best,
            "MAP of the same tree, ties by rank. Distortion scaled, but as it is after the full optimization, as in "
            "the paper, and in our two columns. Full Opt is the exact solution of the paper's least squares, Least "
            "distortion has the least average distortion, Refined is `refine` as it comes: distances and neighbors.",
        ),
        Table(
            "The heuristic, mean of 20 trees",
            means,
            mean,
            "Distortion scaled. Fit and optimization together.",
        ),
    ]


def notes(store: Store) -> list[Note]:
    """Say why, where we are worse."""
    ranges = Store("graphs", store.path.parent)
    largest = {
        name: (ranges.get(name, "tr", "range") or {}).get("map_rank", (math.nan,) * 2)[1]
        for name in SMALL
    }
    chosen = [
        f"{name} {title}, MAP"
        for name in SMALL
        for title in (STEPS["none"], STEPS["heuristic"])
    ]
    return [
        Note(
            tuple(chosen),
            "Ours is the MAP of the tree that was chosen for its distortion. The paper's seem to be the best MAP of "
            "the 20 trees, whichever tree has it: our largest are "
            + ", ".join(f"{value:.3f} ({name})" for name, value in largest.items())
            + ".",
        ),
        Note(
            ("csphd MST, MAP",),
            "Edges that the heuristic shortens to 0 make ties; ours gains more distortion for that.",
        ),
    ]


if __name__ == "__main__":
    from .command import run_alone

    run_alone("best")
