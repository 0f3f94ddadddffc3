"""Choice of the root cell: a named cell, the medoid of a group, or the best order of stages."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tree.operations.distance_sums import distance_sums, squared_distance_sums
from ...tree.tree import Tree
from ._data import cell_position, column_of
from ._statistics import order_agreement

if TYPE_CHECKING:
    from anndata import AnnData

# The agreement is computed for this many roots, those of the largest correlation.
_CANDIDATES = 32
# Sums of distances that differ by less than this share are equal up to rounding.
_ROUNDING = 1e-9


class RootChoice(NamedTuple):
    """A validated request for a root. At most one field is set."""

    cell: int | None = None
    members: NDArray[np.int64] | None = None  # cells of the root group
    stage: NDArray[np.float64] | None = None  # stage of each cell, or NaN
    params: dict[str, Any] = {}  # noqa: RUF012 (never modified)

    @property
    def given(self) -> bool:
        """Whether a root is requested."""
        return self.cell is not None or bool(self.params)


class Root(NamedTuple):
    """A root cell, with the parameters that chose it."""

    cell: int | None
    params: dict[str, Any]
    agreement: float | None = None


def read_root(
    adata: "AnnData", root: object = None, groupby: str | None = None, stages: str | None = None
) -> RootChoice:
    """Validate the arguments that choose a root."""
    if stages is not None:
        if root is not None or groupby is not None:
            extra = "root" if root is not None else "groupby"
            raise ValueError(f"stages chooses the root: leave out {extra}, or leave out stages")
        return RootChoice(stage=_stage_numbers(adata, stages), params={"stages": stages})
    if groupby is None:
        cell = None if root is None else cell_position(adata, root)
        return RootChoice(cell=cell)
    if root is None:
        raise ValueError(f"groupby={groupby!r} needs root, one of the groups")
    groups = column_of(adata, groupby, "groupby")
    members = np.flatnonzero(np.asarray(groups == root))
    if not len(members):
        known = ", ".join(repr(group) for group in list(groups.dropna().unique())[:5])
        raise ValueError(
            f"root={root!r} is not a group of adata.obs[{groupby!r}]: use one of its values, e.g. {known}"
        )
    return RootChoice(
        members=members, params={"root_groupby": groupby, "root_group": str(root)}
    )


def find_root(choice: RootChoice, tree: Tree) -> Root:
    """Return the root cell of a tree of the cells."""
    if choice.members is not None:
        return Root(_medoid(tree, choice.members), choice.params)
    if choice.stage is not None:
        cell, agreement = _best_order(tree, choice.stage)
        return Root(cell, choice.params, agreement)
    return Root(choice.cell, choice.params)


def _medoid(tree: Tree, members: NDArray[np.int64]) -> int:
    """Return the member with the smallest sum of tree distances to the other members."""
    weights = np.zeros(tree.n_nodes)
    weights[members] = 1.0
    view = tree._view
    sums = distance_sums(view, weights[view.order])[view.position[members]]
    near = sums <= sums.min() + _ROUNDING * sums.max()
    return int(members[near.argmax()])


def _best_order(tree: Tree, stage: NDArray[np.float64]) -> tuple[int, float]:
    """Return the cell of the first stage whose distances agree best with the stages.

    All cells of the first stage are ranked by the correlation of distance and stage, in O(N).
    The share of ordered pairs is computed for the best of them.
    """
    known = np.flatnonzero(~np.isnan(stage))
    first = known[stage[known] == stage[known].min()]
    correlation = np.round(_correlations(tree, known, stage[known])[first], 9)
    ranked = first[np.argsort(-correlation, kind="stable")[:_CANDIDATES]]
    distances = tree.block(ranked, known)
    agreements = [order_agreement(stage[known], row) for row in distances]
    best = int(np.argmax(np.round(agreements, 9)))
    return int(ranked[best]), agreements[best]


def _correlations(
    tree: Tree, cells: NDArray[np.int64], stage: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, for every point r, the correlation of d(r, i) with the stage over the cells i."""
    view = tree._view
    count = len(cells)
    ones = np.zeros(tree.n_nodes)
    ones[cells] = 1.0
    centered = np.zeros(tree.n_nodes)
    centered[cells] = stage - stage.mean()
    mean = distance_sums(view, ones[view.order]) / count
    variance = squared_distance_sums(view, ones[view.order]) / count - mean**2
    covariance = distance_sums(view, centered[view.order]) / count
    spread = np.sqrt(np.maximum(variance, np.finfo(float).tiny)) * stage.std()
    return (covariance / spread)[view.position[: tree.n_points]]


def _stage_numbers(adata: "AnnData", stages: str) -> NDArray[np.float64]:
    """Return the stage of each cell as a number: the rank of its category, or its value."""
    column = column_of(adata, stages, "stages")
    if hasattr(column, "cat") and column.cat.ordered:
        codes = np.asarray(column.cat.codes, float)
        numbers = np.where(codes < 0, np.nan, codes)
    elif column.dtype.kind in "iuf":
        numbers = np.asarray(column, float)
    else:
        raise ValueError(
            f"adata.obs[{stages!r}] has no order: make it numeric, or an ordered categorical "
            "with .cat.reorder_categories(names, ordered=True)"
        )
    if len(np.unique(numbers[~np.isnan(numbers)])) < 2:
        raise ValueError(f"adata.obs[{stages!r}] has fewer than two stages: leave out stages")
    return numbers
