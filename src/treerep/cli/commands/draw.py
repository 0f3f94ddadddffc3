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

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_file(options: DrawOptions) -> None:
    """Draw a tree or an embedding. Fit a tree to data first."""
    table = None if options.color is None else options.color.rpartition(":")[0]
    check_outputs(options.output, source=options.source, table=table)
    require("matplotlib", "draw").use("agg")  # write files only, never open a window
    suffix = _known_suffix(options.output)
    drawn = _read_drawn(options)
    values = None if options.color is None else _read_column(options.color, drawn)
    style: dict[str, Any] = {
        "layout": options.layout,
        "color": values,
        "labels": options.labels,
    }
    if isinstance(drawn, tr.TreeSum | ProductEmbedding):
        figure = tr.draw(drawn, **style)[0].figure
    else:
        figure = tr.draw(drawn, **style).figure
    picture = io.BytesIO()
    cast("Figure", figure).savefig(picture, format=suffix, dpi=200)
    with open_output(options.output, "wb") as file:
        file.write(picture.getvalue())


def _read_drawn(
    options: DrawOptions,
) -> tr.Tree | tr.TreeSum | tr.Embedding | ProductEmbedding:
    """Read a tree, a sum of trees or an embedding. Fit a tree to data."""
    source = read_either(options.source, options.reading)
    if isinstance(source, tr.Embedding | ProductEmbedding):
        refuse_trials(options.trials, "the input is an embedding")
        return source
    if isinstance(source, tr.TreeSum):
        refuse_trials(options.trials, "the input is already a sum of trees")
        return source
    return as_tree(source, trials=options.trials, seed=options.seed, jobs=options.jobs)


def _read_column(color: str, points: tr.Metric) -> list[object]:
    """Return the column that `--color TABLE:COLUMN` names."""
    table, colon, column = color.rpartition(":")
    if not colon:
        raise ValueError(
            f"--color {color} does not name a column: use TABLE:COLUMN, as in attributes.csv:group"
        )
    columns = read_attributes(table, points)
    if column not in columns:
        raise ValueError(
            f"{table} has no column {column!r}: choose one of {', '.join(map(repr, columns))}"
        )
    return columns[column]


def _known_suffix(output: str) -> str:
    known = require("matplotlib.figure", "draw").Figure().canvas.get_supported_filetypes()
    suffix = Path(output).suffix.lower().removeprefix(".")
    if suffix not in known:
        raise ValueError(
            f"{output}: unknown suffix for a figure: use one of {', '.join(sorted(known))}"
        )
    return suffix
