"""The options of each command, as frozen dataclasses.

`with_options` turns each field into an option of the command.
"""

from dataclasses import dataclass
from typing import Annotated

import typer

from ..fitting.methods import DEFAULT, TRIALS
from ._options import (
    Alphabet,
    Bound,
    DataReading,
    DeltaMethod,
    Device,
    Either,
    EmbedMethod,
    Input,
    Jobs,
    Json,
    Keep,
    Layout,
    Lengths,
    Method,
    Model,
    Norm,
    PlacementLengths,
    Reading,
    Root,
    Saturated,
    Seed,
    TimeLimit,
    To,
    TreeInput,
    TreeOutput,
    TreeReading,
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
    keep: Annotated[
        Keep,
        typer.Option(help="With --trials: keep the best tree or a consensus of all trees."),
    ] = "best"
    trees: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Fit a sum of N trees, whose distances are added. Written as .nwk, .nex or .npz.",
            show_default="one tree",
        ),
    ] = None
    bootstrap: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of bootstrap replicates. Support is the share that has a split.",
            show_default="no bootstrap",
        ),
    ] = None
    seed: Seed = 0
    tol: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="LENGTH",
            help="(--method treerep) Lengths below this count as zero.",
            show_default="auto",
        ),
    ] = None
    size: Annotated[
        int | None,
        typer.Option(
            min=3,
            metavar="N",
            help="(--method backbone) Number of points in the backbone.",
            show_default="2000",
        ),
    ] = None
    refine: Annotated[bool, typer.Option("--refine", help="Refine the tree after fitting.")] = False
    jobs: Jobs = None
    device: Device = None
    to: To = None
    json: Json = False
    reading: DataReading


@dataclass(frozen=True, kw_only=True)
class RefineOptions:
    """Options of `treerep refine`."""

    tree: TreeInput
    source: Input
    output: TreeOutput = "-"
    weights: Annotated[Weights, typer.Option(help="Error that the edge lengths minimize.")] = "l1"
    moves: Annotated[bool, typer.Option("--moves/--no-moves", help="Allow points and subtrees to move.")] = (
        True
    )
    balance: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="0...1",
            help="Objective, from 0 (distances) to 1 (neighborhoods).",
        ),
    ] = 0.5
    time_limit: TimeLimit = None
    seed: Seed = 0
    jobs: Jobs = None
    to: To = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class PlaceOptions:
    """Options of `treerep place`."""

    tree: TreeInput
    source: Annotated[
        str,
        typer.Argument(
            metavar="NEW",
            help="CSV or TSV file: one row of distances to the points of the tree for each new "
            "point, with labels; - for standard input. Or a FASTA file with the sequences of the "
            "tree and new sequences, all aligned.",
        ),
    ]
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the larger tree: .nwk, .nex, .json, ..., or .jplace for several places "
            "of each point; - for Newick on standard output.",
        ),
    ] = "-"
    lengths: Annotated[
        PlacementLengths | None,
        typer.Option(
            help="Lengths of the tree: refit them to the distances between its points, scale them "
            "by one factor, or use them as given.",
            show_default="refit if those distances are in NEW, else scale",
        ),
    ] = None
    candidates: Annotated[int, typer.Option(min=1, metavar="N", help="(.jplace) Places of each point.")] = 7
    nearest: Annotated[
        int,
        typer.Option(min=3, metavar="N", help="Number of nearest points that choose the edge."),
    ] = 8
    power: Annotated[
        float,
        typer.Option(
            min=0,
            max=8,
            metavar="POWER",
            help="Squared errors are divided by this power of the distance.",
        ),
    ] = 2.0
    missing: Annotated[
        bool,
        typer.Option("--missing", help="Accept nan, and pairs of sequences that have no distance."),
    ] = False
    metric: Annotated[str | None, typer.Option(metavar="MODEL", help="(FASTA) The model, as in `fit`.")] = (
        None
    )
    alphabet: Annotated[
        Alphabet | None,
        typer.Option(help="(FASTA) The alphabet, as in `fit`.", show_default=False),
    ] = None
    saturated: Annotated[
        Saturated | None,
        typer.Option(
            help="(FASTA) How to treat pairs without a distance.",
            show_default="cap, with a warning",
        ),
    ] = None
    jobs: Jobs = None
    to: To = None
    json: Json = False
    reading: TreeReading


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Options of `treerep score`."""

    tree: Annotated[
        str,
        typer.Argument(
            metavar="TREE",
            help="File with a tree, a sum of trees or an embedding (.npz); - for standard input.",
        ),
    ]
    source: Input
    bound: Bound = True
    jobs: Jobs = None
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
            help="A .npz, .csv or .tsv file; - for CSV on standard output.",
        ),
    ] = "-"
    method: Annotated[
        EmbedMethod,
        typer.Option(help="sarkar embeds a tree; the other methods embed the data."),
    ] = "sarkar"
    dim: Annotated[int, typer.Option(min=1, metavar="N", help="Dimension of the hyperbolic space.")] = 2
    distortion: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR",
            help="(--method sarkar) Largest factor by which distances may shrink.",
            show_default="1.05 unless --scale is given",
        ),
    ] = None
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="LENGTH",
            help="(--method sarkar, hmds) Hyperbolic length of one unit of the data.",
            show_default="set by --distortion; smaller for .csv and .tsv in dimension 2",
        ),
    ] = None
    model: Annotated[Model, typer.Option(help="Model of hyperbolic space for .csv and .tsv files.")] = (
        "poincare"
    )
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
        typer.Option("--output", "-o", metavar="FILE", help="File for the figure: .pdf, .svg, .png, ..."),
    ]
    layout: Annotated[
        Layout | None,
        typer.Option(
            metavar="NAME",
            help=f"Layout of a tree: {listed(Layout)}.",
            show_default="radial; rectangular with --root, --axis or --strips",
        ),
    ] = None
    root: Root = None
    lengths: Annotated[
        Lengths,
        typer.Option(metavar="NAME", help=f"Lengths of edges: {listed(Lengths)}."),
    ] = "original"
    color: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE:COLUMN",
            help="Color points by a column of a CSV or TSV file with labels.",
        ),
    ] = None
    norm: Annotated[
        Norm | None,
        typer.Option(help="Color scale of numbers.", show_default="linear"),
    ] = None
    strips: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE[:COLUMN,...]",
            help="Draw columns of a CSV or TSV file beside the leaves, or as rings around "
            "the circular layout.",
        ),
    ] = None
    labels: Annotated[
        bool | None,
        typer.Option("--labels/--no-labels", help="Draw labels.", show_default="up to 60 points"),
    ] = None
    align: Annotated[bool, typer.Option("--align", help="Align the labels of leaves.")] = False
    support: Annotated[bool, typer.Option("--support", help="Write the support of edges, in percent.")] = (
        False
    )
    scale_bar: Annotated[
        bool | None,
        typer.Option(
            "--scale-bar/--no-scale-bar",
            help="Draw a scale bar.",
            show_default="if edges have their exact lengths",
        ),
    ] = None
    axis: Annotated[
        bool,
        typer.Option("--axis", help="Draw an axis of the distance from the root."),
    ] = False
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
            help="HTML file for the page; - for standard output.",
        ),
    ]
    table: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="CSV or TSV file of attributes, with labels in the first column.",
        ),
    ] = None
    color: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the table, or of obs in an h5ad file, that sets the color.",
        ),
    ] = None
    genes: Annotated[
        str | None,
        typer.Option(metavar="A,B,...|all", help="Genes of an h5ad file to include."),
    ] = None
    palette: Annotated[
        str | None,
        typer.Option(
            metavar="COLORS",
            help="Colors of the categories, separated by commas, or a matplotlib color map.",
        ),
    ] = None
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title of the page.", show_default="name of the input file"),
    ] = None
    layout: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="First layout: disk, rectangular, circular, unrooted or tanglegram.",
            show_default="suits the tree",
        ),
    ] = None
    compare: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Tree of the same points to compare with."),
    ] = None
    dates: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of dates or years, for a time axis."),
    ] = None
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="First edge lengths: original, 'square root' or equal.",
            show_default="suits the tree",
        ),
    ] = None
    root: Root = None
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False
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
    ] = "auto,treerep,neighbor_joining,minimum_evolution,upgma,minimum_spanning_tree"
    trials: Trials = TRIALS
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Time limit for each method."),
    ] = None
    bound: Bound = True
    seed: Seed = 0
    jobs: Jobs = None
    csv: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the table as CSV; - for standard output."),
    ] = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class DeltaOptions:
    """Options of `treerep delta`."""

    source: Input
    method: Annotated[
        DeltaMethod,
        typer.Option(help="Compute delta exactly, or from a sample."),
    ] = "auto"
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide delta by the diameter.")] = False
    time_limit: TimeLimit = None
    seed: Seed = 0
    jobs: Jobs = None
    json: Json = False
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """Options of `treerep convert`."""

    source: Annotated[
        str,
        typer.Argument(metavar="IN", help="File with a tree or data; - for standard input."),
    ]
    output: Annotated[str, typer.Argument(metavar="OUT", help="File to write. Its suffix sets the format.")]
    to: Annotated[
        WrittenFormat | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=f"Format of OUT; needed if the suffix is ambiguous: {listed(WrittenFormat)}.",
        ),
    ] = None
    leaves: Annotated[
        bool | None,
        typer.Option(
            "--leaves/--no-leaves",
            help="Write points inside a tree as leaves, with edges of length 0. "
            "This is the default for Newick, Nexus and iTOL.",
            show_default=False,
        ),
    ] = None
    root: Root = None
    reading: Reading
