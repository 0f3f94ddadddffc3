"""Genes that differ between the two sides of a split of the tree."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..._core.checks import check_choice
from ..._core.extras import require
from ..._core.progress import progress_bar
from ...tree.tree import Tree
from ._data import check_adata, check_key, dense
from ._genes import Genes, genes_of
from ._statistics import benjamini_hochberg, log_fold_change, rank_sum_test, welch_test
from ._storage import get_tree, params_of

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import DataFrame

_TESTS = {"wilcoxon": rank_sum_test, "t-test": welch_test}
# Genes are read in blocks of about this many numbers.
_BLOCK = 2**23


class Split(NamedTuple):
    """The cells before and after a split, seen from the root."""

    name: str
    before: NDArray[np.int64]
    after: NDArray[np.int64]


def markers(
    adata: "AnnData",
    *,
    edge: Sequence[int] | None = None,
    method: str = "wilcoxon",
    layer: str | None = None,
    use_raw: bool | None = None,
    key: str = "treerep",
    key_added: str | None = None,
    copy: bool = False,
) -> "AnnData | None":
    """Find the genes that differ between the two sides of each split of the tree.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree` and `tl.lineages`, with logarithms of normalized counts.
    edge : pair of int, optional
        Two neighboring nodes of the tree of `tl.get_tree`. The cells on the side of the second node
        are compared with all other cells. By default, every pair of neighboring lineages of
        `tl.lineages` is compared.
    method : "wilcoxon" or "t-test"
        The Mann-Whitney rank-sum test with tie correction, or Welch's t-test.
    layer, use_raw
        The genes, as in scanpy: a layer, or ``adata.raw`` if it exists and `use_raw` is not False.
    key : str
        Name of the tree.
    key_added : str, optional
        Name of the result. The default is ``f"{key}_markers"``.
    copy : bool
        Whether to return a copy with the result and leave `adata` unchanged.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    See Also
    --------
    pl.markers : Draw the genes with the largest scores.
    tl.lineages : Cut the tree into lineages.
    tl.abundance : Compare the shares of conditions in the lineages.

    Notes
    -----
    ``adata.uns[key_added]["table"]`` is a DataFrame with the columns of
    ``scanpy.get.rank_genes_groups_df``: `names`, `scores`, `logfoldchanges` (base 2), `pvals` and
    `pvals_adj` (Benjamini and Hochberg 1995, for the genes of one split). `split` is "0-1" for the
    change from lineage 0 to lineage 1, which is farther from the root. Scores are positive if the
    gene increases away from the root. Genes with large absolute scores come first.

    The tree was fitted to the same genes, so the p-values are too small. Use them to rank genes.

    O(n log n) time per gene and split, for n cells.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(np.array([[0.0, 1.0], [0.1, 0.0], [3.0, 1.0], [3.2, 0.0]]))
    >>> tr.tl.tree(adata, use_rep="X", n_clusters=2, root="0")
    >>> tr.tl.markers(adata)
    >>> adata.uns["treerep_markers"]["table"]["names"].tolist()
    ['0', '1']
    """
    check_adata(adata)
    check_choice("method", method, tuple(_TESTS))
    name = f"{key}_markers" if key_added is None else key_added
    check_key(name)
    adata = adata.copy() if copy else adata
    genes = genes_of(adata, layer, use_raw)
    splits = _lineage_splits(adata, key) if edge is None else [_edge_split(adata, key, edge)]
    params = {
        "key": key,
        "groupby": f"{key}_lineage" if edge is None else None,
        "method": method,
        "layer": layer,
        "use_raw": use_raw,
    }
    adata.uns[name] = {
        "table": _table(genes, splits, method),
        "params": {option: value for option, value in params.items() if value is not None},
    }
    return adata if copy else None


def _lineage_splits(adata: "AnnData", key: str) -> list[Split]:
    """Return the neighboring lineages."""
    column = f"{key}_lineage"
    stored = adata.uns.get(column, {})
    if column not in adata.obs or "splits" not in stored:
        raise ValueError(
            f"adata.obs has no lineages of the tree {key!r}: call treerep.tl.lineages first, or pass edge"
        )
    lineage = np.asarray(adata.obs[column].astype(str))
    found = []
    for a, b in np.asarray(stored["splits"]).tolist():
        before = np.flatnonzero(lineage == str(a))
        after = np.flatnonzero(lineage == str(b))
        if len(before) and len(after):  # a subset of the cells may lack a lineage
            found.append(Split(f"{a}-{b}", before, after))
    if not found:
        raise ValueError(
            f"adata.obs[{column!r}] has no neighboring lineages: call tl.lineages with n_clusters of at least 2"
        )
    return found


def _edge_split(adata: "AnnData", key: str, edge: Sequence[int]) -> Split:
    """Return the cells on the two sides of an edge."""
    tree = get_tree(adata, key=key)
    sides = edge_sides(tree, edge)
    before = np.flatnonzero(~sides)
    after = np.flatnonzero(sides)
    if not (len(before) and len(after)):
        raise ValueError(f"all cells are on one side of edge={tuple(edge)}: choose another edge")
    return Split("-".join(map(str, edge)), before, after)


def edge_sides(tree: Tree, edge: Sequence[int]) -> NDArray[np.bool_]:
    """Return whether each point is on the side of the second end of an edge."""
    try:
        first, second = (int(node) for node in edge)
    except (TypeError, ValueError):
        raise ValueError(f"edge must be two nodes of the tree, got {edge!r}") from None
    ends = np.sort(tree.edges, axis=1)
    if not (ends == sorted((first, second))).all(axis=1).any():
        raise ValueError(f"the tree has no edge {(first, second)}: choose a row of tree.edges")
    view = tree.rooted(first)
    start = int(np.flatnonzero(view.order == second)[0])
    below = np.zeros(tree.n_nodes, np.bool_)
    below[second] = True
    for node in view.order[start + 1 :].tolist():  # subtrees have no gaps in preorder
        if not below[view.parent[node]]:
            break
        below[node] = True
    return below[: tree.n_points]


def _table(genes: Genes, splits: list[Split], method: str) -> "DataFrame":
    """Return the tests of all genes at all splits."""
    pandas = require("pandas", "scverse")
    results: dict[str, list[Any]] = {split.name: [] for split in splits}
    with progress_bar(len(genes.names), "markers", "genes") as bar:
        for values in _gene_blocks(genes):
            for split in splits:
                first = values[split.before]
                second = values[split.after]
                test = _TESTS[method](first, second)
                change = log_fold_change(first, second)
                results[split.name].append((test.score, test.pvalue, change))
            bar.update(values.shape[1])
    tables = []
    for name, found in results.items():
        scores, pvalues, changes = (np.concatenate(part) for part in zip(*found, strict=True))
        columns = {
            "split": name,
            "names": np.asarray(genes.names, dtype=object),
            "scores": scores,
            "logfoldchanges": changes,
            "pvals": pvalues,
            "pvals_adj": benjamini_hochberg(pvalues),
        }
        order = np.argsort(-np.abs(scores), kind="stable")
        table = pandas.DataFrame(columns)
        tables.append(table.iloc[order])
    return pandas.concat(tables, ignore_index=True)


def _gene_blocks(genes: Genes) -> Iterator[NDArray[np.float64]]:
    """Yield dense blocks of genes."""
    table = genes.table
    if hasattr(table, "to_memory"):  # sparse, in a file
        table = table.to_memory()
    if issparse(table):
        table = table.tocsc()
    rows, columns = table.shape
    step = max(1, _BLOCK // max(1, rows))
    for begin in range(0, columns, step):
        block = table[:, begin : begin + step]
        values = dense(block, genes.place)
        yield values.astype(np.float64)


def marker_table(adata: "AnnData", name: str) -> "DataFrame":
    """Return the table that `markers` stored under this name."""
    if "key" not in params_of(adata, name):
        raise ValueError(f"adata.uns has no markers {name!r}: call treerep.tl.markers first")
    return adata.uns[name]["table"]
