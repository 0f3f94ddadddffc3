"""Trees that must stay as they are: methods, kinds of data and seeds, stored with their lengths.

`python -m tests.fitting.test_stored_trees` stores them again, which is right only if a method was meant to change.
"""

import json
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import treerep as tr

STORED = Path(__file__).with_name("stored_trees.json")


def _table(n):
    """Return distances that are not those of a tree: sums of a tree's and of small whole numbers."""
    rng = np.random.default_rng(3)
    noise = rng.integers(0, 4, (n, n))
    tree = tr.datasets.random_tree(n, rng=2, weights=(1, 9))
    table = np.round(tree.block(np.arange(n), np.arange(n))) + noise + noise.T + 4
    np.fill_diagonal(table, 0)
    return table


def _points(n):
    return np.random.default_rng(5).integers(-50, 50, (n, 4)).astype(np.float64)


table = partial(_table, 24)
graph = partial(nx.connected_watts_strogatz_graph, 30, 4, 0.3, seed=1)
points = partial(_points, 32)

FITS = {
    "auto, table": lambda: tr.fit(table()),
    "auto, graph": lambda: tr.fit(graph()),
    "auto, points": lambda: tr.fit(points(), metric="euclidean", rng=1),
    "treerep, table": lambda: tr.fit(table(), method="treerep"),
    "treerep, table, another seed": lambda: tr.fit(table(), method="treerep", rng=7),
    "treerep, best of 5": lambda: tr.fit(table(), method="treerep", trials=5),
    "treerep, graph, closest": lambda: tr.fit(graph(), method="treerep", pivot="closest"),
    "neighbor_joining": lambda: tr.fit(table(), method="neighbor_joining"),
    "bionj": lambda: tr.fit(table(), method="bionj"),
    "relaxed_neighbor_joining": lambda: tr.fit(table(), method="relaxed_neighbor_joining", rng=2),
    "minimum_evolution": lambda: tr.fit(table(), method="minimum_evolution"),
    "upgma": lambda: tr.fit(table(), method="upgma"),
    "gromov": lambda: tr.fit(table(), method="gromov", root=3),
    "construct_tree": lambda: tr.fit(table(), method="construct_tree"),
    "minimum_spanning_tree": lambda: tr.fit(points(), metric="chebyshev", method="minimum_spanning_tree"),
    "level_tree": lambda: tr.fit(graph(), method="level_tree", root=0),
    "low_stretch": lambda: tr.fit(graph(), method="low_stretch", rng=4),
    "backbone of 10": lambda: tr.fit(points(), metric="euclidean", method="backbone", size=10),
    "refined": lambda: tr.refine(tr.fit(table(), method="treerep"), table()),
}


@pytest.fixture(scope="module")
def stored():
    return json.loads(STORED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FITS)
def test_the_tree_is_the_stored_one(name, stored):
    tree = FITS[name]()
    assert tree.edges.ravel().tolist() == stored[name]["edges"]
    np.testing.assert_allclose(tree.weights, stored[name]["weights"], rtol=1e-9, atol=1e-9)


def test_no_other_tree_is_stored(stored):
    assert list(stored) == list(FITS)


if __name__ == "__main__":
    trees = {name: fit() for name, fit in FITS.items()}
    lines = [
        f'"{name}": '
        + json.dumps(
            {"edges": tree.edges.ravel().tolist(), "weights": tree.weights.tolist()},
            separators=(",", ":"),
        )
        for name, tree in trees.items()
    ]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
