"""`treerep place`: add new points to a tree."""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import treerep as tr

from ...formats import read, write_placements, write_tree
from ...formats._errors import errors_named
from ...formats._sniff import guess_format
from ...formats._source import Source
from ...formats.data.table import read_table
from .._command_options import PlaceOptions
from .._inputs import check_one_stdin, read_one_tree
from .._outputs import (
    check_outputs,
    check_tree_output,
    note_leaves,
    plural,
    print_json,
    print_note,
)


def place_file(options: PlaceOptions) -> None:
    """Place points, write the larger tree or the places, and report their number."""
    check_one_stdin(options.tree, options.source)
    output = options.output
    to_places = output.lower().removesuffix(".gz").endswith(".jplace") and options.to is None
    if to_places:
        check_outputs(output, source=options.source)
    else:
        check_tree_output(output, options.to, options.source)
    tree = read_one_tree(options.tree, options.reading)
    new = _new_points(tree, options)
    rows = new.rows
    chosen: dict[str, Any] = {
        "labels": new.labels,
        "data": new.data,
        "nearest": options.nearest,
        "power": options.power,
        "missing": options.missing,
        "n_jobs": options.jobs,
    }
    # The columns are in the order of the tree now.
    known = tree if new.labels is None else tree._settled()
    begin = time.perf_counter()
    fields: dict[str, object] = {"output": output}
    if to_places:
        found = tr.placements(known, rows, candidates=options.candidates, **chosen)
        write_placements(found, output)
    else:
        fields |= _write_tree(tr.place(known, rows, **chosen), options)
    seconds = time.perf_counter() - begin
    placed = plural(len(rows), "new point")
    print_note(f"{placed} in a tree of {plural(len(tree), 'point')}, {seconds:.2f} s")
    if options.json:
        sizes = {"points": len(tree), "placed": len(rows)}
        print_json({**sizes, "seconds": seconds, **fields})


def _write_tree(tree: tr.Tree, options: PlaceOptions) -> dict[str, object]:
    """Write a tree, or return it for the JSON object on standard output."""
    output = options.output
    if options.json and output == "-":
        return {"newick": tree.newick()}
    to = options.to or ("newick" if output == "-" else None)
    write_tree(tree, output, format=to)
    note_leaves(tree, output, to)
    return {}


class _NewPoints(NamedTuple):
    """The arguments of `place`."""

    rows: NDArray[np.float64] | list[str]  # distances to the points of the tree, or labels
    labels: list[str] | None
    data: tr.Metric | None = None  # old and new points


def _new_points(tree: tr.Tree, options: PlaceOptions) -> _NewPoints:
    """Read the new points from a FASTA file of old and new sequences, or from a table."""
    path = options.source
    with errors_named(path):
        # Standard input can be read only once.
        is_fasta = path != "-" and guess_format(Source(path), "points") == "fasta"
    if is_fasta:
        return _sequences(tree, options)
    for name, value in (("metric", options.metric), ("saturated", options.saturated)):
        if value is not None:
            raise ValueError(f"--{name} is for FASTA files: remove it")
    return _NewPoints(*_distances(tree, path))


def _sequences(tree: tr.Tree, options: PlaceOptions) -> _NewPoints:
    """Return the labels of the sequences that are not in the tree."""
    metric = read(options.source, metric=options.metric, saturated=options.saturated)
    old = set(tree.labels or ())
    names = [name for name in metric.labels or () if name not in old]
    if not names:
        raise ValueError(
            f"{options.source}: all sequences are in the tree: add the new sequences"
        )
    return _NewPoints(names, None, metric)


def _distances(tree: tr.Tree, path: str) -> tuple[NDArray[np.float64], list[str] | None]:
    """Return a row of distances for each new point, with columns in the order of the tree.

    Rows of points of the tree are skipped, so that a table of all distances can be used.
    """
    with errors_named(path):
        table = read_table(Source(path))
        if table.columns is None or tree.labels is None:
            return table.values, table.rows
        index = {name: k for k, name in enumerate(table.columns)}
        if len(index) < len(table.columns):
            raise ValueError("two columns have the same label: give each column one label")
        for label in tree.labels:
            if label not in index:
                raise ValueError(
                    f"no column has the label {label!r} of the tree: give one column per point"
                )
        columns = [index[label] for label in tree.labels]
        if table.rows is None:
            raise ValueError("the rows have no labels: put the labels in the first column")
        old = set(tree.labels)
        rows = [k for k, name in enumerate(table.rows) if name not in old]
        names = [table.rows[k] for k in rows]
        if not rows:
            raise ValueError("all rows are points of the tree: add rows of new points")
        if all(name in index for name in names):
            columns += [index[name] for name in names]
        return table.values[np.ix_(rows, columns)], names
