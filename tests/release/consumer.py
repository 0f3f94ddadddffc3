"""A stranger's program: the front door, each result with the type it should have. `mypy --strict` judges it."""

from pathlib import Path
from typing import assert_type

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

import treerep as tr


class Line(tr.Metric):
    """Distances of one's own."""

    def __init__(self, places: NDArray[np.float64]) -> None:
        self.places = places

    def __len__(self) -> int:
        return len(self.places)

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        distances: NDArray[np.float64] = np.abs(
            self.places[np.asarray(rows)][:, None] - self.places[np.asarray(cols)]
        )
        return distances


def metrics() -> tr.MatrixMetric:
    mammals = tr.datasets.sarich()
    assert_type(mammals, tr.MatrixMetric)
    assert_type(mammals.labels, tuple[str, ...] | None)
    assert_type(mammals.pairs([0, 1], [2, 3]), NDArray[np.float64])
    assert_type(tr.as_metric(mammals), tr.Metric)
    assert_type(tr.datasets.hyperbolic_points(4, 2), tr.PointMetric)
    assert_type(tr.fit(Line(np.arange(4.0)), method="treerep"), tr.Tree)
    try:
        tr.MatrixMetric([[0, -1], [-1, 0]])
    except tr.MetricError as error:
        assert_type(error, tr.MetricError)
    return mammals


def trees(mammals: tr.MatrixMetric, folder: Path) -> tr.Tree:
    tree = tr.fit(mammals, method="neighbor_joining", trials=1, rng=0)
    assert_type(tree, tr.Tree)
    assert_type(tr.fit(mammals, method="bartal", draws=2), tr.Tree)
    assert_type(tr.fit(mammals, trees=2), tr.TreeSum)
    assert_type(len(tree), int)
    assert_type(tree.n_nodes, int)
    assert_type(tree.edges, NDArray[np.int64])
    assert_type(tree.weights, NDArray[np.float64])
    assert_type(tree.path("dog", "seal"), NDArray[np.int64])
    assert_type(tree.newick(), str)
    assert_type(tr.Tree.from_newick(tree.newick()), tr.Tree)
    assert_type(tr.refine(tree, mammals, moves=False).newick(), str)
    assert_type(tr.place(tree, mammals.block([0], np.arange(len(tree)))), tr.Tree)
    assert_type(tr.refine(tree, mammals, moves=False).refinement, tr.Refinement)
    tr.formats.write_tree(tree, folder / "tree.nex")
    assert_type(tr.formats.read_tree(folder / "tree.nex"), tr.Tree)
    return tree


def scores(tree: tr.Tree, mammals: tr.MatrixMetric) -> float:
    score = tr.average_distortion(tree, mammals, scale="optimal")
    assert_type(score, tr.Score)
    assert_type(score.low, float)
    assert_type(score.exact, bool)
    assert_type(tr.worst_distortion(tree, mammals).pairs, int)
    assert_type(tr.distance_error(tree, mammals).high, float)
    delta = tr.hyperbolicity(mammals)
    assert_type(delta, tr.Hyperbolicity)
    assert_type(delta.delta, float)
    assert_type(delta.exact, bool)
    return score


def pictures(tree: tr.Tree, folder: Path) -> None:
    embedding = tr.embed(tree, dim=2, scale=0.05)
    assert_type(embedding, tr.Embedding)
    assert_type(embedding.poincare, NDArray[np.float64])
    assert_type(tr.draw(tree), Axes)
    assert_type(tr.page(tree, folder / "tree.html"), tr.Page)
    assert_type(tr.citations.bibtex("treerep"), str)


def main(folder: Path) -> float:
    mammals = metrics()
    tree = trees(mammals, folder)
    pictures(tree, folder)
    return scores(tree, mammals)
