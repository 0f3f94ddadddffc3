"""`treerep score`: compare a tree or an embedding with its data."""

import math

import typer

import treerep as tr

from ...embedding.product import ProductEmbedding
from ...scores.score import Score
from .._bounds import bound_fields, bound_text, tree_bound
from .._command_options import ScoreOptions
from .._inputs import check_one_stdin, match_points, read_either
from .._options import Reading, tree_options
from .._outputs import align_columns, print_json, score_fields, size_fields, sizes_text

_TITLES = {
    "distortion": "average distortion",
    "distortion_scaled": "average distortion, optimal scale",
    "worst_distortion": "worst distortion",
    "map": "mean average precision",
}


def score_file(options: ScoreOptions) -> None:
    """Print the scores of a tree or an embedding."""
    check_one_stdin(options.tree, options.source)
    tree = read_either(options.tree, Reading(**tree_options(options.reading)), with_tree=True)
    if not isinstance(tree, tr.Tree | tr.TreeSum | tr.Embedding | ProductEmbedding):
        raise ValueError(
            f"{options.tree} contains neither a tree nor an embedding: "
            "name the tree first and the data second"
        )
    metric = read_either(options.source, options.reading, with_tree=True)
    matched = match_points(tree, metric, (options.tree, options.source))
    scores = all_scores(matched, metric, options.jobs)
    bound = None
    if options.bound:
        # Only the distortion of a tree shows that the best tree is exact.
        known = float(scores["distortion"]) if isinstance(tree, tr.Tree) else math.inf
        bound = tree_bound(metric, known, options.jobs)
    if options.json:
        sizes = size_fields(tree, tree.n_nodes)
        print_json({**sizes, **score_fields(scores), **bound_fields(bound)})
        return
    rows = {_TITLES[name]: repr(score) for name, score in scores.items()}
    _add_bound(rows, bound, isinstance(tree, tr.Tree))
    typer.echo("\n".join([sizes_text(tree, tree.n_nodes), *align_columns([*rows.items()])]))


def _add_bound(rows: dict[str, str], bound: tr.LowerBound | None, is_tree: bool) -> None:
    """Add a bound to the row of the distortion of a tree, or else as a row."""
    if not bound:  # a bound of 0 says nothing
        return
    if is_tree:
        rows[_TITLES["distortion"]] += f"; no tree is below {bound_text(bound)}"
    else:
        rows["average distortion of any tree"] = f"at least {bound_text(bound)}"


def all_scores(tree: tr.Metric, metric: tr.Metric, jobs: int | None) -> dict[str, Score]:
    """Return every score that applies. Mean average precision needs the edges of a graph."""
    scores = {
        "distortion": tr.average_distortion(tree, metric, n_jobs=jobs),
        "distortion_scaled": tr.average_distortion(tree, metric, scale="optimal", n_jobs=jobs),
        "worst_distortion": tr.worst_distortion(tree, metric, n_jobs=jobs),
    }
    if isinstance(metric, tr.GraphMetric):
        scores["map"] = tr.mean_average_precision(tree, metric, n_jobs=jobs)
    return scores
