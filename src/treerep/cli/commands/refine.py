"""`treerep refine`: improve the fit of a tree to its data."""

import time

import treerep as tr

from ...formats import read_tree
from .._command_options import RefineOptions
from .._inputs import check_one_stdin, match_points, read_either
from .._outputs import check_tree_output
from .fit import write_and_report


def refine_file(options: RefineOptions) -> None:
    """Refine a tree, write the result and report its scores."""
    check_one_stdin(options.tree, options.source)
    # The output may overwrite the tree, but not the data.
    check_tree_output(options.output, options.to, options.source)
    metric = read_either(options.source, options.reading)
    tree = match_points(read_tree(options.tree), metric, (options.tree, options.source))
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
        device=options.device,
    )
    seconds = time.perf_counter() - begin
    before = {"distortion_before": refined.refinement.distortion_before}
    write_and_report(refined, metric, options, seconds, before)
