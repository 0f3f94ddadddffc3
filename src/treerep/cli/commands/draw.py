"""`treerep draw`: draw a tree or an embedding as a figure."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import treerep as tr

from ..._core.extras import require
from ...embedding.product import ProductEmbedding
from .._attribute_tables import read_attributes
from .._command_options import DrawOptions
from .._inputs import as_tree, read_either, refuse_trials
from .._outputs import check_outputs, open_output
from .._rooting import rerooted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_file(options: DrawOptions) -> None:
    """Draw a tree or an embedding. Fit a tree to data first."""
    tables = [_table_of(options.color), _table_of(options.strips)]
    check_outputs(options.output, source=options.source, table=tables[0])
    check_outputs(options.output, source=options.source, table=tables[1])
    require("matplotlib", "draw").use("agg")  # write files only, never open a window
    suffix = _known_suffix(options.output)
    drawn = _read_drawn(options)
    if options.support and (not isinstance(drawn, tr.Tree) or drawn.support is None):
        raise ValueError("--support needs a tree with support: fit it with `treerep fit --bootstrap 100`")
    style: dict[str, Any] = {
        **_geometry(options, drawn),
        "align": options.align,
        "scale_bar": options.scale_bar,
        "axis": options.axis,
        "norm": options.norm,
        "labels": "support" if options.support else options.labels,
    }
    if options.color is not None:
        column = options.color.rpartition(":")[2]
        style |= {"color": _read_column(options.color, drawn), "color_label": column}
    if options.strips is not None:
        style["strips"] = _read_strips(options.strips, drawn)
    if isinstance(drawn, tr.TreeSum | ProductEmbedding):
        figure = tr.draw(drawn, **style)[0].figure
    else:
        figure = tr.draw(drawn, **style).figure
    picture = io.BytesIO()
    cast("Figure", figure).savefig(picture, format=suffix, dpi=200)
    with open_output(options.output, "wb") as file:
        file.write(picture.getvalue())


def _geometry(options: DrawOptions, drawn: object) -> dict[str, Any]:
    """Return the options of the layout. A root, an axis and strips need a rooted layout."""
    layout: str | None = options.layout
    if layout is None and (options.root or options.axis or options.strips):
        layout = "rectangular"
    if isinstance(drawn, tr.Embedding | ProductEmbedding):
        return {"layout": layout, "lengths": options.lengths}
    # All layouts start at the root, if the user chose one.
    root = drawn.root if isinstance(drawn, tr.Tree) and options.root is not None else None
    return {"layout": layout, "lengths": options.lengths, "root": root}


def _read_drawn(
    options: DrawOptions,
) -> tr.Tree | tr.TreeSum | tr.Embedding | ProductEmbedding:
    """Read a tree, a sum of trees or an embedding. Fit a tree to data."""
    source = read_either(options.source, options.reading)
    if isinstance(source, tr.Embedding | ProductEmbedding):
        refuse_trials(options.trials, "the input is an embedding")
        if options.root is not None:
            raise ValueError("--root needs a tree, but the input is an embedding: remove it")
        return source
    if isinstance(source, tr.TreeSum):
        refuse_trials(options.trials, "the input is already a sum of trees")
        return rerooted(source, options.root)
    tree = as_tree(source, trials=options.trials, seed=options.seed, jobs=options.jobs)
    return rerooted(tree, options.root)


def _table_of(choice: str | None) -> str | None:
    """Return the file of TABLE:COLUMN."""
    if choice is None:
        return None
    return choice if Path(choice).exists() else choice.rpartition(":")[0]


def _read_strips(strips: str, points: tr.Metric) -> dict[str, list[object]]:
    """Return the columns that `--strips TABLE` or `--strips TABLE:COLUMN,...` names."""
    if Path(strips).exists():
        return read_attributes(strips, points)
    table, _, names = strips.rpartition(":")
    return {name: _read_column(f"{table}:{name}", points) for name in names.split(",")}


def _read_column(color: str, points: tr.Metric) -> list[object]:
    """Return the column that `--color TABLE:COLUMN` names."""
    table, colon, column = color.rpartition(":")
    if not colon:
        raise ValueError(
            f"--color {color} does not name a column: use TABLE:COLUMN, as in attributes.csv:group"
        )
    columns = read_attributes(table, points)
    if column not in columns:
        raise ValueError(f"{table} has no column {column!r}: choose one of {', '.join(map(repr, columns))}")
    return columns[column]


def _known_suffix(output: str) -> str:
    known = require("matplotlib.figure", "draw").Figure().canvas.get_supported_filetypes()
    suffix = Path(output).suffix.lower().removeprefix(".")
    if suffix not in known:
        raise ValueError(f"{output}: unknown suffix for a figure: use one of {', '.join(sorted(known))}")
    return suffix
