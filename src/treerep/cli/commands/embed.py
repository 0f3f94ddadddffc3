"""`treerep embed`: embed a tree or data in hyperbolic space."""

import csv
import time
import warnings
from pathlib import Path

import treerep as tr

from ...drawing.layouts.hyperbolic import disk_embedding
from .._command_options import EmbedOptions
from .._inputs import as_tree, read_either, refuse_trials
from .._outputs import (
    check_outputs,
    open_output,
    plural,
    print_json,
    print_note,
    score_fields,
)

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def embed_file(options: EmbedOptions) -> None:
    """Embed a tree or data, write the embedding and report its distortion."""
    suffix = _check_output(options)
    if options.method != "sarkar":
        refuse_trials(options.trials, f"{options.method} does not use a tree")
    source = read_either(options.source, options.reading)
    if isinstance(source, tr.Embedding):
        raise ValueError(
            f"{options.source} already contains an embedding: use a tree or data instead"
        )
    begin = time.perf_counter()
    embedding = _embed(source, options, suffix)
    seconds = time.perf_counter() - begin
    if suffix == ".npz":
        embedding.save(options.output)
    else:
        _write_table(embedding, options.output, options.model, _DELIMITERS[suffix])
    distortion = tr.average_distortion(embedding, source, n_jobs=options.jobs)
    print_note(
        f"{plural(len(embedding), 'point')}, dimension {options.dim}, "
        f"scale {embedding.scale:.4g}, average distortion {float(distortion):.4g}, "
        f"{seconds:.2f} s"
    )
    if options.json:
        print_json(
            {
                "points": len(embedding),
                "dim": options.dim,
                "method": options.method,
                "scale": embedding.scale,
                **score_fields({"distortion": distortion}),
                "seconds": seconds,
                "output": options.output,
            }
        )


def _check_output(options: EmbedOptions) -> str:
    """Return the suffix of the output, or refuse it."""
    check_outputs(options.output, source=options.source)
    suffix = ".csv" if options.output == "-" else Path(options.output).suffix.lower()
    if suffix not in (".npz", *_DELIMITERS):
        raise ValueError(
            f"{options.output}: unknown suffix for an embedding: use .npz, .csv or .tsv"
        )
    if options.json and options.output == "-":
        raise ValueError(
            "coordinates and --json cannot both be written to standard output: "
            "name a file with --output"
        )
    return suffix


def _embed(source: tr.Metric, options: EmbedOptions, suffix: str) -> tr.Embedding:
    """Embed a tree or the data, depending on the method."""
    space = source
    scale = options.scale
    if options.method == "sarkar":
        tree = as_tree(source, trials=options.trials, seed=options.seed, jobs=options.jobs)
        space = tree
        if _is_picture(options, suffix):
            # At a scale that preserves distances, most points round to the edge of the disk.
            scale = disk_embedding(tree).scale
    with warnings.catch_warnings():
        # In Python, an interrupt returns the best embedding so far. An interrupted command
        # writes nothing.
        warnings.filterwarnings("error", message="interrupted in epoch")
        try:
            return tr.embed(
                space,
                method=options.method,
                dim=options.dim,
                distortion=options.distortion,
                scale=scale,
                rng=options.seed,
                device=options.device,
            )
        except UserWarning as warning:
            raise KeyboardInterrupt from warning


def _is_picture(options: EmbedOptions, suffix: str) -> bool:
    """Return whether the coordinates are for a picture: planar, in a table, no scale given."""
    in_plane = suffix != ".npz" and options.dim == 2
    return in_plane and options.scale is None and options.distortion is None


def _write_table(embedding: tr.Embedding, output: str, model: str, delimiter: str) -> None:
    """Write the labels and coordinates of the points, with all digits."""
    places = embedding.coordinates(model)[: len(embedding)].tolist()
    labels = embedding.labels or range(len(embedding))
    # The hyperboloid has an additional coordinate x0.
    first = 0 if model == "lorentz" else 1
    columns = range(first, first + len(places[0]))
    with open_output(output) as file:
        table = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        table.writerow(["label", *(f"x{k}" for k in columns)])
        table.writerows([label, *row] for label, row in zip(labels, places, strict=True))
