"""Run benchmarks and store their tables: `python -m benchmarks [name ...]`; without names, all of them."""

import importlib
import sys

from .common import store

NAMES = (
    "recovery", "quality", "pivots", "zone_rule", "tolerance", "methods", "neighbor_joining", "spanning", "refinement",
    "hmds", "sarkar", "speed", "large_graphs", "shapes", "startup",
)  # fmt: skip


def main() -> None:
    for name in sys.argv[1:] or NAMES:
        if name not in NAMES:
            sys.exit(f"no benchmark is named {name!r}: choose from {', '.join(NAMES)}")
        store(name, importlib.import_module(f"benchmarks.{name}").measure())


if __name__ == "__main__":
    main()
