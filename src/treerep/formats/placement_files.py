"""`read_placements` and `write_placements`: files of phylogenetic placements."""

import os

from .._core.io.files import as_utf8
from ..placement.placements import Placements
from ._errors import errors_named
from ._source import Source
from ._target import write_targets
from .placements import jplace


def write_placements(placements: Placements, path: str | os.PathLike[str]) -> None:
    """Write placements to a jplace file, version 3.

    Parameters
    ----------
    placements : Placements
        The places of new points in a tree.
    path : str or path
        A file, or "-" for standard output. If the name ends in .gz, the file is compressed.

    See Also
    --------
    placements : Find places.
    formats.read_placements : Read a jplace file.

    Notes
    -----
    Programs such as gappa, guppy and iTOL read jplace files. Data points inside the tree are
    written as leaves at distance 0. New points without labels get the labels n, n+1, ... A file
    is never left incomplete.

    References
    ----------
    F. A. Matsen, N. G. Hoffman, A. Gallagher and A. Stamatakis, "A format for phylogenetic
    placements", PLoS ONE 7 (2012), e31009.

    Examples
    --------
    >>> import tempfile
    >>> import treerep as tr
    >>> star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels="abc")
    >>> found = tr.placements(star, [[3.5, 4.5, 1.5]], labels=["new"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_placements(found, f"{folder}/found.jplace")
    ...     read_placements(f"{folder}/found.jplace").attached().newick()
    '(a:1.0,b:2.0,(c:1.0,new:0.5):2.0);'
    """
    name = os.fspath(path)
    write_targets({name: as_utf8(jplace.write(placements), name)})


def read_placements(path: str | os.PathLike[str], *, negative_lengths: str = "error") -> Placements:
    """Read placements from a jplace file of version 1, 2 or 3.

    Parameters
    ----------
    path : str or path
        A file of any program, or "-" for standard input. Gzip is decompressed.
    negative_lengths : {"error", "zero"}
        Whether negative lengths raise an error or become 0.

    Returns
    -------
    Placements
        The places of each new point in order of decreasing weight. `errors` is NaN unless the
        file was written by `write_placements`.

    See Also
    --------
    formats.write_placements : Write a jplace file.
    Placements.attached : Add the points to the tree.

    Notes
    -----
    The tree is read by the rules of `Tree.from_newick`, and its edges are found by their numbers
    in braces. Leaves without names are named by these numbers, as in "{3}". The tree has no edge
    above its root: a place there becomes a place at the root, and its distance from the root is
    added to `pendant`.

    An entry with several names becomes several points at the same places. Points may share a name,
    but `Placements.attached` needs different names. Columns that `Placements` does not have, such
    as `classification`, are not read. A place may be beyond the end of its edge by 0.00001 plus
    0.1% of the edge, because programs round lengths. It becomes the end of the edge.

    Examples
    --------
    >>> import tempfile
    >>> import treerep as tr
    >>> found = tr.placements(tr.Tree(2, [[0, 1]], [4.0], labels="ab"), [[3.0, 2.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_placements(found, f"{folder}/found.jplace")
    ...     read_placements(f"{folder}/found.jplace").pendant
    array([[0.5]])
    """
    with errors_named(path):
        return jplace.read(Source(path).exact_text(), negative_lengths)
