"""`embed`: from a tree, or from distances, to points of hyperbolic space."""

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
    """Place points in hyperbolic space so that their distances there, divided by a scale, are those of the data.

    Parameters
    ----------
    data : Tree, Metric or anything `as_metric` takes
    method : str
        - "sarkar": a tree (Sarkar 2011), in linear time. Every edge has its exact length, and
          no distance is shortened by more than a wished factor. It keeps local frames, so its
          distances are right at any scale.
        - "hmds": any metric, by eigenvectors (Sala et al. 2018); exact for points of hyperbolic
          space.
        - "pt": any metric. Learns to keep distances (Sala et al. 2018): the mean of (d / (scale
          t) - 1)^2 over pairs, on the hyperboloid, with the scale learned along. Up to 2,048
          points all pairs count in every step.
        - "poincare" and "lorentz": a graph or a tree. They learn to rank neighbors first, in
          the Poincaré ball (PM, Nickel and Kiela 2017) or on the hyperboloid (LM, 2018). The
          loss of an edge (u, v) is the cross entropy of -d(u, .) over v and `negatives` nodes
          that are no neighbors of u. It knows no distances: afterwards the scale is set to the
          best one.
    metric : str, optional
        How to measure points, as in `as_metric`.
    dim : int
        Dimension of the hyperbolic space.
    scale : float, optional
        Of "sarkar" and "hmds". Hyperbolic length of one unit of the data. "hmds" looks for the
        best one by default.
    distortion : float, optional
        Of "sarkar". The scale becomes such that every distance of data points lies between the
        tree's / distortion and the tree's. The default, where no scale is given, is 1.05.
    directions : "traffic", "equal" or "codes"
        Of "sarkar": how edges are spread around a node. "traffic", the default: branches with
        many data points farther from each other. "equal": as far from each other as possible.
        "codes": the same in closed form.
    exponent : float
        Of "sarkar" with "traffic": a branch of t data points has weight t^exponent, 0.4 by
        default. More lowers the average distortion, and the precision of neighborhoods at
        small scales.
    root : node id or label
        Of "sarkar": the node at the origin; the center of the tree by default.
    init : Tree or Embedding of the same points, optional
        Where the methods that learn begin: with this embedding, or with that of this tree by
        Sarkar's construction. By default they begin with h-MDS of up to 1,024 points.
    preset : "paper", optional
        The options of the paper (Sonthalia and Gilbert 2020): a random start near the origin,
        plain Riemannian descent and no early stop; for PM and LM 1,000 epochs at rate 0.3, 50
        negatives, 20 epochs of burn-in, each edge in one direction only; for PT 1,000 epochs at
        rate 5, 100 epochs of burn-in, 64 partners per point. Batches are 2,048 edges instead of
        10 with the same rate per edge, and 256 rows as in the paper. Momentum and Adagrad,
        which in the published code of PT never acted on the points, are left out. By default:
        Riemannian Adam, a better start, and a stop when 50 epochs did not lower the loss by a
        thousandth.
    epochs : int, optional
        How often to go over the data: at most 300 times by default.
    rate : float, optional
        Length of a step, in hyperbolic length; it falls to 0 with the epochs. By default 0.35 /
        dim^0.4 for PM and LM and 0.2 for PT.
    batch : int, optional
        Edges (PM, LM) or sampled pairs (PT) of one step: by default as many as fit into a
        quarter of a gigabyte.
    burn_in : int, optional
        Epochs at the beginning with 1/100 of the rate and negatives drawn by degree^0.75 (PM,
        LM), or 1/10 of the rate (PT); 0 by default.
    negatives : int, optional
        Negatives per edge: 50 by default.
    symmetrize : bool, optional
        Whether every edge is learned from both ends (the default) or from one alone.
    subsample : int, optional
        PT: partners of each point, neighbors in a graph first, then others at random, drawn
        once. 64 by default beyond 2,048 points.
    device : str or torch.device, optional
        What torch computes on: the CPU by default, "cuda" for a GPU.
    rng : seed or numpy Generator
        Of the methods that learn. The same seed gives the same embedding, bit for bit on one
        CPU with one number of threads.

    Returns
    -------
    Embedding
        A metric on the data points, with coordinates in three models. "sarkar" returns a
        TreeEmbedding, which has places for the Steiner nodes, too.

    Notes
    -----
    Options of another method than the chosen one are refused. Methods that learn need torch
    (`pip install 'treerep[embed]'`). Ctrl-C ends the learning: the best so far is returned,
    with a warning. An epoch of PM and LM takes O(edges * negatives * dim), one of PT O(n^2 *
    dim), or O(n * subsample * dim). "hmds" takes O(n^2) memory, and O(n^2) time per Lanczos
    step or O(n^3).

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
    with Workers(1) as workers:  # so that no interrupt is lost, whatever the method does
        embedding: Embedding = record.load()(space, dim=dimension, **options)
        if not issubclass(record.options, LearningOptions):
            workers.check()  # methods that learn return the best so far when interrupted
    embedding.order_known = space.order_known
    return embedding
