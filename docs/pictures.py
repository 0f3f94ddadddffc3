"""Pictures of the documentation.

`python docs/pictures.py` draws all of them, and `python docs/pictures.py NAME ...` only some.
The digits on the front page need scikit-learn. The pictures of single cells need scanpy. The charts of accuracy read
stored results from `benchmarks/results/` and `paper/cells/`. The picture of the interactive page needs Playwright,
Chromium, and the data set `zeisel`.
"""

import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image
from scipy.spatial import cKDTree

import treerep as tr
from treerep.drawing.draw import LAYOUTS
from treerep.drawing.figures._picture import ROOTED
from treerep.drawing.figures.distortion_picture import distortion_picture

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 100_000


def digits() -> plt.Figure:
    """Draw handwritten digits, colored by their class, for the front page."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    tree = tr.fit(X, metric="euclidean")
    figure, ax = plt.subplots(figsize=(6.2, 5.2), layout="constrained")
    tr.draw(tree, layout="equal_daylight", color=y, ax=ax)
    return figure


class RecordingMatrix:
    """Distance matrix that records which entries have been read."""

    def __init__(self, D: np.ndarray) -> None:
        self.D, self.read = D, np.zeros(D.shape, bool)

    def __len__(self) -> int:
        return len(self.D)

    def __getitem__(self, pair: tuple[int, int]) -> float:
        self.read[pair] = self.read[pair[::-1]] = True
        return float(self.D[pair])


def asked() -> plt.Figure:
    """Draw the pairs whose distance TreeRep computes.

    Uses the reference implementation, which tests hold equal to the compiled one.
    """
    sys.path.insert(0, str(ROOT))
    from tests.fitting.treerep.naive_treerep import treerep

    figure, axes = plt.subplots(1, 3, figsize=(8.4, 3.5), layout="constrained")
    for n, ax in zip((60, 240, 960), axes, strict=True):
        points = tr.datasets.hyperbolic_points(n, 3, scale=10.0)
        metric = RecordingMatrix(points.block(range(n), range(n)))
        treerep(metric, np.random.default_rng(0).permutation(n), 1e-9)
        # Points in the order of the tree, so that points of one zone are next to each other.
        order = tr.fit(points, method="treerep").rooted(0).order
        order = order[order < n]
        ax.imshow(~metric.read[np.ix_(order, order)], cmap="gray", interpolation="antialiased")
        count = metric.read.sum() // 2
        share = count / (n * (n - 1) // 2)
        ax.set_title(f"{n} points: {share:.0%} of pairs,\n{count / n:.0f} per point", fontsize=10)
        ax.set(xticks=[], yticks=[])
    return figure


def refined() -> plt.Figure:
    """Draw tree distances vs input distances before and after refinement."""
    points = tr.datasets.hyperbolic_points(500, 3, scale=10.0)
    tree = tr.fit(points, method="treerep", trials=20)
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.4), layout="constrained")
    drawn = {
        "TreeRep": tree,
        "fitted lengths": tr.refine(tree, points, weights="l2", moves=False),
        "fitted lengths and moves": tr.refine(tree, points, balance=0),
    }
    for (title, found), ax in zip(drawn.items(), axes, strict=True):
        distortion_picture(found, points, ax=ax)
        loss = float(tr.average_distortion(found, points))
        ax.set_title(f"{title}:\naverage distortion {loss:.3f}", fontsize=10)
    return figure


def scales() -> plt.Figure:
    """Draw the mammals in the Poincaré disk at three scales."""
    tree = tr.fit(tr.datasets.sarich(), trials=20)
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 4.2), layout="constrained")
    for scale, ax in zip((0.01, 0.03, 0.1), axes, strict=True):
        embedding = tr.embed(tree, scale=scale)
        tr.draw(embedding, ax=ax, labels=True)
        worst = float(tr.worst_distortion(embedding, tree))
        ax.set_title(f"scale {scale}:\nworst distortion {worst:.1f}", fontsize=10)
    return figure


def layouts() -> plt.Figure:
    """Draw the eight mammals in every layout."""
    tree = tr.fit(tr.datasets.sarich(), trials=20)
    rooted, _ = tree.root_at_midpoint()
    figure, axes = plt.subplots(2, 4, figsize=(13, 6.4), layout="constrained")
    for layout, ax in zip(LAYOUTS, axes.flat, strict=False):
        tr.draw(rooted if layout in ROOTED else tree, layout=layout, ax=ax)
        ax.set_title(f'"{layout}"', fontsize=10)
    tr.draw(tr.embed(tree, scale=0.04), ax=axes[1, 3])
    axes[1, 3].set_title("embed(tree, scale=0.04)", fontsize=10)
    return figure


def simulated() -> tuple[tr.Tree, np.ndarray, pd.DataFrame]:
    """Return a tree of 24 simulated sequences with support, four clades, and base frequencies."""
    alignment = tr.datasets.random_alignment(24, sites=400, depth=0.15)
    sequences = tr.as_metric(alignment.sequences, metric="k2p", labels=alignment.tree.labels)
    tree, _ = tr.fit(sequences, method="minimum_evolution", bootstrap=100).root_at_midpoint()
    bases = [[text.count(base) / len(text) for base in "ACGT"] for text in alignment.sequences]
    clades = np.array([f"clade {'ABCD'[k]}" for k in tree.cut(4)])
    return tree, clades, pd.DataFrame(bases, columns=list("ACGT"))


def strips() -> plt.Figure:
    """Draw simulated sequences with support, a strip and a heat map."""
    tree, clades, bases = simulated()
    table = {"GC content": bases["G"] + bases["C"], "frequency": bases}
    style = {"labels": "support", "align": True, "color_label": "tree.cut(4)"}
    return tr.draw(tree, layout="rectangular", color=clades, strips=table, **style).figure


def rings() -> plt.Figure:
    """Draw simulated sequences around a circle of base frequencies."""
    tree, clades, bases = simulated()
    return tr.draw(tree, layout="circular", color=clades, strips={"frequency": bases}).figure


def collapsed() -> plt.Figure:
    """Draw simulated sequences with two collapsed clades."""
    tree, clades, _ = simulated()
    collapse = {name: np.flatnonzero(clades == name) for name in ("clade A", "clade B")}
    return tr.draw(tree, layout="rectangular", color=clades, collapse=collapse, axis=True).figure


def cells() -> plt.Figure:
    """Draw simulated cells, colored by branch and by pseudotime."""
    cells = tr.datasets.branching_cells(800, levels=3, noise=0.1, rng=1)
    tree = tr.fit(cells.points, metric="euclidean", trials=5)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    tr.draw(tree, layout="equal_daylight", color=[f"branch {b}" for b in cells.branch], ax=left)
    tr.draw(tree, color=cells.pseudotime, ax=right)
    return figure


def large() -> plt.Figure:
    """Draw a tree of 2,000 nodes in the disk."""
    tree = tr.datasets.random_tree(2_000)
    return tr.draw(tree, layout="hyperbolic", color=tree.cut(8), legend=False).figure


def distortion() -> plt.Figure:
    """Draw tree distances vs input distances."""
    points = tr.datasets.hyperbolic_points(500, 3, scale=10.0)
    return distortion_picture(tr.fit(points), points).figure


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


def single_cell_tree() -> plt.Figure:
    """Draw the tree of 700 blood cells, colored by cell type."""
    import scanpy as sc

    adata = sc.datasets.pbmc68k_reduced()
    tr.tl.tree(adata, n_clusters=6)
    figure, ax = plt.subplots(figsize=(9.2, 5))
    figure.subplots_adjust(left=0, right=0.7, bottom=0, top=1)
    tr.pl.tree(adata, color="bulk_labels", ax=ax)
    ax.set_title("")
    return figure


def single_cell_disk() -> plt.Figure:
    """Draw the tree of 640 simulated blood cells in the Poincaré disk, colored by cell type."""
    import scanpy as sc

    adata = sc.datasets.krumsiek11()
    adata.obs_names_make_unique()
    tr.tl.tree(adata, use_rep="X", root="0")
    tr.tl.embed(adata)
    figure, ax = plt.subplots(figsize=(7, 5.4))
    figure.subplots_adjust(left=0.01, right=0.78, bottom=0, top=1)
    tr.pl.disk(adata, color="cell_type", ax=ax)
    ax.set_title("")
    return figure


def page() -> Image.Image:
    """Return a screenshot of the interactive page: mouse brain cells with a highlighted path."""
    from playwright.sync_api import sync_playwright

    cells = tr.datasets.load("zeisel")
    tree = tr.fit(cells, method="neighbor_joining")
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(path for name in names if (path := shutil.which(name)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "cells.html"
        table = {"cell type": cells.classes}
        title = "Mouse brain cells (Zeisel et al. 2015)"
        tr.page(tree, path, table=table, color="cell type", title=title)
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        size = {"width": 1400, "height": 900}
        tab = chromium.new_page(viewport=size, reduced_motion="reduce")
        tab.goto(path.as_uri())
        tab.locator("#lengths").select_option(label="equal")
        for node in PATH:
            tab.locator("#search").fill(str(node))
            tab.keyboard.press("Enter")
            tab.wait_for_timeout(1_000)
            if node == PATH[0]:
                tab.get_by_role("button", name="Path from here").click()
        tab.locator("#search").fill("")
        tab.get_by_role("button", name="Home").click()
        tab.wait_for_timeout(1_000)
        tab.mouse.move(700, 890)
        shot = tab.screenshot()
        chromium.close()
    return Image.open(io.BytesIO(shot))


#: Cells at both ends of the path in the picture of the interactive page.
PATH = (1595, 226)
Rows = list[dict[str, Any]]
#: Color and marker of every series, the same in all charts of accuracy.
SERIES = {
    "default of fit": ("#0072B2", "o"),
    "TreeRep": ("#D55E00", "^"),
    "neighbor joining": ("#E69F00", "s"),
    "relaxed neighbor joining": ("#E69F00", "s"),
    "minimum evolution": ("#009E73", "D"),
    "PT, 200 dimensions": ("#4B0096", "v"),
    "PM, 2 dimensions": ("#CC79A7", "P"),
    "average linkage (SciPy)": ("#4B0096", "v"),
    "Ward (SciPy)": ("#CC79A7", "P"),
    "walktrap (igraph)": ("#4B0096", "v"),
    "Louvain (networkx)": ("#CC79A7", "P"),
}


def stored(name: str, title: str) -> Rows:
    """Return the rows of a table in benchmarks/results/."""
    text = (ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8")
    return next(t["rows"] for t in json.loads(text)["tables"] if t["title"] == title)


def number(entry: str) -> float:
    """Return the first number of a table entry such as "0.754 (0.0890)"."""
    return float(str(entry).split()[0])


def dots(ax: plt.Axes, groups: list[str], values: dict[str, list[float]], xlabel: str) -> None:
    """Draw one row per group and one mark per series. NaN leaves a mark out."""
    height = np.arange(len(groups))
    ax.hlines(height, 0, 1, transform=ax.get_yaxis_transform(), color="#DDDDDD", lw=0.8)
    for name, series in values.items():
        color, marker = SERIES[name]
        ax.scatter(series, height, s=42, color=color, marker=marker, label=name, zorder=3)
    ax.set_yticks(height, groups)
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.set_xlabel(xlabel)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def legend(figure: plt.Figure, ax: plt.Axes) -> None:
    """Draw one legend above all panels."""
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False)


def accuracy_phylogenies() -> plt.Figure:
    """Draw the share of wrong splits for simulated alignments."""
    rows = stored("truth", "Wrong splits of phylogenies")
    rows += stored("truth", "Many sequences without a matrix")
    names = {
        "auto": "default of fit",
        "minimum_evolution": "minimum evolution",
        "neighbor_joining": "neighbor joining",
    }
    figure, ax = plt.subplots(figsize=(8, 3.7), layout="constrained")
    groups = [f"{r['taxa']:,} taxa, {r['sites']:,} sites, depth {r['depth']:g}" for r in rows]
    values = {name: [number(r.get(key, "nan")) for r in rows] for key, name in names.items()}
    dots(
        ax,
        groups,
        values,
        "wrong splits (normalized Robinson-Foulds distance; lower is better)",
    )
    ax.set_xlim(0, 0.4)
    legend(figure, ax)
    return figure


def accuracy_classes() -> plt.Figure:
    """Draw the dendrogram purity of trees for digits and cells."""
    rows = stored("truth", "Classes of digits and cells")
    names = {
        "auto": "default of fit",
        "treerep": "TreeRep",
        "relaxed_neighbor_joining": "relaxed neighbor joining",
        "average": "average linkage (SciPy)",
        "ward": "Ward (SciPy)",
    }
    figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
    groups = [f"{r['data']} ({r['points']:,} points)" for r in rows]
    values = {name: [number(r[key]) for r in rows] for key, name in names.items()}
    dots(ax, groups, values, "dendrogram purity (higher is better)")
    ax.set_xlim(0.3, 0.9)
    legend(figure, ax)
    return figure


def accuracy_groups() -> plt.Figure:
    """Draw how well clusters match the known groups of networks."""
    rows = stored("truth", "Groups in networks")
    names = {
        "auto": "default of fit",
        "treerep": "TreeRep",
        "relaxed_neighbor_joining": "relaxed neighbor joining",
        "minimum_evolution": "minimum evolution",
        "walktrap": "walktrap (igraph)",
        "louvain": "Louvain (networkx)",
    }
    figure, ax = plt.subplots(figsize=(8, 4.1), layout="constrained")
    groups = [f"{r['network']} ({r['vertices']:,} nodes)" for r in rows]
    values = {name: [number(r[key]) for r in rows] for key, name in names.items()}
    dots(ax, groups, values, "adjusted Rand index (higher is better)")
    ax.set_xlim(0, 1.02)
    legend(figure, ax)
    return figure


#: Networks of the paper, by size.
NETWORKS = {
    "celegans": "C. elegans (452)",
    "diseasome": "Diseasome (516)",
    "csphd": "CS PhD (1,025)",
    "yeast": "Yeast (1,458)",
    "grid_worm": "Grid-worm (3,337)",
    "grqc": "GrQC (4,158)",
    "enron": "Enron (33,695)",
    "wordnet": "WordNet (74,374)",
}


def accuracy_networks() -> plt.Figure:
    """Draw distortion and mean average precision on the networks of the paper."""
    cells = json.loads((ROOT / "paper" / "cells" / "graphs.json").read_text(encoding="utf-8"))
    names = {
        "auto": "default of fit",
        "tr_ours": "TreeRep",
        "nj": "neighbor joining",
        "pt200": "PT, 200 dimensions",
        "pm2": "PM, 2 dimensions",
    }
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained", sharey=True)
    for ax, key, xlabel in (
        (axes[0], "scaled", "average distortion (lower is better)"),
        (axes[1], "map", "mean average precision (higher is better)"),
    ):
        values = {
            name: [cells.get(f"{graph}/{method}", {}).get(key, np.nan) for graph in NETWORKS]
            for method, name in names.items()
        }
        dots(ax, list(NETWORKS.values()), values, xlabel)
    axes[0].set_xlim(0, 0.36)
    axes[1].set_xlim(0.15, 1.02)
    legend(figure, axes[0])
    return figure


def accuracy_size() -> plt.Figure:
    """Draw distortion and seconds for data sets of 700 to a million cells."""
    rows = stored("backbone", "Cells around a backbone")
    names = {
        "backbone": "default of fit",
        "TreeRep": "TreeRep",
        "relaxed NJ": "relaxed neighbor joining",
    }
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained", sharey=True)
    groups = [f"{r['data'].partition(',')[0]} ({r['points']:,})" for r in rows]
    for ax, suffix, xlabel in (
        (axes[0], "", "average distortion (lower is better)"),
        (axes[1], ", seconds", "seconds on two cores"),
    ):
        values = {name: [number(r[key + suffix] or "nan") for r in rows] for key, name in names.items()}
        if suffix:  # stored with two decimals
            values = {name: list(np.maximum(series, 0.01)) for name, series in values.items()}
            ax.set_xscale("log")
        dots(ax, groups, values, xlabel)
    axes[0].set_xlim(0, 0.2)
    legend(figure, axes[0])
    return figure


#: Functions that draw the pictures, and dots per inch.
PICTURES: dict[str, tuple[Callable[[], plt.Figure | Image.Image], int]] = {
    "digits": (digits, 130),
    "asked": (asked, 110),
    "refined": (refined, 100),
    "scales": (scales, 100),
    "layouts": (layouts, 80),
    "strips": (strips, 80),
    "rings": (rings, 80),
    "collapsed": (collapsed, 80),
    "cells": (cells, 70),
    "large": (large, 60),
    "distortion": (distortion, 70),
    "people": (people, 90),
    "mammals": (mammals, 90),
    "single_cell_tree": (single_cell_tree, 100),
    "single_cell_disk": (single_cell_disk, 100),
    "page": (page, 100),
    "accuracy_phylogenies": (accuracy_phylogenies, 120),
    "accuracy_classes": (accuracy_classes, 120),
    "accuracy_groups": (accuracy_groups, 120),
    "accuracy_networks": (accuracy_networks, 120),
    "accuracy_size": (accuracy_size, 120),
}


def reduced(picture: Image.Image) -> Image.Image:
    """Return a picture of 128 colors: 32 for smooth backgrounds, the others for the marks."""
    colors = [(255, 255, 255)]
    for count, method in ((31, Image.Quantize.MEDIANCUT), (96, Image.Quantize.MAXCOVERAGE)):
        few = picture.quantize(count, method, kmeans=3)
        colors += np.reshape(few.getpalette()[: 3 * count], (-1, 3)).tolist()
    # Pillow rounds when it matches a palette, so that white becomes gray.
    nearest = cKDTree(colors).query(np.asarray(picture).reshape(-1, 3))[1]
    found = Image.fromarray(nearest.reshape(picture.height, picture.width).astype(np.uint8), "P")
    found.putpalette([value for color in colors for value in color])
    return found


def save(drawn: plt.Figure | Image.Image, path: Path, dpi: int) -> None:
    """Write a PNG file on a white background, with fewer colors if it is large."""
    if isinstance(drawn, Image.Image):
        drawn.save(path, optimize=True)
    else:
        drawn.savefig(
            path,
            dpi=dpi,
            facecolor="white",
            metadata={"Software": None},
            pil_kwargs={"optimize": True},
        )
        plt.close(drawn)
    if path.stat().st_size > MOST_BYTES:
        with Image.open(path) as picture:
            reduced(picture.convert("RGB")).save(path, optimize=True)


if __name__ == "__main__":
    mpl.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        make, dpi = PICTURES[name]
        save(make(), FOLDER / f"{name}.png", dpi)
