"""Distances between sequences: time per distance, and trees of many genomes without a matrix.

`python -m benchmarks.biology.sequences` stores its tables in benchmarks/results/sequences.md and
.json. With the default sizes it takes about half an hour and up to 12 GB. Other sizes follow the
command as TAXAxSITES: `python -m benchmarks.biology.sequences 1000x1000 16000x1000`.

ape is measured if R and its package ape are installed (Debian: r-cran-ape).
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import skbio.sequence.distance
from numpy.typing import NDArray

import treerep as tr

from ..alignments import Simulation, sequence_metric, simulate
from ..common import Table, in_child, store

#: Numbers of sites at which one distance is measured.
SITES = (1_000, 30_000)
#: Sequences of those alignments.
TAXA = 200
#: Expected substitutions per site from the root to a tip.
DEPTH = 0.1
MODELS = ("p", "jc69", "k2p", "tn93", "logdet")
#: Numbers of genomes and sites of the trees.
TREES = ((1_000, 1_000), (16_000, 1_000), (64_000, 1_000), (16_000, 30_000), (64_000, 30_000))
_REPEAT = 3
_LETTERS = np.frombuffer(b"ACGT", np.uint8)
_APE = {"p": "raw", "jc69": "JC69", "k2p": "K80", "tn93": "TN93", "logdet": "logdet"}
_SKBIO = {"jc69": "jc69", "k2p": "k2p", "tn93": "tn93", "logdet": "paralin"}

_R = """
suppressMessages(library(ape))
x <- read.dna(commandArgs(TRUE)[1], format = "fasta")
cat(min(replicate(3, system.time(
  dist.dna(x, commandArgs(TRUE)[2], pairwise.deletion = TRUE))[["user.self"]])))
"""

_FIT = """
import json, sys, time
import treerep as tr
from benchmarks.biology.sequences import saved
from benchmarks.truth import wrong_splits
taxa, sites = int(sys.argv[1]), int(sys.argv[2])
with saved(2_200, 200) as (path, _):  # compiles
    tr.fit(tr.formats.read(path, saturated="cap"))
def peak():  # in kB, of this process alone: getrusage would begin with the peak of the parent
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
def forget():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
with saved(taxa, sites) as (path, truth):
    forget()
    begin = time.perf_counter()
    metric = tr.formats.read(path, saturated="cap")
    read = time.perf_counter() - begin
begin = time.perf_counter()
tree = tr.fit(metric)
fit = time.perf_counter() - begin
print(json.dumps({
    "read, seconds": read, "fit, seconds": fit, "peak, MB": peak() // 1000,
    "packed, MB": metric.oracle.planes.nbytes // 10**6, "wrong": wrong_splits(tree, truth),
}))
"""


@contextmanager
def saved(taxa: int, sites: int) -> Iterator[tuple[str, tr.Tree]]:
    """Yield the path of a FASTA file of simulated genomes, and the true tree."""
    alignment = simulate(Simulation(taxa, sites, DEPTH, 0.3, 4.0), rng=0)
    tree = alignment.tree
    with tempfile.NamedTemporaryFile(suffix=".fasta") as file:
        for k, row in enumerate(alignment.sequences):
            file.write(b">t%d\n%s\n" % (k, _LETTERS[row].tobytes()))
        file.flush()
        del alignment
        yield file.name, tree


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Return the shortest of a few processor times."""
    best = float("inf")
    for _ in range(_REPEAT):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def distances(sites: int) -> list[dict[str, Any]]:
    """Measure nanoseconds per distance, on one thread."""
    alignment = simulate(Simulation(TAXA, sites, DEPTH, 0.3, 4.0), rng=0)
    packed = sequence_metric(alignment.sequences, 4.0).packed
    rows = []
    for model in MODELS:
        metric = tr.SequenceMetric(packed, model, saturated="cap")
        metric.distances(n_jobs=1)  # compiles
        ours = cpu_seconds(partial(metric.distances, n_jobs=1))
        row = {
            "model": model,
            "sites": sites,
            "treerep, ns": 1e9 * ours / _pairs(TAXA),
            "memory pass, ns": 1e9 * memory_pass(packed.planes),
            "scikit-bio, ns": _scikit_bio(alignment.sequences, model),
            "ape, ns": _ape(alignment.sequences, model),
        }
        print(row, flush=True)
        rows.append(row)
    return rows


def memory_pass(planes: NDArray[np.uint64]) -> float:
    """Return the seconds to read two rows once: an exclusive or of one row with every row."""
    out = np.empty_like(planes)
    return cpu_seconds(lambda: np.bitwise_xor(planes, planes[0], out=out)) / len(planes)


def _pairs(n: int) -> int:
    return n * (n - 1) // 2


def _scikit_bio(sequences: NDArray[np.int8], model: str) -> float | str:
    if model not in _SKBIO:
        return "-"
    function = getattr(skbio.sequence.distance, _SKBIO[model])
    some = [skbio.DNA(_LETTERS[row].tobytes()) for row in sequences[:20]]
    pairs = [(a, b) for k, a in enumerate(some) for b in some[:k]]
    return 1e9 * cpu_seconds(lambda: [function(a, b) for a, b in pairs]) / len(pairs)


def _ape(sequences: NDArray[np.int8], model: str) -> float | str:
    if shutil.which("Rscript") is None:
        return "-"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alignment.fasta"
        text = (f">t{k}\n{_LETTERS[row].tobytes().decode()}\n" for k, row in enumerate(sequences))
        path.write_text("".join(text))
        command = ["Rscript", "-e", _R, str(path), _APE[model]]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    return 1e9 * float(found.stdout) / _pairs(len(sequences)) if found.stdout else "-"


def trees(sizes: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Fit trees of simulated genomes, read from FASTA files."""
    rows = []
    for taxa, sites in sizes:
        row = {"genomes": taxa, "sites": sites, **in_child(_FIT, taxa, sites)}
        row["matrix, MB"] = 8 * taxa**2 // 10**6
        print(row, flush=True)
        rows.append(row)
    return rows


def measure(sizes: list[tuple[int, int]]) -> list[Table]:
    per_distance = [row for sites in SITES for row in distances(sites)]
    return [
        Table(
            "Processor time per distance, one thread",
            per_distance,
            "The memory pass is an exclusive or of the packed rows in NumPy. scikit-bio is called "
            "pair by pair. ape is dist.dna with pairwise deletion.",
        ),
        Table(
            "Trees of simulated genomes from FASTA",
            trees(sizes),
            "`tr.fit` with K2P distances, capped if they are saturated. `wrong` is the share of wrong "
            "splits. The matrix is never stored.",
        ),
    ]


if __name__ == "__main__":
    given = [tuple(map(int, word.split("x"))) for word in sys.argv[1:]]
    store(
        "sequences",
        measure([(taxa, sites) for taxa, sites in given] or list(TREES)),
        command=" ".join(["python -m benchmarks.biology.sequences", *sys.argv[1:]]),
    )
