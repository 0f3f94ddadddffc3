"""Figure 1 and the last figure of the appendix: the steps of TreeRep, drawn from fitted trees.

python -m paper.schematics
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treerep as tr

from .cells import Key, Store
from .tables import Figure, Note, Table

#: Places of w on the universal tree of x, y and z. TreeRep only gets the distances.
PLACES = {
    "universal": ("Universal tree", "(x:2,y:2,z:2);"),
    "zone1_r": ("w in zone 1 of r", "(x:2,y:2,z:2,w:1.5);"),
    "zone1_z": ("w in zone 1 of z", "(x:2,y:2,(w:1.5)z:2);"),
    "zone2_z": ("w in zone 2 of z", "(x:2,y:2,(w:1.2,z:1):1);"),
}
#: The next step: two points in a zone of type 1 get a new Steiner node; one in a zone of type 2
#: gets it on the edge.
STEPS = {
    "step1": ("Zone 1 of x: a node for x, u and v", "(y:2,z:2,((u:1.2,v:1.2):1)x:2);"),
    "step2": ("Zone 2 of x: a node on the edge", "(y:2,z:2,(x:1,(u:1,v:0.8):0.9):1);"),
}
ZONES = (
    "zone 1 of r",
    "zone 1 of x",
    "zone 1 of y",
    "zone 1 of z",
    "zone 2 of x",
    "zone 2 of y",
    "zone 2 of z",
)


def keys() -> list[Key]:
    """Return all cells: one for each small tree, and one for the zones of a larger one."""
    return [Key(name, "tr") for name in (*PLACES, *STEPS, "zones")]


def measure(name: str, _: str) -> dict[str, Any]:
    """Fit the distances of one tree and return whether the tree is recovered."""
    if name == "zones":
        tree = tr.datasets.random_tree(36, hidden=0.15, rng=1770)  # a tree with points in every zone
        fitted = tr.fit(tr.MatrixMetric(tree.distances()), method="treerep")
        return {
            "newick": fitted.newick(leaves=False),
            "same": fitted.isclose(tree),
            "zones": zones(fitted.distances()).tolist(),
        }
    tree = tr.Tree.from_newick({**PLACES, **STEPS}[name][1], inner_labels="points")
    fitted = tr.fit(tr.MatrixMetric(tree.distances(), labels=tree.labels), method="treerep")
    return {"newick": fitted.newick(leaves=False), "same": fitted.isclose(tree)}


def zones(D: NDArray[np.float64], tol: float = 1e-9) -> NDArray[np.int64]:
    """Return the zone of every point as an index into ZONES; -1 for the pivots x = 0, y = 1, z = 2."""
    # (x, y)_w, (y, z)_w and (z, x)_w for all w.
    product = [(D[:, i] + D[:, j] - D[i, j]) / 2 for i, j in ((0, 1), (1, 2), (2, 0))]
    largest, far_from = np.max(product, axis=0), np.argmax(product, axis=0)
    # The largest product leaves out the pivot closest to w: z, x or y.
    nearest = np.array([2, 0, 1])[far_from]
    at_pivot = np.abs(D[np.arange(len(D)), nearest] - np.min(product, axis=0)) < tol
    zone = np.where(at_pivot, 1 + nearest, 4 + nearest)
    zone[largest - np.min(product, axis=0) < tol] = 0
    zone[:3] = -1
    return zone


def tables(store: Store) -> list[Table]:
    """Return the table of recovered trees."""
    rows = [
        [
            title,
            "-" if (same := store.get(name, "tr", "same")) is None else ("yes" if same else "no"),
        ]
        for name, (title, _) in {
            **PLACES,
            **STEPS,
            "zones": ("The zones of 36 points", ""),
        }.items()
    ]
    return [Table("Trees in the figures", ["tree", "recovered from its distances"], rows)]


def figures(store: Store, folder: Path) -> list[Figure]:
    """Draw the figures."""
    from .pictures import little_trees, zone_picture

    for file, group in (("structure", PLACES), ("recursion", STEPS)):
        little_trees(
            folder / f"{file}.svg",
            {title: store.get(name, "tr", "newick") for name, (title, _) in group.items()},
        )
    zone_picture(
        folder / "zones.svg",
        store.get("zones", "tr", "newick"),
        store.get("zones", "tr", "zones"),
        ZONES,
    )
    return [
        Figure("Places of a point", "structure.svg", "Orange: Steiner nodes. Green: data points."),
        Figure(
            "Place of the next Steiner node",
            "recursion.svg",
            "Left: zone of type 1. Right: zone of type 2.",
        ),
        Figure(
            "The seven zones",
            "zones.svg",
            "36 points, sorted by the pivots x, y and z. Edges are drawn to scale.",
        ),
    ]


def notes(_: Store) -> list[Note]:
    """Return no notes."""
    return []


if __name__ == "__main__":
    from .command import run_alone

    run_alone("schematics")
