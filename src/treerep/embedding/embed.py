"""`embed`: place a tree, a sum of trees or a metric in hyperbolic space."""

from typing import Any, Literal, overload

import numpy as np

from .._core.checks import positive_number
from .._core.memory import check_memory
from .._core.method import Method, find_method
from .._core.parallel import Workers
from .._core.typing import DeviceLike, MetricLike, RNGLike
from .._core.used import note
from ..metric._missing import refuse_missing
from ..metric.as_metric import as_metric
from ..metric.base import Metric
from ..tree.tree import Tree
from ..tree.tree_sum import TreeSum
from .embedding import Embedding
from .methods import METHODS, LearningOptions
from .product import ProductEmbedding


@overload
def embed(  # type: ignore[overload-overlap]  # MetricLike also includes sums of trees
    data: TreeSum,
    *,
    method: Literal["sarkar"] = "sarkar",
    dim: int = 2,
    scale: float | None = None,
    distortion: float | None = None,
    exponent: float | None = None,
    root: int | str | None = None,
) -> ProductEmbedding: ...


@overload
def embed(
    data: MetricLike,
    *,
    method: str = "sarkar",
    metric: str | None = None,
    dim: int = 2,
    scale: float | None = None,
    distortion: float | None = None,
    exponent: float | None = None,
    root: int | str | None = None,
    init: Tree | Embedding | None = None,
    epochs: int | None = None,
    rate: float | None = None,
    batch: int | None = None,
    negatives: int | None = None,
    subsample: int | None = None,
    device: DeviceLike = None,
    rng: RNGLike = 0,
) -> Embedding: ...


def embed(
    data: MetricLike,
    *,
    method: str = "sarkar",
    metric: str | None = None,
    dim: int = 2,
    scale: float | None = None,
    distortion: float | None = None,
    exponent: float | None = None,
    root: int | str | None = None,
    init: Tree | Embedding | None = None,
    epochs: int | None = None,
    rate: float | None = None,
    batch: int | None = None,
    negatives: int | None = None,
    subsample: int | None = None,
    device: DeviceLike = None,
    rng: RNGLike = 0,
) -> Embedding | ProductEmbedding:
    """Embed a tree, a sum of trees, a graph or a metric in hyperbolic space.

    The hyperbolic distance of two points, divided by the scale, approximates their distance in
    the data.

    Parameters
    ----------
    data : Tree, TreeSum, Metric or anything `as_metric` accepts
        The data to embed. "sarkar" needs a tree or a sum of trees, "poincare" and "lorentz" need a
        graph or a tree, and "hmds" and "pt" accept any metric.
    method : str
        - "sarkar": embed a tree in linear time (Sarkar 2011). Every edge has its exact length,
          and no distance is shortened by more than a given factor. Distances are accurate at
          any scale. A sum of trees is embedded in a product of hyperbolic spaces, one per
          tree.
        - "hmds": embed any metric by eigenvectors (Sala et al. 2018). Exact for points of
          hyperbolic space.
        - "pt": embed any metric by optimization (Sala et al. 2018). Learns points on the
          hyperboloid and the scale that minimize the mean of (d / (scale t) - 1)^2 over pairs.
          Up to 2,048 points, every step uses all pairs.
        - "poincare" and "lorentz": embed a graph or a tree so that neighbors rank first.
          "poincare" uses the Poincaré ball (PM, Nickel and Kiela 2017), and "lorentz" the
          hyperboloid (LM, 2018). The loss of an edge (u, v) is the cross entropy of -d(u, .)
          over v and `negatives` nodes that are not neighbors of u. Distances are not used. The
          best scale is set afterwards.
    metric : str, optional
        For points: as in `as_metric`.
    dim : int
        Dimension of the hyperbolic space, or of each space of a product.
    scale : float, optional
        ("sarkar", "hmds") Hyperbolic length of one unit of the data. By default "sarkar" uses
        `distortion`, and "hmds" searches for the best scale.
    distortion : float, optional
        ("sarkar") Choose the scale so that each distance between data points lies between the
        tree distance / distortion and the tree distance. The default is 1.05, unless a scale is
        given.
    exponent : float
        ("sarkar") Branches with many data points are separated more: a branch of t data points has
        weight t^exponent, 0.4 by default. 0 separates all branches as far as possible. A larger
        exponent lowers the average distortion, but also the precision of neighborhoods at small
        scales.
    root : int or label
        ("sarkar") The node at the origin; by default the center of the tree.
    init : Tree or Embedding, optional
        (learning) The start: an embedding of the same points, or a tree to embed by "sarkar". The
        default is h-MDS of up to 1,024 points.
    epochs : int, optional
        (learning) Largest number of passes over the data, 300 by default.
    rate : float, optional
        (learning) Hyperbolic length of a step, which decreases to 0 over the epochs. The default is
        0.35 / dim^0.4 for PM and LM, and 0.2 for PT.
    batch : int, optional
        (learning) Edges (PM, LM) or sampled pairs (PT) per step. By default a step takes a
        quarter of a gigabyte.
    negatives : int, optional
        (PM, LM) Negatives per edge, 50 by default.
    subsample : int, optional
        (PT) Partners of each point, drawn once: neighbors in a graph first, then random points.
        The default is 64 above 2,048 points.
    device : str or torch.device, optional
        (learning) The torch device. None is the CPU; "cuda" is a GPU.
    rng : int, numpy Generator or None
        (learning) Seed of the random choices. The same seed gives the same embedding, bit for
        bit on one CPU with one number of threads.

    Returns
    -------
    Embedding or ProductEmbedding
        A metric on the data points, with coordinates in three models of hyperbolic space.
        "sarkar" returns a `TreeEmbedding`, which also contains the Steiner nodes. For a
        `TreeSum`, "sarkar" returns a `ProductEmbedding`, whose distances are the sums of the
        distances in its components.

    See Also
    --------
    fit : Fit a tree.
    draw : Draw an embedding.
    Embedding : The result.
    worst_distortion : The score that `distortion` bounds.
    sklearn.HyperbolicEmbedding : A scikit-learn estimator.

    Notes
    -----
    An option that the chosen method does not have raises an error. "pt", "poincare" and "lorentz"
    are learning methods, which need torch (``pip install 'treerep[embed]'``). Ctrl-C ends the
    learning and returns the best embedding so far, with a warning.

    For a sum of trees, all options of "sarkar" apply to every tree. `distortion` bounds the
    distortion of every tree, and therefore also that of the sum.

    "sarkar" takes O(N) time for a fixed dimension. "hmds" takes O(n^2) memory, and O(n^2) time
    per Lanczos step or O(n^3) in total. An epoch of PM and LM takes O(edges * negatives * dim),
    and an epoch of PT O(n^2 * dim) or O(n * subsample * dim).

    The learning methods use Riemannian Adam. Learning stops when 50 epochs have not lowered the loss by
    a thousandth. PM and LM learn each edge from both ends.

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
        "exponent": exponent,
        "root": root,
        "init": init,
        "epochs": epochs,
        "rate": rate,
        "batch": batch,
        "negatives": negatives,
        "subsample": subsample,
        "device": device,
    }
    options = record.chosen(given)
    note(method)
    space = as_metric(data, metric=metric)
    refuse_missing(space, "embed")
    check_memory(
        16 * len(space) * dimension,
        f"{len(space):,} points in {dimension:,} dimensions",
        "use a smaller dim",
    )
    if record.random:
        options["rng"] = np.random.default_rng(rng)
    with Workers(1) as workers:  # so that no interrupt is lost
        embedding = _embedded(record, space, dimension, options)
        if not issubclass(record.options, LearningOptions):
            workers.check()  # learning methods handle an interrupt themselves
    embedding.order_known = space.order_known
    return embedding


def _embedded(
    record: Method, space: Metric, dim: int, options: dict[str, Any]
) -> Embedding | ProductEmbedding:
    """Embed a metric, or each tree of a sum of trees if the method embeds trees."""
    place = record.load()
    if isinstance(space, TreeSum) and record.name == "sarkar":
        return ProductEmbedding(
            (place(tree, dim=dim, **options) for tree in space.trees), labels=space.labels
        )
    embedding: Embedding = place(space, dim=dim, **options)
    return embedding
