"""`treerep embed`: a tree, or data, in hyperbolic space."""

import csv
import time
import warnings
from pathlib import Path
from typing import Any

import treerep as tr

from ...drawing.layouts.hyperbolic import disk_embedding
from .._inputs import read_either, refuse_trials, tree_of
from .._options import Reading
from .._outputs import check_outputs, counted, opened, print_json, remark, score_fields


def embed_file(
    source: str,
    output: str,
    *,
    reading: Reading,
    method: str,
    dim: int,
    distortion: float | None,
    scale: float | None,
    model: str,
    trials: int,
    seed: int,
    jobs: int | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Embed a tree or data, write the embedding and say how good it is."""
    check_outputs(output, source=source)
    suffix = ".csv" if output == "-" else Path(output).suffix.lower()
    if suffix not in (".npz", ".csv", ".tsv"):
        raise ValueError(f"{output}: an embedding is written as .npz, .csv or .tsv")
    if as_json and output == "-":
        raise ValueError(
            "coordinates and --json cannot both go to standard output: name a file with --output"
        )
    if method != "sarkar":
        refuse_trials(trials, f"{method} places the data without one")
    found = read_either(source, reading)
    if isinstance(found, tr.Embedding):
        raise ValueError(f"{source} holds an embedding already: give a tree, or data")
    begin = time.perf_counter()
    space = (
        tree_of(found, trials=trials, rng=seed, n_jobs=jobs) if method == "sarkar" else found
    )
    table_in_a_plane = suffix != ".npz" and dim == 2
    if method == "sarkar" and table_in_a_plane and scale is None and distortion is None:
        # It is for looking at: at the scale that keeps distances, most points would round to
        # the edge of the disk.
        scale = disk_embedding(tree_of(space)).scale
    embedding = _embedded(
        space,
        method=method,
        dim=dim,
        distortion=distortion,
        scale=scale,
        rng=seed,
        device=device,
    )
    seconds = time.perf_counter() - begin
    if suffix == ".npz":
        embedding.save(output)
    else:
        _write_table(embedding, output, model, "\t" if suffix == ".tsv" else ",")
    scores = {"distortion": tr.average_distortion(embedding, found, n_jobs=jobs)}
    remark(
        f"{counted(len(embedding), 'point')}, dimension {dim}, scale {embedding.scale:.4g}, average distortion "
        f"{float(scores['distortion']):.4g}, {seconds:.2f} s"
    )
    if as_json:
        fields = {
            "points": len(embedding),
            "dim": dim,
            "method": method,
            "scale": embedding.scale,
        }
        print_json({**fields, **score_fields(scores), "seconds": seconds, "output": output})


def _embedded(space: tr.Metric, **options: Any) -> tr.Embedding:
    with warnings.catch_warnings():
        # In Python an interrupt of the learning gives the best so far. Here nobody asked for
        # half an embedding.
        warnings.filterwarnings("error", message="interrupted in epoch")
        try:
            return tr.embed(space, **options)
        except UserWarning as warning:
            raise KeyboardInterrupt from warning


def _write_table(embedding: tr.Embedding, output: str, model: str, delimiter: str) -> None:
    """Write the names and coordinates of the data points, with as many digits as it takes to read them back."""
    places = embedding.coordinates(model)[: len(embedding)].tolist()
    names = embedding.labels or range(len(embedding))
    first = (
        0 if model == "lorentz" else 1
    )  # x0 is the coordinate of the hyperboloid that the others determine
    with opened(output) as file:
        table = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        table.writerow(["label", *(f"x{k}" for k in range(first, first + len(places[0])))])
        table.writerows([name, *row] for name, row in zip(names, places, strict=True))
