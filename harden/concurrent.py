"""Stress test: four processes with eight threads each fit at the same time.

The trees must be the same as on one thread, and no process may hang.
"""

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import treerep as tr

from .common import ROOT, Result, environment

PROCESSES, THREADS = 4, 8
_PATIENCE = 900  # seconds per round; longer rounds count as deadlocks
_MANY = 40_000  # points, enough for the split phase


def works(large: bool) -> dict[str, Callable[[], tr.Tree]]:
    """Return fits of every kind. Threads share the arrays and one graph, which caches results."""
    tree = tr.datasets.random_tree(200, rng=3)
    points = np.random.default_rng(0).standard_normal((_MANY if large else 2000, 3))
    distances = tree.distances() * np.random.default_rng(1).uniform(0.9, 1.1, (200, 200))
    distances = (distances + distances.T) / 2
    ring = [(k, (k + 1) % 300) for k in range(300)]
    shared = tr.GraphMetric(ring)
    return {
        "matrix": lambda: tr.fit(distances, rng=1, method="treerep"),
        "trials": lambda: tr.fit(distances, trials=5, rng=2, n_jobs=2, method="treerep"),
        "points": lambda: tr.fit(points, metric="euclidean", rng=3, n_jobs=4, method="treerep"),
        "graph": lambda: tr.fit(tr.GraphMetric(ring), rng=4, method="treerep"),
        "shared graph": lambda: tr.fit(shared, rng=4, method="treerep"),
        "neighbor_joining": lambda: tr.fit(distances, method="neighbor_joining"),
        "refine": lambda: tr.refine(
            tr.fit(distances, rng=5, method="treerep"), distances, moves=large, rng=5, n_jobs=2
        ),
    }


def fingerprint(tree: tr.Tree) -> str:
    """Return a hash that identifies the tree, bit for bit."""
    return hashlib.sha256(tree.edges.tobytes() + tree.weights.tobytes()).hexdigest()[:16]


def in_threads(large: bool) -> list[str]:
    """Run all fits in each of eight threads, in different orders, and return the results."""
    doing = list(works(large).items())

    def all_of_them(turn: int) -> str:
        order = [*doing[turn % len(doing) :], *doing[: turn % len(doing)]]
        marks = {name: fingerprint(work()) for name, work in order}
        return " ".join(marks[name] for name, _ in doing)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(all_of_them, range(THREADS)))


def alone(large: bool) -> str:
    """Return the results of one thread."""
    return " ".join(fingerprint(work()) for work in works(large).values())


def campaign(rounds: int = 2) -> Result:
    """Start the processes together several times.

    The first round starts without compiled kernels.
    """
    expected, faults = alone(large=rounds > 1), []
    for round_ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="treerep-harden-") as cache:
            cold = {"NUMBA_CACHE_DIR": cache} if round_ == 0 and rounds > 1 else {}
            words = [
                sys.executable,
                "-m",
                "harden.concurrent",
                "large" if rounds > 1 else "small",
            ]
            pipe = subprocess.PIPE
            children = [
                subprocess.Popen(
                    words,
                    stdout=pipe,
                    stderr=pipe,
                    text=True,
                    env=environment(**cold),
                    cwd=ROOT,
                )
                for _ in range(PROCESSES)
            ]
            faults += [
                f"round {round_}, process {k}: {said}"
                for k, c in enumerate(children)
                for said in _judge(c, expected)
            ]
    fits = rounds * PROCESSES * THREADS * len(works(False))
    note = "in the first round, all processes compile at the same time" if rounds > 1 else ""
    turns = "1 round" if rounds == 1 else f"{rounds} rounds"
    return Result(f"{PROCESSES} processes with {THREADS} threads each, {turns}", fits, faults, note)


def _judge(child: subprocess.Popen[str], expected: str) -> list[str]:
    """Wait for a process and return the faults in its output."""
    with child:
        try:
            out, err = child.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            return [f"not done after {_PATIENCE} s"]
    if child.returncode:
        return [f"ended with {child.returncode}: {' '.join(err.split())[-300:]}"]
    lines = out.splitlines()
    wrong = [f"thread {k} found other trees" for k, line in enumerate(lines) if line != expected]
    return wrong if len(lines) == THREADS else [*wrong, f"{len(lines)} threads ended, and not {THREADS}"]


if __name__ == "__main__":
    print("\n".join(in_threads(sys.argv[1] == "large")))
