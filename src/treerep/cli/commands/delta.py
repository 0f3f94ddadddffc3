"""`treerep delta`: measure how tree-like the data is."""

import typer

import treerep as tr

from ..._core.io.printing import printable
from ...treelikeness.result import Hyperbolicity
from .._command_options import DeltaOptions
from .._inputs import read_either
from .._outputs import align_columns, format_number, print_json


def measure_delta(options: DeltaOptions) -> None:
    """Print Gromov's delta of a file and the four points that attain it."""
    metric = read_either(options.source, options.reading)
    delta = tr.hyperbolicity(
        metric,
        method=options.method,
        normalize=options.normalize,
        time_limit=options.time_limit,
        rng=options.seed,
        n_jobs=options.jobs,
    )
    witness = [metric.labels[k] if metric.labels else k for k in delta.witness or ()]
    if options.json:
        print_json(_fields(delta, len(metric), options.normalize, witness))
    else:
        typer.echo("\n".join(align_columns(_rows(delta, options.normalize, witness))))


def _fields(
    delta: Hyperbolicity, n_points: int, normalized: bool, witness: list[str | int]
) -> dict[str, object]:
    fields: dict[str, object] = {
        "points": n_points,
        "delta": delta.delta,
        "low": delta.low,
        "high": delta.high,
        "exact": delta.exact,
        "normalized": normalized,
        "diameter": delta.diameter,
        "relative": delta.relative,
        "witness": witness,
        "method": delta.method,
    }
    if delta.mean is not None:
        fields["mean"] = delta.mean
        fields["mean_interval"] = [delta.mean_low, delta.mean_high]
    return fields


def _rows(delta: Hyperbolicity, normalized: bool, witness: list[str | int]) -> list[tuple[str, str]]:
    name = "delta / diameter" if normalized else "delta"
    bounds = "exact" if delta.exact else f"between {delta.low:.4g} and {delta.high:.4g}"
    rows = [(name, f"{format_number(delta.delta)} ({bounds})")]
    if delta.mean is not None:
        interval = f"{delta.mean_low:.4g} to {delta.mean_high:.4g}"
        rows.append(("mean over quadruples", f"{delta.mean:.4g} ({interval})"))
    rows.append(("2 delta / diameter", format_number(delta.relative)))
    rows.append(("diameter", format_number(delta.diameter)))
    if witness:
        points = ", ".join(printable(str(point)) for point in witness)
        rows.append(("four points", points))
    return rows
