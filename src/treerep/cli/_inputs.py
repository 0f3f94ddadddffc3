"""Read the input of a command: a tree, an embedding or data."""

import re
import sys
from pathlib import Path
from typing import TypeVar

import treerep as tr

from ..embedding.product import ProductEmbedding
from ..fitting.methods import TRIALS
from ..formats import DATA_FORMATS, TREE_FORMATS, read_tree, read_trees
from ..formats._errors import errors_named
from ..formats._sniff import is_zarr
from ..formats._source import Source
from ..metric._matching import Wording, matched
from ._options import DataReading, Reading, TreeReading, tree_options

_HEAD = 1 << 16  # bytes that identify the kind of a file
_ONE_LABEL = re.compile(rb"[^\s,;]+;\s*")
_WORDING = Wording(
    "use the tree of these data",
    "use data with labels, or write the tree as .json or .npz, which keep the order of the data",
)

Matched = TypeVar("Matched", bound=tr.Metric)


def read_either(
    path: str, reading: DataReading, *, with_tree: bool = False
) -> tr.Tree | tr.Embedding | tr.Metric:
    """Read a tree, a sum of trees, an embedding or data.

    If the command also reads another file `with_tree`, options for trees may be for that file.
    """
    kind = kind_of_file(path, reading)
    if kind == "sum":
        return tr.TreeSum(read_trees(path, **tree_options(reading)))
    if kind == "tree":
        return read_tree(path, format=reading.format, **tree_options(reading))
    if tree_options(reading) and not with_tree:
        option = next(iter(tree_options(reading))).replace("_", "-")
        raise ValueError(f"--{option} is for trees, but {path} does not contain a tree: remove it")
    if kind == "embedding":
        return _read_embedding(path)
    return reading.read(path)


def read_tree_or_sum(path: str, reading: TreeReading) -> tr.Tree | tr.TreeSum:
    """Read a tree or a sum of trees. Anything else raises an error."""
    if kind_of_file(path, Reading()) == "sum":
        return tr.TreeSum(read_trees(path, **tree_options(reading)))
    return read_tree(path, **tree_options(reading))


def read_one_tree(path: str, reading: TreeReading) -> tr.Tree:
    """Read a tree. A sum of trees raises an error."""
    found = read_tree_or_sum(path, reading)
    if isinstance(found, tr.TreeSum):
        raise one_tree_error(found, path)
    return found


def one_tree_error(trees: tr.TreeSum, path: str) -> ValueError:
    """Return the error of a command for one tree that got a sum of trees."""
    return ValueError(
        f"{path} contains a sum of {len(trees.trees)} trees, but this command needs one tree: "
        "write the trees to a .nwk file with `treerep convert`, and keep one line"
    )


def as_tree(source: tr.Metric, *, trials: int, seed: int, jobs: int | None) -> tr.Tree:
    """Return a tree unchanged. Fit a tree to data."""
    if isinstance(source, tr.Tree):
        refuse_trials(trials, "the input is already a tree")
        return source
    if isinstance(source, tr.Embedding | ProductEmbedding):
        raise ValueError("the input is an embedding: use a tree or data instead")
    return tr.fit(source, trials=trials, rng=seed, n_jobs=jobs)


def refuse_trials(trials: int, reason: str) -> None:
    """Raise an error if --trials is set but no tree is fitted."""
    if trials != TRIALS:
        raise ValueError(f"--trials {trials} has no effect, because {reason}: remove --trials")


def kind_of_file(path: str, reading: DataReading) -> str:
    """Return "tree", "sum", "embedding" or "data", by the options, the content, or the suffix."""
    if reading.kind is not None or reading.metric is not None:
        return "data"
    if reading.format is not None and (reading.format in DATA_FORMATS) != (reading.format in TREE_FORMATS):
        return "tree" if reading.format in TREE_FORMATS else "data"
    head = _head(path)
    if b'"treerep sum of trees"' in head[:2000]:
        return "sum"
    if b'"treerep embedding"' in head[:2000]:
        return "embedding"
    if b'"treerep tree"' in head[:2000] or _looks_like_tree(head):
        return "tree"
    suffixes = [
        suffix
        for name, known in TREE_FORMATS.items()
        if name not in DATA_FORMATS
        for suffix in known.suffixes
    ]
    return "tree" if path.lower().removesuffix(".gz").endswith(tuple(suffixes)) else "data"


def _head(path: str) -> bytes:
    """Return the first bytes of a file without consuming them."""
    if path == "-":
        peek = getattr(sys.stdin.buffer, "peek", None)
        return bytes(peek(_HEAD)) if peek else b""
    with errors_named(path):
        if Path(path).is_fifo():  # a named pipe, as <(...) makes, can be read only once
            return b""
        source = Source(path)
        return b"" if is_zarr(source) else source.head


def _looks_like_tree(head: bytes) -> bool:
    # A leading tab is the empty corner of a table.
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \r\n\f\v").lower()
    if text.startswith(b"#nexus"):
        return re.search(rb"begin\s+trees", text) is not None
    if text.startswith(b"<"):  # GraphML without Steiner nodes is read as a graph
        return b'attr.name="steiner"' in text
    return text.startswith((b"(", b"[", b"{")) or _ONE_LABEL.fullmatch(text) is not None


def _read_embedding(path: str) -> tr.Embedding | ProductEmbedding:
    if path == "-":
        raise ValueError("an embedding cannot be read from standard input: name its file")
    return tr.Embedding.load(path)


def match_points(tree: Matched, data: tr.Metric, names: tuple[str, str]) -> Matched:
    """Return a tree or an embedding with its points in the order of the data."""
    reordered: Matched = matched(tree, data, names, _WORDING)
    return reordered


def check_one_stdin(*paths: str) -> None:
    """Raise an error if two inputs are standard input."""
    if paths.count("-") > 1:
        raise ValueError("only one input can be standard input: name a file for the other")


def display_name(path: str) -> str:
    """Return the name of a file for titles."""
    return "standard input" if path == "-" else Path(path).name
