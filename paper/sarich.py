"""Figure 3: immunological distances of eight mammals (Sarich 1969), as trees and in the Poincaré disk.

python -m paper.sarich
"""

from pathlib import Path
from typing import Any

import numpy as np

import treerep as tr

from .cells import Key, Store
from .methods import DEVICE, scores
from .neighbors import nearest_neighbors
from .tables import Figure, Note, Table, shown

#: As in the paper, the best of ten TreeRep trees. PM needs a graph, which the paper does not
#: specify.
NEIGHBORS = 3
TREES = {
    "tr": ("TreeRep, best of 10", {"method": "treerep", "trials": 10}),
    "nj": ("NJ", {"method": "neighbor_joining"}),
    "ls": ("LS", {"method": "low_stretch"}),
    "ct": ("CT", {"method": "construct_tree"}),
    "mst": ("MST", {"method": "minimum_spanning_tree"}),
}
EMBEDDINGS = {"pm2": ("PM", "poincare"), "pt2": ("PT", "pt")}
TITLES = {name: title for name, (title, _) in {**TREES, **EMBEDDINGS}.items()}


def keys() -> list[Key]:
    """Return all cells."""
    return [Key("sarich", method) for method in TITLES]


def measure(_: str, method: str) -> dict[str, Any]:
    """Return the tree or the points, and their distortion."""
    truth = tr.datasets.sarich()
    if method in TREES:
        tree = tr.fit(truth, **TREES[method][1])
        return {**scores(tree, truth, None), "newick": tree.newick(leaves=False)}
    data = nearest_neighbors(truth, NEIGHBORS) if method == "pm2" else truth
    learned = tr.embed(data, method=EMBEDDINGS[method][1], dim=2, device=DEVICE)
    return {**scores(learned, truth, None), "poincare": np.round(learned.poincare, 6).tolist()}


def tables(store: Store) -> list[Table]:
    """Return the distances and the distortions, which the paper does not report."""
    truth = tr.datasets.sarich()
    names = [str(name) for name in truth.labels or ()]
    everyone = range(len(names))
    table = truth.block(everyone, everyone)
    distances = [[name, *(f"{d:.0f}" for d in row)] for name, row in zip(names, table, strict=True)]
    rows = [
        [title, *(shown(store.get("sarich", method, score)) for score in ("plain", "scaled"))]
        for method, title in TITLES.items()
    ]
    return [
        Table(
            "The distances",
            ["", *names],
            distances,
            "Means of both directions, from the literature.",
        ),
        Table(
            "Average distortion",
            ["method", "as it is", "scaled"],
            rows,
            "The paper only shows pictures.",
        ),
    ]


def figures(store: Store, folder: Path) -> list[Figure]:
    """Draw the trees by Sarkar's construction in the Euclidean plane, as in the paper, and embeddings."""
    from .pictures import panels

    trees = {
        title: tr.Tree.from_newick(text, inner_labels="points")
        for name, (title, _) in TREES.items()
        if (text := store.get("sarich", name, "newick"))
    }
    labels = tr.datasets.sarich().labels
    points = {
        title: tr.Embedding.from_poincare(np.array(places), labels=labels)
        for name, (title, _) in EMBEDDINGS.items()
        if (places := store.get("sarich", name, "poincare"))
    }
    panels(folder / "sarich.svg", {**trees, **points})
    return [
        Figure(
            "Eight mammals",
            "sarich.svg",
            "Trees are laid out by Sarkar's construction in the Euclidean plane.",
        ),
    ]


def notes(_: Store) -> list[Note]:
    """Return no notes: the paper only has pictures."""
    return []


if __name__ == "__main__":
    from .command import run_alone

    run_alone("sarich")
