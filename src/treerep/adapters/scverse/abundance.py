"""Differential abundance: whether conditions have different shares of cells in the lineages."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ._data import check_adata, check_key, column_of
from ._statistics import benjamini_hochberg, proportion_test

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import DataFrame


def abundance(
    adata: "AnnData",
    condition: str,
    *,
    sample: str | None = None,
    groupby: str | None = None,
    key: str = "treerep",
    key_added: str | None = None,
    copy: bool = False,
) -> "AnnData | None":
    """Test in every lineage whether the share of cells differs between conditions.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree` and `tl.lineages`.
    condition : str
        Column of `obs` with the conditions, for example treatment and control.
    sample : str, optional
        Column of `obs` with the samples (donors, animals), each of one condition. Samples are
        then the replicates. Without samples, cells are the replicates.
    groupby : str, optional
        Column of `obs` with the groups to test. The default is the lineages of the tree.
    key : str
        Name of the tree.
    key_added : str, optional
        Name of the result. The default is ``f"{key}_abundance"``.
    copy : bool
        Whether to return a copy with the result and leave `adata` unchanged.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    See Also
    --------
    tl.lineages : Cut the tree into lineages.
    tl.markers : Find genes that differ between neighboring lineages.

    Notes
    -----
    ``adata.uns[key_added]["table"]`` is a DataFrame with a row per lineage and condition: `share`
    is the share of the condition's cells that are in the lineage, and `share_others` that of all
    other cells. If there are two conditions, only the second is listed. `pvals_adj` is adjusted for all rows
    (Benjamini and Hochberg 1995).

    Without `sample`, Fisher's exact test counts every cell as independent. Cells of one sample
    are not independent, so these p-values are too small. With `sample`, Welch's t-test compares
    arcsin(sqrt(share)) of the samples; shares are then means over samples. Each side needs at
    least two samples. Shares add up to 1, so an increase in one lineage lowers the others.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(obsm={"X_pca": np.r_[np.zeros((4, 1)), np.ones((4, 1))]})
    >>> adata.obs["drug"] = list("nnnynyyy")
    >>> tr.tl.tree(adata, n_clusters=2)
    >>> tr.tl.abundance(adata, "drug")
    >>> adata.uns["treerep_abundance"]["table"]["share"].tolist()
    [0.25, 0.75]
    """
    check_adata(adata)
    name = f"{key}_abundance" if key_added is None else key_added
    check_key(name)
    adata = adata.copy() if copy else adata
    column = f"{key}_lineage" if groupby is None else groupby
    if groupby is None and column not in adata.obs:
        raise ValueError(
            f"adata.obs has no lineages of the tree {key!r}: call treerep.tl.lineages first, or pass groupby"
        )
    groups = _categories(adata, column, "groupby")
    conditions = _categories(adata, condition, "condition")
    if len(conditions.categories) < 2:
        raise ValueError(f"adata.obs[{condition!r}] has fewer than two conditions")
    samples = None if sample is None else _samples(adata, sample, condition)
    params = {
        "key": key,
        "condition": condition,
        "sample": sample,
        "groupby": column,
    }
    adata.uns[name] = {
        "table": _table(groups, conditions, samples),
        "params": {option: value for option, value in params.items() if value is not None},
    }
    return adata if copy else None


def _categories(adata: "AnnData", name: str, argument: str) -> Any:
    """Return the categories and codes of a column."""
    column = column_of(adata, name, argument).astype("category")
    used = column.cat.remove_unused_categories()
    return used.cat


def _samples(adata: "AnnData", sample: str, condition: str) -> NDArray[np.int64]:
    """Return the sample of each cell, or -1. Raise an error if a sample has two conditions."""
    column = column_of(adata, sample, "sample").astype("category")
    counts = adata.obs[condition].groupby(column, observed=True).nunique()
    mixed = counts[counts > 1]
    if len(mixed):
        raise ValueError(f"sample {mixed.index[0]!r} has several conditions: each sample must have one")
    return np.asarray(column.cat.codes, np.int64)


def _table(groups: Any, conditions: Any, samples: NDArray[np.int64] | None) -> "DataFrame":
    """Return the tests of all groups and conditions."""
    of_group = np.asarray(groups.codes)
    of_condition = np.asarray(conditions.codes)
    known = (of_group >= 0) & (of_condition >= 0)
    if samples is not None:
        known &= samples >= 0
        samples = samples[known]
    rows: list[dict[str, Any]] = []
    names = list(enumerate(conditions.categories))
    for code, condition in names if len(names) > 2 else names[1:]:
        inside = of_condition[known] == code
        for number, group in enumerate(groups.categories):
            member = of_group[known] == number
            row: dict[str, Any] = {
                "group": str(group),
                "condition": str(condition),
            }
            if samples is None:
                row |= _fisher(member, inside)
            else:
                row |= _welch(member, inside, samples)
            rows.append(row)
    table = require("pandas", "scverse").DataFrame(rows)
    table["pvals_adj"] = benjamini_hochberg(table["pvals"])
    return table


def _fisher(member: NDArray[np.bool_], inside: NDArray[np.bool_]) -> dict[str, float]:
    """Compare the shares of all cells by Fisher's exact test."""
    from scipy.stats import fisher_exact

    counts = []
    shares = []
    for side in (inside, ~inside):
        size = int(side.sum())
        count = int((member & side).sum())
        counts.append([count, size - count])
        shares.append(count / max(size, 1))
    test = fisher_exact(counts)
    return {
        "share": shares[0],
        "share_others": shares[1],
        "pvals": float(test.pvalue),
    }


def _welch(
    member: NDArray[np.bool_], inside: NDArray[np.bool_], samples: NDArray[np.int64]
) -> dict[str, float]:
    """Compare the shares of samples by Welch's t-test."""
    sizes = np.bincount(samples)
    n = len(sizes)
    counts = np.bincount(samples[member], minlength=n)
    present = np.flatnonzero(sizes)
    shares = counts[present] / sizes[present]
    has_condition = np.zeros(n, np.bool_)
    has_condition[samples[inside]] = True
    chosen = has_condition[present]
    n_chosen = int(chosen.sum())
    if min(n_chosen, len(present) - n_chosen) < 2:
        raise ValueError("each condition needs at least two samples: leave out sample")
    inner = shares[chosen]
    outer = shares[~chosen]
    score, pvalue = proportion_test(outer, inner)
    return {
        "share": float(inner.mean()),
        "share_others": float(outer.mean()),
        "scores": score,
        "pvals": pvalue,
    }
