"""The result of `refine`: a tree and a report of the improvement."""

from typing import Any, NamedTuple

from ..tree.tree import Tree


class Refinement(NamedTuple):
    """The improvement achieved by `refine`.

    Distortion and precision are computed on all pairs, or on sampled rows for many points.

    Attributes
    ----------
    objective, objective_before : float
        Objective of the result and of the given tree.
    distortion, distortion_before : float
        Average distortion of the result and of the given tree.
    precision, precision_before : float or None
        Mean average precision of the result and of the given tree. None if neighborhoods are
        not part of the objective.
    residual : float or None
        Violation of the optimality conditions of the edge lengths. None if the lengths were not
        fitted.
    moves : int
        Number of subtrees moved.
    start : str
        The start of the search: "tree", "relaxed_neighbor_joining" or "backbone".
    seconds : float
        Time taken.

    See Also
    --------
    refine : Improve a tree.
    RefinedTree : A tree with this report.
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
    """A tree returned by `refine`, with a report of the improvement.

    A refined tree has all attributes and methods of `Tree`. Methods that return a new tree return a
    `Tree` without the report.

    Attributes
    ----------
    refinement : Refinement
        The report.

    See Also
    --------
    refine : Improve a tree.
    Refinement : The report of the improvement.
    Tree : The base class.
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
