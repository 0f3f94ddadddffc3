"""Kernel of the states of nodes. See `states.py`."""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel


@helper
def _include(states: Any, precision: Any, k: Any, values: Any, i: Any, weight: Any) -> None:
    """Include row i of the values in the weighted mean of row k of the states."""
    precision[k] += weight
    share = states.dtype.type(weight / precision[k])
    for c in range(states.shape[1]):
        states[k, c] += share * (values[i, c] - states[k, c])


@kernel
def smooth(up: Any, length: Any, at: Any, values: Any, variance: Any, states: Any) -> None:
    """Write the expected state of each position, given noisy values of points at positions `at`. O(N k).

    No edge has length 0. Initially, the states are 0.
    """
    n = len(up)
    exact = np.zeros(n, np.bool_)
    for i in range(len(at)):
        if variance[i] == 0.0:
            exact[at[i]] = True
    # 1 / variance of a state, given the points in its subtree
    precision = np.zeros(n)
    for i in range(len(at)):
        if variance[i] == 0.0:
            _include(states, precision, at[i], values, i, 1.0)
        elif not exact[at[i]]:
            _include(states, precision, at[i], values, i, 1.0 / variance[i])
    for k in range(n - 1, 0, -1):
        if precision[k] > 0.0 and not exact[up[k]]:
            spread = 0.0 if exact[k] else 1.0 / precision[k]
            _include(states, precision, up[k], states, k, 1.0 / (length[k] + spread))
    # The state of k, given its parent: the mean m of its subtree has the variance v, and the parent
    # has the variance l, so that it is (m l + s v) / (l + v).
    for k in range(1, n):
        if exact[k]:
            continue
        share = 1.0 / (1.0 + length[k] * precision[k])
        for c in range(states.shape[1]):
            states[k, c] += states.dtype.type(share) * (states[up[k], c] - states[k, c])
