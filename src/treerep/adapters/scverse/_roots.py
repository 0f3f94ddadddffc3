"""Choice of the root cell: a named cell, the medoid of a group, or the best order of stages."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...tree.operations.distance_sums import distance_sums, squared_distance_sums
from ...tree.tree import Tree
from ._data import cell_position, column_of

if TYPE_CHECKING:
    from anndata import AnnData

# The agreement is computed for this many roots, those of the largest correlation.
_CANDIDATES = 32
# Sums of distances that differ by less than this share are equal up to rounding.
_ROUNDING = 1e-9
_TINY = np.finfo(float).tiny


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
            extra = "groupby" if root is None else "root"
            raise ValueError(f"stages chooses the root: leave out {extra}, or leave out stages")
        numbers = _stage_numbers(adata, stages)
        return RootChoice(stage=numbers, params={"stages": stages})
    if groupby is not None:
        return _read_group(adata, root, groupby)
    if root is None:
        return RootChoice()
    return RootChoice(cell=cell_position(adata, root))


def _read_group(adata: "AnnData", root: object, groupby: str) -> RootChoice:
    """Return the cells of a group."""
    if root is None:
        raise ValueError(f"groupby={groupby!r} needs root, one of the groups")
    groups = column_of(adata, groupby, "groupby")
    members = np.flatnonzero(np.asarray(groups == root))
    if not len(members):
        names = list(groups.dropna().unique())
        known = ", ".join(map(repr, names[:5]))
        raise ValueError(
            f"root={root!r} is not a group of adata.obs[{groupby!r}]: use one of its values, e.g. {known}"
        )
    return RootChoice(members=members, params={"root_groupby": groupby, "root_group": str(root)})


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
    view = tree._view
    weights = np.zeros(tree.n_nodes)
    weights[view.position[members]] = 1.0
    sums = distance_sums(view, weights)
    sums = sums[view.position[members]]
    rounding = _ROUNDING * sums.max()
    near = sums <= sums.min() + rounding
    return int(members[near.argmax()])


def _best_order(tree: Tree, stage: NDArray[np.float64]) -> tuple[int, float]:
    """Return the cell of the first stage whose distances agree best with the stages.

    All cells of the first stage are ranked by the correlation of distance and stage, in O(N).
    The share of ordered pairs is computed for the best of them.
    """
    known = np.flatnonzero(~np.isnan(stage))
    stage = stage[known]
    first = known[stage == stage.min()]
    correlations = _correlations(tree, known, stage)
    rounded = np.round(correlations[first], 9)
    order = np.argsort(-rounded, kind="stable")
    candidates = first[order[:_CANDIDATES]]
    distances = tree.block(candidates, known)
    agreements = [order_agreement(stage, row) for row in distances]
    best = int(np.argmax(agreements))
    return int(candidates[best]), agreements[best]


def order_agreement(stage: ArrayLike, time: ArrayLike) -> float:
    """Return the share of pairs from different stages whose times have the order of the stages.

    Equal times count as half. 0.5 is chance. O(n log n).

    >>> order_agreement([0, 0, 1, 2], [0.0, 1.0, 3.0, 2.0])
    0.8
    """
    from scipy.stats import kendalltau  # slow to import

    tau = float(kendalltau(stage, time).statistic)
    if np.isnan(tau):  # all times are equal
        return 0.5
    # Kendall's tau-b is (agreeing - opposed pairs) / sqrt(untied stages * untied times).
    pairs = _untied_pairs(stage)
    ratio = _untied_pairs(time) / pairs
    excess = tau * ratio**0.5
    return round((1 + excess) / 2, 12)


def _untied_pairs(values: ArrayLike) -> float:
    n = np.size(values)
    _, counts = np.unique(values, return_counts=True)
    tied = np.sum(counts.astype(float) ** 2)
    return float(n**2 - tied) / 2


def _correlations(tree: Tree, cells: NDArray[np.int64], stage: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for every point r, the correlation of d(r, i) with the stage over the cells i."""
    view = tree._view
    places = view.position[cells]
    weights = np.zeros(tree.n_nodes)
    weights[places] = 1 / len(cells)
    centered = np.zeros(tree.n_nodes)
    centered[places] = (stage - stage.mean()) / len(cells)
    mean = distance_sums(view, weights)
    squares = squared_distance_sums(view, weights)
    variance = np.maximum(squares - mean**2, _TINY)
    covariance = distance_sums(view, centered)
    spread = np.sqrt(variance) * stage.std()
    correlations = covariance / spread
    return correlations[view.position[: tree.n_points]]


def _stage_numbers(adata: "AnnData", stages: str) -> NDArray[np.float64]:
    """Return the stage of each cell as a number: the rank of its category, or its value."""
    column = column_of(adata, stages, "stages")
    if hasattr(column, "cat") and column.cat.ordered:
        numbers = np.array(column.cat.codes, float)
        numbers[numbers < 0] = np.nan
    elif column.dtype.kind in "iuf":
        numbers = np.asarray(column, float)
    else:
        raise ValueError(
            f"adata.obs[{stages!r}] has no order: make it numeric, or an ordered categorical "
            "with .cat.reorder_categories(names, ordered=True)"
        )
    present = numbers[~np.isnan(numbers)]
    if len(np.unique(present)) < 2:
        raise ValueError(f"adata.obs[{stages!r}] has fewer than two stages: leave out stages")
    return numbers
