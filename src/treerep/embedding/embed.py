"""`embed`: from a tree, or from distances, to points of hyperbolic space."""

import importlib
import inspect
from typing import Any

import numpy as np

from ..common.numbers import positive_number
from ..common.parallel import Workers
from ..metric.convert import as_metric
from .embedding import Embedding

#: Every method, and the module of this room in which a function of that name has it.
METHODS = {"sarkar": "sarkar", "hmds": "hmds", "poincare": "ranking", "lorentz": "ranking", "pt": "pt"}


def embed(
    data: Any,
    *,
    method: str = "sarkar",
    metric: str | None = None,
    dim: int = 2,
    scale: float | None = None,
    distortion: float | None = None,
    directions: str | None = None,
    exponent: float | None = None,
    root: int | str | None = None,
    init: Any = None,
    preset: str | None = None,
    epochs: int | None = None,
    rate: float | None = None,
    batch: int | None = None,
    burn_in: int | None = None,
    negatives: int | None = None,
    symmetrize: bool | None = None,
    subsample: int | None = None,
    device: str | None = None,
    rng: Any = 0,
) -> Embedding:
    """Place points in hyperbolic space so that their distances there, divided by a scale, are those of the data.

    Parameters
    ----------
    data : Tree, Metric or anything `as_metric` takes
    method : str
        "sarkar": a tree, in time linear in its nodes, every edge exact and no distance shortened by more than a wished
        factor; see `treerep.embedding.sarkar.sarkar` for `scale`, `distortion`, `directions`, `exponent` and `root`.
    metric : str, optional
        How to measure points, as in `as_metric`.
    dim : int
        Dimension of the hyperbolic space.

    Returns
    -------
    Embedding
        A metric, with coordinates in three models. Options of another method than the chosen one are refused.

    Examples
    --------
    >>> from treerep.datasets import random_tree
    >>> embed(random_tree(5), distortion=1.1)
    TreeEmbedding(5 points, dim 2)
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"unknown method {method!r}: choose one of {', '.join(METHODS)}")
    dimension = positive_number(dim, "dim")
    place = getattr(importlib.import_module(f".{METHODS[method]}", __package__), method)
    takes = inspect.signature(place).parameters
    own = {
        "scale": scale, "distortion": distortion, "directions": directions, "exponent": exponent, "root": root,
        "init": init, "preset": preset, "epochs": epochs, "rate": rate, "batch": batch, "burn_in": burn_in,
        "negatives": negatives, "symmetrize": symmetrize, "subsample": subsample, "device": device,
    }  # fmt: skip
    options = {name: value for name, value in own.items() if value is not None}
    for name in options:
        if name not in takes:
            known = ", ".join(other for other in own if other in takes)
            raise ValueError(f"{method} takes no {name}" + (f", but {known}" if known else ": leave it out"))
    space = as_metric(data, metric=metric)
    if "rng" in takes:
        options["rng"] = np.random.default_rng(rng)
    with Workers(1) as workers:  # so that no interrupt is lost, whatever the method does
        embedding = place(space, dim=dimension, **options)
        if "epochs" not in takes:  # those that learn return the best so far when interrupted
            workers.check()
    return embedding
