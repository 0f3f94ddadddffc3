"""The command `treerep`: its commands and options.

What each of them does is in a file of its own.
"""

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..fitting.methods import DEFAULT, TRIALS
from ._options import (
    DeltaMethod,
    Device,
    Either,
    EmbedMethod,
    Input,
    Jobs,
    Json,
    Layout,
    Method,
    Model,
    Reading,
    Seed,
    TimeLimit,
    To,
    TreeInput,
    TreeOutput,
    Trials,
    Weights,
    WrittenFormat,
    with_reading,
)
from .commands.data_commands import data

app = typer.Typer(
    name="treerep",
    help="The tree behind your distances.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: that of rich takes twice as long to appear
)


def _print_version(wanted: bool) -> None:
    if wanted:
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
    debug: Annotated[  # noqa: ARG001 (main takes it from wherever it stands)
        bool,
        typer.Option("--debug", help="Show the traceback of an error; may stand anywhere."),
    ] = False,
) -> None:
    """Options of all commands; without a command, the help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
@with_reading
def fit(
    source: Input,
    output: TreeOutput = "-",
    method: Method = DEFAULT,
    trials: Trials = TRIALS,
    seed: Seed = 0,
    tol: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="LENGTH",
            help="Lengths below it count as zero (treerep).",
            show_default="auto",
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            min=3,
            metavar="N",
            help="Points whose tree is refined first (backbone).",
            show_default="2000",
        ),
    ] = None,
    refine: Annotated[
        bool, typer.Option("--refine", help="Improve lengths and places afterwards.")
    ] = False,
    jobs: Jobs = None,
    device: Device = None,
    to: To = None,
    json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Fit a tree to distances, points or a graph.

    treerep fit distances.csv -o tree.nwk
    """
    from .commands.fit import fit_file

    fit_file(
        source,
        output,
        reading=reading,
        method=method,
        trials=trials,
        seed=seed,
        tol=tol,
        size=size,
        jobs=jobs,
        device=device,
        refine=refine,
        to=to,
        as_json=json,
    )


@app.command()
@with_reading
def refine(
    tree: TreeInput,
    source: Input,
    output: TreeOutput = "-",
    weights: Annotated[
        Weights, typer.Option(help="What the lengths of the edges minimize.")
    ] = "l1",
    moves: Annotated[
        bool, typer.Option("--moves/--no-moves", help="Whether points and subtrees may move.")
    ] = True,
    balance: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="0...1",
            help="What counts, from 0 (distances) to 1 (neighborhoods).",
        ),
    ] = 0.5,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    device: Device = None,
    to: To = None,
    json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Improve the lengths and the shape of a tree.

    treerep refine tree.nwk distances.csv -o better.nwk
    """
    from .commands.refine import refine_file

    refine_file(
        tree,
        source,
        output,
        reading=reading,
        weights=weights,
        moves=moves,
        balance=balance,
        time_limit=time_limit,
        seed=seed,
        jobs=jobs,
        device=device,
        to=to,
        as_json=json,
    )


@app.command()
@with_reading
def score(
    tree: Annotated[
        str,
        typer.Argument(
            metavar="TREE",
            help="File of a tree, or of an embedding (.npz); - for standard input.",
        ),
    ],
    source: Input,
    jobs: Jobs = None,
    device: Device = None,
    json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Say how well a tree keeps the distances.

    treerep score tree.nwk distances.csv
    """
    from .commands.score import score_file

    score_file(tree, source, reading=reading, jobs=jobs, device=device, as_json=json)


@app.command()
@with_reading
def embed(
    source: Either,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .npz, .csv or .tsv file; - is CSV to standard output.",
        ),
    ] = "-",
    method: Annotated[
        EmbedMethod, typer.Option(help="sarkar places a tree; the others place the data.")
    ] = "sarkar",
    dim: Annotated[
        int, typer.Option(min=1, metavar="N", help="Dimension of the hyperbolic space.")
    ] = 2,
    distortion: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR",
            help="By how much distances in the tree may shrink (sarkar).",
            show_default="1.05, but see --scale",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="LENGTH",
            help="Hyperbolic length of one unit of the data (sarkar, hmds).",
            show_default="what --distortion needs; of .csv and .tsv in dimension 2, one that is good to look at",
        ),
    ] = None,
    model: Annotated[
        Model, typer.Option(help="Model of the coordinates in a .csv or .tsv file.")
    ] = "poincare",
    trials: Trials = TRIALS,
    seed: Seed = 0,
    jobs: Jobs = None,
    device: Device = None,
    json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Place a tree, or data, in hyperbolic space.

    treerep embed tree.nwk -o coordinates.csv
    """
    from .commands.embed import embed_file

    embed_file(
        source,
        output,
        reading=reading,
        method=method,
        dim=dim,
        distortion=distortion,
        scale=scale,
        model=model,
        trials=trials,
        seed=seed,
        jobs=jobs,
        device=device,
        as_json=json,
    )


@app.command()
@with_reading
def draw(
    source: Either,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The figure: .pdf, .svg, .png, ..."
        ),
    ],
    layout: Annotated[
        Layout | None,
        typer.Option(
            metavar="NAME",
            help="How to lay out a tree: radial, rectangular, hyperbolic, equal_daylight or euclidean_sarkar.",
            show_default="radial",
        ),
    ] = None,
    color: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE:COLUMN",
            help="Color points by a column of a CSV or TSV file with their names.",
        ),
    ] = None,
    labels: Annotated[
        bool | None,
        typer.Option(
            "--labels/--no-labels", help="Write names.", show_default="up to 60 points"
        ),
    ] = None,
    trials: Trials = TRIALS,
    seed: Seed = 0,
    jobs: Jobs = None,
    *,
    reading: Reading,
) -> None:
    """Draw a tree or an embedding as a figure.

    treerep draw tree.nwk -o tree.pdf

    It needs matplotlib: pip install 'treerep[draw]'.
    """
    from .commands.draw import draw_file

    draw_file(
        source,
        output,
        reading=reading,
        layout=layout,
        color=color,
        labels=labels,
        trials=trials,
        seed=seed,
        jobs=jobs,
    )


@app.command()
@with_reading
def view(
    source: Either,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The page, an HTML file; - is standard output.",
        ),
    ],
    table: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="CSV or TSV file of attributes; its first column has the names of the points.",
        ),
    ] = None,
    color: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the table to color by.")
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Title of the page.", show_default="name of the file"
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    trials: Trials = TRIALS,
    seed: Seed = 0,
    jobs: Jobs = None,
    *,
    reading: Reading,
) -> None:
    """Make a page to explore a tree in a browser.

    treerep view tree.nwk -o tree.html --open

    The page is one file that needs nothing else.
    """
    from .commands.view import view_file

    view_file(
        source,
        output,
        reading=reading,
        table=table,
        color=color,
        title=title,
        show=show,
        trials=trials,
        seed=seed,
        jobs=jobs,
    )


@app.command()
@with_reading
def compare(
    source: Input,
    methods: Annotated[
        str,
        typer.Option(metavar="A,B,...|all", help="Methods as `treerep fit` has them."),
    ] = "treerep,neighbor_joining,upgma,construct_tree,minimum_spanning_tree,level_tree",
    trials: Trials = TRIALS,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="How long each method may take."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    csv: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the table as CSV; - is standard output."),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the table as a page, with a chart; - is standard output.",
        ),
    ] = None,
    json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Run several methods and show them side by side.

    treerep compare distances.csv --methods all --html table.html

    A method that fails, or takes longer than --time-limit, says why in its row. Mean average
    precision (MAP) is shown for graphs.
    """
    from .commands.compare import compare_file

    compare_file(
        source,
        reading=reading,
        methods=methods,
        trials=trials,
        time_limit=time_limit,
        seed=seed,
        jobs=jobs,
        csv=csv,
        html=html,
        as_json=json,
    )


@app.command()
@with_reading
def delta(
    source: Input,
    method: Annotated[DeltaMethod, typer.Option(help="How to find it.")] = "auto",
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Divide by the diameter.")
    ] = False,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    device: Device = None,
    json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Measure how far the data are from a tree.

    treerep delta distances.csv

    This is Gromov's delta, with the four points that prove it: 0 for a tree.
    """
    from .commands.delta import measure_delta

    measure_delta(
        source,
        reading=reading,
        method=method,
        normalize=normalize,
        time_limit=time_limit,
        seed=seed,
        jobs=jobs,
        device=device,
        as_json=json,
    )


@app.command()
@with_reading
def convert(
    source: Annotated[
        str,
        typer.Argument(metavar="IN", help="File of a tree or of data; - for standard input."),
    ],
    output: Annotated[
        str, typer.Argument(metavar="OUT", help="The new file; its suffix tells the format.")
    ],
    to: Annotated[
        WrittenFormat | None,
        typer.Option(
            "--to", metavar="FORMAT", help="Format of OUT, if the suffix does not tell."
        ),
    ] = None,
    *,
    reading: Reading,
) -> None:
    """Convert trees and distances between formats.

    treerep convert tree.nwk tree.nex

    treerep convert tree.nwk distances.phy
    """
    from .commands.convert import convert_file

    convert_file(source, output, reading=reading, to=to)


app.add_typer(data)


@app.command()
def cite(
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...", help="Methods as `treerep fit` and `embed` have them."
        ),
    ] = None,
) -> None:
    """Print the BibTeX of this software and of the methods you used.

    treerep cite treerep neighbor_joining sarkar
    """
    from ..citations import bibtex

    typer.echo(bibtex(*(methods or ["treerep"])), nl=False)


@app.command("warm-up")
def warm_up() -> None:
    """Compile everything once, for quick starts later."""
    from .commands.warm_up import compile_everything

    compile_everything()


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the trees go.")
    ] = Path("demo-output"),
) -> None:
    """Fit two small data sets and show the trees.

    They are the distances of eight mammals, and 2,000 generated cells.
    """
    from .commands.demo import show_demo

    show_demo(output)
