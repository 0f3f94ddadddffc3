"""`treerep refine`: improve the fit of a tree to its data."""

import time

import treerep as tr

from .._command_options import RefineOptions
from .._inputs import check_one_stdin, match_points, read_either, read_tree_or_sum
from .._outputs import check_sum_output, check_tree_output
from .fit import write_and_report


def refine_file(options: RefineOptions) -> None:
    """Refine a tree, write the result and report its scores."""
    check_one_stdin(options.tree, options.source)
    # The output may overwrite the tree, but not the data.
    check_tree_output(options.output, options.to, options.source)
    metric = read_either(options.source, options.reading, with_tree=True)
    given = read_tree_or_sum(options.tree, options.reading)
    names = options.tree, options.source
    if isinstance(given, tr.TreeSum):
        _refine_sum(match_points(given, metric, names), metric, options)
        return
    tree = match_points(given, metric, names)
    begin = time.perf_counter()
    refined = tr.refine(
        tree,
        metric,
        weights=options.weights,
        moves=options.moves,
        balance=options.balance,
        time_limit=options.time_limit,
        rng=options.seed,
        n_jobs=options.jobs,
    )
    seconds = time.perf_counter() - begin
    before = {"distortion_before": refined.refinement.distortion_before}
    write_and_report(refined, metric, options, seconds, before)


def _refine_sum(trees: tr.TreeSum, metric: tr.Metric, options: RefineOptions) -> None:
    """Refine a sum of trees. It has no report, so its distortion is computed before."""
    check_sum_output(options.output, options.to)
    before = float(tr.average_distortion(trees, metric, n_jobs=options.jobs))
    begin = time.perf_counter()
    refined = tr.refine(
        trees,
        metric,
        weights=options.weights,
        moves=options.moves,
        balance=options.balance,
        time_limit=options.time_limit,
        rng=options.seed,
        n_jobs=options.jobs,
    )
    seconds = time.perf_counter() - begin
    write_and_report(refined, metric, options, seconds, {"distortion_before": before})
