"""What a file given to the command holds: a tree, an embedding or data."""

import re
import sys
from pathlib import Path
from typing import Any

import treerep as tr

from ..fitting.methods import TRIALS
from ..formats import DATA_FORMATS, TREE_FORMATS, read_tree
from ..formats._errors import errors_named
from ..formats._sniff import is_zarr
from ..formats._source import Source
from ..metric._matching import Wording, matched
from ._options import Reading

_ENOUGH = 1 << 16
_ONE_NAME = re.compile(rb"[^\s,;]+;\s*")
_WORDING = Wording(
    "give the tree of these data",
    "give a file of data with labels, or write the tree as .json or .npz, which keep the order of the data",
)


def read_either(path: str, reading: Reading) -> tr.Tree | tr.Embedding | tr.Metric:
    """Read a tree, an embedding or data, whichever it is."""
    what = kind_of_file(path, reading)
    if what == "tree":
        return read_tree(path, format=reading.format)
    return _read_embedding(path) if what == "embedding" else reading.read(path)


def tree_of(found: Any, *, trials: int = TRIALS, **options: Any) -> tr.Tree:
    """Return a tree as it is, and that of data by fitting it."""
    if isinstance(found, tr.Tree):
        refuse_trials(trials, "the input is a tree already")
        return found
    if isinstance(found, tr.Embedding):
        raise ValueError("it holds an embedding: give a tree, or data")
    return tr.fit(found, trials=trials, **options)


def refuse_trials(trials: int, reason: str) -> None:
    """Refuse --trials if no tree is fitted."""
    if trials != TRIALS:
        raise ValueError(f"--trials {trials} is for fitting a tree, and {reason}: leave it out")


def kind_of_file(path: str, reading: Reading) -> str:
    """Return "tree", "embedding" or "data": what was said of the file decides, then its content, then its suffix."""
    if reading.kind is not None or reading.metric is not None:
        return "data"
    if reading.format is not None and (reading.format in DATA_FORMATS) != (
        reading.format in TREE_FORMATS
    ):
        return "tree" if reading.format in TREE_FORMATS else "data"
    head = _head(path)
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
    if path != "-":
        # Of a pipe with a name, as <(...) makes, whatever is read is gone; and a folder of zarr
        # has no head.
        with errors_named(path):
            return (
                b"" if Path(path).is_fifo() or is_zarr(source := Source(path)) else source.head
            )
    peek = getattr(sys.stdin.buffer, "peek", None)  # looks without taking anything away
    return bytes(peek(_ENOUGH)) if peek else b""


def _looks_like_tree(head: bytes) -> bool:
    # A tab in front is the empty corner of a table.
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \r\n\f\v").lower()
    if text.startswith(b"#nexus"):
        return re.search(rb"begin\s+trees", text) is not None
    if text.startswith(b"<"):
        return (
            b'attr.name="steiner"' in text
        )  # any other GraphML is a graph, of which a tree is fitted exactly
    return text.startswith((b"(", b"[", b"{")) or _ONE_NAME.fullmatch(text) is not None


def _read_embedding(path: str) -> tr.Embedding:
    if path == "-":
        raise ValueError("an embedding cannot be read from standard input: give its file")
    return tr.Embedding.load(path)


def aligned(tree: tr.Metric, data: tr.Metric, names: tuple[str, str]) -> Any:
    """Return the tree, or embedding, with its points in the order of the data: by the rule of `metric.matching`."""
    return matched(tree, data, names, _WORDING)


def check_one_stdin(*paths: str) -> None:
    """Refuse to read standard input twice."""
    if paths.count("-") > 1:
        raise ValueError("only one file can be standard input: name the other")


def stem(path: str) -> str:
    """What to call a file in a title."""
    return "standard input" if path == "-" else Path(path).name
