"""`treerep compare`: several methods on the same data, side by side."""

import contextlib
import time
from typing import Any

import treerep as tr

from ..._core.progress import progress_bar
from ...fitting.methods import METHODS
from .._child import run_in_child
from .._compare_tables import as_csv, as_html, print_table
from .._ending import one_line
from .._inputs import read_either, stem
from .._options import Reading
from .._outputs import check_outputs, counted, print_json, write_outputs

_SHORT = (
    1.0  # seconds: a fit as short as this is timed again, as the first one may have loaded code
)


def compare_file(
    source: str,
    *,
    reading: Reading,
    methods: str,
    trials: int,
    time_limit: float | None,
    seed: int,
    jobs: int | None,
    csv: str | None,
    html: str | None,
    as_json: bool,
) -> None:
    """Fit a tree by every method, print the scores as a table and write them to the files that were named."""
    check_outputs(csv, html, source=source)
    to_stdout = _on_standard_output(csv, html, as_json=as_json)
    chosen = chosen_methods(methods)
    metric = read_either(source, reading)
    _ = metric.oracle  # whatever all methods share is made before the first is timed
    rows = []
    with progress_bar(len(chosen), "comparing", "methods") as bar:
        for method in chosen:
            bar.set_postfix_str(method)
            rows.append(
                _row(metric, method, trials=trials, time_limit=time_limit, seed=seed, jobs=jobs)
            )
            bar.update()
    title = f"{stem(source)}: {counted(len(metric), 'point')}"
    print_table(rows, title, stderr=bool(to_stdout))
    outputs = ((csv, as_csv), (html, as_html))
    write_outputs([(path, text(rows, title)) for path, text in outputs if path is not None])
    if as_json:
        print_json({"title": title, "rows": rows})


def _on_standard_output(csv: str | None, html: str | None, *, as_json: bool) -> list[str]:
    """Return the options that send the table to standard output, of which there may be one."""
    asked = {"--csv -": csv == "-", "--html -": html == "-", "--json": as_json}
    options = [option for option, chosen in asked.items() if chosen]
    if len(options) > 1:
        raise ValueError(
            f"{' and '.join(options)} cannot go to standard output together: give one of them"
        )
    return options


def chosen_methods(text: str) -> list[str]:
    """Return the methods in a list with commas, or all of them.

    >>> chosen_methods("upgma, bfs")
    ['upgma', 'bfs']
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return list(METHODS)
    if not names:
        raise ValueError(
            "--methods names no method: give some with commas between them, or all"
        )
    for name in names:
        if name not in METHODS:
            raise ValueError(f"unknown method {name!r}: choose of {', '.join(METHODS)}, or all")
    return list(dict.fromkeys(names))


def _row(
    metric: tr.Metric,
    method: str,
    *,
    trials: int,
    time_limit: float | None,
    seed: int,
    jobs: int | None,
) -> dict[str, Any]:
    """Return the scores of a method, or the reason why there are none: it must not stop the others."""

    def work() -> dict[str, Any]:
        return _measured(metric, method, trials, seed, jobs)

    with contextlib.suppress(
        Exception
    ):  # whatever is wrong with it will be said of the data themselves
        _measured(_few_points(metric), method, 1, seed, jobs)
    try:
        found = work() if time_limit is None else run_in_child(work, time_limit)
    except Exception as error:
        return {"method": method, "reason": one_line(error)}
    return {"method": method, **found}


def _measured(
    metric: tr.Metric, method: str, trials: int, seed: int, jobs: int | None
) -> dict[str, Any]:
    count = trials if METHODS[method].random else 1

    def timed() -> tuple[Any, float]:
        begin = time.perf_counter()
        made = tr.fit(metric, method=method, trials=count, rng=seed, n_jobs=jobs)
        return made, time.perf_counter() - begin

    tree, seconds = timed()
    if seconds < _SHORT:
        seconds = min(seconds, timed()[1])
    plain = tr.average_distortion(tree, metric, n_jobs=jobs)
    found = {
        "distortion": float(plain),
        "distortion_scaled": float(
            tr.average_distortion(tree, metric, scale="optimal", n_jobs=jobs)
        ),
        "map": None,
        "seconds": seconds,
        "nodes": tree.n_nodes,
        "trials": count,
        "exact": plain.exact,
    }
    if isinstance(metric, tr.GraphMetric):
        found["map"] = float(tr.mean_average_precision(tree, metric, n_jobs=jobs))
    return found


def _few_points(metric: tr.Metric) -> tr.Metric:
    """Return a small metric that runs the same compiled code, to have it compiled before time counts."""
    few = range(min(len(metric), 8))
    if isinstance(metric, tr.GraphMetric):
        ring = [(k, (k + 1) % 8) for k in range(8)]
        return tr.GraphMetric(ring, weights=[1.5] * 8 if metric.weighted else None)
    if isinstance(metric, tr.PointMetric):
        return tr.PointMetric(metric.points[: len(few)], metric.metric)
    if isinstance(metric, tr.MatrixMetric):
        return tr.MatrixMetric(metric.distances[: len(few), : len(few)])
    return (
        metric.restrict(few)
        if isinstance(metric, tr.Tree)
        else tr.MatrixMetric(metric.block(few, few))
    )
