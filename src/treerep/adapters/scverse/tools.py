"""Tools for trees of cells, following scverse conventions.

Results are stored in the AnnData, and parameters in `uns[key_added]["params"]`.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..._core.checks import number_above, positive_number
from ..._core.typing import RNGLike
from ...drawing.layouts.hyperbolic import disk_embedding
from ...embedding.embed import embed as embed_tree
from ...embedding.embedding import Embedding
from ...fitting.fit import fit
from ...fitting.methods import DEFAULT, TRIALS
from ...tree.tree import Tree
from ._data import cell_position, check_adata, check_key
from ._input import tree_input
from ._roots import read_root
from ._storage import check_storage, get_tree, tree_of_cells
from .lineages import check_clusters, lineages
from .pseudotime import store_with_root

if TYPE_CHECKING:
    from anndata import AnnData


def tree(
    adata: "AnnData",
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    obsp: str | None = None,
    metric: str | None = None,
    method: str = DEFAULT,
    trials: int = TRIALS,
    balance: float | None = None,
    refine: bool = False,
    root: str | int | None = None,
    groupby: str | None = None,
    stages: str | None = None,
    n_clusters: int | None = None,
    key_added: str = "treerep",
    rng: RNGLike = 0,
    n_jobs: int | None = None,
    copy: bool = False,
) -> "AnnData | None":
    """Fit a tree to the cells.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells.
    use_rep : str, optional
        The coordinates of the cells: a key of `obsm`, or "X" for the genes. The default is
        "X_pca". A sparse X is converted to a dense array if it fits in memory.
    layer : str, optional
        A layer of genes to use as coordinates.
    use_raw : bool
        Whether to use the genes of ``adata.raw`` as coordinates.
    obsp : str, optional
        A key of `obsp`, for example "distances" after ``sc.pp.neighbors``. A sparse matrix is a
        graph of neighbors, and the distance of two cells is the length of the shortest path. The
        edges have the stored lengths. If the key ends in "connectivities", they have the lengths
        1 / connectivity. The graph must be connected. A dense matrix contains all distances.
    metric : str, optional
        The metric between coordinates, as in `treerep.fit`. The default is Euclidean.
    method : str
        The method, as in `treerep.fit`.
    trials : int
        Number of trees to fit. The best is kept, as in `treerep.fit`.
    balance : float from 0 to 1, optional
        Weight of near distances, as in `treerep.fit`. On a neighbor graph, 1 gave a better order
        of cells than the default in two of four data sets, and a similar order in the others.
    refine : bool
        Whether to improve the tree by `treerep.refine`, which takes more time.
    root, groupby, stages
        The root, as in `tl.pseudotime`: a cell, a group of cells or the order of stages. If one
        is given, the stored tree has this root, and `tl.pseudotime` is called.
    n_clusters : int, optional
        If given, `lineages` is called with this number.
    key_added : str
        Name of the tree.
    rng, n_jobs
        As in `treerep.fit`.
    copy : bool
        Whether to return a copy with the results and leave `adata` unchanged.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    See Also
    --------
    tl.get_tree : Return the fitted tree.
    tl.set_tree : Store another tree of the cells.
    tl.pseudotime : Compute pseudotime along the tree.
    tl.lineages : Cut the tree into lineages.
    pl.tree : Draw the tree.

    Notes
    -----
    The cost and the exactness are those of `treerep.fit`. The function sets these fields:

    - ``adata.uns[key_added]``: the tree as arrays and as Newick text, with ``params``.
      `get_tree` reads it.
    - ``adata.obst[key_added]`` (TreeData only): the tree as a networkx DiGraph. All cells are
      leaves. A cell that is an internal node of the fitted tree becomes a leaf at distance 0
      from this node. Edges have ``length``, and nodes have ``depth``.
    - ``adata.obs[f"{key_added}_pseudotime"]`` if there is a root.
    - ``adata.obs[f"{key_added}_lineage"]`` if `n_clusters` is given.

    An existing tree of the same name is replaced. Its pseudotime, lineages and coordinates
    (``obsm[f"X_{key_added}"]``) are removed, unless they have custom names.

    Edges between equal cells in a graph of `obsp` have 1e-9 of the length of the longest edge.
    In ``benchmarks/biology/cells.py``, trees of neighbor graphs order cells at least as well as
    trees of `X_pca` on all four sets with a known order. Their clusters agree less with known
    types on six of seven sets, twice by only 0.01. Therefore `X_pca` is the default.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> cells = tr.datasets.branching_cells(200, levels=2)
    >>> adata = anndata.AnnData(obsm={"X_pca": cells.points})
    >>> tr.tl.tree(adata, root=int(cells.pseudotime.argmin()), n_clusters=3)
    >>> list(adata.obs)
    ['treerep_pseudotime', 'treerep_lineage']
    """
    check_adata(adata)
    check_key(key_added)
    adata = adata.copy() if copy else adata
    check_storage(adata, key_added)
    choice = read_root(adata, root, groupby, stages)
    if n_clusters is not None:
        check_clusters(adata, n_clusters)
    count = positive_number(trials, "trials")
    space, source = tree_input(adata, use_rep=use_rep, layer=layer, use_raw=use_raw, obsp=obsp, metric=metric)
    fitted = fit(space, method=method, trials=count, balance=balance, rng=rng, n_jobs=n_jobs)
    if refine:
        from ...refinement.refine import refine as refine_tree  # slow to import

        fitted = refine_tree(fitted, space, rng=rng, n_jobs=n_jobs)
    params = {
        **source,
        "method": method,
        "trials": count,
        "balance": balance,
        "refine": refine,
        "rng": rng if isinstance(rng, int | np.integer) else None,
    }
    store_with_root(adata, fitted, key_added, choice, params)
    if n_clusters is not None:
        lineages(adata, n_clusters=n_clusters, key=key_added)
    return adata if copy else None


def set_tree(
    adata: "AnnData",
    tree: Tree,
    *,
    root: str | int | None = None,
    groupby: str | None = None,
    stages: str | None = None,
    key_added: str = "treerep",
    copy: bool = False,
) -> "AnnData | None":
    """Store a tree of the cells from another source, for use by all other tools.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells.
    tree : Tree
        A tree whose labels contain the names of all cells. If it has more points, the part that
        the cells span is stored. The points of a tree without labels are the cells in order,
        with a warning unless the cells are named 0, 1, ...
    root, groupby, stages, key_added, copy
        As in `tl.tree`. A root of the tree itself is kept only in the Newick text.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    See Also
    --------
    tl.tree : Fit a tree to the cells.
    tl.get_tree : Return the stored tree.
    formats.read_tree : Read a tree from a file.

    Notes
    -----
    O(N) time and memory. The function sets and removes the same fields as `tl.tree`.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(np.array([[0.0], [1.0], [3.0]]))
    >>> tr.tl.set_tree(adata, tr.Tree.from_newick("(0:1,2:2,1:0);"), root="0")
    >>> adata.obs["treerep_pseudotime"].tolist()
    [0.0, 1.0, 3.0]
    """
    check_adata(adata)
    check_key(key_added)
    adata = adata.copy() if copy else adata
    check_storage(adata, key_added)
    choice = read_root(adata, root, groupby, stages)
    store_with_root(adata, tree_of_cells(adata, tree), key_added, choice, {})
    return adata if copy else None


def embed(
    adata: "AnnData",
    *,
    key: str = "treerep",
    dim: int = 2,
    scale: float | str = "auto",
    root: str | int | None = None,
    key_added: str | None = None,
    copy: bool = False,
) -> "AnnData | None":
    """Embed the tree in hyperbolic space and store Poincaré coordinates of the cells.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree`.
    key : str
        Name of the tree.
    dim : int
        Dimension of the space.
    scale : float or "auto"
        Hyperbolic length of one unit of the tree. "auto" is the scale of `treerep.draw`, for
        pictures. At larger scales, hyperbolic distances are closer to tree distances, and the
        cells are closer to the boundary.
    root : str or int, optional
        Name or position of the cell at the origin. The default is the center of the tree.
    key_added : str, optional
        Key of `obsm` for the coordinates, and of `uns` for the parameters. The default is
        ``f"X_{key}"``, so that ``sc.pl.embedding(adata, basis="treerep")`` shows the cells.
    copy : bool
        Whether to return a copy with the result and leave `adata` unchanged.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    See Also
    --------
    pl.disk : Draw the embedded tree.
    tl.tree : Fit a tree to the cells.
    treerep.embed : Embed a tree, with more options.

    Notes
    -----
    O(N dim) time, as `treerep.embed`. Sarkar, Graph Drawing 2011.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(obsm={"X_pca": tr.datasets.branching_cells(50).points})
    >>> tr.tl.tree(adata)
    >>> tr.tl.embed(adata)
    >>> adata.obsm["X_treerep"].shape
    (50, 2)
    """
    check_adata(adata)
    adata = adata.copy() if copy else adata
    start = None if root is None else cell_position(adata, root)
    column = f"X_{key}" if key_added is None else key_added
    check_key(column)
    placed = place_tree(get_tree(adata, key=key), dim=dim, scale=scale, root=start)
    adata.obsm[column] = placed.poincare[: adata.n_obs]
    name = None if start is None else adata.obs_names[start]
    params = {"key": key, "dim": dim, "scale": placed.scale, "root": name}
    adata.uns[column] = {"params": {option: value for option, value in params.items() if value is not None}}
    return adata if copy else None


def place_tree(tree: Tree, *, dim: int, scale: float | str, root: int | None) -> Embedding:
    """Embed a tree at a scale. "auto" is the scale of its picture."""
    if isinstance(scale, str) and scale == "auto":
        scale = disk_embedding(tree, root).scale
    factor = number_above(0, scale, "scale must be a positive number or 'auto'")
    return embed_tree(tree, dim=dim, scale=factor, root=root)
