"""The result of `refine`: a tree and a report of the improvement."""

from typing import Any, NamedTuple

from ..tree.tree import Tree


class Refinement(NamedTuple):
    """The report of `refine`.

    Distortion and precision are of all pairs, or of sampled rows if there are many points.
    """

    objective: float  # objective of the result
    objective_before: float  # objective of the given tree
    distortion: float
    distortion_before: float
    precision: float | None  # mean average precision; None if not part of the objective
    precision_before: float | None
    # violation of the weights' optimality conditions, see `fit_weights`; None if not fitted
    residual: float | None
    moves: int  # number of subtrees moved
    start: str  # "tree", "relaxed_neighbor_joining" or "backbone"
    seconds: float


class RefinedTree(Tree):
    """A tree with a report of its refinement: `tree.refinement`.

    Methods that return another tree return a plain Tree, without the report.
    """

    refinement: Refinement

    def __reduce__(self) -> tuple[Any, ...]:
        return RefinedTree._with_report, (*self._arguments(), self.refinement)

    @classmethod
    def _with_report(cls, *fields: Any) -> "RefinedTree":
        *arrays, refinement = fields
        tree = cls._trusted(*arrays)
        assert isinstance(tree, RefinedTree)
        tree.__dict__["refinement"] = refinement
        return tree
