"""Run benchmarks and store their tables: `python -m benchmarks [name ...]`.

Without names, all benchmarks run whose dependencies are installed. `python -m benchmarks rivals
[--full] [--docs]` compares with other libraries.
"""

import importlib
import importlib.util
import sys

from .common import store

NAMES = (
    "recovery",
    "zone_rule",
    "methods",
    "neighbor_joining",
    "backbone",
    "truth",
    "near",
    "profiles",
    "spanning",
    "refinement",
    "refinement_time",
    "largest_error",
    "hyperbolicity",
    "lower_bounds",
    "sums",
    "sarkar",
    "hmds",
    "speed",
    "sizes",
    "large_graphs",
    "expanders",
    "startup",
    "page",
    "dask",
    "dask_rest",
    "out_of_core",
    "gpu_fit",
    "gpu_backbone",
)


NEEDS = {
    "truth": "sklearn igraph networkx",
    "gpu_fit": "torch",
    "gpu_backbone": "torch",
    "page": "playwright",
    "dask": "distributed",
    "dask_rest": "distributed",
}


def main() -> None:
    if sys.argv[1:2] == ["rivals"]:
        from .rivals.command import run

        run(sys.argv[2:])
        return
    able = [name for name in NAMES if all(map(importlib.util.find_spec, NEEDS.get(name, "").split()))]
    for name in sys.argv[1:] or able:
        if name not in NAMES:
            sys.exit(f"unknown benchmark {name!r}: choose from rivals, {', '.join(NAMES)}")
        store(name, importlib.import_module(f"benchmarks.{name}").measure())


if __name__ == "__main__":
    main()
