"""Consensus of trials on simulated alignments with known trees.

`python -m benchmarks.biology.consensus` takes about five minutes of processor time. It stores its
tables in benchmarks/results/consensus.md and .json.
"""

import time
from typing import Any, NamedTuple

import numpy as np

import treerep as tr

from ..alignments import Simulation, sequence_metric, simulate
from ..common import Table, store
from ..truth import split_errors
from .minimum_evolution import FIRST, KINDS, described

#: Number of simulated alignments of each kind, by number of taxa.
SEEDS = {50: 40, 200: 20, 1000: 5}
METHODS: dict[str, dict[str, Any]] = {
    "treerep, best of 20": {"method": "treerep", "trials": 20},
    "treerep, greedy of 20": {"method": "treerep", "trials": 20, "keep": "greedy"},
    "treerep, greedy of 100": {"method": "treerep", "trials": 100, "keep": "greedy"},
    "treerep, greedy of 500": {"method": "treerep", "trials": 500, "keep": "greedy"},
    "treerep, majority of 100": {"method": "treerep", "trials": 100, "keep": "majority"},
    "relaxed NJ, best of 20": {"method": "relaxed_neighbor_joining", "trials": 20},
    "relaxed NJ, greedy of 20": {
        "method": "relaxed_neighbor_joining",
        "trials": 20,
        "keep": "greedy",
    },
    "NJ": {"method": "neighbor_joining"},
    "minimum evolution": {"method": "minimum_evolution"},
    "default": {"method": "auto"},
}
BEST = "treerep, best of 20"
GREEDY = "treerep, greedy of 100"
EVOLUTION = "minimum evolution"


class Score(NamedTuple):
    """Result of one method on one alignment."""

    wrong: float  # these three are the fields of `truth.Errors`
    missed: float
    false: float
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
        # Processor time of all threads: other programs run on the machine.
        begin = time.process_time()
        tree = tr.fit(metric, **options)
        seconds = time.process_time() - begin
        found[name] = Score(*split_errors(tree, alignment.tree), seconds)
    return found


def compared(runs: list[dict[str, Score]], first: str, second: str) -> str:
    """Return the mean difference of the wrong splits, with its standard error."""
    change = np.array([run[first].wrong - run[second].wrong for run in runs])
    return f"{change.mean():+.4f} ± {change.std(ddof=1) / np.sqrt(len(change)):.4f}"


def summary(runs: list[dict[str, Score]]) -> dict[str, Any]:
    """Average the wrong splits of each method, and compare methods alignment by alignment."""
    return {
        "alignments": len(runs),
        **means(runs, "wrong"),
        "greedy of 100 - best of 20": compared(runs, GREEDY, BEST),
        "greedy of 100 - minimum evolution": compared(runs, GREEDY, EVOLUTION),
    }


def means(runs: list[dict[str, Score]], field: str) -> dict[str, str]:
    return {name: f"{np.mean([getattr(run[name], field) for run in runs]):.4f}" for name in METHODS}


def measure() -> list[Table]:
    scores(KINDS[1]._replace(taxa=20), rng=0)  # compiles
    wrong = []
    kinds_of_error = []
    seconds = []
    for taxa, seeds in SEEDS.items():
        of_size: list[dict[str, Score]] = []
        for kind in KINDS:
            runs = [scores(kind._replace(taxa=taxa), FIRST + k) for k in range(seeds)]
            wrong.append({"taxa": taxa, **described(kind), **summary(runs)})
            print(wrong[-1], flush=True)
            of_size += runs
        everything = {"sites": "all", "depth": "", "model": ""}
        wrong.append({"taxa": taxa, **everything, **summary(of_size)})
        kinds_of_error += [
            {"taxa": taxa, "error": name, **means(of_size, name)} for name in ("missed", "false")
        ]
        seconds.append({"taxa": taxa, **means(of_size, "seconds")})
    return [
        Table(
            "Wrong splits of simulated phylogenies",
            wrong,
            "Mean normalized Robinson-Foulds distance to the tree that the sequences evolved on: splits in only one of "
            "two trees, divided by the splits of both. Edges of length 0 are not splits. The last two columns are mean "
            "differences with standard errors, alignment by alignment.",
        ),
        Table(
            "Missed and false splits of the same trees",
            kinds_of_error,
            "Missed: share of the true splits that a tree lacks. False: share of the splits of a tree that are not "
            "true.",
        ),
        Table("Mean processor seconds of the same fits", seconds),
    ]


if __name__ == "__main__":
    store("consensus", measure(), command="python -m benchmarks.biology.consensus")
