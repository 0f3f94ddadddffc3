"""The methods of `embed`, one record each. Importing this module imports no method."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._core.method import Method, records

if TYPE_CHECKING:
    from ..tree.tree import Tree
    from .embedding import Embedding


@dataclass(frozen=True)
class SarkarOptions:
    """Options of `sarkar`."""

    scale: float | None = None
    distortion: float | None = None
    exponent: float | None = None
    root: int | str | None = None


@dataclass(frozen=True)
class HMDSOptions:
    """Options of `hmds`."""

    scale: float | None = None


@dataclass(frozen=True)
class LearningOptions:
    """Options of all learning methods."""

    init: "Tree | Embedding | None" = None
    epochs: int | None = None
    rate: float | None = None
    batch: int | None = None
    device: object = None


@dataclass(frozen=True)
class RankingOptions(LearningOptions):
    """Options of `poincare` and `lorentz`."""

    negatives: int | None = None


@dataclass(frozen=True)
class PTOptions(LearningOptions):
    """Options of `pt`."""

    subsample: int | None = None


#: Every method of `embed` by name.
METHODS = records(
    Method(
        "sarkar",
        "treerep.embedding.sarkar.construction:sarkar",
        "a tree by Sarkar's construction (Sarkar 2011)",
        exact="edges of trees",
        time="n",
        memory="n",
        cite=("sarkar2011", "sala2018"),
        options=SarkarOptions,
    ),
    Method(
        "hmds",
        "treerep.embedding.hmds.scaling:hmds",
        "any metric by eigenvectors (Sala et al. 2018)",
        exact="points of hyperbolic space",
        time="n² per Lanczos step, or n³",
        memory="n²",
        cite=("sala2018",),
        options=HMDSOptions,
    ),
    Method(
        "poincare",
        "treerep.embedding.learned.ranking:poincare",
        "neighbors first, in the Poincaré ball (Nickel and Kiela 2017)",
        time="edges · negatives · dim per epoch",
        memory="n · dim",
        cite=("nickel2017",),
        options=RankingOptions,
        random=True,
    ),
    Method(
        "lorentz",
        "treerep.embedding.learned.ranking:lorentz",
        "neighbors first, on the hyperboloid (Nickel and Kiela 2018)",
        time="edges · negatives · dim per epoch",
        memory="n · dim",
        cite=("nickel2018",),
        options=RankingOptions,
        random=True,
    ),
    Method(
        "pt",
        "treerep.embedding.learned.pt:pt",
        "distances by gradient descent (Sala et al. 2018)",
        time="n² · dim per epoch",
        memory="n²",
        cite=("sala2018",),
        options=PTOptions,
        random=True,
    ),
)
