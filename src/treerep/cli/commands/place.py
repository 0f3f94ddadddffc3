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
from ...formats.data.table import Table, read_table
from ...metric._matching import Points, Wording, point_order, points_of
from .._command_options import PlaceOptions
from .._inputs import check_one_stdin, read_one_tree
from .._outputs import (
    check_outputs,
    check_tree_output,
    note_alphabet,
    note_leaves,
    plural,
    print_json,
    print_note,
)

_WORDING = Wording(
    "give one column per point",
    "put the labels of the points in the first line of the table, or write the tree as .json or "
    ".npz, which keep the order of the data",
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
        "lengths": options.lengths,
        "nearest": options.nearest,
        "power": options.power,
        "missing": options.missing,
        "n_jobs": options.jobs,
    }
    known = tree._settled() if new.ordered else tree
    begin = time.perf_counter()
    fields: dict[str, object] = {"output": output}
    if to_places:
        found = tr.placements(known, rows, candidates=options.candidates, **chosen)
        write_placements(found, output)
    else:
        fields |= _write_tree(tr.place(known, rows, **chosen), options)
    seconds = time.perf_counter() - begin
    if new.sequences is not None:
        note_alphabet(new.sequences)
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
    data: tr.Metric | None = None  # old and new points, or old points
    ordered: bool = False  # whether the columns were put into the order of the tree
    sequences: tr.SequenceMetric | None = None  # the content of a FASTA file


def _new_points(tree: tr.Tree, options: PlaceOptions) -> _NewPoints:
    """Read the new points from a FASTA file of old and new sequences, or from a table."""
    path = options.source
    with errors_named(path):
        # Standard input can be read only once.
        is_fasta = path != "-" and guess_format(Source(path), "points") == "fasta"
    if is_fasta:
        return _sequences(tree, options)
    for name in ("metric", "alphabet", "saturated"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name} is for FASTA files: remove it")
    return _distances(tree, path)


def _sequences(tree: tr.Tree, options: PlaceOptions) -> _NewPoints:
    """Return the labels of the sequences that are not in the tree."""
    metric = read(
        options.source,
        metric=options.metric,
        alphabet=options.alphabet,
        saturated=options.saturated,
        missing=options.missing,
    )
    old = set(tree.labels or ())
    names = [name for name in metric.labels or () if name not in old]
    if not names:
        raise ValueError(f"{options.source}: all sequences are in the tree: add the new sequences")
    assert isinstance(metric, tr.SequenceMetric)
    if not metric.has_missing:
        return _NewPoints(names, None, metric, sequences=metric)
    index = {name: k for k, name in enumerate(metric.labels or ())}
    for name in tree.labels or ():
        if name not in index:
            raise ValueError(f"{options.source} has no sequence {name!r}: add the sequences of the tree")
    order = [index[name] for name in (*(tree.labels or ()), *names)]
    old_order = order[: len(tree)]
    between = tr.MatrixMetric(metric.block(old_order, old_order), labels=tree.labels, missing=True)
    rows = metric.block(order[len(tree) :], order)
    return _NewPoints(rows, names, between, ordered=True, sequences=metric)


def _distances(tree: tr.Tree, path: str) -> _NewPoints:
    """Return a row of distances for each new point, with columns in the order of the tree.

    Rows of points of the tree are not placed. If the table has all of them, their distances are
    returned as data.
    """
    with errors_named(path):
        table = read_table(Source(path))
        if table.columns is None or tree.labels is None:
            # Columns without labels are in the order of the tree, if its order is known.
            unnamed = Points(len(tree), None)
            point_order(unnamed, points_of(tree), ("the table", "the tree"), _WORDING)
            return _NewPoints(table.values, table.rows)
        index = {name: k for k, name in enumerate(table.columns)}
        if len(index) < len(table.columns):
            raise ValueError("two columns have the same label: give each column one label")
        for label in tree.labels:
            if label not in index:
                raise ValueError(f"no column has the label {label!r} of the tree: give one column per point")
        columns = [index[label] for label in tree.labels]
        if table.rows is None:
            raise ValueError("the rows have no labels: put the labels in the first column")
        data = _old_distances(tree, table, columns)
        old = set(tree.labels)
        rows = [k for k, name in enumerate(table.rows) if name not in old]
        names = [table.rows[k] for k in rows]
        if not rows:
            raise ValueError("all rows are points of the tree: add rows of new points")
        if all(name in index for name in names):
            columns += [index[name] for name in names]
        return _NewPoints(table.values[np.ix_(rows, columns)], names, data, ordered=True)


def _old_distances(tree: tr.Tree, table: Table, columns: list[int]) -> tr.Metric | None:
    """Return the distances between the points of the tree, if the table has all of them."""
    rows = {name: k for k, name in enumerate(table.rows or ())}
    assert tree.labels is not None
    if not all(label in rows for label in tree.labels):
        return None
    block = table.values[np.ix_([rows[label] for label in tree.labels], columns)]
    return tr.MatrixMetric(block, labels=tree.labels, missing=bool(np.isnan(block).any()))
