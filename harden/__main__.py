"""Run stress tests and store the results: `python -m harden [NAME ...] [--size N]`.

Without names, all stress tests run. The unit of the size is the argument of the function: metrics,
examples, minutes, moments or fits.
"""

import argparse
import importlib
import inspect
import sys
import time

from .common import NAMES, machine, store

_SHOWN = 10


def run(name: str, size: float | None = None) -> dict[str, object]:
    """Run one stress test, print a line, and return the row to store."""
    campaign = importlib.import_module(f"harden.{name}").campaign
    (parameter,) = inspect.signature(campaign).parameters.values()
    given = parameter.default if size is None else type(parameter.default)(size)
    begin = time.perf_counter()
    result = campaign(given)
    row = {
        **result._asdict(),
        parameter.name: given,
        "seconds": round(time.perf_counter() - begin, 1),
    }
    verdict = f"{len(result.faults)} FAULTS" if result.faults else "no faults"
    note = f" ({result.note})" if result.note else ""
    print(
        f"{name}: {result.what}: {result.checked:,} checks, {verdict}, {row['seconds']} s{note}",
        flush=True,
    )
    for fault in result.faults[:_SHOWN]:
        print(f"  {fault}", flush=True)
    return {**row, "machine": machine()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m harden", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(NAMES)}")
    parser.add_argument(
        "--size",
        "--minutes",
        type=float,
        help="size of each stress test, instead of its default",
    )
    parser.add_argument("--no-store", action="store_true", help="do not change the stored results")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in NAMES]
    if unknown:
        parser.error(f"unknown stress test {unknown[0]!r}: choose from {', '.join(NAMES)}")
    faults = 0
    for name in chosen.names or NAMES:
        row = run(name, chosen.size)
        faults += len(row["faults"])
        if not chosen.no_store:
            store({name: row})
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
