"""`treerep place`: add new points to a tree."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treerep as tr

from ...formats import read_tree, write_placements, write_tree
from ...formats._errors import errors_named
from ...formats._source import Source
from ...formats.data.table import read_table
from .._command_options import PlaceOptions
from .._inputs import check_one_stdin
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
    tree = read_tree(options.tree)
    rows, names = _distances(tree, options.source)
    chosen: dict[str, Any] = {
        "labels": names,
        "nearest": options.nearest,
        "power": options.power,
        "missing": options.missing,
        "n_jobs": options.jobs,
    }
    begin = time.perf_counter()
    # The columns are in the order of the tree now.
    known = tree if names is None else tree._settled()
    if to_places:
        found = tr.placements(known, rows, candidates=options.candidates, **chosen)
        seconds = time.perf_counter() - begin
        write_placements(found, output)
    else:
        larger = tr.place(known, rows, **chosen)
        seconds = time.perf_counter() - begin
        if not (options.json and output == "-"):
            to = options.to or ("newick" if output == "-" else None)
            write_tree(larger, output, format=to)
            note_leaves(larger, output, to)
    placed = plural(len(rows), "new point")
    print_note(f"{placed} in a tree of {plural(len(tree), 'point')}, {seconds:.2f} s")
    if options.json:
        written = {"newick": larger.newick()} if output == "-" else {"output": output}
        print_json({"points": len(tree), "placed": len(rows), "seconds": seconds, **written})


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
