"""Names of points in a picture, and room for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..layouts._label_places import Scene, place_labels
from ._picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Size of letters, in points, and of how many names more make them smaller.
NAME_SIZE = 9.0
_FEW = 24
_LEAST_SIZE = 3.0
# How often places are looked for while the limits grow.
_ROUNDS = 5


def write_names(axes: "Axes", picture: Picture, names: dict[int, str], area: float) -> None:
    """Write names beside their nodes, at a distance in points, and widen the limits until all are within."""
    of = np.array(list(names))
    letters = NAME_SIZE if len(names) <= _FEW else 0.75 * NAME_SIZE
    point = axes.figure.dpi / 72  # in pixels
    if picture.layout == "rectangular":
        row = axes.get_window_extent().height / point / (np.ptp(picture.spots[:, 1]) + 1)
        letters = min(letters, max(0.8 * row, _LEAST_SIZE))
    texts = [_text(axes, picture.spots[k], name, letters) for k, name in names.items()]
    sizes = np.array(
        [np.maximum(text.get_window_extent().size, 1.0) for text in texts]
    )  # signs may be of no width
    away = _sides(picture)[of]
    gap = point * (0.5 * np.sqrt(area) + 2.0)
    centers = anchors = np.empty((0, 2))
    for _ in range(_ROUNDS):
        axes.apply_aspect()
        scene = _scene(axes, picture)
        anchors = scene.points[of]
        centers = place_labels(anchors, sizes, away, gap, scene)
        if not _widen(axes, centers - 0.5 * sizes, centers + 0.5 * sizes):
            break
    beyond = np.maximum(np.abs(centers - anchors) - 0.5 * sizes, 0.0)
    far = np.linalg.norm(beyond, axis=1) > gap + 0.5 * sizes[:, 1]
    for k, name, text, offset, line in zip(
        of, names.values(), texts, (centers - anchors) / point, far, strict=True
    ):
        text.remove()
        _text(axes, picture.spots[k], name, letters, offset, bool(line))


def _text(
    axes: "Axes",
    spot: NDArray[np.float64],
    name: str,
    letters: float,
    offset: Sequence[float] | NDArray[np.float64] = (0.0, 0.0),
    line: bool = False,
) -> Any:
    """Write a name at an offset in points, with a thin line to its node where it is far."""
    leader = {
        "arrowstyle": "-",
        "color": "#B8B8B8",
        "linewidth": 0.5,
        "shrinkA": 0.0,
        "shrinkB": 2.0,
    }
    text = axes.annotate(
        name,
        (float(spot[0]), float(spot[1])),
        (float(offset[0]), float(offset[1])),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=letters,
        zorder=3,
        annotation_clip=False,
        arrowprops=leader if line else None,
        usetex=False,
    )
    text.set_in_layout(False)  # names fit into the axes, not the axes around the names
    return text


def _scene(axes: "Axes", picture: Picture) -> Scene:
    ends = np.concatenate([*picture.lines, np.empty((0, 2))])
    inner = np.ones(len(ends), np.bool_)
    inner[np.cumsum([len(line) for line in picture.lines], dtype=np.int64) - 1] = (
        False  # no line to the next edge
    )
    begin = np.flatnonzero(inner)
    pixels = axes.transData.transform(ends) if len(ends) else ends
    return Scene(axes.transData.transform(picture.spots), pixels[begin], pixels[begin + 1])


def _widen(axes: "Axes", low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Widen the limits where boxes (in pixels) leave the axes; return whether any did."""
    box = axes.get_window_extent()
    over_low = np.array(box.min) - low.min(axis=0)
    over_high = high.max(axis=0) - np.array(box.max)
    if max(over_low.max(), over_high.max()) <= 0.5:
        return False
    # A little more than needed, as names may change their places in the wider picture.
    over_low, over_high = (
        np.where(over > 0, over + 4.0, 0.0) for over in (over_low, over_high)
    )
    pixels = np.array([box.width, box.height])
    first, last = (
        np.array(ends) for ends in zip(axes.get_xlim(), axes.get_ylim(), strict=True)
    )
    # The same pixels for more data: what sticks out by p of P pixels needs a factor P / (P - p)
    # on all.
    unit = (last - first) / np.maximum(pixels - over_low - over_high, 0.2 * pixels)
    set_limits(axes, first - over_low * unit, last + over_high * unit)
    return True


def set_limits(axes: "Axes", low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
    """Set the lowest and highest x and y."""
    axes.set_xlim(float(low[0]), float(high[0]))
    axes.set_ylim(float(low[1]), float(high[1]))


def _sides(picture: Picture) -> NDArray[np.float64]:
    """Unit vectors from every node to where its name is wished: away from its neighbors, or from the middle, or up."""
    spots = picture.spots
    edges = picture.edges
    if picture.layout == "rectangular":
        return np.tile([1.0, 0.0], (len(spots), 1))
    away = np.zeros_like(spots)
    for one, other in ((0, 1), (1, 0)):
        np.add.at(away, edges[:, one], _units(spots[edges[:, one]] - spots[edges[:, other]]))
    for instead in (spots - spots.mean(axis=0), np.array([[0.0, 1.0]])):
        away = np.where(
            np.linalg.norm(away, axis=1, keepdims=True) > 1e-6, away, _units(instead)
        )
    return _units(away)


def _units(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
