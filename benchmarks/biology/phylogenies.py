"""Methods for phylogenies on simulated alignments with known trees, and other programs.

`python -m benchmarks.biology.phylogenies` takes about ten minutes, most of it for FastME on 1,000
taxa. Numbers of taxa can be given as arguments. The script stores its tables in
benchmarks/results/phylogenies.md and .json. Programs that are not on the PATH are listed as absent.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import treerep as tr

from ..alignments import Alignment, Simulation, sequence_metric, simulate
from ..common import Table, store
from ..rivals.answers import checked_tree, of_newick
from ..rivals.problems import Problem
from ..rivals.program import run
from ..truth import split_errors
from .minimum_evolution import KINDS, described

#: Number of simulated alignments of each kind, by number of taxa.
SEEDS = {50: 20, 200: 8, 1000: 1}
#: The first seed. The seeds below served to choose the defaults.
FIRST = 3000
#: Number of trees of a consensus.
TREES = 100


class Input(NamedTuple):
    """One alignment, its distances, and the files that programs read."""

    alignment: Alignment
    metric: tr.MatrixMetric
    matrix: Problem
    sequences: Path


class Score(NamedTuple):
    """Result of one method on one alignment."""

    wrong: float  # these three are the fields of `truth.Errors`
    missed: float
    false: float
    seconds: float


#: Fits a tree; returns it with the seconds.
Fit = Callable[[Input], tuple[tr.Tree, float]]


def ours(**options: Any) -> Fit:
    """Return a function that fits a tree with treerep, on one thread."""
    return timed(lambda given: tr.fit(given.metric, n_jobs=1, **options))


def timed(learn: Callable[[Input], tr.Tree]) -> Fit:
    def fit(given: Input) -> tuple[tr.Tree, float]:
        begin = time.perf_counter()
        tree = learn(given)
        return tree, time.perf_counter() - begin

    return fit


def consensus_of_trees(given: Input) -> tr.Tree:
    return tr.consensus(tr.fit(given.metric, method="treerep", rng=seed, n_jobs=1) for seed in range(TREES))


def refined(given: Input) -> tr.Tree:
    tree = tr.fit(given.metric, method="minimum_evolution", n_jobs=1)
    return tr.refine(tree, given.metric, n_jobs=1)


def program(command: str, sequences: bool = False, mark: str | None = None) -> Fit:
    """Return a function that runs a program on the distances, or on the sequences."""

    def fit(given: Input) -> tuple[tr.Tree, float]:
        path = given.sequences if sequences else given.matrix.phylip()
        done = run(command.split(), path, mark)
        return tree_of(done.result, given), done.seconds

    return fit


def tree_of(newick: str, given: Input) -> tr.Tree:
    tree, _ = checked_tree(of_newick(newick, given.matrix), given.matrix.n)
    return tree


def fastme(start: str) -> Fit:
    """Return FastME from one of its starts, with NNI and SPR; its time includes reading."""

    def fit(given: Input) -> tuple[tr.Tree, float]:
        # FastME also prints messages, so the tree goes to a file.
        output = given.matrix.path.with_suffix(".tree")
        words = f"fastme -i {{}} -o {output} -I /dev/null -m {start} -n B -s -T 1 -v 0"
        done = run(words.split(), given.matrix.phylip())
        return tree_of(output.read_text(), given), done.seconds

    return fit


OURS: dict[str, Fit] = {
    "neighbor_joining": ours(method="neighbor_joining"),
    "bionj": ours(method="bionj"),
    "auto": ours(),
    "minimum_evolution": ours(method="minimum_evolution"),
    "minimum_evolution, then refine": timed(refined),
    f"consensus of {TREES} treerep": timed(consensus_of_trees),
}
#: Fits by the name of the program and the name in the tables.
PROGRAMS: dict[tuple[str, str], Fit] = {
    ("fastme", "FastME, BIONJ + NNI + SPR"): fastme("I"),
    ("fastme", "FastME, BalME + NNI + SPR"): fastme("B"),
    ("rapidnj", "rapidNJ"): program("rapidnj {} -i pd -c 1 -v", mark="Computing phylogetic tree"),
    ("FastTree", "FastTree (likelihood)"): program("FastTree -nt -nosupport -quiet {}", sequences=True),
}


def fits() -> dict[str, Fit]:
    """Return all fits whose programs are installed."""
    found = {name: fit for (word, name), fit in PROGRAMS.items() if shutil.which(word)}
    return OURS | found


def absent() -> list[str]:
    return [name for word, name in PROGRAMS if not shutil.which(word)]


def make(what: Simulation, rng: int, folder: Path) -> Input:
    """Simulate an alignment, and write the files."""
    alignment = simulate(what, rng)
    every = np.arange(what.taxa)
    distances = sequence_metric(alignment.sequences, what.kappa).block(every, every)
    metric = tr.MatrixMetric(distances, symmetrize="mean")
    matrix = Problem("alignment", what.taxa, folder)
    np.save(matrix.path.with_suffix(".npy"), metric.distances)
    sequences = matrix.path.with_suffix(".fasta")
    bases = np.array(list("ACGT"))[alignment.sequences]
    lines = [f">p{i}\n{''.join(row)}\n" for i, row in enumerate(bases.tolist())]
    sequences.write_text("".join(lines))
    return Input(alignment, metric, matrix, sequences)


def scores(what: Simulation, rng: int) -> dict[str, Score]:
    """Fit the trees of one alignment by all methods."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        given = make(what, rng, Path(folder))
        for name, fit in fits().items():
            tree, seconds = fit(given)
            found[name] = Score(*split_errors(tree, given.alignment.tree), seconds)
    return found


def accuracy(sizes: list[int]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows about wrong splits, and the rows about their kinds and seconds."""
    wrong, others = [], []
    for taxa in sizes:
        of_size: list[dict[str, Score]] = []
        for kind in KINDS:
            runs = [scores(kind._replace(taxa=taxa), FIRST + k) for k in range(SEEDS[taxa])]
            wrong.append({"taxa": taxa, **described(kind), **means(runs, "wrong")})
            print(wrong[-1], flush=True)
            of_size += runs
        everything = {"sites": "all", "depth": "", "model": ""}
        wrong.append({"taxa": taxa, **everything, **means(of_size, "wrong")})
        others.append({"taxa": taxa, "what": "missed true splits", **means(of_size, "missed")})
        others.append({"taxa": taxa, "what": "false splits", **means(of_size, "false")})
        others.append({"taxa": taxa, "what": "seconds", **means(of_size, "seconds")})
    return wrong, others


def difference(rows: list[dict[str, Any]]) -> str:
    """Return a sentence that compares minimum evolution with FastME, kind by kind."""
    name = next((name for word, name in PROGRAMS if word == "fastme"), "")
    pairs = [
        (float(row["minimum_evolution"]), float(row[name]))
        for row in rows
        if name in row and row["sites"] != "all"
    ]
    if len(pairs) < 2:
        return ""
    change = np.array([a - b for a, b in pairs])
    error = change.std(ddof=1) / np.sqrt(len(change))
    return f" `minimum_evolution` minus {name}: {change.mean():+.4f} ± {error:.4f}, over {len(change)} rows."


def means(runs: list[dict[str, Score]], what: str) -> dict[str, Any]:
    values = {name: [getattr(run[name], what) for run in runs] for name in runs[0]}
    return {
        "alignments": len(runs),
        **{name: f"{np.mean(value):.4f}" for name, value in values.items()},
    }


def measure(sizes: list[int]) -> list[Table]:
    scores(KINDS[1]._replace(taxa=20), rng=0)  # compiles
    wrong, others = accuracy(sizes)
    missing = f" Not installed: {', '.join(absent())}." if absent() else ""
    return [
        Table(
            "Wrong splits of simulated phylogenies, by program",
            wrong,
            "Mean normalized Robinson-Foulds distance to the tree that the sequences evolved on: splits in only one of "
            "two trees, divided by the splits of both. Edges of length 0 are not splits, and negative lengths count as "
            "0. A tree that leaves uncertain splits out, such as that of `auto`, of `refine` or of a consensus, has "
            "fewer false splits than a binary tree. All programs get the same distances, except for FastTree, which "
            "gets the sequences." + difference(wrong) + missing,
        ),
        Table(
            "Missed and false splits and seconds of the same fits",
            others,
            "Means over all alignments of a size. Missed: share of the true splits that a tree lacks. False: share of "
            "the splits of a tree that are not true. One thread each. The times of FastME and FastTree include reading "
            "the file.",
        ),
    ]


if __name__ == "__main__":
    chosen = [int(word) for word in sys.argv[1:]] or list(SEEDS)
    words = ["python -m benchmarks.biology.phylogenies", *sys.argv[1:]]
    store("phylogenies", measure(chosen), command=" ".join(words))
