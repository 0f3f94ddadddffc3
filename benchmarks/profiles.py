"""Minimum evolution on profiles: simulated cells and alignments with known trees.

`python -m benchmarks profiles` takes about ten minutes, most of it for minimum evolution with a matrix and for FastTree
on 10,000 taxa. FastTree is listed if it is on the PATH.
"""

import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import treerep as tr

from .common import Table

# Generations and genes of the cells, and taxa and alignments of each depth.
CELLS = ((10, 1000), (14, 1000))
ALIGNMENTS = ((1000, 5), (4000, 3), (10_000, 1))
DEPTHS = (0.5, 1.5)
SITES = 600
# Variance of the noise of a cell, relative to the mean variance of a gene in one generation.
_NOISE = 5.0


def diffused_cells(generations: int, genes: int, rng: int) -> tuple[NDArray[np.float32], tr.Tree]:
    """Return cells that diffuse down a binary tree, with noise, and the true tree."""
    generator = np.random.default_rng(rng)
    variance = generator.exponential(size=genes)
    cells = np.zeros((1, genes))
    for _ in range(generations):
        cells = np.repeat(cells, 2, axis=0)
        cells = cells + generator.standard_normal(cells.shape) * np.sqrt(variance)
    n = len(cells)
    deviation = np.sqrt(_NOISE) * np.exp(0.5 * generator.standard_normal(n) - 0.125)
    cells = cells + generator.standard_normal(cells.shape) * deviation[:, None]
    # A heap: node k has the children 2 k and 2 k + 1, and cell i is node n + i.
    nodes = np.arange(2, 2 * n)
    names = np.concatenate([n - 1 + np.arange(n), np.arange(n)])
    edges = np.column_stack([names[nodes], names[nodes // 2]])
    tree = tr.Tree(n, edges, np.ones(len(edges)))
    order = generator.permutation(n)
    return cells[order].astype(np.float32), tree.restrict(order.tolist())


def cpu_seconds(work: Callable[[], tr.Tree]) -> tuple[tr.Tree, float]:
    before = time.process_time()
    tree = work()
    return tree, time.process_time() - before


def cells() -> Iterator[dict[str, object]]:
    """Yield the wrong splits of several methods on cells."""
    for generations, genes in CELLS:
        points, truth = diffused_cells(generations, genes, 0)
        squared = tr.PointMetric(points, "sqeuclidean")
        fits: dict[str, Callable[[], tr.Tree]] = {
            "default, squared Euclidean": lambda squared=squared: tr.fit(squared),
            "default, Euclidean": lambda points=points: tr.fit(points, metric="euclidean"),
            "TreeRep, Euclidean": lambda points=points: tr.fit(points, metric="euclidean", method="treerep"),
        }
        if len(points) <= 2000:
            fits["minimum evolution with a matrix, squared Euclidean"] = lambda squared=squared: _with_matrix(
                squared
            )
        for name, fit in fits.items():
            tree, seconds = cpu_seconds(fit)
            yield {
                "cells": len(points),
                "genes": genes,
                "method": name,
                "wrong splits": tree.difference(truth).normalized,
                "CPU seconds": round(seconds, 2),
            }


def alignments() -> Iterator[dict[str, object]]:
    """Yield the wrong splits of several methods on alignments, as means over the seeds."""
    for taxa, seeds in ALIGNMENTS:
        for depth in DEPTHS:
            found: dict[str, list[tuple[float, float]]] = {}
            for seed in range(seeds):
                for name, score in _alignment(taxa, depth, seed):
                    found.setdefault(name, []).append(score)
            for name, scores in found.items():
                wrong, seconds = np.transpose(scores)
                yield {
                    "taxa": taxa,
                    "depth": depth,
                    "method": name,
                    "wrong splits": float(wrong.mean()),
                    "standard error": float(wrong.std(ddof=1) / seeds**0.5) if seeds > 1 else "-",
                    "CPU seconds": round(float(seconds.mean()), 2),
                }


def _alignment(taxa: int, depth: float, seed: int) -> Iterator[tuple[str, tuple[float, float]]]:
    text, truth = tr.datasets.random_alignment(taxa, sites=SITES, depth=depth, kappa=2.0, rng=seed)
    metric = tr.SequenceMetric(text, labels=truth.labels, saturated="cap")
    fits: dict[str, Callable[[], tr.Tree]] = {
        "default": lambda: tr.fit(metric),
        "minimum evolution with a matrix": lambda: _with_matrix(metric),
        "neighbor joining": lambda: tr.fit(metric, method="neighbor_joining"),
    }
    for name, fit in fits.items():
        tree, seconds = cpu_seconds(fit)
        yield name, (tree.difference(truth).normalized, seconds)
    if shutil.which("FastTree") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alignment.fasta"
        rows = zip(truth.labels or (), text, strict=True)
        path.write_text("".join(f">{label}\n{row}\n" for label, row in rows))
        for name, options in (("FastTree, no likelihood", ["-noml"]), ("FastTree", [])):
            before = _child_seconds()
            done = subprocess.run(
                ["FastTree", "-nt", "-nosupport", "-quiet", *options, str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            tree = tr.Tree.from_newick(done.stdout, negative_lengths="zero")
            yield name, (tree.difference(truth).normalized, _child_seconds() - before)


def _with_matrix(metric: tr.Metric) -> tr.Tree:
    points = np.arange(len(metric))
    matrix = tr.MatrixMetric(metric.block(points, points), labels=metric.labels)
    return tr.fit(matrix, method="minimum_evolution")


def _child_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def measure() -> list[Table]:
    """Return the tables."""
    small, _ = diffused_cells(6, 20, 0)
    tr.fit(small, metric="sqeuclidean")  # compiles
    tr.fit(small, metric="euclidean")
    text = tr.datasets.random_alignment(50, sites=50, depth=0.1).sequences
    for fit in (tr.fit, _with_matrix):
        fit(tr.SequenceMetric(text, saturated="cap"))
    note = (
        "Wrong splits: the splits in one of two trees as a share of the splits of both. CPU seconds of both threads, "
        "after compilation. Trees have uneven rates (log-normal). Depth: substitutions per site from the root to a tip."
    )
    return [
        Table("Cells that diffuse down a binary tree, with noise", list(cells())),
        Table(
            f"Alignments of {SITES} sites with transitions twice as frequent",
            list(alignments()),
            note,
        ),
    ]
