"""`pairs` and `block` for metrics that have an oracle."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .base import Metric, check_indices, read_only


class CompiledMetric(Metric):
    """A metric whose oracle computes single distances in compiled code."""

    def _n_indices(self) -> int:
        """Return how many indices `pairs` and `block` accept. A tree also accepts its Steiner nodes."""
        return len(self)

    def _reading_oracle(self) -> Any:
        """Return the oracle that `pairs` and `block` read."""
        return self.oracle

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Return the distances of the pairs (i[k], j[k]), as a float64 array of the same shape."""
        from .oracle.distance_kernels import pair_distances

        n = self._n_indices()
        first, second = np.broadcast_arrays(check_indices(i, n), check_indices(j, n))
        out = np.empty(first.shape)
        pair_distances(self._reading_oracle(), *(_flat(x) for x in (first, second)), out.reshape(-1))
        return out

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances from each row point to each column point, as a float64 array."""
        from .oracle.distance_kernels import block_distances

        n = self._n_indices()
        first, second = (_flat(check_indices(x, n)) for x in (rows, cols))
        out = np.empty((len(first), len(second)))
        block_distances(self._reading_oracle(), first, second, out)
        return out

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickles and deep copies create writable arrays. Kernels are compiled for read-only arrays,
        # which are views: the arrays of the oracle still share memory with the arrays of the
        # metric.
        for name, value in state.items():
            self.__dict__[name] = read_only(value) if isinstance(value, np.ndarray) else value
        if state.get("oracle") is not None:
            self.__dict__["oracle"] = type(state["oracle"])(*map(read_only, state["oracle"]))


def _flat(indices: NDArray[np.int64]) -> NDArray[Any]:
    # All kernels expect this layout. (Broadcast arrays also carry a flag that emits a warning
    # when it is read.)
    return read_only(indices).reshape(-1)
