"""Inputs and time limits of each task: about five minutes in total, or unlimited."""

from typing import NamedTuple

from .problems import LITTLE


class Plan(NamedTuple):
    """Time limit and inputs by task.

    An input is a family and a size, or the name of a graph and 0.
    """

    name: str
    limits: dict[str, float]
    inputs: dict[str, list[tuple[str, int]]]


def _sizes(family: str, *sizes: int) -> list[tuple[str, int]]:
    return [(family, n) for n in sizes]


def _graphs(*names: str) -> list[tuple[str, int]]:
    return [(name, 0) for name in names]


BENCH = Plan(
    "`make bench`",
    {"tree": 6.0, "delta": 6.0, "paths": 6.0, "embedding": 120.0},
    {
        "tree": [
            *_sizes("noisy tree", 256, 512, 1024, 2048),
            *_sizes("random tree", 1024),
            *_sizes("proteins", 500),
            *_sizes("zeisel", 500),
            *_graphs("celegans", "csphd"),
        ],
        "delta": _graphs("celegans", "diseasome", "csphd", "yeast"),
        "paths": _graphs("celegans", "csphd", "yeast"),
        "embedding": _graphs("csphd"),  # gensim also finishes it in time
    },
)

FULL = Plan(
    "`make bench-full`",
    dict.fromkeys(("tree", "delta", "paths", "embedding"), 300.0),
    {
        "tree": [
            *_sizes("noisy tree", 128, 256, 512, 1024, 2048, 4096, 8192),
            *_sizes("random tree", 256, 1024, 4096),
            *_sizes("proteins", 500, 2000),
            *_sizes("zeisel", 500, 3005),
            *_graphs("celegans", "csphd", "yeast", "grqc"),
        ],
        "delta": _graphs("celegans", "diseasome", "csphd", "yeast", "grid_worm", "grqc"),
        "paths": _graphs("celegans", "csphd", "yeast", "grqc"),
        "embedding": _graphs("celegans", "diseasome", "csphd"),
    },
)

#: Small inputs for imports and compilation, whose results are not stored.
SMALL = {
    "tree": ("random tree", 16),
    "delta": (LITTLE, 0),
    "paths": (LITTLE, 0),
    "embedding": (LITTLE, 0),
}
