"""`treerep fit`: data in, a tree out."""

import time
from typing import Any

import treerep as tr

from ...formats import write_tree
from .._inputs import read_either
from .._options import Reading
from .._outputs import check_tree_output, counted, print_json, remark, score_fields


def fit_file(
    source: str,
    output: str,
    *,
    reading: Reading,
    method: str,
    trials: int,
    seed: int,
    tol: float | None,
    size: int | None,
    jobs: int | None,
    device: str | None,
    refine: bool,
    to: str | None,
    as_json: bool,
) -> None:
    """Fit a tree to a file of data, write it and say how good it is."""
    check_tree_output(output, to, source)
    for option, value, only in (("--tol", tol, "treerep"), ("--size", size, "backbone")):
        if value is not None and method != only:
            raise ValueError(
                f"{option} {value} is for --method {only}, not for {method}: change one of them"
            )
    metric = read_either(source, reading)
    if isinstance(metric, tr.Tree):
        raise ValueError(
            f"{source} holds a tree already: score, refine, embed, draw or view it"
        )
    begin = time.perf_counter()
    tree = tr.fit(
        metric,
        method=method,
        trials=trials,
        rng=seed,
        tol=tol,
        size=size,
        n_jobs=jobs,
        device=device,
    )
    if refine:  # by the threads: moves do not run on a device
        tree = tr.refine(tree, metric, rng=seed, n_jobs=jobs)
    seconds = time.perf_counter() - begin
    about = {"method": method, "trials": trials, "seed": seed, "refined": refine}
    finish(
        tree,
        metric,
        output,
        to=to,
        jobs=jobs,
        device=device,
        as_json=as_json,
        seconds=seconds,
        about=about,
    )


def finish(
    tree: tr.Tree,
    metric: tr.Metric,
    output: str,
    *,
    to: str | None,
    jobs: int | None,
    device: str | None,
    as_json: bool,
    seconds: float,
    about: dict[str, Any],
) -> None:
    """Score a new tree, write it, and report both: to people on stderr, to programs on stdout."""
    plain, scaled = (
        tr.average_distortion(tree, metric, scale=scale, n_jobs=jobs, device=device)
        for scale in ("none", "optimal")
    )
    if not (as_json and output == "-"):
        write_tree(tree, output, format=to or ("newick" if output == "-" else None))
    about_sample = "" if plain.exact else f" ({plain.basis})"
    remark(
        f"{counted(len(tree), 'point')}, {counted(tree.n_nodes, 'node')}, average distortion {float(plain):.4g}, "
        f"{float(scaled):.4g} after the best scale{about_sample}, {seconds:.2f} s"
    )
    if not as_json:
        return
    fields = {"points": len(tree), "nodes": tree.n_nodes}
    scores = score_fields({"distortion": plain, "distortion_scaled": scaled})
    written = {"newick": tree.newick()} if output == "-" else {"output": output}
    print_json({**fields, **scores, **about, "seconds": seconds, **written})
