"""`treerep view`: the tree as a page for the browser."""

from pathlib import Path

import treerep as tr

from .._attribute_tables import read_attributes
from .._inputs import read_either, stem, tree_of
from .._options import Reading
from .._outputs import check_outputs, opened, remark


def view_file(
    source: str,
    output: str,
    *,
    reading: Reading,
    table: str | None,
    color: str | None,
    title: str | None,
    show: bool,
    trials: int,
    seed: int,
    jobs: int | None,
) -> None:
    """Write the page of a tree, or of data and the tree that is fitted to them."""
    check_outputs(output, source=source, table=table)
    if show and output == "-":
        raise ValueError("--open needs a file: name one with --output")
    found = read_either(source, reading)
    tree = tree_of(found, trials=trials, rng=seed, n_jobs=jobs)
    columns = None if table is None else read_attributes(table, tree)
    heading = stem(source) if title is None else title
    data = None if isinstance(found, tr.Tree) else found
    page = tr.page(tree, table=columns, color=color, title=heading, data=data)
    with opened(output) as file:
        file.write(page.html)
    if output != "-":
        remark(
            f"{output}: {tree.n_points:,} points, {len(page.html) / 1000:,.0f} kB; open it in a browser"
        )
    if show:
        import webbrowser

        webbrowser.open(Path(output).resolve().as_uri())
