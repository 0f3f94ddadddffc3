"""Coverage-guided fuzzing of the readers, run alone: `python tests/formats/fuzz_readers.py -runs=100000`.

Needs atheris. What the readers may do is what `check` of test_fuzz.py says.
"""

import sys

import atheris

with atheris.instrument_imports():
    from treerep.formats import edge_list, graphml, matrix_market, nexus, npy, npz, phylip, reading, sniff, table  # noqa: F401

from tests.formats.test_fuzz import check


def fuzz_one(data: bytes) -> None:
    """Choose options by the first byte, and read the rest."""
    if data:
        check(data[1:], kind=(None, "distances", "points", "graph")[data[0] % 4])


if __name__ == "__main__":
    atheris.Setup(sys.argv, fuzz_one)
    atheris.Fuzz()
