"""`treerep fit`: fit a tree to a file of data."""

import time
from collections.abc import Mapping

import treerep as tr

from ...formats import write_tree
from .._command_options import FitOptions, RefineOptions
from .._inputs import read_either
from .._outputs import (
    check_tree_output,
    note_leaves,
    plural,
    print_json,
    print_note,
    score_fields,
)

# The only method that accepts each of these options.
_METHOD_OF_OPTION = {"tol": "treerep", "size": "backbone"}


def fit_file(options: FitOptions) -> None:
    """Fit a tree to a file of data, write the tree and report its scores."""
    check_tree_output(options.output, options.to, options.source)
    _check_method(options)
    metric = read_either(options.source, options.reading)
    if isinstance(metric, tr.Tree):
        raise ValueError(
            f"{options.source} already contains a tree: use score, refine, embed, draw or view"
        )
    begin = time.perf_counter()
    tree = tr.fit(
        metric,
        method=options.method,
        trials=options.trials,
        keep=options.keep,
        bootstrap=options.bootstrap,
        rng=options.seed,
        tol=options.tol,
        size=options.size,
        n_jobs=options.jobs,
        device=options.device,
    )
    if options.refine:  # on the CPU: moves do not run on a device
        tree = tr.refine(tree, metric, rng=options.seed, n_jobs=options.jobs)
    settings = {
        "method": options.method,
        "trials": options.trials,
        "keep": options.keep,
        "bootstrap": options.bootstrap,
        "seed": options.seed,
        "refined": options.refine,
    }
    write_and_report(tree, metric, options, time.perf_counter() - begin, settings)


def _check_method(options: FitOptions) -> None:
    """Raise an error for an option that the chosen method or another option does not accept."""
    if options.refine and options.bootstrap is not None:
        raise ValueError(
            "--refine moves points after the bootstrap, so the support would be lost: "
            "remove --refine or --bootstrap"
        )
    for name, method in _METHOD_OF_OPTION.items():
        value = getattr(options, name)
        if value is not None and options.method != method:
            raise ValueError(
                f"--method {options.method} has no option --{name}: "
                f"remove it, or use --method {method}"
            )


def write_and_report(
    tree: tr.Tree,
    metric: tr.Metric,
    options: FitOptions | RefineOptions,
    seconds: float,
    details: Mapping[str, object],
) -> None:
    """Score a new tree, write it, and report both: a line on stderr, JSON on stdout."""
    plain, scaled = (
        tr.average_distortion(
            tree, metric, scale=scale, n_jobs=options.jobs, device=options.device
        )
        for scale in ("none", "optimal")
    )
    output = options.output
    if not (options.json and output == "-"):
        to = options.to or ("newick" if output == "-" else None)
        write_tree(tree, output, format=to)
        note_leaves(tree, output, to)
    sampled = "" if plain.exact else f" ({plain.basis})"
    print_note(
        f"{plural(len(tree), 'point')}, {plural(tree.n_nodes, 'node')}, "
        f"average distortion {float(plain):.4g}, "
        f"{float(scaled):.4g} at optimal scale{sampled}, {seconds:.2f} s"
    )
    if not options.json:
        return
    sizes = {"points": len(tree), "nodes": tree.n_nodes}
    scores = score_fields({"distortion": plain, "distortion_scaled": scaled})
    written = {"newick": tree.newick()} if output == "-" else {"output": output}
    print_json({**sizes, **scores, **details, "seconds": seconds, **written})
