"""Options that several commands share."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from .. import methods

if TYPE_CHECKING:
    from ..metric.base import Metric

    FitMethod = str
    EmbedMethod = str
    DeltaMethod = Literal["auto", "exact", "sample"]
else:  # typer lists and validates the names
    FitMethod = Literal[tuple(methods.FIT)]
    EmbedMethod = Literal[tuple(methods.EMBED)]
    DeltaMethod = Literal[tuple(methods.DELTA)]
# These names repeat names of the library, which `--help` does not import. A test compares them.
Saturated = Literal["cap", "raise"]
Alphabet = Literal["dna", "protein"]
PlacementLengths = Literal["refit", "scale", "given"]
NegativeLengths = Literal["error", "zero"]
Keep = Literal["best", "greedy", "majority", "strict"]
Model = Literal["poincare", "klein", "lorentz"]
Layout = Literal[
    "radial",
    "rectangular",
    "slanted",
    "circular",
    "hyperbolic",
    "equal_daylight",
    "euclidean_sarkar",
]
Lengths = Literal["original", "square root", "equal", "cladogram"]
Norm = Literal["linear", "log"]
Weights = Literal["l1", "l2", "relative_l2", "none"]
TreeFormat = Literal["newick", "nexus", "npz", "json", "graphml", "auspice", "itol"]
AnyFormat = Literal[
    "npy",
    "npz",
    "csv",
    "tsv",
    "phylip",
    "phylip-strict",
    "nexus",
    "fasta",
    "h5ad",
    "mtx",
    "edges",
    "graphml",
    "zarr",
    "newick",
    "json",
]
WrittenFormat = Literal[
    "newick",
    "nexus",
    "npz",
    "json",
    "graphml",
    "auspice",
    "itol",
    "npy",
    "csv",
    "tsv",
    "phylip",
]


def listed(names: object) -> str:
    """Return the names of a Literal, separated by commas."""
    return ", ".join(get_args(names))


Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="File with distances, points, a graph or sequences; - for standard input.",
    ),
]
TreeInput = Annotated[str, typer.Argument(metavar="TREE", help="File with a tree; - for standard input.")]
Either = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="File with a tree, or with data to fit a tree to; - for standard input.",
    ),
]
TreeOutput = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File for the tree: .nwk, .nex, .json, ...; - for standard output.",
    ),
]
To = Annotated[
    TreeFormat | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help=f"Format of the tree; needed if the suffix is ambiguous: {listed(TreeFormat)}.",
    ),
]
Method = Annotated[
    FitMethod,
    typer.Option(metavar="NAME", help=f"Method to fit the tree: {', '.join(methods.FIT)}."),
]
Trials = Annotated[int, typer.Option(min=1, metavar="N", help="Number of trees to fit; the best is kept.")]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Random seed. The same seed gives the same result.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Number of threads.", show_default="all cores"),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="PyTorch device to compute on: cuda, cuda:1, ...",
        show_default="CPU threads",
    ),
]
Bound = Annotated[
    bool,
    typer.Option("--bound/--no-bound", help="Compute a lower bound for the distortion of all trees."),
]
Root = Annotated[
    str | None,
    typer.Option(
        metavar="LABELS",
        help="Root the tree next to an outgroup, given by its labels, as in dog,wolf; "
        "or midpoint, for the middle of the longest path.",
        show_default="the root of the tree, if it has one",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help="Stop after this time and return the best result so far."),
]


@dataclass(frozen=True)
class TreeReading:
    """Options of every command that reads a tree."""

    default_length: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="LENGTH",
            help="For trees: length of edges without a length.",
            show_default="a missing length is an error",
        ),
    ] = None
    negative_lengths: Annotated[
        NegativeLengths | None,
        typer.Option(
            help="For trees in Newick or Nexus: read negative lengths as 0.",
            show_default="error",
        ),
    ] = None


@dataclass(frozen=True)
class DataReading:
    """Options of every command that reads data."""

    kind: Annotated[
        Literal["distances", "points", "graph", "sequences"] | None,
        typer.Option(help="Kind of data in the file. By default, a square table holds distances."),
    ] = None
    format: Annotated[
        AnyFormat | None,
        typer.Option(
            metavar="FORMAT",
            help=f"Format of the input, if it is not recognized: {listed(AnyFormat)}.",
        ),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Metric for points: euclidean, cosine, manhattan, ... Implies --kind points. "
            "Model for sequences: k2p, tn93, ...",
            show_default="euclidean; k2p for DNA, kimura for proteins",
        ),
    ] = None
    alphabet: Annotated[
        Alphabet | None,
        typer.Option(
            help="For sequences: the alphabet.",
            show_default="that of the model, or of the characters",
        ),
    ] = None
    symmetrize: Annotated[
        Literal["mean"] | None, typer.Option(help="For distances: average d(i, j) and d(j, i).")
    ] = None
    missing: Annotated[
        bool,
        typer.Option(
            "--missing",
            help="For distances: NaN, NA and empty cells are pairs that were not measured. "
            "For sequences: pairs that have no distance are missing.",
        ),
    ] = False
    largest_component: Annotated[
        bool,
        typer.Option("--largest-component", help="For graphs: keep the largest connected component."),
    ] = False
    weight: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For GraphML: edge attribute with the lengths."),
    ] = None
    unweighted: Annotated[
        bool, typer.Option("--unweighted", help="For graphs: give every edge length 1.")
    ] = False
    use_rep: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For h5ad: key of obsm, or X. For npz and zarr: name of the array.",
        ),
    ] = None
    gamma: Annotated[
        float | None,
        typer.Option(
            metavar="SHAPE",
            help="For sequences: shape of the gamma distribution of rates over sites.",
        ),
    ] = None
    saturated: Annotated[
        Saturated | None,
        typer.Option(
            help="For sequences and hamming: cap the distance of pairs that have none, or stop there.",
            show_default="cap, with a warning; raise for hamming",
        ),
    ] = None

    def read(self, path: str) -> "Metric":
        """Read data from a file or from standard input."""
        from ..formats import DATA_FORMATS, read
        from ._outputs import note_alphabet

        if self.format is not None and self.format not in DATA_FORMATS:
            raise ValueError(
                f"--format {self.format} is a tree format: for data choose one of {', '.join(DATA_FORMATS)}"
            )
        if self.unweighted and self.weight is not None:
            raise ValueError("--unweighted and --weight exclude each other: use one of them")
        metric = read(
            path,
            kind=self.kind,
            format=self.format,
            metric=self.metric,
            alphabet=self.alphabet,
            symmetrize=self.symmetrize,
            missing=self.missing,
            weight=False if self.unweighted else self.weight,
            largest_component=self.largest_component,
            use_rep=self.use_rep,
            gamma=self.gamma,
            saturated=self.saturated,
        )
        note_alphabet(metric)
        return metric


@dataclass(frozen=True)
class Reading(TreeReading, DataReading):
    """Options of every command that reads data or a tree."""


def tree_options(reading: DataReading | TreeReading) -> dict[str, Any]:
    """Return the options of `formats.read_tree` that are given."""
    given = {name: getattr(reading, name, None) for name in TreeReading.__dataclass_fields__}
    return {name: value for name, value in given.items() if value is not None}


def with_options(command: Callable[[Any], None]) -> Callable[..., None]:
    """Make each field of a command's dataclass an option of the command.

    The options of reading, if the command reads data or a tree, are listed last.
    """
    (parameter,) = inspect.signature(command).parameters.values()
    options_class: type = parameter.annotation
    own = dict(inspect.signature(options_class).parameters)
    reading = own.pop("reading", None)
    shared = {} if reading is None else inspect.signature(reading.annotation).parameters

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        fields = {name: given[name] for name in own}
        if reading is not None:
            fields["reading"] = reading.annotation(**{name: given[name] for name in shared})
        command(options_class(**fields))

    # Typer reads only the signature and the annotations.
    both = [field.replace(kind=inspect.Parameter.KEYWORD_ONLY) for field in (*own.values(), *shared.values())]
    wrapped.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {field.name: field.annotation for field in both}
    return wrapped
