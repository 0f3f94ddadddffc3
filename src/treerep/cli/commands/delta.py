"""`treerep delta`: how far the data are from a tree."""

from typing import Any

import typer

import treerep as tr

from ..._core.io.printing import printable
from .._inputs import read_either
from .._options import Reading
from .._outputs import number, print_json, rows_as_columns


def measure_delta(
    source: str,
    *,
    reading: Reading,
    method: Any,
    normalize: bool,
    time_limit: float | None,
    seed: int,
    jobs: int | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Print Gromov's delta of a file, with the four points that prove it."""
    metric = read_either(source, reading)
    delta = tr.hyperbolicity(
        metric,
        method=method,
        normalize=normalize,
        time_limit=time_limit,
        rng=seed,
        n_jobs=jobs,
        device=device,
    )
    names = [metric.labels[k] if metric.labels else k for k in delta.witness or ()]
    if as_json:
        mean = (
            {}
            if delta.mean is None
            else {"mean": delta.mean, "mean_interval": [delta.mean_low, delta.mean_high]}
        )
        fields = {
            "points": len(metric),
            "delta": delta.delta,
            "low": delta.low,
            "high": delta.high,
        }
        about = {
            "exact": delta.exact,
            "normalized": normalize,
            "diameter": delta.diameter,
            "relative": delta.relative,
        }
        print_json({**fields, **about, "witness": names, "method": delta.method, **mean})
        return
    bounds = "exact" if delta.exact else f"between {delta.low:.4g} and {delta.high:.4g}"
    rows = [("delta / diameter" if normalize else "delta", f"{number(delta.delta)} ({bounds})")]
    if delta.mean is not None:
        rows.append(
            (
                "mean of four points",
                f"{delta.mean:.4g} ({delta.mean_low:.4g} to {delta.mean_high:.4g})",
            )
        )
    rows += [
        ("2 delta / diameter", number(delta.relative)),
        ("diameter", number(delta.diameter)),
    ]
    if names:
        rows.append(("the four points", ", ".join(printable(str(name)) for name in names)))
    typer.echo("\n".join(rows_as_columns(rows)))
