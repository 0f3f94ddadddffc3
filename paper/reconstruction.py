"""Table 1: TreeRep and neighbor joining on random tree metrics, with as many points as in the paper.

python -m paper.reconstruction --only 11,40
"""

from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

import treerep as tr

from . import published
from .cells import Key, Store
from .methods import METHODS, clock
from .tables import Note, Table, beside

SIZES = tuple(published.RECONSTRUCTION["tr"])
COLUMNS = ("tr", "nj")
TREES = 20


def keys() -> list[Key]:
    """Return all cells."""
    return [Key(size, method) for size in SIZES for method in COLUMNS]


@lru_cache(1)
def trees(size: str) -> list[tr.Tree]:
    """Return random trees of the paper's recipe with exactly this many points.

    The sizes in the table correspond to depths 1 to 7. The recipe draws random sizes of cliques,
    so we try seeds until the size matches.
    """
    depth = SIZES.index(size) + 1
    found = (tr.datasets.random_tree_metric(depth, rng=seed) for seed in count())
    matching = (tree for tree in found if len(tree) == int(size))
    return [next(matching) for _ in range(TREES if int(size) < 500 else 3)]


def measure(size: str, method: str) -> dict[str, Any]:
    """Return the worst relative error, the share of trees with the right size, and the seconds."""
    errors, nodes, right = [], [], []
    for tree in trees(size):
        truth = tr.MatrixMetric(tree.distances())
        # tol = 0.1 is meant for integers. Lengths are uniform on [0, 2] here, and it would merge
        # nodes.
        fitted = tr.fit(truth, method="treerep") if method == "tr" else METHODS[method].learn(truth, 0)
        errors.append(float(tr.distance_error(fitted, truth, norm="linf")) / float(tree.distances().max()))
        nodes.append(fitted.n_nodes)
        right.append(fitted.n_nodes == tree.n_nodes)
    seconds = clock(
        lambda: tr.fit(truth, method="treerep") if method == "tr" else METHODS[method].learn(truth, 0)
    )
    return {
        "seconds": seconds,
        "error": max(errors),
        "nodes": float(np.mean(nodes)),
        "right": float(np.mean(right)),
        "trees": len(errors),
    }


def tables(store: Store) -> list[Table]:
    """Return times next to the published ones, and the reconstructed sizes."""
    times = [
        [
            METHODS[method].title,
            *(beside(store.get(n, method, "seconds"), paper[n], "time") for n in SIZES),
        ]
        for method, paper in published.RECONSTRUCTION.items()
    ]
    found = [
        [
            f"{METHODS[method].title}: {what}",
            *(shown(store.get(n, method, value)) for n in SIZES),
        ]
        for method in COLUMNS
        for what, value, shown in (
            ("nodes in the tree, mean", "nodes", lambda x: "-" if x is None else f"{x:.0f}"),
            (
                "trees with the right number of nodes",
                "right",
                lambda x: "-" if x is None else f"{x:.0%}",
            ),
            (
                "largest error / largest distance",
                "error",
                lambda x: "-" if x is None else f"{x:.0e}",
            ),
        )
    ]
    heads = ["points", *SIZES]
    return [
        Table(
            "Seconds to reconstruct a tree",
            heads,
            times,
            "One fit after warm-up, with our default tolerance.",
        ),
        Table(
            "What is reconstructed",
            heads,
            found,
            "NJ makes every tree binary, by adding edges of length 0.",
        ),
    ]


def notes(_: Store) -> list[Note]:
    """Return no notes: nothing is worse."""
    return []


if __name__ == "__main__":
    from .command import run_alone

    run_alone("reconstruction")
