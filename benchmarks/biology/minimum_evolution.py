"""Minimum evolution on simulated alignments with known trees.

`python -m benchmarks.biology.minimum_evolution` takes about three minutes. It stores its tables
in benchmarks/results/minimum_evolution.md and .json.
"""

import time
from typing import Any, NamedTuple

import numpy as np

import treerep as tr

from ..alignments import Simulation, sequence_metric, simulate
from ..common import Table, store
from ..truth import wrong_splits

#: Number of simulated alignments of each kind, by number of taxa.
SEEDS = {50: 40, 200: 20, 1000: 5}
#: The first seed. The seeds below served to choose the defaults.
FIRST = 1000
#: Alignments of any number of taxa: two kinds with moderate noise, two with much.
KINDS = (
    Simulation(0, 100, 0.3, 0.3),
    Simulation(0, 500, 1.0, 0.5),
    Simulation(0, 200, 1.5),
    Simulation(0, 200, 2.5, 0.5, 4.0),
)
METHODS: dict[str, dict[str, Any]] = {
    "neighbor_joining": {"method": "neighbor_joining"},
    "bionj": {"method": "bionj"},
    "minimum_evolution": {"method": "minimum_evolution"},
}
#: Sizes for the growth of time.
GROWTH = (1000, 2000, 4000)


class Score(NamedTuple):
    """Result of one method on one alignment."""

    wrong: float  # normalized Robinson-Foulds distance to the true tree
    seconds: float


def scores(what: Simulation, rng: int) -> dict[str, Score]:
    """Fit the trees of one alignment by all methods."""
    alignment = simulate(what, rng)
    every = np.arange(what.taxa)
    metric = tr.MatrixMetric(
        sequence_metric(alignment.sequences, what.kappa).block(every, every), symmetrize="mean"
    )
    found = {}
    for name, options in METHODS.items():
        # Processor time: other programs run on the machine, and every method has one thread.
        begin = time.process_time()
        tree = tr.fit(metric, **options)
        seconds = time.process_time() - begin
        found[name] = Score(wrong_splits(tree, alignment.tree), seconds)
    return found


def described(what: Simulation) -> dict[str, Any]:
    model = "JC69" if what.kappa is None else "K2P"
    shape = "birth-death" if what.extinction else "Yule"
    return {"sites": what.sites, "depth": what.depth, "model": f"{shape}, {model}"}


def accuracy() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows about wrong splits and the rows about seconds."""
    wrong, seconds = [], []
    for taxa, seeds in SEEDS.items():
        of_size: list[dict[str, Score]] = []
        for kind in KINDS:
            runs = [scores(kind._replace(taxa=taxa), FIRST + k) for k in range(seeds)]
            wrong.append({"taxa": taxa, **described(kind), **summary(runs)})
            of_size += runs
        everything = {"sites": "all", "depth": "", "model": ""}
        wrong.append({"taxa": taxa, **everything, **summary(of_size)})
        seconds.append({"taxa": taxa, **times(of_size)})
    return wrong, seconds


def summary(runs: list[dict[str, Score]]) -> dict[str, Any]:
    """Average the wrong splits of each method."""
    means = {name: f"{np.mean([run[name].wrong for run in runs]):.4f}" for name in METHODS}
    return {"alignments": len(runs), **means}


def times(runs: list[dict[str, Score]]) -> dict[str, str]:
    return {name: f"{np.mean([run[name].seconds for run in runs]):.4f}" for name in METHODS}


def growth() -> list[dict[str, Any]]:
    """Measure the seconds of one alignment per size, with moderate noise and with much noise."""
    rows = []
    for kind in KINDS[1:3]:
        for taxa in GROWTH:
            run = scores(kind._replace(taxa=taxa), FIRST)
            row = {"taxa": taxa, **described(kind)}
            found = run["minimum_evolution"]
            rows.append(row | {"seconds": f"{found.seconds:.3f}", "wrong splits": f"{found.wrong:.4f}"})
            print(rows[-1], flush=True)
    return rows


def measure() -> list[Table]:
    scores(KINDS[1]._replace(taxa=20), rng=0)  # compiles
    wrong, seconds = accuracy()
    return [
        Table(
            "Wrong splits of simulated phylogenies",
            wrong,
            "Mean normalized Robinson-Foulds distance to the tree that the sequences evolved on: splits in only one of "
            "two trees, divided by the splits of both. Edges of length 0 are not splits.",
        ),
        Table("Mean processor seconds of the same fits", seconds),
        Table("Growth of minimum evolution with the number of taxa", growth(), "One alignment each."),
    ]


if __name__ == "__main__":
    store(
        "minimum_evolution",
        measure(),
        command="python -m benchmarks.biology.minimum_evolution",
    )
