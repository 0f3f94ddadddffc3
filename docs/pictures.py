"""Make the pictures of the documentation: `python docs/pictures.py`, or with the names of some of them behind it.

Nothing but the package, matplotlib and, for the digits of the front page, scikit-learn is needed.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import treerep as tr
from treerep.drawing.draw import LAYOUTS
from treerep.drawing.figures.comparison_chart import comparison_chart
from treerep.drawing.figures.curves import curves
from treerep.drawing.figures.distortion_picture import distortion_picture

FOLDER = Path(__file__).parent / "pictures"


def digits() -> plt.Figure:
    """The front page: handwritten digits, colored by what they are."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    tree = tr.fit(X, metric="euclidean")
    figure, ax = plt.subplots(figsize=(7.6, 6.2), layout="constrained")
    tr.draw(tree, layout="equal_daylight", color=y, ax=ax)
    return figure


class Asked:
    """A distance matrix that remembers which of its entries were read."""

    def __init__(self, D: np.ndarray) -> None:
        self.D, self.asked = D, np.zeros(D.shape, bool)

    def __len__(self) -> int:
        return len(self.D)

    def __getitem__(self, pair: tuple[int, int]) -> float:
        self.asked[pair] = self.asked[pair[::-1]] = True
        return float(self.D[pair])


def asked() -> plt.Figure:
    """Which distances TreeRep asks for. The plain twin of the compiled engine, which tests hold equal to it, tells."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.fitting.treerep.naive_treerep import treerep

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained")
    for n, ax in zip((60, 240, 960), axes, strict=True):
        points = tr.datasets.hyperbolic_points(n, 3, scale=10.0)
        metric = Asked(points.block(range(n), range(n)))
        treerep(metric, np.random.default_rng(0).permutation(n), 1e-9)
        # Points in the order of the tree, so that those of one zone are neighbors.
        order = tr.fit(points).rooted(0).order
        order = order[order < n]
        ax.imshow(~metric.asked[np.ix_(order, order)], cmap="gray", interpolation="antialiased")
        count = metric.asked.sum() // 2
        ax.set_title(
            f"{n} points: {count / (n * (n - 1) // 2):.0%} of the pairs, {count / n:.0f} a point",
            fontsize=9,
        )
        ax.set(xticks=[], yticks=[])
    return figure


def refined() -> plt.Figure:
    """Distances in the tree against true ones, as TreeRep leaves them and refined."""
    points = tr.datasets.hyperbolic_points(500, 3, scale=10.0)
    tree = tr.fit(points, trials=20)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    better = tr.refine(tree, points, weights="l2", moves=False)
    drawn = {
        "TreeRep": tree,
        "best weights": better,
        "weights and moves": tr.refine(tree, points, balance=0),
    }
    for (title, found), ax in zip(drawn.items(), axes, strict=True):
        distortion_picture(found, points, ax=ax)
        ax.set_title(
            f"{title}: distortion {tr.average_distortion(found, points):.3f}", fontsize=10
        )
    return figure


def scales() -> plt.Figure:
    """The mammals in the Poincaré disk at three scales."""
    tree = tr.fit(tr.datasets.sarich(), trials=20)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
    for scale, ax in zip((0.01, 0.03, 0.1), axes, strict=True):
        embedding = tr.embed(tree, scale=scale)
        tr.draw(embedding, ax=ax, labels=True)
        worst = tr.worst_distortion(embedding, tree)
        ax.set_title(f"scale {scale}: worst distortion {worst:.2f}", fontsize=10)
    return figure


def layouts() -> plt.Figure:
    """Sarich's mammals in every layout."""
    tree = tr.fit(tr.datasets.sarich(), trials=20)
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.4), layout="constrained")
    for layout, ax in zip(LAYOUTS, axes.flat, strict=False):
        tr.draw(tree, layout=layout, ax=ax)
        ax.set_title(f'"{layout}"', fontsize=10)
    tr.draw(tr.embed(tree, scale=0.04), ax=axes[1, 2])
    axes[1, 2].set_title("embed(tree, scale=0.04)", fontsize=10)
    return figure


def cells() -> plt.Figure:
    """Cells by their branch and by their age."""
    cells = tr.datasets.branching_cells(800, levels=3, noise=0.1, rng=1)
    tree = tr.fit(cells.points, metric="euclidean", trials=5)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    tr.draw(tree, layout="equal_daylight", color=[f"branch {b}" for b in cells.branch], ax=left)
    tr.draw(tree, color=cells.pseudotime, ax=right)
    return figure


def large() -> plt.Figure:
    """A tree of 2,000 nodes in the disk."""
    tree = tr.datasets.random_tree(2_000)
    return tr.draw(tree, layout="hyperbolic", color=tree.cut(8), legend=False).figure


def distortion() -> plt.Figure:
    """Tree distances against true ones."""
    points = tr.datasets.hyperbolic_points(500, 3, scale=10.0)
    return distortion_picture(tr.fit(points), points).figure


def comparison() -> plt.Figure:
    """Methods on 300 points of hyperbolic space."""
    points = tr.datasets.hyperbolic_points(300, 3, scale=10.0)
    rows = []
    for method in (
        "treerep",
        "neighbor_joining",
        "minimum_spanning_tree",
        "construct_tree",
        "gromov",
        "upgma",
    ):
        tree = tr.fit(points, method=method)
        loss = float(tr.average_distortion(tree, points))
        rows.append({"method": method, "distortion": loss, "nodes": tree.n_nodes})
    return comparison_chart(rows, measures=("distortion", "nodes"))[0].figure


def dimensions() -> plt.Figure:
    """Distortion of trees for 100 random points of H^k: the paper's Figure 2, for three methods and one sample."""
    dims = 2 ** np.arange(1, 11)
    names = {"treerep": "TreeRep", "neighbor_joining": "NJ", "minimum_spanning_tree": "MST"}
    values = {name: [] for name in names.values()}
    for dim in dims:
        points = tr.datasets.hyperbolic_points(100, int(dim), scale=10.0)
        for method, name in names.items():
            values[name].append(
                float(tr.average_distortion(tr.fit(points, method=method), points))
            )
    return curves(
        dims, values, xlabel="dimension", ylabel="average distortion", log_y=True
    ).figure


def people() -> plt.Figure:
    """The characters of Les Misérables: a network, its tree and six clusters."""
    import networkx as nx

    tree = tr.fit(nx.les_miserables_graph())
    shown = {"Valjean", "Javert", "Cosette", "Marius", "Gavroche", "Fantine"}
    shown |= {"Myriel", "Thenardier", "Enjolras"}
    names = [name if name in shown else "" for name in tree.labels]
    figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
    tr.draw(tree, layout="equal_daylight", color=tree.cut(6), labels=names, legend=False, ax=ax)
    return figure


def mammals() -> plt.Figure:
    """Sarich's mammals, rooted at the outgroup."""
    tree, root = tr.fit(tr.datasets.sarich()).root_at_outgroup("monkey")
    figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
    tr.draw(tree, layout="rectangular", root=root, ax=ax)
    return figure


PICTURES: dict[str, tuple[Callable[[], plt.Figure], int]] = {
    "digits": (digits, 110),
    "asked": (asked, 90),
    "refined": (refined, 75),
    "scales": (scales, 80),
    "layouts": (layouts, 80),
    "cells": (cells, 70),
    "large": (large, 60),
    "distortion": (distortion, 70),
    "comparison": (comparison, 80),
    "dimensions": (dimensions, 80),
    "people": (people, 90),
    "mammals": (mammals, 90),
}

if __name__ == "__main__":
    mpl.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        make, dpi = PICTURES[name]
        figure = make()
        figure.savefig(
            FOLDER / f"{name}.png",
            dpi=dpi,
            metadata={"Software": None},
            pil_kwargs={"optimize": True},
        )
        plt.close(figure)
