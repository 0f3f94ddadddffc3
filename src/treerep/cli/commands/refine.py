"""`treerep refine`: a tree and its data in, a better tree out."""

import time
from typing import Any

import treerep as tr

from ...formats import read_tree
from .._inputs import aligned, check_one_stdin, read_either
from .._options import Reading
from .._outputs import check_tree_output
from .fit import finish


def refine_file(
    tree_file: str,
    source: str,
    output: str,
    *,
    reading: Reading,
    weights: Any,
    moves: bool,
    balance: float,
    time_limit: float | None,
    seed: int,
    jobs: int | None,
    device: str | None,
    to: str | None,
    as_json: bool,
) -> None:
    """Refine a tree, write it and say what was gained."""
    check_one_stdin(tree_file, source)
    check_tree_output(output, to, source)  # the tree itself may be replaced by the better one
    metric = read_either(source, reading)
    tree = aligned(read_tree(tree_file), metric, (tree_file, source))
    assert isinstance(tree, tr.Tree)
    begin = time.perf_counter()
    better = tr.refine(
        tree,
        metric,
        weights=weights,
        moves=moves,
        balance=balance,
        time_limit=time_limit,
        rng=seed,
        n_jobs=jobs,
        device=device,
    )
    seconds = time.perf_counter() - begin
    before = {"distortion_before": better.refinement.distortion_before}
    finish(
        better,
        metric,
        output,
        to=to,
        jobs=jobs,
        device=device,
        as_json=as_json,
        seconds=seconds,
        about=before,
    )
