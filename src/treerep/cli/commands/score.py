"""`treerep score`: compare a tree or an embedding with its data."""

import typer

import treerep as tr

from ...scores.score import Score
from .._command_options import ScoreOptions
from .._inputs import check_one_stdin, match_points, read_either
from .._options import Reading
from .._outputs import align_columns, plural, print_json, score_fields

_TITLES = {
    "distortion": "average distortion",
    "distortion_scaled": "average distortion, optimal scale",
    "worst_distortion": "worst distortion",
    "map": "mean average precision",
}


def score_file(options: ScoreOptions) -> None:
    """Print the scores of a tree or an embedding."""
    check_one_stdin(options.tree, options.source)
    tree = read_either(options.tree, Reading())
    if not isinstance(tree, tr.Tree | tr.Embedding):
        raise ValueError(
            f"{options.tree} contains neither a tree nor an embedding: "
            "name the tree first and the data second"
        )
    metric = read_either(options.source, options.reading)
    matched = match_points(tree, metric, (options.tree, options.source))
    scores = all_scores(matched, metric, options.jobs, options.device)
    if options.json:
        print_json({"points": len(tree), "nodes": tree.n_nodes, **score_fields(scores)})
        return
    sizes = f"{plural(len(tree), 'point')}, {plural(tree.n_nodes, 'node')}"
    rows = [(_TITLES[name], repr(score)) for name, score in scores.items()]
    typer.echo("\n".join([sizes, *align_columns(rows)]))


def all_scores(
    tree: tr.Metric, metric: tr.Metric, jobs: int | None, device: str | None
) -> dict[str, Score]:
    """Return every score that applies. Mean average precision needs the edges of a graph."""
    scores = {
        "distortion": tr.average_distortion(tree, metric, n_jobs=jobs, device=device),
        "distortion_scaled": tr.average_distortion(
            tree, metric, scale="optimal", n_jobs=jobs, device=device
        ),
        # The worst distortion does not run on a device.
        "worst_distortion": tr.worst_distortion(tree, metric, n_jobs=jobs),
    }
    if isinstance(metric, tr.GraphMetric):
        scores["map"] = tr.mean_average_precision(tree, metric, n_jobs=jobs, device=device)
    return scores
