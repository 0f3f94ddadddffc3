"""Hyperbolicity from base points on a torch device: the O(n^3) part of method "base"."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ...embedding.learned._training import find_device
from ...treelikeness._base_point import row_chunks
from ...treelikeness._base_point_kernels import ROWS
from ...treelikeness._pace import Pace
from ...treelikeness.hyperbolicity import bounded
from ...treelikeness.result import Hyperbolicity
from ._max_min import max_min_rows
from ._memory import memory_needed
from ._rectangles import entries_on

_STRIP = 2048  # columns that the threads look at together: where several pairs are equal, theirs is the first


@memory_needed("the search takes two n x n matrices of 4 or 8 bytes an entry: give fewer points, or leave out device")
def hyperbolicity(
    data: Any,
    *,
    device: Any,
    metric: str | None = None,
    method: str = "auto",
    normalize: bool = False,
    time_limit: float | None = None,
    bases: int = 4,
    quadruples: int = 100_000,
    rng: Any = 0,
    n_jobs: int | None = None,
) -> Hyperbolicity:
    """Return what `scoring.hyperbolicity` returns for method "base", the witness included."""
    if method != "base":
        raise ValueError(f"method={method!r} does not run with device={str(device)!r}: use 'base', or leave out device")
    search = partial(_largest_defect, find_device(device))
    return bounded(data, metric, method, normalize, time_limit, bases, quadruples, rng, n_jobs, search)


def _largest_defect(
    device: Any, products: NDArray[Any], _keys: NDArray[Any], offer: Callable[[int, int], None], pace: Pace
) -> float:
    """The largest max over z of min(P_xz, P_zy) - P_xy; better pairs are offered in the order of the threads' tasks."""
    torch = require("torch", "embed")
    real = products.dtype.kind == "f"
    matrix = torch.from_numpy(products).to(device).to(torch.float64 if real else torch.int32)
    h, n = 0.0, len(products)
    chunks = row_chunks(n)
    together = max(1, entries_on(device) // (n * (chunks[0][1] - chunks[0][0])))
    for k in range(0, len(chunks), together):
        part = chunks[k : k + together]
        first, last, step = part[0][0], part[-1][1], part[0][1] - part[0][0]
        defects = max_min_rows(matrix, first, last).sub_(matrix[first:last, first:]).triu_()
        rows = defects.amax(dim=1).cpu().numpy()
        for low in range(0, last - first, step):
            value = float(rows[low : low + step].max())
            if value > h:
                h = value
                places = (defects[low : low + step] == value).nonzero().cpu().numpy()
                offer(*_first_place(places + np.array([low + first, first])))
        pace.check()
    return h


def _first_place(places: NDArray[np.int64]) -> tuple[int, int]:
    """Which of several pairs the threads meet first: by bands of rows, strips of columns, rows, columns."""
    x, y = places.T
    top = x // ROWS * ROWS
    first = np.lexsort((y, x, (y - top) // _STRIP, top))[0]
    return int(x[first]), int(y[first])
