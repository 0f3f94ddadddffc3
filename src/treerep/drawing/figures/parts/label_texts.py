"""Texts of labels, and lines that lead from them to their nodes."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._arrays import FloatArray, IntArray
from ...layouts._turned_places import Turned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_LEADER = "#B8B8B8"


class Group(NamedTuple):
    """Labels of nodes, with their sizes in pixels."""

    nodes: IntArray
    texts: list[str]
    letters: float
    sizes: FloatArray


def measured(axes: "Axes", nodes: IntArray, labels: dict[int, str], letters: float) -> Group:
    """Measure the labels of some nodes."""
    texts = [labels[node] for node in nodes.tolist()]
    sizes = np.empty((len(texts), 2))
    for k, label in enumerate(texts):
        text = _annotate(axes, label, (0.0, 0.0), letters)
        box = text.get_window_extent()
        sizes[k] = np.maximum(box.size, 1.0)  # some characters have no width
        text.remove()
    return Group(nodes, texts, letters, sizes)


def write_turned(
    axes: "Axes", group: Group, anchors: FloatArray, places: Turned, gap: float
) -> "list[Annotation]":
    """Write labels that start at given places, with dotted lines to tips that are far away."""
    point = axes.figure.dpi / 72
    corners = places.corners(group.sizes)
    written = []
    for k, node in enumerate(group.nodes):
        offset = places.starts[k] - axes.transData.transform(anchors[node])
        low = corners[k].min(axis=0)
        size = np.ptp(corners[k], axis=0)
        height = group.sizes[k, 1]
        far = np.linalg.norm(offset) > gap + 0.7 * height
        start = (places.starts[k] - low) / size
        leader = _leader(":", start) if far else None
        backward = np.cos(places.angles[k]) < -1e-9
        look = {
            "ha": "right" if backward else "left",
            "rotation": np.degrees(places.angles[k]) + (180.0 if backward else 0.0),
            "rotation_mode": "anchor",
            "arrowprops": leader,
        }
        xy = float(anchors[node, 0]), float(anchors[node, 1])
        spot = offset / point
        written.append(_annotate(axes, group.texts[k], xy, group.letters, spot, **look))
    return written


def write_centered(
    axes: "Axes", group: Group, anchors: FloatArray, centers: FloatArray, gap: float
) -> "list[Annotation]":
    """Write labels at their centers, with thin lines to nodes that are far away."""
    point = axes.figure.dpi / 72
    written = []
    for k, node in enumerate(group.nodes):
        offset = centers[k] - axes.transData.transform(anchors[node])
        beyond = np.maximum(np.abs(offset) - 0.5 * group.sizes[k], 0.0)
        far = np.linalg.norm(beyond) > gap + 0.5 * group.sizes[k, 1]
        leader = _leader("-", (0.5, 0.5)) if far else None
        xy = float(anchors[node, 0]), float(anchors[node, 1])
        spot = offset / point
        look = {"ha": "center", "arrowprops": leader}
        written.append(_annotate(axes, group.texts[k], xy, group.letters, spot, **look))
    return written


def _leader(style: str, start: Any) -> dict[str, Any]:
    """Return the look of a line from a label to its node."""
    straight = {"patchA": None} if style == ":" else {}
    return {
        "arrowstyle": "-",
        "linestyle": style,
        "color": _LEADER,
        "linewidth": 0.5,
        "shrinkA": 0.0,
        "shrinkB": 2.0,
        "relpos": (float(start[0]), float(start[1])),
        **straight,
    }


def _annotate(
    axes: "Axes",
    label: str,
    xy: tuple[float, float],
    letters: float,
    offset: Any = (0.0, 0.0),
    **look: Any,
) -> "Annotation":
    """Write a label at an offset in points."""
    text = axes.annotate(
        label,
        xy,
        (float(offset[0]), float(offset[1])),
        textcoords="offset points",
        va="center",
        fontsize=letters,
        zorder=3,
        annotation_clip=False,
        usetex=False,
        **look,
    )
    text.set_in_layout(False)  # the layout of the figure ignores labels
    return text
