"""Figure 2 and Table 2: 100 random points of hyperbolic space, of growing dimension and of growing scale.

python -m paper.random_points --only dim2,scale2 --methods tr,nj
"""

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import treerep as tr

from . import published
from .cells import Key, Store
from .methods import DEVICE, METHODS, Method, measure_method, summary
from .neighbors import nearest_neighbors
from .tables import Figure, Note, Table, beside, shown

POWERS = tuple(2**i for i in range(1, 11))
SETS = (*(f"dim{k}" for k in POWERS), *(f"scale{s}" for s in POWERS))
POINTS, DRAWS = 100, 5


def _on(graph: str, method: str) -> Any:
    return lambda data, seed: tr.fit(data, method=method, graph=graph, rng=seed)


def _learned(method: str, dim: int) -> Any:
    options = {} if method == "hmds" else {"device": DEVICE}
    return lambda data, seed: tr.embed(data, method=method, dim=dim, rng=seed, **options)


#: Learned methods embed into the dimension of the points; hmds2 and pt2 into the plane.
LEARNED = {
    "hmds": "h-MDS",
    "hmds2": "h-MDS 2",
    "pt": "PT",
    "pt2": "PT 2",
    "lm": "LM",
    "pm": "PM",
}
COLUMNS: dict[str, Method] = {
    **{name: METHODS[name] for name in ("tr", "tr_ours")},
    "tr_distances": METHODS["tr_distances"],
    "nj": METHODS["nj"],
    "mst": Method("MST, complete", _on("complete", "minimum_spanning_tree")),
    "mst_knn": Method("MST, 10-NN", _on("knn", "minimum_spanning_tree")),
    "ls": Method("LS, complete", _on("complete", "low_stretch"), random=True),
    "ls_knn": Method("LS, 10-NN", _on("knn", "low_stretch"), random=True),
    "lt_knn": Method("LT, 10-NN", _on("knn", "level_tree"), scaled=False),
    "ct": METHODS["ct"],
    "bartal": METHODS["bartal"],
}
TITLES = {**{name: method.title for name, method in COLUMNS.items()}, **LEARNED}


def keys() -> list[Key]:
    """Return all cells, cheap ones first."""
    return [Key(name, column) for columns in (COLUMNS, LEARNED) for name in SETS for column in columns]


def setting(name: str) -> tuple[int, int]:
    """Return dimension and scale of a set."""
    return (int(name[3:]), 1) if name.startswith("dim") else (10, int(name[5:]))


@lru_cache(4)
def authors(name: str, draw: int) -> tr.MatrixMetric:
    """Return the authors' points. For varied scale, learned methods use a second draw."""
    dim, scale = setting(name)
    return tr.datasets.paper_points(dim, scale=scale, draw=draw if scale > 1 else 1)


@lru_cache(DRAWS)
def fresh(name: str, draw: int) -> tr.MatrixMetric:
    """Return newly drawn points."""
    dim, scale = setting(name)
    points = tr.datasets.hyperbolic_points(POINTS, dim, scale=scale, rng=draw)
    everyone = np.arange(POINTS)
    return tr.MatrixMetric(points.block(everyone, everyone))


def measure(name: str, column: str) -> dict[str, Any]:
    """Measure one method on the authors' points and on new ones."""
    learned = column in LEARNED
    method = _learner(name, column) if learned else COLUMNS[column]
    first = _one(method, authors(name, 2 if learned else 1), column)
    anew = [
        _one(method._replace(seeds=4), fresh(name, draw), column) for draw in range(1 if learned else DRAWS)
    ]
    return {
        **first,
        "fresh": summary([{"scaled": one["scaled"], "plain": one["plain"]} for one in anew]),
    }


def _learner(name: str, column: str) -> Method:
    dim = 2 if column.endswith("2") else setting(name)[0]
    kind = {
        "hmds": "hmds",
        "hmds2": "hmds",
        "pt": "pt",
        "pt2": "pt",
        "lm": "lorentz",
        "pm": "poincare",
    }[column]
    return Method(LEARNED[column], _learned(kind, dim))


def _one(method: Method, truth: tr.MatrixMetric, column: str) -> dict[str, Any]:
    data = nearest_neighbors(truth) if column in ("lm", "pm") else truth
    return measure_method(method, data, truth, None)


def reported(column: str) -> str:
    """Return the name of the distortion that the paper reports."""
    return "plain" if column in COLUMNS and not COLUMNS[column].scaled else "scaled"


def _value(store: Store, name: str, column: str, anew: bool) -> float | None:
    if anew:
        return (store.get(name, column, "fresh") or {}).get(reported(column))
    value = store.get(name, column, reported(column))
    return None if value is None else float(value)


def tables(store: Store) -> list[Table]:
    """Return Table 2, and the numbers of the figure."""
    seconds = {
        column: [time for name in SETS if (time := store.get(name, column, "seconds")) is not None]
        for column in TITLES
    }
    times = [
        beside(
            float(np.mean(found)) if found else None,
            published.RANDOM_POINTS.get(column),
            "time",
        )
        for column, found in seconds.items()
    ]
    behind = [
        Table(
            "Average distortion, " + ("new points, mean of five draws" if anew else "the authors' points"),
            ["set", *TITLES.values()],
            [[name, *(shown(_value(store, name, column, anew)) for column in TITLES)] for name in SETS],
            "After optimal scaling, except for NJ, LT and refined trees, as in the paper.",
        )
        for anew in (False, True)
    ]
    return [
        Table(
            "Mean seconds",
            ["", *TITLES.values()],
            [["seconds", *times]],
            "One run after warm-up.",
        ),
        *behind,
    ]


def figures(store: Store, folder: Path) -> list[Figure]:
    """Draw Figure 2 from the authors' points and from new ones. LT (above 1) is not shown."""
    from .pictures import two_curves

    drawn = [column for column in TITLES if column != "lt_knn"]
    for anew, file in ((False, "random_points"), (True, "random_points_fresh")):
        panels = {}
        for title, kind in (("dimension", "dim"), ("scale, in dimension 10", "scale")):
            panels[title] = {
                TITLES[column]: [_number(_value(store, f"{kind}{k}", column, anew)) for k in POWERS]
                for column in drawn
            }
        two_curves(folder / f"{file}.svg", panels, POWERS)
    return [
        Figure(
            "Random points drawn by the authors",
            "random_points.svg",
            "Left: dimension. Right: scale. Values below 0.002 are clipped.",
        ),
        Figure(
            "Newly drawn random points",
            "random_points_fresh.svg",
            "Trees: mean of five draws; embeddings: one draw.",
        ),
    ]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def notes(_: Store) -> list[Note]:
    """Explain differences from the paper."""
    return [
        Note(
            ("MST, 10-NN", "LS, 10-NN"),
            "In the published code, nearest-neighbor graphs join point i to points 2 to k + 1"
            " by mistake, and LS prefers long edges. Our code does what the names say.",
        ),
        Note(
            ("h-MDS",),
            "Exact if the points come from a space of the same dimension, as expected. The "
            "published code drops one dimension or all. Most of our time is spent on the "
            "search for the best scale.",
        ),
        Note(
            ("LM", "PM"),
            "These methods learn neighbors, here in the 10-nearest-neighbor graph, and do not use distances.",
        ),
        Note(
            (),
            "PT, LM and PM were trained on a GPU. For the authors' points of varied scale, they used draw 2.",
        ),
    ]


if __name__ == "__main__":
    from .command import run_alone

    run_alone("random_points")
