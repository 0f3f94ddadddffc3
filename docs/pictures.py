"""Make the pictures of docs/drawing.md: `python docs/pictures.py`. Nothing but the package and matplotlib is needed."""

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import treerep as tr
from treerep.drawing.comparison_chart import comparison_chart
from treerep.drawing.curves import curves
from treerep.drawing.distortion_picture import distortion_picture
from treerep.drawing.draw import LAYOUTS

FOLDER = Path(__file__).parent / "pictures"


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
    for method in ("treerep", "neighbor_joining", "minimum_spanning_tree", "construct_tree", "gromov", "upgma"):
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
            values[name].append(float(tr.average_distortion(tr.fit(points, method=method), points)))
    return curves(dims, values, xlabel="dimension", ylabel="average distortion", log_y=True).figure


PICTURES: dict[str, tuple[Callable[[], plt.Figure], int]] = {
    "layouts": (layouts, 80),
    "cells": (cells, 70),
    "large": (large, 60),
    "distortion": (distortion, 70),
    "comparison": (comparison, 80),
    "dimensions": (dimensions, 80),
}

if __name__ == "__main__":
    mpl.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    for name, (make, dpi) in PICTURES.items():
        figure = make()
        figure.savefig(FOLDER / f"{name}.png", dpi=dpi, metadata={"Software": None}, pil_kwargs={"optimize": True})
        plt.close(figure)
