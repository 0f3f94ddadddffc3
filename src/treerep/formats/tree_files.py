"""`read_tree` and `write_tree`: detect the format of a file and call its module."""

import importlib
import io
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from .._core.memory import check_memory
from .._core.method import chosen_options
from ..tree.exchange.archives import read_tree_fields, write_tree_fields
from ..tree.exchange.sum_files import pack_trees, unpack_trees
from ..tree.tree import Tree
from ..tree.tree_sum import TreeSum
from ._errors import errors_named
from ._node_attributes import Attributes, check_attributes
from ._source import Source
from ._target import write_targets


class TreeFormat(NamedTuple):
    """A format: the facts needed before its module is imported."""

    suffixes: tuple[str, ...]
    module: str | None  # in `trees`; None for the formats of Tree.save
    reads: bool = True
    takes: tuple[str, ...] = ()  # options of `write_tree`
    reads_with: tuple[str, ...] = ()  # options of `read_tree`


_TEXT = ("default_length", "inner_labels", "negative_lengths")
# Formats of phylogenies, in which data points are leaves.
_LEAVES = frozenset({"newick", "nexus", "itol"})
#: Formats that hold several trees.
SEVERAL_TREES = ("newick", "nexus", "npz")
#: The formats by name.
TREE_FORMATS: dict[str, TreeFormat] = {
    "newick": TreeFormat(
        (".nwk", ".newick", ".nw", ".treefile", ".tree", ".tre"),
        "newick",
        takes=("root",),
        reads_with=_TEXT,
    ),
    "nexus": TreeFormat((".nex", ".nexus", ".nxs"), "nexus", takes=("root",), reads_with=_TEXT),
    "npz": TreeFormat((".npz",), None),
    "json": TreeFormat((".json",), None),
    "graphml": TreeFormat((".graphml",), "graphml", takes=("attributes",), reads_with=("default_length",)),
    "auspice": TreeFormat((".auspice.json",), "auspice", reads=False, takes=("root", "attributes")),
    "itol": TreeFormat((".itol.nwk",), "itol", reads=False, takes=("root", "attributes")),
}
_JSON_BYTES = 25  # of memory, per byte of parsed JSON
# Suffixes used by both Newick and Nexus. The content decides.
_UNSURE = (".tree", ".tre")


def read_tree(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    default_length: float | None = None,
    inner_labels: str | None = None,
    negative_lengths: str | None = None,
) -> Tree:
    """Read one tree from a file.

    Parameters
    ----------
    path : str or path
        A file, or "-" for standard input. Gzip is decompressed.
    format : str, optional
        "newick", "nexus", "npz", "json" or "graphml". By default the extension determines the
        format, or the content if the extension is unknown.
    default_length : float, optional
        Length of edges without a length. By default a missing length raises an error.
    inner_labels : {"clades", "points", "ignore"}, optional
        (Newick and Nexus only) How to read the names of internal nodes: see `Tree.from_newick`.
    negative_lengths : {"error", "zero"}, optional
        (Newick and Nexus only) Whether negative lengths raise an error or become 0.

    Returns
    -------
    Tree
        The tree. In "npz" and "json", the points are in the order of the data. Points of trees
        in other formats are matched to data by label.

    Raises
    ------
    ValueError
        If the file does not hold exactly one tree. The message names the file and the position.

    See Also
    --------
    formats.write_tree : Write a tree.
    Tree.from_newick : Read a tree from Newick text.
    formats.read_trees : Read all trees of a file.
    TreeSum.load : Read a sum of trees.
    formats.read : Read distances, points or a graph.

    Notes
    -----
    O(N) time and memory, without recursion, so the depth is not limited. Lengths are read
    exactly.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tree(Tree(2, [[0, 1]], [1.5], labels="ab"), f"{folder}/tree.nex")
    ...     read_tree(f"{folder}/tree.nex").labels
    ('a', 'b')
    """
    given = {
        "default_length": default_length,
        "inner_labels": inner_labels,
        "negative_lengths": negative_lengths,
    }
    chosen = _chosen(format)
    with errors_named(path):
        source = Source(path)
        chosen = chosen or _guessed(source)
        if not TREE_FORMATS[chosen].reads:
            raise ValueError(f"{chosen} cannot be read: use one of {_listed(_readable())}")
        module = TREE_FORMATS[chosen].module
        reader = (
            _read_stored if module is None else importlib.import_module(f".trees.{module}", __package__).read
        )
        options = chosen_options(chosen, TREE_FORMATS[chosen].reads_with, given)
        tree: Tree = reader(source, **options) if module else reader(source, chosen == "npz")
        return tree


def read_trees(
    path: str | os.PathLike[str],
    *,
    default_length: float | None = None,
    inner_labels: str = "clades",
    negative_lengths: str = "error",
) -> list[Tree]:
    r"""Read all trees of a file, such as bootstrap replicates or a sum of trees.

    Parameters
    ----------
    path : str or path
        A Newick or Nexus file, a .npz file from `TreeSum.save`, or "-" for standard input. Gzip is
        decompressed.
    default_length : float, optional
        (Newick and Nexus only) Length of edges without a length. By default a missing length
        raises an error.
    inner_labels : {"clades", "points", "ignore"}
        (Newick and Nexus only) How to read the names of internal nodes: see `Tree.from_newick`.
    negative_lengths : {"error", "zero"}
        (Newick and Nexus only) Whether negative lengths raise an error or become 0.

    Returns
    -------
    list of Tree
        The trees in the order of the file. Points are matched by label. `TreeSum` of this list
        is the sum that `write_tree` wrote.

    See Also
    --------
    formats.read_tree : Read one tree.
    TreeSum : A sum of trees.
    consensus : Return the tree on which several trees agree.
    Tree.with_support : Count how many trees contain each split.

    Notes
    -----
    O(N) time and memory for N nodes in all trees.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "two.nwk").write_text("(a:1,b:2,c:3);\n(c:1,a:2,b:2);\n")
    ...     read_trees(f"{folder}/two.nwk")
    [Tree(3 points, 1 Steiner node), Tree(3 points, 1 Steiner node)]
    """
    with errors_named(path):
        source = Source(path)
        chosen = _guessed(source)
        if chosen not in SEVERAL_TREES:
            raise ValueError(f"{chosen} files hold one tree: use read_tree")
        if chosen == "npz":
            texts_only = {
                "default_length": default_length,
                "inner_labels": None if inner_labels == "clades" else inner_labels,
                "negative_lengths": None if negative_lengths == "error" else negative_lengths,
            }
            chosen_options("npz", (), texts_only)
            return unpack_trees(io.BytesIO(source.content()), "the file")
        module = importlib.import_module(f".trees.{chosen}", __package__)
        trees: list[Tree] = module.read_all(
            source,
            default_length=default_length,
            inner_labels=inner_labels,
            negative_lengths=negative_lengths,
        )
        return trees


def write_tree(
    tree: Tree | TreeSum,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    root: int | str | None = None,
    attributes: Attributes | None = None,
    leaves: bool | None = None,
) -> None:
    """Write a tree, or a sum of trees, to a file.

    Parameters
    ----------
    tree : Tree or TreeSum
        The tree to write. A sum is written as Newick, Nexus or npz: all trees in one file, which
        `read_trees` reads.
    path : str or path
        A file, or "-" for standard output. If the name ends in .gz, the file is compressed.
    format : str, optional
        One of ``TREE_FORMATS``. By default the extension determines the format.
    root : int or label, optional
        (Newick, Nexus, auspice and iTOL only) The root: see `Tree.newick`.
    attributes : DataFrame or mapping, optional
        (GraphML, auspice and iTOL only) Columns of groups, numbers or colors, with one
        value per data point. None and NaN are missing values. Columns of a DataFrame whose
        index has the labels are matched by label.

    leaves : bool, optional
        Whether data points inside the tree become leaves at distance 0: see `Tree.with_leaves`.
        The default is True for Newick, Nexus and iTOL, because other programs lose taxa inside
        a tree. Distances do not change.

    See Also
    --------
    formats.read_tree : Read a tree.
    formats.read_trees : Read the trees of a sum.
    Tree.newick : Return a tree as Newick text.
    Tree.to_networkx : Convert a tree to networkx.

    Notes
    -----
    O(N) time, without recursion. Lengths are written exactly. A file is never left incomplete.
    For iTOL, tables of labels and attributes are written beside the tree. An existing file is
    overwritten by a table only if it is an iTOL table.

    Examples
    --------
    >>> write_tree(Tree(2, [[0, 1]], [1.5], labels="ab"), "-", format="newick")
    (a:0.0,b:1.5);
    >>> write_tree(Tree(2, [[0, 1]], [1.5], labels="ab"), "-", format="newick", leaves=False)
    (b:1.5)a;
    """
    name = os.fspath(path)
    chosen = _chosen(format) or _by_suffix(name)
    if chosen is None:
        raise ValueError(
            f"{name}: the suffix does not match a format: pass format= one of {_listed(TREE_FORMATS)}"
        )
    if isinstance(tree, TreeSum) and chosen not in SEVERAL_TREES:
        raise ValueError(f"{chosen} holds one tree: write a sum of trees as one of {_listed(SEVERAL_TREES)}")
    given = {
        "root": root,
        "attributes": None if attributes is None else check_attributes(attributes, tree),
    }
    for option, value in given.items():
        if value is not None and option not in TREE_FORMATS[chosen].takes:
            others = [other for other, known in TREE_FORMATS.items() if option in known.takes]
            raise ValueError(
                f"{chosen} cannot store {option}: leave it out, or choose one of {_listed(others)}"
            )
    options = {option: value for option, value in given.items() if value is not None}
    if leaves or (leaves is None and chosen in _LEAVES):
        tree = _with_leaves(tree, root)
        options.pop("root", None)
    contents = _contents(tree, chosen, name, options)
    if chosen == "itol":
        from .trees.itol import check_companions

        check_companions(*(file for file in contents if file != name))
    write_targets(contents)


def files_beside(path: str, format: str | None) -> tuple[str, ...]:  # noqa: A002
    """Return the additional files that `write_tree` writes with a tree without attributes.

    >>> files_beside("tree.nwk", None), files_beside("tree.itol.nwk", None)
    ((), ('tree.labels.tsv',))
    """
    if (_chosen(format) or _by_suffix(path)) != "itol":
        return ()
    from .trees.itol import check_companions, companions

    labels, _ = companions(path)
    check_companions(labels)
    return (labels,)


def writes_leaves(path: str, format: str | None) -> bool:  # noqa: A002
    """Return whether `write_tree` makes all data points leaves by default.

    >>> writes_leaves("tree.nwk", None), writes_leaves("tree.json", None)
    (True, False)
    """
    return (_chosen(format) or _by_suffix(path)) in _LEAVES


def holds_several(path: str, format: str | None) -> bool:  # noqa: A002
    """Return whether `write_tree` can write a sum of trees to a path.

    >>> holds_several("tree.nwk", None), holds_several("tree.json", None)
    (True, False)
    """
    return (_chosen(format) or _by_suffix(path)) in SEVERAL_TREES


def _with_leaves(tree: Tree | TreeSum, root: int | str | None) -> Tree | TreeSum:
    """Return a tree, or each tree of a sum, whose data points are leaves."""
    if isinstance(tree, TreeSum):
        return TreeSum(_rooted(part, root).with_leaves() for part in tree.trees)
    return _rooted(tree, root).with_leaves()


def _rooted(tree: Tree, root: int | str | None) -> Tree:
    return tree if root is None else tree.with_root(root)


def _contents(tree: Tree | TreeSum, chosen: str, name: str, options: dict[str, Any]) -> dict[str, bytes]:
    """Return the content of each file. The tree itself is last."""
    module = TREE_FORMATS[chosen].module
    if module is None:
        buffer = io.BytesIO()
        if isinstance(tree, TreeSum):
            pack_trees(tree.trees, buffer)
        else:
            write_tree_fields(tree, buffer, chosen == "npz")
        return {name: buffer.getvalue()}
    writers = importlib.import_module(f".trees.{module}", __package__)
    if isinstance(tree, TreeSum):
        texts = {name: writers.write_all(tree.trees, **options)}
    elif chosen == "itol":
        texts = writers.write(tree, name, **options)
    else:
        texts = {name: writers.write(tree, **options)}
    try:
        return {file: text.encode("utf-8") for file, text in texts.items()}
    except UnicodeEncodeError as error:
        wrong = error.object[error.start]
        raise ValueError(f"{name}: UTF-8 cannot encode {wrong!r} in a label: rename the point") from error


def _chosen(format: str | None) -> str | None:  # noqa: A002
    if format is not None and format not in TREE_FORMATS:
        raise ValueError(f"format must be one of {_listed(TREE_FORMATS)}, got {format!r}")
    return format


def _by_suffix(name: str) -> str | None:
    """Return the format whose suffix matches. Among several, the longest suffix wins."""
    plain = name.lower().removesuffix(".gz")
    found = [
        (len(suffix), chosen)
        for chosen, known in TREE_FORMATS.items()
        for suffix in known.suffixes
        if plain.endswith(suffix)
    ]
    return max(found)[1] if found else None


def _guessed(source: Source) -> str:
    """Return the format, determined by the suffix or by the content."""
    chosen = _by_suffix(source.name)
    if chosen is None or source.name.lower().removesuffix(".gz").endswith(_UNSURE):
        return _by_content(source)
    return chosen


def _by_content(source: Source) -> str:
    """Return the format, determined by the first bytes."""
    head = source.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    marks = {
        b"PK\x03\x04": "npz",
        b"#NEXUS": "nexus",
        b"<": "graphml",
        b"{": "json",
        b"(": "newick",
        b"[": "newick",
    }
    for mark, chosen in marks.items():
        if head[: len(mark)].upper() == mark:
            return chosen
    if head.rstrip().endswith(b";"):
        return "newick"  # a tree of one point is a label and a semicolon
    raise ValueError(
        f"neither suffix nor content matches a format: pass format= one of {_listed(_readable())}"
    )


def _readable() -> list[str]:
    return [name for name, known in TREE_FORMATS.items() if known.reads]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _read_stored(source: Source, packed: bool) -> Tree:
    content = source.content()
    if not packed:
        check_memory(
            _JSON_BYTES * len(content),
            f"a tree in {len(content):,} bytes of JSON",
            "save it as npz",
        )
    fields = read_tree_fields(io.BytesIO(content), "it", packed)
    try:
        return Tree._of_archive(fields)
    except (ValueError, TypeError) as error:
        raise ValueError(f"the file is damaged: {error}") from error
