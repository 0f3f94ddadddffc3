"""`treerep compare`: run several methods on the same data."""

import contextlib
import math
import time

import treerep as tr

from ..._core.method import unknown_method
from ..._core.progress import progress_bar
from ...fitting.methods import METHODS
from .._bounds import bound_fields, tree_bound
from .._child import run_in_child
from .._command_options import CompareOptions
from .._compare_tables import Row, as_csv, print_table
from .._inputs import display_name, read_either
from .._outputs import check_outputs, plural, print_json, write_outputs
from .._wording import one_line

# Seconds. A shorter fit is timed twice, because the first call may load compiled code.
_SHORT = 1.0


def compare_file(options: CompareOptions) -> None:
    """Fit a tree with each method, print a table of scores and write it as CSV or JSON if requested."""
    check_outputs(options.csv, source=options.source)
    on_stdout = _is_stdout_taken(options)
    methods = parse_methods(options.methods)
    metric = read_either(options.source, options.reading)
    _ = metric.oracle  # built before the timing starts, because all methods share it
    rows = []
    with progress_bar(len(methods), "comparing", "methods") as bar:
        for method in methods:
            bar.set_postfix_str(method)
            rows.append(_row(metric, method, options))
            bar.update()
    title = f"{display_name(options.source)}: {plural(len(metric), 'point')}"
    bound = _bound(metric, rows, options) if options.bound else None
    print_table(rows, title, bound, stderr=on_stdout)
    if options.csv is not None:
        write_outputs([(options.csv, as_csv(rows, bound))])
    if options.json:
        print_json({"title": title, "rows": rows, **bound_fields(bound)})


def _bound(metric: tr.Metric, rows: list[Row], options: CompareOptions) -> tr.LowerBound | None:
    """Return a lower bound for all trees, or None if it takes longer than the time limit."""
    distortions = [row["distortion"] for row in rows if "distortion" in row]

    def work() -> tr.LowerBound:
        return tree_bound(metric, min(distortions, default=math.inf), options.jobs)

    if options.time_limit is None:
        return work()
    try:
        return run_in_child(work, options.time_limit)
    except TimeoutError:
        return None


def _is_stdout_taken(options: CompareOptions) -> bool:
    """Return whether an option writes the table to standard output. At most one may."""
    if options.csv == "-" and options.json:
        raise ValueError("--csv - and --json cannot share standard output: use only one of them")
    return options.csv == "-" or options.json


def parse_methods(text: str) -> list[str]:
    """Return the methods in a comma-separated list, or all methods.

    >>> parse_methods("upgma, bfs")
    ['upgma', 'bfs']
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return list(METHODS)
    if not names:
        raise ValueError("--methods is empty: list methods separated by commas, or use all")
    for name in names:
        if name not in METHODS:
            raise unknown_method(name, METHODS, ", or all")
    return list(dict.fromkeys(names))


def _row(metric: tr.Metric, method: str, options: CompareOptions) -> Row:
    """Return the scores of a method, or its error, so that the other methods can run."""

    def work() -> Row:
        return _measure(metric, method, options.trials, options)

    # Compile first. Errors are reported by the run on the full data.
    with contextlib.suppress(Exception):
        _measure(_few_points(metric), method, 1, options)
    try:
        limit = options.time_limit
        scores = work() if limit is None else run_in_child(work, limit)
    except Exception as error:
        return {"method": method, "reason": one_line(error, "compare")}
    return {"method": method, **scores}


def _measure(metric: tr.Metric, method: str, trials: int, options: CompareOptions) -> Row:
    if not METHODS[method].random:
        trials = 1
    jobs = options.jobs

    def timed_fit() -> tuple[tr.Tree, float]:
        begin = time.perf_counter()
        tree = tr.fit(metric, method=method, trials=trials, rng=options.seed, n_jobs=jobs)
        return tree, time.perf_counter() - begin

    tree, seconds = timed_fit()
    if seconds < _SHORT:
        seconds = min(seconds, timed_fit()[1])
    plain = tr.average_distortion(tree, metric, n_jobs=jobs)
    scaled = tr.average_distortion(tree, metric, scale="optimal", n_jobs=jobs)
    precision = None
    if isinstance(metric, tr.GraphMetric):
        precision = float(tr.mean_average_precision(tree, metric, n_jobs=jobs))
    return {
        "distortion": float(plain),
        "distortion_scaled": float(scaled),
        "map": precision,
        "seconds": seconds,
        "nodes": tree.n_nodes,
        "trials": trials,
        "exact": plain.exact,
    }


def _few_points(metric: tr.Metric) -> tr.Metric:
    """Return a small metric that uses the same compiled code."""
    few = range(min(len(metric), 8))
    if isinstance(metric, tr.GraphMetric):
        ring = [(k, (k + 1) % 8) for k in range(8)]
        return tr.GraphMetric(ring, weights=[1.5] * 8 if metric.weighted else None)
    if isinstance(metric, tr.PointMetric):
        return tr.PointMetric(metric.points[: len(few)], metric.metric)
    if isinstance(metric, tr.SequenceMetric):
        return metric.restrict(few)
    if isinstance(metric, tr.MatrixMetric):
        return tr.MatrixMetric(metric.distances[: len(few), : len(few)])
    if isinstance(metric, tr.Tree):
        return metric.restrict(few)
    return tr.MatrixMetric(metric.block(few, few))
