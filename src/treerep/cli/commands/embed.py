"""`treerep embed`: embed a tree or data in hyperbolic space."""

import csv
import time
import warnings
from pathlib import Path

import treerep as tr

from ...drawing.layouts.hyperbolic import disk_embedding
from ...embedding.product import ProductEmbedding
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
    if isinstance(source, tr.Embedding | ProductEmbedding):
        raise ValueError(f"{options.source} already contains an embedding: use a tree or data instead")
    begin = time.perf_counter()
    embedding = _embed(source, options, suffix)
    seconds = time.perf_counter() - begin
    if suffix == ".npz":
        embedding.save(options.output)
    else:
        _write_table(embedding, options.output, options.model, _DELIMITERS[suffix])
    distortion = tr.average_distortion(embedding, source, n_jobs=options.jobs)
    print_note(
        f"{plural(len(embedding), 'point')}, {_space_text(embedding, options.dim)}, "
        f"average distortion {float(distortion):.4g}, {seconds:.2f} s"
    )
    if options.json:
        print_json(
            {
                "points": len(embedding),
                "dim": options.dim,
                "method": options.method,
                **_scale_fields(embedding),
                **score_fields({"distortion": distortion}),
                "seconds": seconds,
                "output": options.output,
            }
        )


def _space_text(embedding: tr.Embedding | ProductEmbedding, dim: int) -> str:
    """Return the dimension and the scale, or the smallest and the largest scale of a product."""
    if isinstance(embedding, tr.Embedding):
        return f"dimension {dim}, scale {embedding.scale:.4g}"
    low = f"{min(embedding.scales):.4g}"
    high = f"{max(embedding.scales):.4g}"
    scales = f"scale {low}" if low == high else f"scales {low} to {high}"
    spaces = plural(len(embedding.components), "space")
    return f"{spaces} of dimension {dim}, {scales}"


def _scale_fields(embedding: tr.Embedding | ProductEmbedding) -> dict[str, object]:
    if isinstance(embedding, tr.Embedding):
        return {"scale": embedding.scale}
    return {"trees": len(embedding.components), "scales": list(embedding.scales)}


def _check_output(options: EmbedOptions) -> str:
    """Return the suffix of the output, or refuse it."""
    check_outputs(options.output, source=options.source)
    suffix = ".csv" if options.output == "-" else Path(options.output).suffix.lower()
    if suffix not in (".npz", *_DELIMITERS):
        raise ValueError(f"{options.output}: unknown suffix for an embedding: use .npz, .csv or .tsv")
    if options.json and options.output == "-":
        raise ValueError(
            "coordinates and --json cannot both be written to standard output: name a file with --output"
        )
    return suffix


def _embed(source: tr.Metric, options: EmbedOptions, suffix: str) -> tr.Embedding | ProductEmbedding:
    """Embed a tree, a sum of trees or the data, depending on the method."""
    space = source
    scale = options.scale
    if options.method == "sarkar":
        if isinstance(source, tr.TreeSum):
            refuse_trials(options.trials, "the input is already a sum of trees")
            trees = source.trees
        else:
            tree = as_tree(source, trials=options.trials, seed=options.seed, jobs=options.jobs)
            space = tree
            trees = (tree,)
        if _is_picture(options, suffix):
            # At a scale that preserves distances, most points round to the edge of the disk.
            scale = min(disk_embedding(tree).scale for tree in trees)
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


def _write_table(embedding: tr.Embedding | ProductEmbedding, output: str, model: str, delimiter: str) -> None:
    """Write the labels and coordinates of the points, with all digits."""
    n = len(embedding)
    places = embedding.coordinates(model)[:n]
    if isinstance(embedding, ProductEmbedding):
        names = _product_columns(places.shape[1], places.shape[2], model)
    else:
        names = [f"x{k}" for k in _axes(places.shape[1], model)]
    rows = places.reshape(n, -1).tolist()
    labels = embedding.labels or range(n)
    with open_output(output) as file:
        table = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        table.writerow(["label", *names])
        table.writerows([label, *row] for label, row in zip(labels, rows, strict=True))


def _axes(count: int, model: str) -> range:
    """Return the numbers of the coordinates. The hyperboloid has an additional coordinate x0."""
    first = 0 if model == "lorentz" else 1
    return range(first, first + count)


def _product_columns(trees: int, count: int, model: str) -> list[str]:
    """Return the names of the coordinates for each tree.

    >>> _product_columns(2, 2, "klein")
    ['tree1_x', 'tree1_y', 'tree2_x', 'tree2_y']
    >>> _product_columns(1, 3, "lorentz")
    ['tree1_x0', 'tree1_x1', 'tree1_x2']
    """
    in_plane = count == 2 and model != "lorentz"
    names = ["x", "y"] if in_plane else [f"x{k}" for k in _axes(count, model)]
    return [f"tree{k}_{name}" for k in range(1, trees + 1) for name in names]
