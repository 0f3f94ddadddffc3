"""Options that commands share: each is described once, here."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from .. import methods

if TYPE_CHECKING:
    from ..metric.base import Metric

if TYPE_CHECKING:
    FitMethod = str
    EmbedMethod = str
    DeltaMethod = str
else:  # typer lists and checks the names
    FitMethod = Literal[tuple(methods.FIT)]
    EmbedMethod = Literal[tuple(methods.EMBED)]
    DeltaMethod = Literal[tuple(methods.DELTA)]
# The names below are those of the library, which is not imported for a help text; a test
# compares them.
Model = Literal["poincare", "klein", "lorentz"]
Layout = Literal["radial", "rectangular", "hyperbolic", "equal_daylight", "euclidean_sarkar"]
Weights = Literal["l1", "l2", "relative_l2", "heuristic", "none"]
TreeFormat = Literal["newick", "nexus", "npz", "json", "graphml", "dot", "auspice", "itol"]
AnyFormat = Literal[
    "npy",
    "npz",
    "csv",
    "tsv",
    "phylip",
    "phylip-strict",
    "nexus",
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
    "dot",
    "auspice",
    "itol",
    "npy",
    "csv",
    "tsv",
    "phylip",
]


def _listed(names: Any) -> str:
    return ", ".join(get_args(names))


Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT", help="File of distances, points or a graph; - for standard input."
    ),
]
TreeInput = Annotated[
    str, typer.Argument(metavar="TREE", help="File of a tree; - for standard input.")
]
Either = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="File of a tree, or of data, to which a tree is fitted first; - for standard input.",
    ),
]
TreeOutput = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where the tree goes: .nwk, .nex, .json, ...; - is standard output.",
    ),
]
To = Annotated[
    TreeFormat | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help=f"Format of the tree, if the suffix does not tell: {_listed(TreeFormat)}.",
    ),
]
Method = Annotated[
    FitMethod,
    typer.Option(metavar="NAME", help=f"How to find the tree: {', '.join(methods.FIT)}."),
]
Trials = Annotated[
    int, typer.Option(min=1, metavar="N", help="Fit so many trees and keep the best.")
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Seed of all random choices: the same seed gives the same result.",
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
        help="Work with torch on this device: cuda, cuda:1, ...",
        show_default="the threads",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help="When to stop; the best so far is the result."),
]


@dataclass(frozen=True)
class Reading:
    """How to read a file of data; the fields are options of every command that does."""

    kind: Annotated[
        Literal["distances", "points", "graph"] | None,
        typer.Option(
            help="What the file holds. A table is distances if it is square without its labels."
        ),
    ] = None
    format: Annotated[
        AnyFormat | None,
        typer.Option(
            metavar="FORMAT",
            help=f"Format, if content and suffix do not tell: {_listed(AnyFormat)}.",
        ),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How to measure points: euclidean, cosine, manhattan, ...",
            show_default="euclidean",
        ),
    ] = None
    symmetrize: Annotated[
        Literal["mean"] | None, typer.Option(help="Distances: average d(i, j) and d(j, i).")
    ] = None
    largest_component: Annotated[
        bool,
        typer.Option(
            "--largest-component", help="Graphs: keep the largest connected component."
        ),
    ] = False
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="GraphML: the attribute of the edges that holds their lengths."
        ),
    ] = None
    unweighted: Annotated[
        bool, typer.Option("--unweighted", help="Graphs: count edges, whatever their lengths.")
    ] = False
    use_rep: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="h5ad: the coordinates in obsm to take; npz, zarr: the name of the array.",
        ),
    ] = None

    def read(self, path: str) -> "Metric":
        """Read a file of data, or standard input."""
        from ..formats import DATA_FORMATS, read

        if self.format is not None and self.format not in DATA_FORMATS:
            raise ValueError(
                f"--format {self.format} is a format of trees: data are {', '.join(DATA_FORMATS)}"
            )
        if self.unweighted and self.weight is not None:
            raise ValueError(
                "--unweighted counts edges and --weight says how long they are: give one of them"
            )
        return read(
            path,
            kind=self.kind,
            format=self.format,
            metric=self.metric,
            symmetrize=self.symmetrize,
            weight=False if self.unweighted else self.weight,
            largest_component=self.largest_component,
            use_rep=self.use_rep,
        )


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Reading` in place of its parameter `reading`."""
    names = [field.name for field in fields(Reading)]

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in names}
        command(**given, reading=Reading(**chosen))

    # Typer looks at the signature only: the fields take the place of the parameter, behind all
    # others.
    own = inspect.signature(command)
    options = inspect.signature(Reading).parameters.values()
    kept = [parameter for name, parameter in own.parameters.items() if name != "reading"]
    both = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in (*kept, *options)
    ]
    wrapped.__signature__ = own.replace(parameters=both)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in both}
    return wrapped
