"""`embed`: place a tree or a metric in hyperbolic space."""

import numpy as np

from .._core.checks import positive_number
from .._core.memory import check_memory
from .._core.method import find_method
from .._core.parallel import Workers
from .._core.typing import DeviceLike, MetricLike, RNGLike
from .._core.used import note
from ..metric.as_metric import as_metric
from ..tree.tree import Tree
from .embedding import Embedding
from .methods import METHODS, LearningOptions


def embed(
    data: MetricLike,
    *,
    method: str = "sarkar",
    metric: str | None = None,
    dim: int = 2,
    scale: float | None = None,
    distortion: float | None = None,
    directions: str | None = None,
    exponent: float | None = None,
    root: int | str | None = None,
    init: Tree | Embedding | None = None,
    preset: str | None = None,
    epochs: int | None = None,
    rate: float | None = None,
    batch: int | None = None,
    burn_in: int | None = None,
    negatives: int | None = None,
    symmetrize: bool | None = None,
    subsample: int | None = None,
    device: DeviceLike = None,
    rng: RNGLike = 0,
) -> Embedding:
    """Place points in hyperbolic space so that hyperbolic distance / scale fits the data.

    Parameters
    ----------
    data : Tree, Metric or anything `as_metric` takes
    method : str
        - "sarkar": a tree (Sarkar 2011), in linear time. Every edge has its exact length, and
          no distance is shortened by more than a given factor. It keeps local frames, so its
          distances are accurate at any scale.
        - "hmds": any metric, by eigenvectors (Sala et al. 2018); exact for points of hyperbolic
          space.
        - "pt": any metric (Sala et al. 2018). Learns points on the hyperboloid and the scale
          that minimize the mean of (d / (scale t) - 1)^2 over pairs. Up to 2,048 points all
          pairs count in every step.
        - "poincare" and "lorentz": a graph or a tree. They learn to rank neighbors first, in
          the Poincaré ball (PM, Nickel and Kiela 2017) or on the hyperboloid (LM, 2018). The
          loss of an edge (u, v) is the cross entropy of -d(u, .) over v and `negatives` nodes
          that are not neighbors of u. Distances are not used; the best scale is set afterwards.
    metric : str, optional
        For points: as in `as_metric`.
    dim : int
        Dimension of the hyperbolic space.
    scale : float, optional
        ("sarkar", "hmds") Hyperbolic length of one unit of the data. By default "hmds" searches
        for the best one.
    distortion : float, optional
        ("sarkar") Choose the scale so that each distance of data points lies between the tree's
        / distortion and the tree's. The default is 1.05, unless a scale is given.
    directions : "traffic", "equal" or "codes"
        ("sarkar") How edges are spread around a node. "traffic", the default: branches with
        many data points are farther from each other. "equal": as far from each other as
        possible. "codes": the same in closed form.
    exponent : float
        ("sarkar" with "traffic") A branch of t data points has weight t^exponent, 0.4 by
        default. A larger exponent lowers the average distortion, and the precision of
        neighborhoods at small scales.
    root : node id or label
        ("sarkar") The node at the origin; by default the center of the tree.
    init : Tree or Embedding of the same points, optional
        (learning) The start: this embedding, or Sarkar's embedding of this tree. By default
        h-MDS of up to 1,024 points.
    preset : "paper", optional
        The options of the paper (Sonthalia and Gilbert 2020): a random start near the origin,
        plain Riemannian descent and no early stop; for PM and LM 1,000 epochs at rate 0.3, 50
        negatives, 20 epochs of burn-in, each edge in one direction only; for PT 1,000 epochs at
        rate 5, 100 epochs of burn-in, 64 partners per point. Batches are 2,048 edges instead of
        10 with the same rate per edge, and 256 rows as in the paper. Momentum and Adagrad,
        which in the published code of PT never acted on the points, are left out. The default
        is Riemannian Adam with a better start. It stops when 50 epochs did not lower the loss
        by a thousandth.
    epochs : int, optional
        (learning) Largest number of passes over the data, 300 by default.
    rate : float, optional
        (learning) Hyperbolic length of a step; it falls to 0 with the epochs. By default 0.35 /
        dim^0.4 for PM and LM and 0.2 for PT.
    batch : int, optional
        (learning) Edges (PM, LM) or sampled pairs (PT) per step. By default a step takes a
        quarter of a gigabyte.
    burn_in : int, optional
        (learning) First epochs with 1/100 of the rate and negatives drawn by degree^0.75 (PM,
        LM), or 1/10 of the rate (PT); 0 by default.
    negatives : int, optional
        (PM, LM) Negatives per edge, 50 by default.
    symmetrize : bool, optional
        (PM, LM) Learn each edge from both ends (the default) or from one.
    subsample : int, optional
        (PT) Partners of each point, drawn once: neighbors in a graph first, then random points.
        64 by default beyond 2,048 points.
    device : str or torch.device, optional
        (learning) The torch device: by default the CPU, "cuda" for a GPU.
    rng : seed or numpy Generator
        (learning) The same seed gives the same embedding, bit for bit on one CPU with one
        number of threads.

    Returns
    -------
    Embedding
        A metric on the data points, with coordinates in three models. "sarkar" returns a
        TreeEmbedding, which also places the Steiner nodes.

    Notes
    -----
    Options of other methods are refused. "pt", "poincare" and "lorentz" learn, and need torch
    (`pip install 'treerep[embed]'`). Ctrl-C ends the learning: the best embedding so far is
    returned, with a warning. An epoch of PM and LM takes O(edges * negatives * dim), one of PT
    O(n^2 * dim) or O(n * subsample * dim). "hmds" takes O(n^2) memory, and O(n^2) time per
    Lanczos step or O(n^3).

    Examples
    --------
    >>> from treerep.datasets import random_tree
    >>> embedding = embed(random_tree(5), distortion=1.1)
    >>> embedding
    TreeEmbedding(5 points, dim 2)
    >>> embedding.poincare.shape
    (5, 2)
    """
    record = find_method(METHODS, method)
    dimension = positive_number(dim, "dim")
    given = {
        "scale": scale,
        "distortion": distortion,
        "directions": directions,
        "exponent": exponent,
        "root": root,
        "init": init,
        "preset": preset,
        "epochs": epochs,
        "rate": rate,
        "batch": batch,
        "burn_in": burn_in,
        "negatives": negatives,
        "symmetrize": symmetrize,
        "subsample": subsample,
        "device": device,
    }
    options = record.chosen(given)
    note(method)
    space = as_metric(data, metric=metric)
    check_memory(
        16 * len(space) * dimension,
        f"{len(space):,} points in {dimension:,} dimensions",
        "use a smaller dim",
    )
    if record.random:
        options["rng"] = np.random.default_rng(rng)
    with Workers(1) as workers:  # so that no interrupt is lost
        embedding: Embedding = record.load()(space, dim=dimension, **options)
        if not issubclass(record.options, LearningOptions):
            workers.check()  # learning methods handle an interrupt themselves
    embedding.order_known = space.order_known
    return embedding
