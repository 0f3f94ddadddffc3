"""Phylogenetic placement on simulated alignments with known trees.

`python -m benchmarks.biology.placement` takes about three minutes. It stores its tables in
benchmarks/results/biology_placement.md and .json. To include APPLES (`pip install apples==2.0.11` in
another environment), set APPLES to the path of its run_apples.py.
"""

import os
import resource
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import treerep as tr

from ..alignments import Simulation, sequence_metric, simulate
from ..common import Table, store

#: Number of simulated alignments of each kind, by number of taxa.
SEEDS = {100: 8, 500: 3}
#: The first seed. The seeds below served to choose the defaults.
FIRST = 1000
#: Alignments of any number of taxa: two kinds with little noise, one with some, two with much.
KINDS = (
    Simulation(0, 1000, 0.2, 0.5),
    Simulation(0, 500, 1.0, 0.5),
    Simulation(0, 100, 0.3, 0.3),
    Simulation(0, 200, 1.5),
    Simulation(0, 200, 2.5, 0.5, 4.0),
)
METHODS: dict[str, dict[str, Any]] = {
    "least squares, power 0": {"nearest": None, "power": 0},
    "least squares, power 1": {"nearest": None, "power": 1},
    "least squares, power 2": {"nearest": None, "power": 2},
    "least squares, 8 nearest": {},
}
APPLES = os.environ.get("APPLES")
#: Numbers of leaves for the growth of time, and the number of new points.
GROWTH = (5_000, 20_000)
NEW = 50_000
#: Lower bounds of the classes of likelihood weights.
CLASSES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


class Case(NamedTuple):
    """A backbone tree of nine tenths of the taxa, and the distances of the other taxa."""

    truth: tr.Tree
    old: NDArray[np.int64]
    new: NDArray[np.int64]
    backbone: tr.Tree
    rows: NDArray[np.float64]


def made_case(distances: NDArray[np.float64], truth: tr.Tree, seed: int) -> Case:
    n = len(distances)
    order = np.random.default_rng(seed).permutation(n)
    new = np.sort(order[: n // 10])
    old = np.sort(order[n // 10 :])
    labels = [f"t{k}" for k in old]
    metric = tr.MatrixMetric(distances[np.ix_(old, old)], labels=labels)
    backbone = tr.fit(metric, method="minimum_evolution")
    return Case(truth, old, new, backbone, distances[np.ix_(new, old)])


def simulated(what: Simulation, seed: int) -> Case:
    alignment = simulate(what, seed)
    every = np.arange(what.taxa)
    block = sequence_metric(alignment.sequences, what.kappa).block(every, every)
    block = (block + block.T) / 2
    np.fill_diagonal(block, 0.0)
    return made_case(block, alignment.tree, seed)


class Judge:
    """The error of placements, as Balaban et al. (2020) define it.

    The error is the number of splits of the true tree, with the new taxon, that the larger tree
    lacks, minus the number of splits that the backbone lacks. It is the number of nodes between the
    place and the best place. A split is the XOR of random numbers of its taxa.
    """

    def __init__(self, case: Case) -> None:
        rng = np.random.default_rng(0)
        self.names = rng.integers(1, 2**62, len(case.truth)).astype(np.uint64)
        self.case = case
        self.truths = [self._splits_with(q) for q in case.new]

    def _splits_with(self, *new: int) -> NDArray[np.uint64]:
        points = np.append(self.case.old, new).astype(np.int64)
        tree = self.case.truth.restrict(points)
        below = self._below(tree._view, self.names[points])
        return np.unique(np.minimum(below, below[0] ^ below))

    def _below(self, view: Any, names: NDArray[np.uint64]) -> NDArray[np.uint64]:
        below = np.zeros(len(view.up), np.uint64)
        is_point = view.order < len(names)
        below[is_point] = names[view.order[is_point]]
        for k in range(len(below) - 1, 0, -1):
            below[view.up[k]] ^= below[k]
        return below

    def errors(self, tree: tr.Tree, nodes: NDArray[np.int64]) -> list[int]:
        """Return the errors of places on the edges above nodes, one for each new taxon."""
        view = tree._view_from(0 if tree.root is None else tree.root)
        taxa = np.array([int(label[1:]) for label in tree.labels or ()])
        below = self._below(view, self.names[taxa])
        without = np.minimum(below, below[0] ^ below)
        base = len(np.setdiff1d(self._splits_with(), without))
        found = []
        for node, q, truth in zip(nodes, self.case.new, self.truths, strict=True):
            name = self.names[q]
            k = max(int(view.position[node]), 1)
            keys = np.append(below, [below[k] ^ name, name])
            above = view.up[k]
            while above >= 0:
                keys[above] ^= name
                above = view.up[above]
            keys = np.minimum(keys, below[0] ^ name ^ keys)
            found.append(len(np.setdiff1d(truth, keys)) - base)
        return found


def apples(case: Case) -> tuple[tr.Placements, float]:
    """Place by APPLES with its defaults; also return processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "tree.nwk").write_text(case.backbone.newick())
        head = "\t".join(["", *case.backbone.labels])
        lines = [
            "\t".join([f"t{q}", *map(repr, row)]) for q, row in zip(case.new, case.rows.tolist(), strict=True)
        ]
        (path / "d.tsv").write_text("\n".join([head, *lines]) + "\n")
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        files = ["-t", "tree.nwk", "-d", "d.tsv", "-o", "out.jplace"]
        subprocess.run([APPLES, *files, "-T", "1"], cwd=path, check=True, capture_output=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = tr.formats.read_placements(path / "out.jplace")
    order = [found.labels.index(f"t{q}") for q in case.new]
    seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
    return _in_order(found, order), seconds


def _in_order(found: tr.Placements, order: list[int]) -> Any:
    names = ("nodes", "distal", "pendant", "errors", "log_likelihoods", "weights")
    labels = tuple(found.labels[k] for k in order)
    return replace(found, labels=labels, **{name: getattr(found, name)[order] for name in names})


class Run(NamedTuple):
    """The errors of each method on one alignment, its processor seconds, and likelihood weights."""

    errors: dict[str, list[int]]
    seconds: dict[str, float]
    weights: list[tuple[float, bool]]  # and whether the edge is right


def measured(case: Case) -> Run:
    judge = Judge(case)
    tree = case.backbone
    found: dict[str, list[int]] = {}
    seconds: dict[str, float] = {}

    def note(name: str, work: Any) -> None:
        begin = time.process_time()
        nodes = work()
        seconds[name] = time.process_time() - begin
        found[name] = judge.errors(tree, nodes)

    note("nearest leaf", lambda: case.rows.argmin(axis=1))
    for name, options in METHODS.items():
        note(name, lambda options=options: _best(case, options))
    if APPLES:
        places, seconds["APPLES 2.0.11"] = apples(case)
        found["APPLES 2.0.11"] = judge.errors(places.tree, places.nodes[:, 0])
    return Run(found, seconds, _weights(case, judge))


def _frame(case: Case) -> pd.DataFrame:
    index = [f"t{q}" for q in case.new]
    return pd.DataFrame(case.rows, index, list(case.backbone.labels or ()))


def _best(case: Case, options: dict[str, Any]) -> NDArray[np.int64]:
    found = tr.placements(case.backbone, _frame(case), lengths="given", candidates=1, n_jobs=1, **options)
    return found.nodes[:, 0]


def _weights(case: Case, judge: Judge) -> list[tuple[float, bool]]:
    found = tr.placements(case.backbone, _frame(case), lengths="given", n_jobs=1)
    pairs = []
    for k in range(found.nodes.shape[1]):
        used = found.nodes[:, k] >= 0
        errors = judge.errors(case.backbone, np.where(used, found.nodes[:, k], 1))
        weights = found.weights[:, k].tolist()
        pairs += [(w, e <= 0) for w, e, u in zip(weights, errors, used, strict=True) if u]
    return pairs


def described(what: Simulation) -> dict[str, Any]:
    model = "JC69" if what.kappa is None else "K2P"
    shape = "birth-death" if what.extinction else "Yule"
    return {"sites": what.sites, "depth": what.depth, "model": f"{shape}, {model}"}


def accuracy() -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows about errors, seconds and likelihood weights."""
    errors, seconds, weights = [], [], []
    for taxa, seeds in SEEDS.items():
        of_size: list[Run] = []
        for kind in KINDS:
            runs = [measured(simulated(kind._replace(taxa=taxa), FIRST + k)) for k in range(seeds)]
            errors.append({"taxa": taxa, **described(kind), **summary(runs)})
            print(errors[-1], flush=True)
            of_size += runs
        everything = {"sites": "all", "depth": "", "model": ""}
        errors.append({"taxa": taxa, **everything, **summary(of_size)})
        times = {
            name: f"{1e3 * sum(run.seconds[name] for run in of_size) / placed(of_size):.3f}"
            for name in of_size[0].seconds
            if name != "nearest leaf"
        }
        seconds.append({"taxa": taxa, **times})
        weights.append({"taxa": taxa, **calibration(of_size)})
    return errors, seconds, weights


def placed(runs: list[Run]) -> int:
    return sum(len(run.errors["nearest leaf"]) for run in runs)


def summary(runs: list[Run]) -> dict[str, Any]:
    means = {name: np.concatenate([run.errors[name] for run in runs]) for name in runs[0].errors}
    return {"placed": placed(runs), **{name: f"{e.mean():.2f}" for name, e in means.items()}}


def calibration(runs: list[Run]) -> dict[str, str]:
    """Return the share of right edges by class of likelihood weight."""
    weights = np.array([weight for run in runs for weight, _ in run.weights])
    right = np.array([is_right for run in runs for _, is_right in run.weights])
    classes = np.searchsorted(CLASSES, weights, side="right") - 1
    bounds = [*CLASSES, 1.0]
    return {
        f"weight {bounds[k]} to {bounds[k + 1]}": f"{right[classes == k].mean():.2f}"
        for k in range(len(CLASSES))
    }


def without_rows() -> list[dict[str, Any]]:
    """Compare rows with coordinates: the share of different sites, as a Manhattan distance."""
    rows = []
    for taxa in (500, 2000):
        what = Simulation(taxa, 300, 0.3, 0.3)
        alignment = simulate(what, FIRST)
        points = np.eye(4, dtype=np.float32)[alignment.sequences].reshape(taxa, -1)
        points /= 2 * what.sites
        metric = tr.PointMetric(points, "manhattan")
        case = made_case(metric.block(range(taxa), range(taxa)), alignment.tree, FIRST)
        both = tr.PointMetric(points, "manhattan", labels=[f"t{k}" for k in range(taxa)])
        names = [f"t{q}" for q in case.new]
        judge = Judge(case)
        default = judge.errors(case.backbone, _best(case, {}))
        found = tr.placements(case.backbone, names, data=both, lengths="given", candidates=1)
        few = judge.errors(case.backbone, found.nodes[:, 0])
        rows.append(
            {
                "taxa": taxa,
                "placed": len(names),
                "rows of distances": f"{np.mean(default):.2f}",
                "coordinates": f"{np.mean(few):.2f}",
            }
        )
    return rows


def growth() -> list[dict[str, Any]]:
    """Measure the processor seconds of placing points with coordinates."""
    rows = []
    for n in GROWTH:
        cells = tr.datasets.branching_cells(n + NEW, dim=20)
        order = np.random.default_rng(0).permutation(n + NEW)
        points = np.asarray(cells.points, np.float32)[order]
        tree = tr.fit(points[:n], metric="euclidean")
        row: dict[str, Any] = {"leaves": n, "new points": NEW}
        for name, work in {
            "place, seconds": tr.place,
            "placements, seconds": tr.placements,
        }.items():
            options = {"data": points[:n], "metric": "euclidean", "lengths": "given"}
            work(tree, points[n : n + 10], **options)  # compiles
            begin = time.process_time()
            work(tree, points[n:], **options)
            row[name] = f"{time.process_time() - begin:.1f}"
        rows.append(row)
        print(row, flush=True)
    return rows


def measure() -> list[Table]:
    measured(simulated(KINDS[0]._replace(taxa=30), 0))  # compiles
    errors, seconds, weights = accuracy()
    return [
        Table(
            "Errors of placements in nodes",
            errors,
            "A tenth of the taxa is placed in a minimum evolution tree of the others. The error is the "
            "mean number of nodes between the place and the best place. The default is "
            "`least squares, 8 nearest`.",
        ),
        Table("Mean processor milliseconds per placed taxon", seconds),
        Table(
            "Share of right edges by likelihood weight",
            weights,
            "Seven places for each taxon. A share equal to the weight is perfect.",
        ),
        Table(
            "Errors with rows of all distances, and with distances computed on request",
            without_rows(),
        ),
        Table("Growth of processor time with coordinates", growth(), "20 coordinates."),
    ]


if __name__ == "__main__":
    store(
        "biology_placement",
        measure(),
        command="python -m benchmarks.biology.placement",
    )
