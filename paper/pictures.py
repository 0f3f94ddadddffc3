"""Figures of the paper, as SVG files."""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import treerep as tr

from .curves import curves
from .files import whole_file

GREEN, ORANGE = "#2a8a4a", "#e08214"


def save(figure: Any, file: Path) -> None:
    """Write a figure as SVG, with reproducible bytes."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    file.parent.mkdir(parents=True, exist_ok=True)
    settings = {"svg.hashsalt": "treerep"}
    with mpl.rc_context(settings), whole_file(file, "wb") as stream:
        figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def grid(count: int, *, columns: int, size: float) -> tuple[Any, list[Any]]:
    """Return a figure and this many axes."""
    import matplotlib.pyplot as plt

    rows = -(-count // columns)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(size * columns, size * rows),
        squeeze=False,
        layout="constrained",
    )
    for unused in axes.flat[count:]:
        unused.set_axis_off()
    return figure, list(axes.flat[:count])


def panels(file: Path, drawn: Mapping[str, tr.Tree | tr.Embedding]) -> None:
    """Draw trees and embeddings side by side, with all labels."""
    figure, axes = grid(len(drawn), columns=4, size=3.6)
    for ax, (title, what) in zip(axes, drawn.items(), strict=True):
        options = {"layout": "euclidean_sarkar"} if isinstance(what, tr.Tree) else {}
        tr.draw(what, ax=ax, labels=True, size=30, **options)
        ax.set_title(title, fontsize=11)
    save(figure, file)


def little_trees(file: Path, newicks: Mapping[str, str]) -> None:
    """Draw small trees with data points in green and Steiner nodes (named r) in orange."""
    figure, axes = grid(len(newicks), columns=len(newicks), size=2.9)
    for ax, (title, newick) in zip(axes, newicks.items(), strict=True):
        tree = tr.Tree.from_newick(newick, inner_labels="points")
        steiner = tree.n_nodes - tree.n_points
        kinds = ["data point"] * tree.n_points + ["Steiner node"] * steiner
        names = [*map(str, tree.labels or ()), *("r" + "'" * k for k in _primes(tree))]
        palette = {"data point": GREEN, "Steiner node": ORANGE}
        tr.draw(
            tree,
            ax=ax,
            layout="euclidean_sarkar",
            color=kinds,
            palette=palette,
            labels=names,
            legend=False,
            size=70,
            root=tree._node("y") if "y" in (tree.labels or ()) else None,
        )
        ax.set_title(title, fontsize=10)
    save(figure, file)


def _primes(tree: tr.Tree) -> list[int]:
    """Return the number of primes of each Steiner node: none for r, on all paths between x, y and z."""
    ends = (("x", "y"), ("y", "z"), ("x", "z"))
    central = [all(node in tree.path(*two) for two in ends) for node in range(tree.n_points, tree.n_nodes)]
    others = count(1)
    return [0 if here else next(others) for here in central]


def zone_picture(file: Path, newick: str, zones: Sequence[int], titles: Sequence[str]) -> None:
    """Draw a tree whose points are colored by zone."""
    tree = tr.Tree.from_newick(newick, inner_labels="points")
    order = np.array([int(label) for label in tree.labels or range(len(tree))])
    kinds = [titles[zones[point]] if zones[point] >= 0 else "pivot" for point in order]
    names = ["xyz"[point] if point < 3 else "" for point in order]
    figure, (ax,) = grid(1, columns=1, size=5.5)
    tr.draw(tree, ax=ax, layout="equal_daylight", color=kinds, labels=names, size=60)
    save(figure, file)


def two_curves(file: Path, panels: Mapping[str, Mapping[str, Sequence[float]]], x: Sequence[int]) -> None:
    """Draw average distortion vs dimension and vs scale. Values below 0.002 are clipped."""
    figure, axes = grid(len(panels), columns=2, size=5.2)
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        seen = {label: np.maximum(values, 2e-3) for label, values in lines.items()}
        curves(ax, x, seen, xlabel=title, ylabel="average distortion", log_y=True)
    save(figure, file)
