"""`read_tree` and `write_tree`: detect the format of a file and call its module."""

import importlib
import io
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from .._core.memory import check_memory
from .._core.method import chosen_options
from ..tree.exchange.archives import read_tree_fields, write_tree_fields
from ..tree.tree import Tree
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


_TEXT = ("default_length", "inner_labels")
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
    "graphml": TreeFormat(
        (".graphml",), "graphml", takes=("attributes",), reads_with=("default_length",)
    ),
    "dot": TreeFormat((".dot", ".gv"), "dot", reads=False, takes=("attributes",)),
    "auspice": TreeFormat(
        (".auspice.json",), "auspice", reads=False, takes=("root", "attributes")
    ),
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
    inner_labels: bool | None = None,
) -> Tree:
    """Read one tree from a file.

    Parameters
    ----------
    path : path, or "-" for standard input
        Gzip is decompressed.
    format : str, optional
        "newick", "nexus", "npz", "json" or "graphml". By default the suffix decides or, if it
        is unknown, the content.
    default_length : float, optional
        Length of edges that have none. By default such an edge is refused.
    inner_labels : bool, optional
        False ignores the names of inner nodes in Newick and Nexus (see `Tree.from_newick`).

    A file that is not exactly one tree raises a ValueError that names the file and the place.

    Notes
    -----
    O(N) time and memory, without recursion, so depth is not limited. Lengths are exact. Only
    "npz" and "json" keep the order of the data. Points of trees in other formats are matched by
    label.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tree(Tree(2, [[0, 1]], [1.5], labels="ab"), f"{folder}/tree.nex")
    ...     read_tree(f"{folder}/tree.nex").labels
    ('a', 'b')
    """
    chosen = _chosen(format)
    with errors_named(path):
        source = Source(path)
        chosen = chosen or _guessed(source)
        if not TREE_FORMATS[chosen].reads:
            raise ValueError(f"{chosen} cannot be read: use one of {_listed(_readable())}")
        module = TREE_FORMATS[chosen].module
        reader = (
            _read_stored
            if module is None
            else importlib.import_module(f".trees.{module}", __package__).read
        )
        given = {"default_length": default_length, "inner_labels": inner_labels}
        options = chosen_options(chosen, TREE_FORMATS[chosen].reads_with, given)
        tree: Tree = reader(source, **options) if module else reader(source, chosen == "npz")
        return tree


def write_tree(
    tree: Tree,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    root: int | str | None = None,
    attributes: Attributes | None = None,
) -> None:
    """Write a tree to a file, whole or not at all.

    Parameters
    ----------
    path : path, or "-" for standard output
        A path that ends in .gz is compressed.
    format : str, optional
        One of `TREE_FORMATS`. By default the suffix decides.
    root : node id or label, optional
        The root, for formats that have one (Newick, Nexus, auspice, iTOL): see `Tree.newick`.
    attributes : mapping of names to one value per data point (a DataFrame, say), optional
        (GraphML, DOT, auspice and iTOL only) Groups, numbers or colors. None and NaN are
        missing values. Columns of a DataFrame whose index has the labels are matched by label.

    The tables of iTOL are written beside the tree: see `trees/itol.py`. All files are written,
    or none. A file is replaced only if it is such a table itself.

    Notes
    -----
    O(N) time, without recursion. Lengths are written so that they read back exactly.

    Examples
    --------
    >>> write_tree(Tree(2, [[0, 1]], [1.5], labels="ab"), "-", format="newick")
    (b:1.5)a;
    """
    name = os.fspath(path)
    chosen = _chosen(format) or _by_suffix(name)
    if chosen is None:
        raise ValueError(
            f"{name}: the suffix does not match a format: pass format= one of {_listed(TREE_FORMATS)}"
        )
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


def _contents(tree: Tree, chosen: str, name: str, options: dict[str, Any]) -> dict[str, bytes]:
    """Return the content of each file. The tree itself is last."""
    module = TREE_FORMATS[chosen].module
    if module is None:
        buffer = io.BytesIO()
        write_tree_fields(tree, buffer, chosen == "npz")
        return {name: buffer.getvalue()}
    writer = importlib.import_module(f".trees.{module}", __package__).write
    texts = (
        writer(tree, name, **options) if chosen == "itol" else {name: writer(tree, **options)}
    )
    try:
        return {file: text.encode("utf-8") for file, text in texts.items()}
    except UnicodeEncodeError as error:
        wrong = error.object[error.start]
        raise ValueError(
            f"{name}: UTF-8 cannot encode {wrong!r} in a label: rename the point"
        ) from error


def _chosen(format: str | None) -> str | None:  # noqa: A002
    if format is not None and format not in TREE_FORMATS:
        raise ValueError(f"format must be one of {_listed(TREE_FORMATS)}, got {format!r}")
    return format


def _by_suffix(name: str) -> str | None:
    """Return the format with a matching suffix, the longest if there are several."""
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
        return Tree(**fields)
    except (ValueError, TypeError) as error:
        raise ValueError(f"the file is damaged: {error}") from error
