"""What `refine` returns: a tree, and what was gained."""

from typing import Any, NamedTuple

from ..tree.tree import Tree


class Refinement(NamedTuple):
    """What `refine` has reached.

    Distortion and precision are of all pairs, or of sampled rows of many points.
    """

    objective: float  # what was minimized, of the tree that came out ...
    objective_before: float  # ... and of the one that went in
    distortion: float
    distortion_before: float
    precision: float | None  # mean average precision; None where neighborhoods do not count
    precision_before: float | None
    residual: (
        float | None
    )  # violation of the weights' optimality conditions, see `fit_weights`; None if not fitted
    moves: int  # subtrees moved on the way to the tree
    start: str  # "tree", or "relaxed_neighbor_joining" or "backbone" if that led further
    seconds: float


class RefinedTree(Tree):
    """A tree that knows how it was refined: `tree.refinement`.

    What is made of it is a plain Tree again.
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
