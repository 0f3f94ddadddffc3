"""`treerep fit`: fit a tree to a file of data."""

import time
from collections.abc import Mapping

import treerep as tr

from ...fitting.methods import DEFAULT, TRIALS
from ...formats import write_tree
from .._command_options import FitOptions, RefineOptions
from .._inputs import kind_of_file, read_either
from .._outputs import (
    check_sum_output,
    check_tree_output,
    newick_text,
    note_leaves,
    print_json,
    print_note,
    score_fields,
    size_fields,
    sizes_text,
)

# The only method that accepts each of these options.
_METHOD_OF_OPTION = {"tol": "treerep", "size": "backbone"}
# Options that do not apply to sums of trees, and their defaults.
_ONE_TREE = {
    "method": DEFAULT,
    "trials": TRIALS,
    "keep": "best",
    "bootstrap": None,
    "tol": None,
    "size": None,
    "device": None,
}


def fit_file(options: FitOptions) -> None:
    """Fit a tree to a file of data, write the tree and report its scores."""
    check_tree_output(options.output, options.to, options.source)
    _check_trees(options)
    _check_method(options)
    kind = kind_of_file(options.source, options.reading)
    if options.reading.format is None and kind in ("tree", "sum"):
        raise _is_fitted(options.source, kind)
    metric = read_either(options.source, options.reading)
    if isinstance(metric, tr.Tree):
        raise _is_fitted(options.source, "tree")
    begin = time.perf_counter()
    tree = _fitted(metric, options)
    settings = {
        "method": options.method,
        "trials": options.trials,
        "keep": options.keep,
        "bootstrap": options.bootstrap,
        "seed": options.seed,
        "refined": options.refine,
    }
    write_and_report(tree, metric, options, time.perf_counter() - begin, settings)


def _is_fitted(path: str, kind: str) -> ValueError:
    found = "a sum of trees" if kind == "sum" else "a tree"
    return ValueError(f"{path} already contains {found}: use score, refine, embed, draw or view")


def _fitted(metric: tr.Metric, options: FitOptions) -> tr.Tree | tr.TreeSum:
    """Fit a tree or a sum of trees, and refine it if requested."""
    if options.trees is not None:
        trees = tr.fit(metric, trees=options.trees, rng=options.seed, n_jobs=options.jobs)
        if not options.refine:
            return trees
        return tr.refine(trees, metric, rng=options.seed, n_jobs=options.jobs)
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
    if not options.refine:
        return tree
    return tr.refine(tree, metric, rng=options.seed, n_jobs=options.jobs)


def _check_trees(options: FitOptions) -> None:
    """Raise an error for an option or an output that does not apply to a sum of trees."""
    if options.trees is None:
        return
    for name, default in _ONE_TREE.items():
        if getattr(options, name) != default:
            raise ValueError(f"--{name} does not apply to a sum of trees: remove --{name} or --trees")
    check_sum_output(options.output, options.to)


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
                f"--method {options.method} has no option --{name}: remove it, or use --method {method}"
            )


def write_and_report(
    tree: tr.Tree | tr.TreeSum,
    metric: tr.Metric,
    options: FitOptions | RefineOptions,
    seconds: float,
    details: Mapping[str, object],
) -> None:
    """Score a new tree, write it, and report both: a line on stderr, JSON on stdout."""
    plain, scaled = (
        tr.average_distortion(tree, metric, scale=scale, n_jobs=options.jobs) for scale in ("none", "optimal")
    )
    output = options.output
    if not (options.json and output == "-"):
        to = options.to or ("newick" if output == "-" else None)
        write_tree(tree, output, format=to)
        note_leaves(tree, output, to)
    sampled = "" if plain.exact else f" ({plain.basis})"
    print_note(
        f"{sizes_text(tree, tree.n_nodes)}, "
        f"average distortion {float(plain):.4g}, "
        f"{float(scaled):.4g} at optimal scale{sampled}, {seconds:.2f} s"
    )
    if not options.json:
        return
    sizes = size_fields(tree, tree.n_nodes)
    scores = score_fields({"distortion": plain, "distortion_scaled": scaled})
    if isinstance(metric, tr.SequenceMetric):
        details = {**details, "alphabet": metric.alphabet, "model": metric.model}
    written = {"newick": newick_text(tree)} if output == "-" else {"output": output}
    print_json({**sizes, **scores, **details, "seconds": seconds, **written})
