"""Charts of time vs n and of quality vs time."""

from pathlib import Path
from typing import Any

import numpy as np

from paper.curves import MARKERS, PALETTE, curves
from treerep._core.io.files import atomic_write

Row = dict[str, Any]

#: Panels, and the kinds in each. One panel would need more colors than there are.
_PANELS = {
    "exact neighbor joining": {"neighbor joining"},
    "other joining, and TreeRep": {
        "relaxed neighbor joining",
        "BIONJ",
        "TreeRep",
        "TreeRep, best of 20",
    },
    "minimum evolution": {"minimum evolution, balanced"},
    "UPGMA": {"UPGMA"},
}


def draw(rivals: list[Row], folder: Path) -> None:
    """Write rivals_time.svg and rivals_quality.svg."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder.mkdir(exist_ok=True)
    for name, figure in (
        ("time", time_against_n(rivals)),
        ("quality", quality_against_time(rivals)),
    ):
        with (
            mpl.rc_context({"svg.hashsalt": "treerep", "svg.fonttype": "none"}),
            atomic_write(folder / f"rivals_{name}.svg", "wb") as stream,
        ):
            figure.savefig(
                stream,
                format="svg",
                bbox_inches="tight",
                facecolor="white",
                metadata={"Date": None},
            )


def time_against_n(rivals: list[Row]) -> Any:
    """Draw one panel for each group of kinds."""
    import matplotlib.pyplot as plt

    from .report import ladder

    trees = [rival for rival in rivals if rival["task"] == "tree" and len(ladder(rival)[0])]
    sizes = np.unique(np.concatenate([ladder(rival)[0] for rival in trees]))
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.4), layout="constrained", sharey=True)
    for ax, (title, kinds) in zip(axes.flat, _PANELS.items(), strict=True):
        series = {}
        for rival in sorted(trees, key=lambda rival: not rival["ours"]):
            if rival["kind"] in kinds:
                series[rival["name"]] = _on(sizes, *ladder(rival))
        curves(ax, sizes, series, xlabel="n", ylabel="seconds" if ax in axes[:, 0] else "", log_y=True)
        for line in ax.lines:  # treerep in bold lines
            line.set_linewidth(2.6 if str(line.get_label()).startswith("treerep") else 1.1)
        ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
        ax.set_title(title, fontsize=10)
    return figure


def _on(sizes: np.ndarray, n: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    values = np.full(len(sizes), np.nan)
    values[np.searchsorted(sizes, n)] = seconds
    return values


def quality_against_time(rivals: list[Row]) -> Any:
    """Draw one panel for each kind of data, with the legend in the last one."""
    import matplotlib.pyplot as plt

    from .report import titled

    trees = [rival for rival in rivals if rival["task"] == "tree" and rival["runs"]]
    largest = {place.split("/")[0]: place for rival in trees for place in rival["runs"]}
    largest.pop("random tree", None)  # almost all methods are exact there
    rows = len(largest) // 2 + 1
    figure, axes = plt.subplots(rows, 2, figsize=(9, 3.2 * rows), layout="constrained", squeeze=False)
    kinds = list(dict.fromkeys(rival["kind"] for rival in trees))
    for ax, place in zip(axes.flat, largest.values(), strict=False):
        for rival in trees:
            run = rival["runs"].get(place, {})
            if run.get("status") == "right":
                _dot(ax, run, kinds.index(rival["kind"]), rival["ours"])
        ax.set(xscale="log", xlabel="seconds", ylabel="average distortion")
        ax.set_title(titled(place), fontsize=10)
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
    for unused in axes.flat[len(largest) :]:
        unused.set_axis_off()
    _legend(axes.flat[len(largest)], kinds)
    return figure


def _legend(ax: Any, kinds: list[str]) -> None:
    """Draw the names of all kinds, and of filled and hollow marks."""
    from matplotlib.lines import Line2D

    def mark(face: str) -> Any:
        style = {"color": "none", "marker": "o", "ms": 7, "mec": "black"}
        return Line2D([], [], mfc=face, **style)

    handles = [_dot(ax, None, k, True) for k in range(len(kinds))]
    handles += [mark("black"), mark("none")]
    names = [*kinds, "filled: treerep", "hollow: other libraries"]
    ax.legend(handles, names, loc="center", frameon=False, fontsize=10)


def _dot(ax: Any, run: Row | None, kind: int, ours: bool) -> Any:
    x, y = ([], []) if run is None else ([run["seconds"]], [run["distortion"]])
    color = PALETTE[kind % len(PALETTE)]
    face = color if ours else "none"
    return ax.scatter(
        x,
        y,
        s=42,
        marker=MARKERS[kind % len(MARKERS)],
        facecolors=face,
        edgecolors=color,
        zorder=3,
    )
