"""The O(n^3) part of the hyperbolicity search from base points, on a torch device."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.typing import TorchDevice
from ...treelikeness._pace import Pace
from ...treelikeness.base_points._base_point_kernels import ROWS
from ...treelikeness.base_points.bounds import row_chunks
from ._max_min import max_min_rows
from ._memory import memory_needed
from ._rectangles import entries_on

# Number of columns that the threads compare together, which determines the pair found first.
_STRIP = 2048


@memory_needed(
    "the search takes two n x n matrices of 4 or 8 bytes per entry: use fewer points, or leave out device"
)
def largest_defect(
    device: TorchDevice,
    products: NDArray[Any],
    _keys: NDArray[Any],
    offer: Callable[[int, int], None],
    pace: Pace,
) -> float:
    """Return the largest max over z of min(P_xz, P_zy) - P_xy.

    See `treelikeness.base_points.bounds.DefectSearch`.

    Better pairs are offered in the order of the threads' tasks.
    """
    torch = require("torch", "embed")
    real = products.dtype.kind == "f"
    matrix = torch.from_numpy(products).to(device).to(torch.float64 if real else torch.int32)
    h = 0.0
    n = len(products)
    chunks = row_chunks(n)
    together = max(1, entries_on(device) // (n * (chunks[0][1] - chunks[0][0])))
    for k in range(0, len(chunks), together):
        part = chunks[k : k + together]
        first = part[0][0]
        last = part[-1][1]
        step = part[0][1] - part[0][0]
        defects = max_min_rows(matrix, first, last).sub_(matrix[first:last, first:]).triu_()
        rows = defects.amax(dim=1).cpu().numpy()
        for low in range(0, last - first, step):
            value = float(rows[low : low + step].max())
            if value > h:
                h = value
                equal = (defects[low : low + step] == value).nonzero().cpu().numpy()
                offer(*_first_pair(equal + np.array([low + first, first])))
        pace.check()
    return h


def _first_pair(pairs: NDArray[np.int64]) -> tuple[int, int]:
    """Return the pair that the threads would find first.

    The threads scan by bands of rows, then strips of columns, then rows, then columns.
    """
    x, y = pairs.T
    top = x // ROWS * ROWS
    first = np.lexsort((y, x, (y - top) // _STRIP, top))[0]
    return int(x[first]), int(y[first])
