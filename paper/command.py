"""Shared command line of the experiments: `python -m paper.graphs --only celegans --methods tr,nj`."""

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

from .cells import FOLDER, LIMIT, Key, Store, compute
from .tables import markdown


def experiment(name: str) -> ModuleType:
    """Return the module of an experiment."""
    return importlib.import_module(f"{__package__}.{name}")


def run_alone(name: str, arguments: list[str] | None = None) -> None:
    """Compute the missing cells of one experiment and print its tables."""
    module = experiment(name)
    parser = argparse.ArgumentParser(
        prog=f"python -m paper.{name}", description=(module.__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", type=_names, metavar="DATA,...", help="only these data sets")
    parser.add_argument("--methods", type=_names, metavar="METHOD,...", help="only these methods")
    parser.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        metavar="SECONDS",
        help="time limit per cell (default: four hours)",
    )
    parser.add_argument("--again", action="store_true", help="recompute stored cells")
    parser.add_argument("--cells", type=Path, default=FOLDER, metavar="FOLDER", help="folder of the cells")
    given = parser.parse_args(arguments)
    try:
        wanted = chosen(module.keys(), given.only, given.methods)
    except ValueError as error:
        parser.error(str(error))
    store = Store(name, given.cells)
    try:
        done = compute(store, wanted, limit=given.limit, again=given.again)
    except KeyboardInterrupt:
        sys.exit(130)
    print(
        f"{len(done)} of {len(wanted)} cells computed, {len(wanted) - len(done)} were stored\n",
        file=sys.stderr,
    )
    print("\n".join(markdown(table) for table in module.tables(store)))


def chosen(keys: list[Key], data: list[str] | None, methods: list[str] | None) -> list[Key]:
    """Return the keys of these data sets and methods; raise a ValueError for unknown names."""
    for given, known in (
        (data, {key.data for key in keys}),
        (methods, {key.method for key in keys}),
    ):
        unknown = sorted(set(given or ()) - known)
        if unknown:
            raise ValueError(f"no {unknown[0]!r} here: choose from {', '.join(sorted(known))}")
    return [
        key
        for key in keys
        if (data is None or key.data in data) and (methods is None or key.method in methods)
    ]


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]
