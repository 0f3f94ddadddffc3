"""The command `treerep` and its subcommands.

Options are defined in `_command_options`; the commands are implemented in `commands`.
"""

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ._command_options import (
    CompareOptions,
    ConvertOptions,
    DeltaOptions,
    DrawOptions,
    EmbedOptions,
    FitOptions,
    PlaceOptions,
    RefineOptions,
    ScoreOptions,
    ViewOptions,
)
from ._options import with_options
from .commands.data_commands import data

app = typer.Typer(
    name="treerep",
    help="Find the tree behind your distances.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the help of rich takes twice as long to appear
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"treerep {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback does the work)
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
    debug: Annotated[  # noqa: ARG001 (main removes it from the arguments)
        bool,
        typer.Option(
            "--debug",
            help="Show the full traceback of an error. Accepted before or after the command.",
        ),
    ] = False,
) -> None:
    """Handle the options of all commands. Print the help if no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
@with_options
def fit(options: FitOptions) -> None:
    """Fit a tree to distances, points, sequences or a graph.

    treerep fit distances.csv -o tree.nwk
    """
    from .commands.fit import fit_file

    fit_file(options)


@app.command()
@with_options
def refine(options: RefineOptions) -> None:
    """Improve the edge lengths and the shape of a tree.

    treerep refine tree.nwk distances.csv -o better.nwk
    """
    from .commands.refine import refine_file

    refine_file(options)


@app.command()
@with_options
def place(options: PlaceOptions) -> None:
    """Add new points to a tree without changing its topology.

    treerep place tree.nwk distances.csv -o larger.nwk

    treerep place tree.nwk distances.csv -o places.jplace
    """
    from .commands.place import place_file

    place_file(options)


@app.command()
@with_options
def score(options: ScoreOptions) -> None:
    """Measure how well a tree fits its data.

    treerep score tree.nwk distances.csv
    """
    from .commands.score import score_file

    score_file(options)


@app.command()
@with_options
def embed(options: EmbedOptions) -> None:
    """Embed a tree, or data, in hyperbolic space.

    treerep embed tree.nwk -o coordinates.csv
    """
    from .commands.embed import embed_file

    embed_file(options)


@app.command()
@with_options
def draw(options: DrawOptions) -> None:
    """Draw a tree or an embedding as a figure.

    treerep draw tree.nwk -o tree.pdf

    Needs matplotlib: pip install 'treerep[draw]'.
    """
    from .commands.draw import draw_file

    draw_file(options)


@app.command()
@with_options
def view(options: ViewOptions) -> None:
    """Write an interactive HTML page that shows a tree.

    treerep view tree.nwk -o tree.html --open

    The page is a single file that works offline.
    """
    from .commands.view import view_file

    view_file(options)


@app.command()
@with_options
def compare(options: CompareOptions) -> None:
    """Compare several methods on the same data.

    treerep compare distances.csv --methods all --csv table.csv

    If a method fails or exceeds --time-limit, its row shows the error. Mean average precision
    (MAP) is shown for graphs.
    """
    from .commands.compare import compare_file

    compare_file(options)


@app.command()
@with_options
def delta(options: DeltaOptions) -> None:
    """Measure how tree-like the data is.

    treerep delta distances.csv

    The result is Gromov's delta, which is 0 for a tree, and four points that attain it.
    """
    from .commands.delta import measure_delta

    measure_delta(options)


@app.command()
@with_options
def convert(options: ConvertOptions) -> None:
    """Convert trees and distances between formats.

    treerep convert tree.nwk tree.nex

    treerep convert tree.nwk distances.phy
    """
    from .commands.convert import convert_file

    convert_file(options)


app.add_typer(data)


@app.command()
def cite(
    methods: Annotated[
        list[str] | None,
        typer.Argument(metavar="[METHOD]...", help="Methods of `treerep fit` and `treerep embed`."),
    ] = None,
) -> None:
    """Print BibTeX entries for treerep and for the methods you used.

    treerep cite treerep neighbor_joining sarkar
    """
    from ..citations import bibtex

    typer.echo(bibtex(*(methods or ["treerep"])), nl=False)


@app.command("warm-up")
def warm_up() -> None:
    """Compile the code for common inputs and store it on disk.

    Later runs then start without compiling. This takes a minute or two on two cores.
    """
    from .commands.warm_up import compile_common

    compile_common()


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the trees.")
    ] = Path("demo-output"),
) -> None:
    """Fit trees to two small data sets and show the results.

    The data sets are distances between eight mammals, and 2,000 simulated cells.
    """
    from .commands.demo import show_demo

    show_demo(output)
