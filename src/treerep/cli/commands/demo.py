"""`treerep demo`: fit two small data sets."""

import io
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

import treerep as tr

from ..._core.kernel_cache import has_entries
from ..._core.parallel import count_jobs
from ...tree.exchange.archives import write_tree_fields
from .._outputs import write_outputs
from .._text_tree import middle_node, text_tree
from .warm_up import compile_scores


def show_demo(folder: Path) -> None:
    """Fit trees to two data sets, print their scores and write both trees to `folder`."""
    console = Console()
    folder.mkdir(parents=True, exist_ok=True)
    console.print("Fitting two trees. The first run compiles code, which can take a minute.")
    with _compiling_ahead():
        mammals = tr.datasets.sarich()
        cells = tr.PointMetric(tr.datasets.branching_cells(2000).points, "euclidean")
        mammal_tree = tr.fit(mammals)
        cell_tree = tr.fit(cells)

    console.print("\nImmunological distances of eight mammals (Sarich 1969), as a tree:\n")
    console.print(text_tree(mammal_tree, middle_node(mammal_tree)))
    console.print("\nAverage distortion of the distances in the two trees:\n")
    console.print(_scores({"mammals": (mammal_tree, mammals), "cells": (cell_tree, cells)}))
    console.print("\nWritten:")
    texts = {
        str(folder / f"{name}.{suffix}"): text
        for name, tree in (("mammals", mammal_tree), ("cells", cell_tree))
        for suffix, text in (("nwk", tree.newick() + "\n"), ("json", _json(tree)))
    }
    write_outputs(texts.items())
    for path in texts:
        console.print(f"  {path}", highlight=False, soft_wrap=True)


@contextmanager
def _compiling_ahead() -> Iterator[None]:
    """On a second core, compile the kernels that the fits need last, if no kernel is stored yet."""
    if has_entries() or count_jobs() < 2:
        yield
        return
    child = multiprocessing.get_context("spawn").Process(target=compile_scores, daemon=True)
    child.start()
    try:
        yield
    finally:
        child.terminate()
        child.join()


def _json(tree: tr.Tree) -> str:
    file = io.BytesIO()
    write_tree_fields(tree, file, packed=False)
    return file.getvalue().decode("ascii")


def _scores(fits: dict[str, tuple[tr.Tree, tr.Metric]]) -> Table:
    table = Table("data", "points", "nodes", "average distortion", "optimal scale")
    for name, (tree, truth) in fits.items():
        plain = tr.average_distortion(tree, truth, scale="none")
        scaled = tr.average_distortion(tree, truth, scale="optimal")
        table.add_row(name, f"{len(tree):,}", f"{tree.n_nodes:,}", f"{plain:.3f}", f"{scaled:.3f}")
    return table
