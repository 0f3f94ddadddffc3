"""The keyword arguments of `draw`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from ._collapse import Collapse
from .figures._colors import ColorValues, Palette

if TYPE_CHECKING:
    from matplotlib.colors import Normalize
    from matplotlib.typing import ColorType

#: Texts of points or nodes: see `draw`.
Labels: TypeAlias = bool | str | Sequence[object] | None
#: Columns beside the tips, by name, or a data frame: see `draw`.
Strips: TypeAlias = Mapping[str, Any] | Any


class DrawOptions(TypedDict, total=False):
    """All options of `draw` but the axes."""

    layout: str | None
    root: int | str | None
    lengths: str
    collapse: Collapse
    color: ColorValues
    palette: Palette
    norm: "str | Normalize | None"
    vmin: float | None
    vmax: float | None
    color_label: str | None
    labels: Labels
    align: bool
    strips: Strips
    legend: bool
    scale_bar: bool | None
    axis: bool
    size: float | None
    edge_color: "ColorType | None"
    edge_width: float | None
