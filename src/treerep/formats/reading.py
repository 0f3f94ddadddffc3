"""`read`: read distances, points, a graph or sequences as a Metric."""

import importlib
import os
from collections.abc import Sequence

from ..metric.base import Metric
from ._errors import errors_named
from ._request import Request
from ._sniff import guess_format, is_zarr
from ._source import Source

#: The formats that `read` accepts, described in docs/reference/data_formats.md.
DATA_FORMATS = (
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
)

# Formats whose module has another name, and the option of its `read(source, request)`.
_MODULES: dict[str, tuple[str, dict[str, str | bool]]] = {
    "csv": ("table", {}),
    "tsv": ("table", {"delimiter": "\t"}),
    "edges": ("edges", {}),
    "mtx": ("matrix_market", {}),
    "phylip-strict": ("phylip", {"strict": True}),
}

# Options that apply to some formats only.
_FORMATS_OF_OPTION = {
    "use_rep": ("h5ad", "npz", "zarr"),
    "gamma": ("fasta",),
    "saturated": ("fasta",),
    "alphabet": ("fasta",),
}


def read(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    format: str | None = None,  # noqa: A002 - the usual name
    metric: str | None = None,
    alphabet: str | None = None,
    labels: Sequence[object] | None = None,
    symmetrize: str | None = None,
    missing: bool = False,
    weight: str | bool | None = None,
    largest_component: bool = False,
    use_rep: str | None = None,
    gamma: float | None = None,
    saturated: str | None = None,
) -> Metric:
    r"""Read a distance matrix, points, a graph or aligned sequences from a file.

    Content and extension determine the format. Gzip is decompressed. A square table, not
    counting its labels, is a distance matrix. Any other table needs `kind` or `metric`.

    Parameters
    ----------
    path : str or path
        A file, a zarr folder, or "-" for standard input.
    kind : "distances", "points", "graph" or "sequences", optional
        The kind of data, if the content does not determine the kind. "distances" also reads lines
        with two names and a distance.
    format : str, optional
        One of ``DATA_FORMATS``, if content and extension do not determine the format.
    metric : str, optional
        For points, one of the metrics of `PointMetric`, "euclidean" by default. For sequences,
        one of the models of `SequenceMetric`. "precomputed" means distances.
    alphabet : "dna" or "protein", optional
        (sequences only) The alphabet, if neither `metric` nor the characters determine it. See
        `SequenceMetric`.
    labels : sequence, optional
        Labels of the points, instead of those in the file.
    symmetrize : "mean", optional
        (distances only) Average d(i, j) and d(j, i).
    missing : bool
        (distances) Whether NaN marks pairs that were not measured. In text files, "?" and "NA"
        and "nan" in any case mean NaN, and in csv and tsv files an empty cell does as well. All
        other markers, such as "-" or -99, raise an error. See `MatrixMetric`.
        (sequences) Whether pairs that have no distance are missing. See `SequenceMetric`.
    weight : str or False, optional
        (graphs only) The attribute of a GraphML file that holds the edge lengths, which are 1
        otherwise. False ignores the lengths of an edge list or a Matrix Market file.
    largest_component : bool
        (graphs only) Keep the largest connected component.
    use_rep : str, optional
        The key in `obsm` of the coordinates in an h5ad file, instead of X. For npz and zarr,
        the name of the array.
    gamma : float, optional
        (sequences only) Shape of the gamma distribution of rates over sites.
    saturated : "cap" or "raise", optional
        (sequences and "hamming" only) What to do with pairs that have no distance. By default, those
        of sequences are capped, with a warning, and those of characters raise an error. See
        `SequenceMetric` and `CharacterMetric`.

    Returns
    -------
    Metric
        Names in the file become labels. Vertices of a graph are in the order of their numbers
        or, if they have names, in the order of the file.

    See Also
    --------
    as_metric : Convert data to a metric.
    formats.write_distances : Write a distance matrix.
    formats.read_tree : Read a tree.
    datasets.load : Load a data set by name.

    Notes
    -----
    An npy file is mapped. From a file of more than 1 GiB, only the distances that are needed
    are read. Other formats take time and memory linear in the size of the file. Files that do
    not fit in memory raise an error early. Every error is one line that names the file and,
    for text, the line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("a,0,2\nb,2,0\n")
    ...     file.flush()
    ...     read(file.name).labels, read(file.name, kind="points")
    (('a', 'b'), PointMetric(2 points))
    """
    request = Request(
        kind,
        metric,
        labels,
        symmetrize,
        weight,
        largest_component,
        use_rep,
        gamma,
        saturated,
        missing,
        alphabet,
    )
    if format is not None and format not in DATA_FORMATS:
        raise ValueError(f"format must be one of {', '.join(DATA_FORMATS)}, got {format!r}")
    with errors_named(path):
        source = Source(path)
        if format in (None, "zarr") and is_zarr(source):
            return _read(source, "zarr", request)
        if not source.head:
            raise ValueError("the file is empty: save it again")
        return _read(source, format or guess_format(source, request.kind), request)


def _read(source: Source, name: str, request: Request) -> Metric:
    for option, formats in _FORMATS_OF_OPTION.items():
        value = getattr(request, option)
        if option == "saturated" and request.metric == "hamming":
            continue
        if value is not None and name not in formats:
            raise ValueError(f"{option}={value!r} applies to {_listed(formats)}, not to {name}: leave it out")
    if request.kind == "sequences" and name != "fasta":
        reason = "" if request.metric is None else f" (metric={request.metric!r})"
        raise ValueError(f"sequences{reason} are read from FASTA files, but this file is {name}: convert it")
    module, options = _MODULES.get(name, (name, {}))
    metric: Metric = importlib.import_module(f".data.{module}", __package__).read(source, request, **options)
    return metric


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
