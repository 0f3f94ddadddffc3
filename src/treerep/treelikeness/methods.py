"""Records of the methods of `hyperbolicity`.

Importing this module does not import the methods.
"""

from dataclasses import dataclass

from .._core.method import Method, records


@dataclass(frozen=True)
class SampleOptions:
    """Options of `sample`."""

    quadruples: int | None = None


_CITE = ("gromov1987", "borassi2015")

#: Every method of `hyperbolicity` by name.
METHODS = records(
    Method(
        "auto",
        "treerep.treelikeness.hyperbolicity:hyperbolicity",
        "`exact` within limits; `sample` for large data",
        cite=_CITE,
        options=SampleOptions,
        random=True,
        threads=True,
    ),
    Method(
        "exact",
        "treerep.treelikeness.exact.far_apart:search_far_apart",
        "pairs from the farthest down (Borassi et al. 2015)",
        exact="everything",
        time="n⁴ at worst, far less in practice",
        memory="n²",
        cite=_CITE,
        threads=True,
    ),
    Method(
        "sample",
        "treerep.treelikeness.sampling.quadruples:sample_quadruples",
        "the mean over random quadruples, and a lower bound",
        time="quadruples",
        memory="n",
        cite=_CITE,
        options=SampleOptions,
        random=True,
        threads=True,
    ),
)
