"""`treerep view`: write an interactive page of a tree."""

from pathlib import Path
from typing import TYPE_CHECKING

import treerep as tr

from .._attribute_tables import read_attributes
from .._cell_tables import CellTable, is_h5ad, read_cells
from .._command_options import ViewOptions
from .._inputs import as_tree, display_name, read_either, read_one_tree, refuse_trials
from .._outputs import check_outputs, open_output, print_note
from .._rooting import rerooted

if TYPE_CHECKING:
    from ...drawing.figures._colors import Palette


def view_file(options: ViewOptions) -> None:
    """Write the page of a tree. Fit a tree to data first."""
    output = options.output
    check_outputs(output, source=options.source, table=options.table)
    if options.show and output == "-":
        raise ValueError("--open needs a file: name one with --output")
    compares = options.compare is not None
    source = read_either(options.source, options.reading, with_tree=compares)
    cells = _cells(options)
    trees = rerooted(_trees(source, options), options.root)
    tree = trees.trees[0] if isinstance(trees, tr.TreeSum) else trees
    table = {} if options.table is None else read_attributes(options.table, tree)
    page = tr.page(
        trees,
        table={**cells.columns, **table} or None,
        color=options.color,
        title=display_name(options.source) if options.title is None else options.title,
        data=None if isinstance(source, tr.Tree | tr.TreeSum) else source,
        layout=options.layout,
        lengths=options.lengths,
        palette=_palette(options, cells),
        dates=options.dates,
        other=_compared(options),
    )
    with open_output(output) as file:
        file.write(page.html)
    if output != "-":
        size = len(page.html) / 1000
        print_note(f"{output}: {tree.n_points:,} points, {size:,.0f} kB. Open it in a browser.")
    if options.show:
        import webbrowser

        webbrowser.open(Path(output).resolve().as_uri())


def _trees(source: tr.Metric, options: ViewOptions) -> tr.Tree | tr.TreeSum:
    """Return a tree or a sum of trees unchanged. Fit a tree to data."""
    if isinstance(source, tr.TreeSum):
        refuse_trials(options.trials, "the input is already a sum of trees")
        return source
    return as_tree(source, trials=options.trials, seed=options.seed, jobs=options.jobs)


def _compared(options: ViewOptions) -> dict[str, tr.Tree] | None:
    """Return the tree to compare with, by the name of its file."""
    if options.compare is None:
        return None
    return {display_name(options.compare): read_one_tree(options.compare, options.reading)}


def _cells(options: ViewOptions) -> CellTable:
    """Return the attributes of cells in an h5ad file. Other files have none."""
    if is_h5ad(options.source, options.reading):
        return read_cells(options.source, options.color, options.genes, options.table)
    if options.genes is not None:
        raise ValueError("--genes needs an h5ad file: remove --genes, or use --table")
    return CellTable({}, {})


def _palette(options: ViewOptions, cells: CellTable) -> "Palette | dict[str, Palette]":
    """Return the given palette, or the palettes of the columns of `obs`."""
    given = options.palette
    if given is None:
        return cells.palettes or None
    chosen = given.split(",") if "," in given or given.startswith("#") else given
    return chosen if options.color is None else {**cells.palettes, options.color: chosen}
