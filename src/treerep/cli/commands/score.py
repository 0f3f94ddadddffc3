"""`treerep score`: how well a tree keeps the distances of its data."""

import typer

import treerep as tr

from ...scores.score import Score
from .._inputs import aligned, check_one_stdin, read_either
from .._options import Reading
from .._outputs import counted, print_json, rows_as_columns, score_fields

_TITLES = {
    "distortion": "average distortion",
    "distortion_scaled": "average distortion, after the best scale",
    "worst_distortion": "worst distortion",
    "map": "mean average precision",
}


def all_scores(
    tree: tr.Metric, metric: tr.Metric, jobs: int | None, device: str | None
) -> dict[str, Score]:
    """Return every score that applies; mean average precision is about the edges of a graph."""
    scores = {
        "distortion": tr.average_distortion(tree, metric, n_jobs=jobs, device=device),
        "distortion_scaled": tr.average_distortion(
            tree, metric, scale="optimal", n_jobs=jobs, device=device
        ),
        "worst_distortion": tr.worst_distortion(
            tree, metric, n_jobs=jobs
        ),  # by the threads alone
    }
    if isinstance(metric, tr.GraphMetric):
        scores["map"] = tr.mean_average_precision(tree, metric, n_jobs=jobs, device=device)
    return scores


def score_file(
    tree_file: str,
    source: str,
    *,
    reading: Reading,
    jobs: int | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Print the scores of a tree, or of an embedding."""
    check_one_stdin(tree_file, source)
    found = read_either(tree_file, Reading())
    if not isinstance(found, tr.Tree | tr.Embedding):
        raise ValueError(
            f"{tree_file}: it holds neither a tree nor an embedding: the data come second"
        )
    metric = read_either(source, reading)
    tree = aligned(found, metric, (tree_file, source))
    scores = all_scores(tree, metric, jobs, device)
    sizes = {"points": len(found), "nodes": found.n_nodes}
    if as_json:
        print_json({**sizes, **score_fields(scores)})
        return
    lines = rows_as_columns([(_TITLES[name], repr(score)) for name, score in scores.items()])
    typer.echo(
        "\n".join([f"{counted(len(found), 'point')}, {counted(found.n_nodes, 'node')}", *lines])
    )
