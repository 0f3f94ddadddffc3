"""Hyperbolicity of the paper's graphs, compared with Sage's BCCM and with NumPy.

Set SAGE_PYTHON to a Python interpreter with the package passagemath-graphs.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import treerep as tr
from treerep._core.parallel import Workers
from treerep.treelikeness._pace import Pace
from treerep.treelikeness._spaces import components, search_component

from .common import Table, in_child, seconds

GRAPHS = ("celegans", "diseasome", "csphd", "yeast", "grid_worm", "grqc", "wordnet")
# Table 1 of the paper: delta divided by the diameter; bounds if a base point was fixed.
PAPER = {
    "celegans": "0.21",
    "diseasome": "0.17",
    "csphd": "0.23",
    "yeast": "<= 0.32",
    "grid_worm": "<= 0.38",
    "grqc": "<= 0.36",
}

# Sage only returns all-pairs distances as a dictionary. Its Wiener index is the sum of these
# distances.
SAGE = """
import sys, time
import sage.all__sagemath_graphs
from sage.graphs.graph import Graph
from sage.graphs.hyperbolicity import hyperbolicity
from sage.graphs.distances_all_pairs import wiener_index
graph = Graph([tuple(map(int, line.split())) for line in open(sys.argv[1])], format="list_of_edges")
core = graph.subgraph(max(graph.blocks_and_cut_vertices()[0], key=len))
def least(work):
    times = []
    for _ in range(5):
        start = time.perf_counter(); result = work(); times.append(time.perf_counter() - start)
    return min(times), result
whole, found = least(lambda: hyperbolicity(graph, algorithm="BCCM"))
distances, _ = least(lambda: wiener_index(core))
print(float(found[0]), whole, distances)
"""

LARGE = """
import json, resource, sys, time, treerep as tr
tr.hyperbolicity(tr.datasets.load("celegans").metric)
graph = tr.datasets.load(sys.argv[1]).metric
start = time.perf_counter()
found = tr.hyperbolicity(graph, method=sys.argv[2], time_limit=float(sys.argv[3]))
taken = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"n": len(graph), "low": found.low, "high": found.high, "diameter": found.diameter,
    "relative": found.relative, "method": found.method, "mean": found.mean, "seconds": taken, "peak": peak}))
"""


def sage(graph: tr.GraphMetric) -> tuple[float, float, float] | None:
    """Return delta, and the seconds of BCCM and of all distances in Sage; None without Sage."""
    python = os.environ.get("SAGE_PYTHON")
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.edges"
        entries = graph.adjacency.tocoo()
        upper = entries.row < entries.col
        np.savetxt(path, np.column_stack([entries.row[upper], entries.col[upper]]), fmt="%d")
        done = subprocess.run([python, "-c", SAGE, str(path)], capture_output=True, text=True, check=True)
    delta, whole, distances = map(float, done.stdout.split()[-3:])
    return delta, whole, distances


def distance_seconds(graph: tr.GraphMetric, vertices: np.ndarray) -> float:
    with Workers() as workers:
        place = np.full(len(graph), -1)
        return seconds(lambda: search_component(graph, vertices, place, Pace(workers, None)), 5)


def exact_rows() -> list[dict[str, Any]]:
    rows = []
    for name in GRAPHS:
        graph = tr.datasets.load(name).metric
        found = tr.hyperbolicity(graph, method="exact")
        core = components((graph.adjacency.indptr, graph.adjacency.indices, None))[0]
        row: dict[str, Any] = {
            "graph": name,
            "n": len(graph),
            "largest component": len(core),
            "delta": found.delta,
            "delta / diameter": round(found / found.diameter, 3),
            "paper": PAPER.get(name, "-"),
            "seconds": seconds(lambda graph=graph: tr.hyperbolicity(graph, method="exact"), 9),
            "one core": seconds(lambda graph=graph: tr.hyperbolicity(graph, method="exact", n_jobs=1), 5),
            "distances": distance_seconds(graph, core),
        }
        rival = sage(graph)
        if rival and rival[0] != found:
            raise AssertionError(f"{name}: Sage says {rival[0]}, treerep {found!r}")
        row["Sage, BCCM"], row["distances (Sage)"] = rival[1:] if rival else ("-", "-")
        rows.append(row)
    return rows


def large_rows() -> list[dict[str, Any]]:
    rows = []
    for name, method, limit in (
        ("wordnet", "exact", 300),
        ("wordnet", "sample", 300),
        ("enron", "exact", 40),
        ("enron", "exact", 300),
        ("enron", "sample", 300),
    ):
        run = in_child(LARGE, name, method, limit)
        rows.append(
            {
                "graph": name,
                "n": run["n"],
                "method": method,
                "time limit": limit,
                "seconds": run["seconds"],
                "delta": f"[{run['low']:.4g}, {run['high']:.4g}]",
                "diameter": run["diameter"],
                "mean": "-" if run["mean"] is None else run["mean"],
                "peak GiB": run["peak"],
            }
        )
    return rows


def measure() -> list[Table]:
    return [
        Table(
            "Exact hyperbolicity of graphs",
            exact_rows(),
            "Shortest of several times in seconds, including all distances. treerep uses all cores; "
            "the start-up of Sage is not counted. Distances are computed in the largest biconnected "
            "component: treerep runs 256 searches at once, and Sage one after the other (measured by "
            "its Wiener index).",
        ),
        Table(
            "Large graphs",
            large_rows(),
            "Peak memory of the whole process. Distances are stored in single bytes.",
        ),
    ]
