"""Minimum evolution on profiles: simulated cells and alignments with known trees.

`python -m benchmarks profiles` takes about an hour and 6 GB of memory. Most of the time is for
10,000 taxa, which FastTree and minimum evolution with a matrix also fit. All programs use one
thread. FastTree is listed if it is on the PATH. Each run is printed as soon as it ends.
"""

import functools
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

import treerep as tr

from .alignments import Simulation
from .common import Table, in_child
from .truth import split_errors

# The seeds from 0 on served for development.
SEEDS = range(100, 110)
# Generations and genes of the cells.
CELLS = ((10, 1000), (14, 1000))
# Most cells whose neighbors are compared. Few cells also have a tree of minimum evolution with a matrix.
FEW_CELLS = 2000
# Alignments of few taxa: depth, extinction and ratio of rates differ.
FEW_TAXA = (
    Simulation(200, 300, 0.1, 0.9),
    Simulation(200, 500, 0.3, 0.5),
    Simulation(250, 300, 0.5, 0.9, 2.0),
    Simulation(250, 600, 1.0, 0.0, 4.0),
    Simulation(300, 300, 1.0, 0.3, 2.0),
    Simulation(300, 1000, 0.2, 0.9, 4.0),
)
# Alignments of many taxa: two depths, which the seeds alternate between.
MANY_TAXA = 10_000
DEPTHS = (0.5, 1.5)
SITES = 600
# Alignments with edges of equal length on Yule trees.
MOST_TAXA, MOST_SITES, EDGE, MOST_SEEDS = 55_000, 400, 0.01, 3
# Variance of the noise of a cell, relative to the mean variance of a gene in one generation.
_NOISE = 5.0

Record = dict[str, Any]


class Cells(NamedTuple):
    """Simulated cells."""

    measured: NDArray[np.float32]
    true: NDArray[np.float32]  # without noise
    noise: NDArray[np.float64]  # standard deviation of the noise of each cell
    tree: tr.Tree


def diffused_cells(generations: int, genes: int, rng: int) -> Cells:
    """Simulate cells that diffuse down a binary tree, and measure them with noise."""
    generator = np.random.default_rng(rng)
    variance = generator.exponential(size=genes)
    cells = np.zeros((1, genes))
    for _ in range(generations):
        cells = np.repeat(cells, 2, axis=0)
        cells = cells + generator.standard_normal(cells.shape) * np.sqrt(variance)
    n = len(cells)
    deviation = np.sqrt(_NOISE) * np.exp(0.5 * generator.standard_normal(n) - 0.125)
    measured = cells + generator.standard_normal(cells.shape) * deviation[:, None]
    # A heap: node k has the children 2 k and 2 k + 1, and cell i is node n + i.
    nodes = np.arange(2, 2 * n)
    names = np.concatenate([n - 1 + np.arange(n), np.arange(n)])
    edges = np.column_stack([names[nodes], names[nodes // 2]])
    tree = tr.Tree(n, edges, np.ones(len(edges)))
    order = generator.permutation(n)
    return Cells(
        measured[order].astype(np.float32),
        cells[order].astype(np.float32),
        deviation[order],
        tree.restrict(order.tolist()),
    )


def evolved_with_equal_edges(taxa: int, sites: int, edge: float, rng: int) -> tuple[list[str], tr.Tree]:
    """Simulate sequences on a Yule tree whose edges all have the same length, by JC69."""
    tree = tr.datasets.random_tree(taxa, shape="binary", weights=(edge, edge), rng=rng)
    generator = np.random.default_rng(rng)
    codes = np.empty((tree.n_nodes, sites), np.int8)
    codes[0] = generator.integers(0, 4, sites)
    for node, parent in downward(tree):
        # P(a site differs) = 3/4 - 3/4 e^(-4/3 t)   (Jukes and Cantor 1969)
        changed = generator.random(sites) < 0.75 - 0.75 * np.exp(-4 / 3 * edge)
        codes[node] = (codes[parent] + changed * generator.integers(1, 4, sites, dtype=np.int8)) % 4
    letters = np.frombuffer(b"ACGT", np.uint8)[codes[:taxa]]
    return [row.tobytes().decode() for row in letters], tree


def downward(tree: tr.Tree) -> Iterator[tuple[int, int]]:
    """Yield nodes and their parents, from node 0 on."""
    edges = np.asarray(tree.edges)
    size = tree.n_nodes
    graph = coo_array((np.ones(len(edges)), edges.T), shape=(size, size)).tocsr()
    order, parent = breadth_first_order(graph, 0, directed=False)
    return zip(order[1:].tolist(), parent[order[1:]].tolist(), strict=True)


def cpu_seconds(work: Callable[[], tr.Tree]) -> tuple[tr.Tree, float]:
    before = time.process_time()
    tree = work()
    return tree, time.process_time() - before


def cells(generations: int, genes: int, seed: int) -> Iterator[Record]:
    """Yield the wrong splits of several methods on cells, and the neighbors that their trees keep."""
    data = diffused_cells(generations, genes, seed)
    squared = tr.PointMetric(data.measured, "sqeuclidean")
    denoised = tr.PointMetric(data.measured, "sqeuclidean", noise=data.noise)
    euclidean = tr.PointMetric(data.measured)
    few = len(data.measured) <= FEW_CELLS
    kept = functools.partial(tr.scores.neighbors_kept, truth=tr.PointMetric(data.true))
    about = {"seed": seed, "cells": len(data.measured), "genes": genes}
    fits: dict[str, Callable[[], tr.Tree]] = {
        "default, squared Euclidean": lambda: tr.fit(squared, n_jobs=1),
        "TreeRep, Euclidean": lambda: tr.fit(euclidean, method="treerep", n_jobs=1),
    }
    if few:
        fits["default, Euclidean"] = lambda: tr.fit(euclidean, n_jobs=1)
        fits["default, squared Euclidean, noise known"] = lambda: tr.fit(denoised, n_jobs=1)
        fits["minimum evolution with a matrix, squared Euclidean"] = lambda: _from_matrix(squared)
    for name, fit in fits.items():
        tree, seconds = cpu_seconds(fit)
        yield {
            **about,
            "method": name,
            "wrong": split_errors(tree, data.tree).wrong,
            "kept": float(kept(tree)) if few else None,
            "CPU": seconds,
        }
    if few:
        yield {**about, "method": "distances, noise known", "kept": float(kept(denoised))}
        yield {**about, "method": "distances", "kept": float(kept(squared))}


def _from_matrix(metric: tr.Metric) -> tr.Tree:
    every = np.arange(len(metric))
    matrix = tr.MatrixMetric(metric.block(every, every), symmetrize="mean")
    return tr.fit(matrix, method="minimum_evolution", n_jobs=1)


def fitted(method: str, sequences: list[str]) -> tuple[tr.Tree, float]:
    """Fit a tree to sequences by the default, by "backbone" or by exact minimum evolution."""
    metric = tr.SequenceMetric(sequences, saturated="cap")
    fits: dict[str, Callable[[], tr.Tree]] = {
        "default": lambda: tr.fit(metric, n_jobs=1),
        "backbone": lambda: tr.fit(metric, method="backbone", n_jobs=1),
        "minimum evolution with a matrix": lambda: _from_matrix(metric),
    }
    return cpu_seconds(fits[method])


METHODS = ("default", "backbone", "minimum evolution with a matrix")
FASTTREE = {"FastTree, no likelihood": ["-noml"], "FastTree": []}
CHILD = """
import json, sys
import numpy as np
import treerep as tr
from benchmarks.profiles import fitted
_, method, fasta, out = sys.argv
fitted(method, list(tr.datasets.random_alignment(2500, sites=50, depth=0.1).sequences))  # loads kernels
with open(fasta) as lines:
    sequences = [line.strip() for line in lines if not line.startswith(">")]
tree, seconds = fitted(method, sequences)
np.savez(out, edges=tree.edges, weights=tree.weights)
with open("/proc/self/status") as status:  # getrusage would begin with the peak of the parent
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps({"CPU": seconds, "GB": peak * 1024 / 1e9}))
"""
# The peak memory of a process begins with that of its parent, which should be small.
FASTTREE_CHILD = """
import json, resource, subprocess, sys
with open(sys.argv[1], "w") as out:
    subprocess.run(["FastTree", *sys.argv[2:]], stdout=out, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"CPU": used.ru_utime + used.ru_stime, "GB": used.ru_maxrss * 1024 / 1e9}))
"""


def alignment(
    about: Record,
    sequences: Iterable[str],
    truth: tr.Tree,
    methods: Iterable[str],
    *,
    in_children: bool,
) -> Iterator[Record]:
    """Yield the errors, time and memory of some methods on an alignment."""
    rows = list(sequences)
    with tempfile.TemporaryDirectory() as folder:
        fasta = Path(folder) / "alignment.fasta"
        fasta.write_text("".join(f">taxon{i}\n{row}\n" for i, row in enumerate(rows)))
        for method in methods:
            if method in FASTTREE:
                if shutil.which("FastTree") is None:
                    continue
                tree, used = _fasttree(fasta, FASTTREE[method])
            elif in_children:
                out = Path(folder) / "tree.npz"
                used = in_child(CHILD, method, fasta, out)
                with np.load(out) as stored:
                    tree = tr.Tree(len(rows), stored["edges"], stored["weights"])
            else:
                tree, seconds = fitted(method, rows)
                used = {"CPU": seconds}
            errors = split_errors(tree, truth)
            yield {**about, "method": method, "wrong": errors.wrong, "missed": errors.missed, **used}


def _fasttree(fasta: Path, options: list[str]) -> tuple[tr.Tree, Record]:
    out = fasta.with_suffix(".nwk")
    used = in_child(FASTTREE_CHILD, out, "-nt", "-nosupport", "-quiet", *options, fasta)
    named = tr.Tree.from_newick(out.read_text(), negative_lengths="zero")
    return named.restrict([f"taxon{i}" for i in range(len(named))]), used


def simulated(what: Simulation, seed: int) -> tr.datasets.Alignment:
    return tr.datasets.random_alignment(
        what.taxa,
        sites=what.sites,
        depth=what.depth,
        extinction=what.extinction,
        kappa=what.kappa or 1.0,
        rng=seed,
    )


def few_taxa(seed: int) -> Iterator[Record]:
    """Yield the errors on each kind of alignment of 200 to 300 taxa."""
    for kind, what in enumerate(FEW_TAXA):
        text, truth = simulated(what, seed)
        about = {"table": "few taxa", "kind": kind, "seed": seed}
        yield from alignment(about, text, truth, (*METHODS, *FASTTREE), in_children=False)


def many_taxa(seed: int) -> Iterator[Record]:
    """Yield the errors on an alignment. Even seeds are shallow, and odd seeds are deep."""
    depth = DEPTHS[seed % 2]
    text, truth = simulated(Simulation(MANY_TAXA, SITES, depth, 0.0, 2.0), seed)
    about = {"table": "many taxa", "taxa": MANY_TAXA, "depth": depth, "seed": seed}
    yield from alignment(about, text, truth, (*METHODS, *FASTTREE), in_children=True)


def most_taxa(seed: int) -> Iterator[Record]:
    text, truth = evolved_with_equal_edges(MOST_TAXA, MOST_SITES, EDGE, seed)
    about = {"table": "most taxa", "taxa": MOST_TAXA, "seed": seed}
    yield from alignment(about, text, truth, METHODS[:2], in_children=True)


def records() -> Iterator[Record]:
    """Run everything, short runs first."""
    for seed in SEEDS:
        yield from few_taxa(seed)
    for generations, genes in CELLS:
        for seed in SEEDS:
            yield from ({"table": "cells", **row} for row in cells(generations, genes, seed))
    for seed in SEEDS[:MOST_SEEDS]:
        yield from most_taxa(seed)
    for seed in SEEDS:
        yield from many_taxa(seed)


def mean(values: Iterable[float]) -> str:
    """Return the mean, with its standard error in parentheses."""
    array = np.array(list(values))
    error = f" ({array.std(ddof=1) / len(array) ** 0.5:.4f})" if len(array) > 1 else ""
    return f"{array.mean():.4f}{error}"


def tables(found: list[Record]) -> list[Table]:
    """Summarize the runs."""
    return [_cell_table(found), _few_table(found), _many_table(found), _most_table(found)]


def _groups(found: list[Record], table: str, *keys: str) -> Iterator[tuple[Record, list[Record]]]:
    groups: dict[str, list[Record]] = {}
    for record in found:
        if record["table"] == table:
            groups.setdefault(json.dumps([record[key] for key in keys]), []).append(record)
    for name, group in groups.items():
        yield dict(zip(keys, json.loads(name), strict=True)), group


def _seeds(found: list[Record], table: str) -> int:
    return len({record["seed"] for record in found if record["table"] == table})


def _seconds(group: list[Record]) -> object:
    return round(float(np.mean([record["CPU"] for record in group])), 2) if "CPU" in group[0] else "-"


def _cell_table(found: list[Record]) -> Table:
    rows = []
    for about, group in _groups(found, "cells", "cells", "genes", "method"):
        kept = [record["kept"] for record in group]
        about["wrong splits"] = mean(r["wrong"] for r in group) if "wrong" in group[0] else "-"
        about["neighbors kept"] = "-" if kept[0] is None else mean(kept)
        about["CPU seconds"] = _seconds(group)
        rows.append(about)
    rows.sort(key=lambda row: row["cells"])
    return Table(
        "Cells that diffuse down a binary tree, with noise",
        rows,
        "Neighbors kept: the share of the ten nearest cells, by distances without noise, among the ten nearest in the "
        "tree, or by the measured distances. "
        f"Means over {_seeds(found, 'cells')} seeds, with standard errors in parentheses. All programs use one "
        "thread.",
    )


def _few_table(found: list[Record]) -> Table:
    rows = []
    for about, group in _groups(found, "few taxa", "method"):
        seeds: dict[int, list[float]] = {}
        for record in group:
            seeds.setdefault(record["seed"], []).append(record["missed"])
        for kind, what in enumerate(FEW_TAXA):
            of_kind = [record["missed"] for record in group if record["kind"] == kind]
            about[f"{what.taxa} x {what.sites:,}, depth {what.depth}"] = f"{np.mean(of_kind):.3f}"
        about["mean"] = mean(np.mean(values) for values in seeds.values())
        about["wrong splits"] = f"{np.mean([record['wrong'] for record in group]):.4f}"
        about["CPU seconds"] = _seconds(group)
        rows.append(about)
    return Table(
        "True splits missed, 200 to 300 taxa",
        rows,
        "The share of the true splits that a tree lacks, for six kinds of alignments (taxa x sites, and substitutions "
        f"per site from the root to a tip), and its mean over {_seeds(found, 'few taxa')} seeds with standard error. "
        "Splits of length 0 do not count, so a tree with multifurcations misses more of the true splits and has fewer "
        "false splits. Wrong splits: the splits in one of two trees as a share of the splits of both. Rates differ "
        "between edges (log-normal).",
    )


def _many_table(found: list[Record]) -> Table:
    exact = {
        (r["taxa"], r["seed"]): r["wrong"]
        for r in found
        if r["table"] == "many taxa" and r["method"] == METHODS[2]
    }
    rows = []
    for about, group in _groups(found, "many taxa", "taxa", "method"):
        for depth in DEPTHS:
            of_depth = [record["wrong"] for record in group if record["depth"] == depth]
            about[f"wrong splits, depth {depth}"] = mean(of_depth)
        about["difference from a matrix"] = mean(r["wrong"] - exact[r["taxa"], r["seed"]] for r in group)
        about["CPU seconds"] = _seconds(group)
        about["GB"] = round(max(record["GB"] for record in group), 2)
        rows.append(about)
    return Table(
        f"Wrong splits of alignments of {SITES} sites",
        rows,
        f"Means over {_seeds(found, 'many taxa')} alignments, half of each depth, with standard errors. The "
        "differences from minimum evolution with a matrix are paired. Transitions are twice as frequent as each "
        "transversion, and rates differ between edges (log-normal). GB: the highest peak memory of the process.",
    )


def _most_table(found: list[Record]) -> Table:
    rows = []
    for about, group in _groups(found, "most taxa", "taxa", "method"):
        about["wrong splits"] = mean(record["wrong"] for record in group)
        about["true splits missed"] = mean(record["missed"] for record in group)
        about["CPU seconds"] = _seconds(group)
        about["GB"] = round(max(record["GB"] for record in group), 2)
        rows.append(about)
    return Table(
        f"Wrong splits of {MOST_TAXA:,} sequences of {MOST_SITES} sites",
        rows,
        f"Yule trees whose edges all have {EDGE} substitutions per site, {_seeds(found, 'most taxa')} seeds.",
    )


def measure() -> list[Table]:
    """Return the tables."""
    for _ in cells(6, 20, 0):  # compiles
        pass
    for method in METHODS:
        fitted(method, list(simulated(FEW_TAXA[1], 0).sequences))
    found = []
    for record in records():
        print(json.dumps(record), flush=True)
        found.append(record)
    return tables(found)
