"""The options of each command, as a frozen dataclass that the command receives.

A field is written once, here. `with_options` makes it an option of the command.
"""

from dataclasses import dataclass
from typing import Annotated

import typer

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
    listed,
)


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of `treerep fit`."""

    source: Input
    output: TreeOutput = "-"
    method: Method = DEFAULT
    trials: Trials = TRIALS
    seed: Seed = 0
    tol: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="LENGTH",
            help="Lengths below this count as zero (treerep).",
            show_default="auto",
        ),
    ] = None
    size: Annotated[
        int | None,
        typer.Option(
            min=3,
            metavar="N",
            help="Points whose tree is refined first (backbone).",
            show_default="2000",
        ),
    ] = None
    refine: Annotated[
        bool, typer.Option("--refine", help="Improve lengths and places afterwards.")
    ] = False
    jobs: Jobs = None
    device: Device = None
    to: To = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class RefineOptions:
    """Options of `treerep refine`."""

    tree: TreeInput
    source: Input
    output: TreeOutput = "-"
    weights: Annotated[
        Weights, typer.Option(help="What the lengths of the edges minimize.")
    ] = "l1"
    moves: Annotated[
        bool, typer.Option("--moves/--no-moves", help="Whether points and subtrees may move.")
    ] = True
    balance: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="0...1",
            help="What counts, from 0 (distances) to 1 (neighborhoods).",
        ),
    ] = 0.5
    time_limit: TimeLimit = None
    seed: Seed = 0
    jobs: Jobs = None
    device: Device = None
    to: To = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Options of `treerep score`."""

    tree: Annotated[
        str,
        typer.Argument(
            metavar="TREE",
            help="File of a tree, or of an embedding (.npz); - for standard input.",
        ),
    ]
    source: Input
    jobs: Jobs = None
    device: Device = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class EmbedOptions:
    """Options of `treerep embed`."""

    source: Either
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .npz, .csv or .tsv file; - is CSV to standard output.",
        ),
    ] = "-"
    method: Annotated[
        EmbedMethod, typer.Option(help="sarkar places a tree; the others place the data.")
    ] = "sarkar"
    dim: Annotated[
        int, typer.Option(min=1, metavar="N", help="Dimension of the hyperbolic space.")
    ] = 2
    distortion: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR",
            help="By how much distances in the tree may shrink (sarkar).",
            show_default="1.05, but see --scale",
        ),
    ] = None
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="LENGTH",
            help="Hyperbolic length of one unit of the data (sarkar, hmds).",
            show_default="from --distortion, or for pictures (.csv, .tsv in dimension 2)",
        ),
    ] = None
    model: Annotated[
        Model, typer.Option(help="Model of the coordinates in a .csv or .tsv file.")
    ] = "poincare"
    trials: Trials = TRIALS
    seed: Seed = 0
    jobs: Jobs = None
    device: Device = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class DrawOptions:
    """Options of `treerep draw`."""

    source: Either
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The figure: .pdf, .svg, .png, ..."
        ),
    ]
    layout: Annotated[
        Layout | None,
        typer.Option(
            metavar="NAME",
            help=f"How to lay out a tree: {listed(Layout)}.",
            show_default="radial",
        ),
    ] = None
    color: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE:COLUMN",
            help="Color points by a column of a CSV or TSV file with their names.",
        ),
    ] = None
    labels: Annotated[
        bool | None,
        typer.Option(
            "--labels/--no-labels", help="Write names.", show_default="up to 60 points"
        ),
    ] = None
    trials: Trials = TRIALS
    seed: Seed = 0
    jobs: Jobs = None
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """Options of `treerep view`."""

    source: Either
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The page, an HTML file; - is standard output.",
        ),
    ]
    table: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="CSV or TSV file of attributes; its first column has the names of the points.",
        ),
    ] = None
    color: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the table to color by.")
    ] = None
    title: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Title of the page.", show_default="name of the file"
        ),
    ] = None
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False
    trials: Trials = TRIALS
    seed: Seed = 0
    jobs: Jobs = None
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of `treerep compare`."""

    source: Input
    methods: Annotated[
        str,
        typer.Option(metavar="A,B,...|all", help="Methods of `treerep fit`."),
    ] = "treerep,neighbor_joining,upgma,construct_tree,minimum_spanning_tree,level_tree"
    trials: Trials = TRIALS
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="How long each method may take."),
    ] = None
    seed: Seed = 0
    jobs: Jobs = None
    csv: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the table as CSV; - is standard output."),
    ] = None
    html: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the table as a page, with a chart; - is standard output.",
        ),
    ] = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class DeltaOptions:
    """Options of `treerep delta`."""

    source: Input
    method: Annotated[DeltaMethod, typer.Option(help="How to compute delta.")] = "auto"
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide by the diameter.")] = (
        False
    )
    time_limit: TimeLimit = None
    seed: Seed = 0
    jobs: Jobs = None
    device: Device = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """Options of `treerep convert`."""

    source: Annotated[
        str,
        typer.Argument(metavar="IN", help="File of a tree or of data; - for standard input."),
    ]
    output: Annotated[
        str, typer.Argument(metavar="OUT", help="The new file; its suffix tells the format.")
    ]
    to: Annotated[
        WrittenFormat | None,
        typer.Option(
            "--to", metavar="FORMAT", help="Format of OUT, if the suffix does not tell."
        ),
    ] = None
    reading: Reading
