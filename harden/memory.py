"""Stress test: memory must not grow after the first fifth of the fits."""

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import treerep as tr
from treerep.formats import read, read_tree, write_distances, write_tree

from .common import ROOT, Result, environment

#: Allowed growth: freed memory that the allocator keeps, independent of the number of fits.
#: With 800 of 1,000 fits measured, a leak of 4 kB per fit is detected, less than a tree of 120
#: points.
ALLOWED = 3.0  # MB


def works() -> dict[str, Callable[[int], object]]:
    """Return the repeated operations, each called with a new seed."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((300, 5))
    d = tr.PointMetric(points).block(range(120), range(120))
    graph = np.unique(np.sort(rng.integers(0, 150, (400, 2)), axis=1), axis=0)
    graph = np.concatenate(
        [
            graph[graph[:, 0] != graph[:, 1]],
            np.column_stack([np.arange(149), np.arange(1, 150)]),
        ]
    )
    few = d[:30, :30]  # refinement is slow
    small = tr.fit(few, method="treerep")
    return {
        "files": _through_files,
        "matrix": lambda seed: tr.fit(d, rng=seed, method="treerep"),
        "points": lambda seed: tr.fit(points, metric="cosine", rng=seed, method="treerep"),
        "graph": lambda seed: tr.fit(tr.GraphMetric(graph), rng=seed, method="treerep"),
        "trials": lambda seed: tr.fit(d, trials=5, rng=seed, n_jobs=2, method="treerep"),
        "neighbor_joining": lambda seed: tr.fit(d + 0.0 * seed, method="neighbor_joining"),
        "refine": lambda seed: tr.refine(small, few, moves=seed % 25 == 0, rng=seed),
        "score": lambda seed: tr.average_distortion(
            tr.fit(d, rng=seed, method="treerep"), d, scale="optimal"
        ),
        "newick": lambda seed: tr.Tree.from_newick(
            tr.fit(d, rng=seed, method="treerep").newick()
        ).distances(),
        "embed": lambda seed: tr.embed(tr.fit(d, rng=seed, method="treerep")).coordinates("poincare"),
    }


def _through_files(seed: int) -> None:
    """Write a tree and its distances in all formats and read them back."""
    tree = tr.datasets.random_tree(30, rng=seed)
    with tempfile.TemporaryDirectory(prefix="treerep-harden-") as folder:
        for suffix in ("nwk", "nex", "npz", "json", "graphml", "nwk.gz"):
            write_tree(tree, f"{folder}/t.{suffix}")
            read_tree(f"{folder}/t.{suffix}")
        for suffix in ("npy", "csv", "tsv", "phy"):
            write_distances(tree, f"{folder}/d.{suffix}")
            read(f"{folder}/d.{suffix}")


def resident() -> float:
    """Return the memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def growth(name: str, fits: int) -> dict[str, float]:
    """Repeat one operation and return the memory after a fifth of the repetitions and at the end."""
    work = works()[name]
    for seed in range(fits):
        work(seed)
        if seed == fits // 5:
            early = resident()
    return {"early": early, "late": resident()}


def campaign(fits: int = 1000) -> Result:
    """Repeat every operation, each in its own process."""
    faults, grown = [], {}
    names = list(works())
    for name in names:
        words = [sys.executable, "-m", "harden.memory", name, str(fits)]
        done = subprocess.run(words, capture_output=True, text=True, env=environment(), cwd=ROOT, check=False)
        if done.returncode:
            faults.append(f"{name}: {' '.join(done.stderr.split())[-300:]}")
            continue
        levels = json.loads(done.stdout)
        grown[name] = levels["late"] - levels["early"]
        if grown[name] > ALLOWED:
            faults.append(
                f"{name}: {levels['early']:.1f} MB after {fits // 5} fits, {levels['late']:.1f} after {fits}"
            )
    worst = max(grown, key=lambda name: grown[name], default="none")
    note = f"largest growth between fit {fits // 5:,} and the last: {grown.get(worst, 0.0):.1f} MB ({worst})"
    return Result(
        f"memory after {fits:,} fits of each of {len(names)} kinds",
        len(names) * fits,
        faults,
        note,
    )


if __name__ == "__main__":
    print(json.dumps(growth(sys.argv[1], int(sys.argv[2]))))
