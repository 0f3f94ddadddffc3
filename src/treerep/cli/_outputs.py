"""Print and write the output of commands: results to stdout, notes to stderr."""

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

import typer
from rich.console import Console

from .. import __version__
from .._core.io.files import as_utf8, atomic_write, check_writable, is_stream
from .._core.io.printing import printable
from ..formats import TREE_FORMATS
from ..formats._target import write_targets
from ..formats.tree_files import files_beside, holds_several, writes_leaves
from ..metric.base import Metric
from ..metric.sequences.metric import SequenceMetric
from ..scores.score import Score
from ..tree.operations.leaves import points_inside
from ..tree.tree import Tree
from ..tree.tree_sum import TreeSum

TREE_SUFFIXES = tuple(suffix for known in TREE_FORMATS.values() for suffix in known.suffixes)
_PIPE_WIDTH = 200  # columns if the output is not a terminal, so that a row stays a line


def console(*, stderr: bool = False) -> Console:
    """Return a console. In pipes and files it prints each row of a table on one line."""
    terminal = Console(highlight=False, stderr=stderr)
    # Not `is_terminal`, which FORCE_COLOR sets for pipes as well.
    if terminal.file.isatty():
        return terminal
    return Console(highlight=False, stderr=stderr, width=_PIPE_WIDTH)


def print_note(text: str) -> None:
    """Print a line to stderr. Control characters in labels are shown as escapes."""
    typer.echo(printable(text), err=True)


def note_leaves(tree: Tree | TreeSum, path: str, to: str | None) -> None:
    """Print a note if points inside a tree were written as leaves."""
    if not writes_leaves(path, to):
        return
    trees = tree.trees if isinstance(tree, TreeSum) else (tree,)
    added = sum(len(points_inside(one.edges, one.n_points, one.root)) for one in trees)
    if added:
        form = "a leaf, with an edge" if added == 1 else "leaves, with edges"
        where = "trees" if isinstance(tree, TreeSum) else "tree"
        print_note(f"{plural(added, 'point')} inside the {where}: written as {form} of length 0")


def note_alphabet(metric: Metric) -> None:
    """Print the alphabet and the model of sequences."""
    if isinstance(metric, SequenceMetric):
        title = metric.packed.alphabet.title
        print_note(
            f"{plural(len(metric), 'sequence')} of {plural(metric.sites, 'site')}, read as {title} "
            f"with the model {metric.model}"
        )


def sizes_text(tree: Metric, nodes: int) -> str:
    """Return the numbers of points, trees and nodes: 8 points, 2 trees, 28 nodes."""
    trees = [plural(len(tree.trees), "tree")] if isinstance(tree, TreeSum) else []
    return ", ".join([plural(len(tree), "point"), *trees, plural(nodes, "node")])


def size_fields(tree: Metric, nodes: int) -> dict[str, object]:
    """Return the numbers of points, trees and nodes for JSON."""
    trees = {"trees": len(tree.trees)} if isinstance(tree, TreeSum) else {}
    return {"points": len(tree), **trees, "nodes": nodes}


def newick_text(tree: Tree | TreeSum) -> str:
    """Return a tree as Newick, or a sum of trees as lines of Newick."""
    trees = tree.trees if isinstance(tree, TreeSum) else (tree,)
    return "\n".join(one.newick() for one in trees)


def print_json(fields: Mapping[str, object]) -> None:
    """Print one JSON object, with the version. Infinity and NaN become null."""
    typer.echo(
        json.dumps({**{name: _plain(value) for name, value in fields.items()}, "version": __version__})
    )


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def score_fields(scores: Mapping[str, Score]) -> dict[str, object]:
    """Return scores as numbers, whether all are exact, and 95% intervals of the others."""
    intervals = {name: [score.low, score.high] for name, score in scores.items() if not score.exact}
    fields: dict[str, object] = {**scores, "exact": not intervals}
    return {**fields, "intervals": intervals} if intervals else fields


def check_tree_output(path: str, to: str | None, source: str) -> None:
    """Raise an error before the work begins if a tree cannot be written to a path."""
    check_outputs(path, *files_beside(path, to), source=source)
    if to is None and path != "-":
        check_tree_suffix(path)


def check_tree_suffix(path: str) -> None:
    """Raise an error if the suffix of a path is not that of a tree format."""
    if not path.lower().removesuffix(".gz").endswith(TREE_SUFFIXES):
        raise ValueError(
            f"{path}: unknown suffix for a tree: "
            f"use one of {', '.join(TREE_SUFFIXES)}, or set the format with --to"
        )


def check_sum_output(path: str, to: str | None) -> None:
    """Raise an error if a format cannot hold several trees."""
    is_newick = path == "-" and to is None
    if not is_newick and not holds_several(path, to):
        raise ValueError(f"{path}: the format holds one tree: write a sum of trees as .nwk, .nex or .npz")


def check_outputs(*paths: str | None, source: str, table: str | None = None) -> None:
    """Raise an error for a path that cannot be written or is already in use.

    Several outputs may share a device or a pipe.
    """
    taken = {Path(path).resolve() for path in (source, table) if path and path != "-"}
    for path in paths:
        if path is None or path == "-":
            continue
        if Path(path).is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file in the folder")
        check_writable(path)
        if is_stream(path):
            continue
        if Path(path).resolve() in taken:
            raise ValueError(f"{path} would be overwritten: choose another name for the output")
        taken.add(Path(path).resolve())
        if not Path(path).resolve().parent.is_dir():
            raise FileNotFoundError(f"{path}: the folder does not exist: create it first")


def open_output(path: str, mode: str = "w") -> AbstractContextManager[IO[Any]]:
    """Open a file that appears when it is complete, or standard output for -."""
    if path == "-":
        return nullcontext(sys.stdout.buffer if "b" in mode else sys.stdout)
    return atomic_write(path, mode)


def write_outputs(texts: Iterable[tuple[str, str]]) -> None:
    """Write texts to several files, all of them or none.

    - is standard output, which may receive several texts.
    """
    contents: dict[str, bytes] = {}
    for path, text in texts:
        contents[path] = contents.get(path, b"") + as_utf8(text, path)
    write_targets(contents)


def plural(number: int, noun: str) -> str:
    """Return a number and its noun: 1 point, 1,000 points."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_number(value: float | None, digits: int = 4) -> str:
    """Return a rounded number, or a dash for None."""
    return "-" if value is None else f"{value:.{digits}g}"


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines of text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
