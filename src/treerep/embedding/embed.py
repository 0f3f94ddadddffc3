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
        - "poincare" and "lorentz": learn to rank the neighbours of a graph (or of a tree) first, in the Poincaré ball
          (PM, Nickel and Kiela 2017) or on the hyperboloid (LM, 2018). The loss of an edge (u, v) is the cross entropy
          of -d(u, .) over v and `negatives` nodes that are no neighbours of u. It knows no distances: afterwards the
          scale is set to the best one.
        - "pt": learn to keep the distances of any metric (Sala et al. 2018): the mean of (d / (scale t) - 1)^2 over
          pairs, on the hyperboloid, with the scale learned along. Up to 2,048 points all pairs count in every step.
    metric : str, optional
        How points given by coordinates are compared.
    dim : int
        Dimension of the hyperbolic space.
    init : Tree or Embedding of the same points, optional
        Where the methods that learn begin: with this embedding, or with that of this tree by Sarkar's construction.
        By default they begin with h-MDS of up to 1,024 points.
    preset : "paper", optional
        The options of the paper (Sonthalia and Gilbert 2020): a random start near the origin, plain Riemannian descent
        and no early stop; for PM and LM 1,000 epochs at rate 0.3, 50 negatives, 20 epochs of burn-in, each edge in one
        direction only; for PT 1,000 epochs at rate 5, 100 epochs of burn-in, 64 partners per point. Batches are 2,048
        edges instead of 10 with the same rate per edge, and 256 rows as in the paper. Momentum and Adagrad, which in
        the published code of PT never acted on the points, are left out. By default: Riemannian Adam, a better start,
        and a stop when 50 epochs did not lower the loss by a thousandth.
    epochs : int, optional
        How often to go over the data: at most 300 times by default.
    rate : float, optional
        Length of a step, in hyperbolic length; it falls to 0 with the epochs. By default 0.35 / dim^0.4 for PM and LM
        and 0.2 for PT.
    batch : int, optional
        Edges (PM, LM) or sampled pairs (PT) of one step: by default as many as fit into a quarter of a gigabyte.
    burn_in : int, optional
        Epochs at the beginning with 1/100 of the rate and negatives drawn by degree^0.75 (PM, LM), or 1/10 of the rate
        (PT); 0 by default.
    negatives : int, optional
        Negatives per edge: 50 by default.
    symmetrize : bool, optional
        Whether every edge is learned from both ends (the default) or from one alone.
    subsample : int, optional
        PT: partners of each point, neighbours in a graph first, then others at random, drawn once. 64 by default
        beyond 2,048 points.
    device : str, optional
        What torch computes on: "cpu", "cuda". By default CUDA where there is one.
    rng : seed or numpy Generator
        The same seed gives the same embedding, bit for bit on one CPU with one number of threads.

    Notes
    -----
    Methods that learn need torch (`pip install 'treerep[embed]'`). Ctrl-C ends the learning: the best so far is
    returned, with a warning. An epoch of PM and LM takes O(edges * negatives * dim), one of PT O(n^2 * dim), or
    O(n * subsample * dim).
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
