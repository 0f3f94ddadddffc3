"""`treerep draw`: the tree, or an embedding, as a figure."""

import io
from pathlib import Path
from typing import Any

import treerep as tr

from ..._core.extras import require
from .._attribute_tables import read_attributes
from .._inputs import read_either, refuse_trials, tree_of
from .._options import Reading
from .._outputs import check_outputs, opened


def draw_file(
    source: str,
    output: str,
    *,
    reading: Reading,
    layout: str | None,
    color: str | None,
    labels: bool | None,
    trials: int,
    seed: int,
    jobs: int | None,
) -> None:
    """Draw a tree or an embedding, or data by fitting a tree to them first."""
    check_outputs(
        output, source=source, table=None if color is None else color.rpartition(":")[0]
    )
    require("matplotlib", "draw").use(
        "agg"
    )  # files only: no window, whatever the machine is set up for
    suffix = _known_suffix(output)
    found = read_either(source, reading)
    if isinstance(found, tr.Embedding):
        refuse_trials(trials, "the input is an embedding")
    what = (
        found
        if isinstance(found, tr.Embedding)
        else tree_of(found, trials=trials, rng=seed, n_jobs=jobs)
    )
    values = None
    if color is not None:
        table, mark, column = color.rpartition(":")
        if not mark:
            raise ValueError(
                f"--color is a table and one of its columns, as in attributes.csv:group, not {color!r}"
            )
        columns = read_attributes(table, what)
        if column not in columns:
            raise ValueError(
                f"{table} has no column {column!r}: choose one of {', '.join(map(repr, columns))}"
            )
        values = columns[column]
    figure: Any = tr.draw(what, layout=layout, color=values, labels=labels).figure
    picture = io.BytesIO()
    figure.savefig(picture, format=suffix, dpi=200)
    with opened(output, "wb") as file:
        file.write(picture.getvalue())


def _known_suffix(output: str) -> str:
    known = require("matplotlib.figure", "draw").Figure().canvas.get_supported_filetypes()
    suffix = Path(output).suffix.lower().removeprefix(".")
    if suffix not in known:
        raise ValueError(
            f"{output}: a figure cannot be saved with that suffix: give one of {', '.join(sorted(known))}"
        )
    return suffix
