"""Compiled construction of the tables that find lowest common ancestors in O(1)."""

from typing import Any

import numpy as np

from ..._core.kernel import kernel


@kernel
def fill_inlabels(
    order: Any,
    up: Any,
    size: Any,
    parent: Any,
    level: Any,
    inlabel: Any,
    ascendant: Any,
    head: Any,
) -> None:
    """Fill the tables of Schieber and Vishkin (SIAM J. Comput. 17, 1988) from a preorder. O(N).

    Preorder numbers start at 1. The inlabel of a node is the number in its subtree that ends in
    the most zeros. Nodes with the same inlabel form a downward path, and `head` is the first
    node of each path. Bit b of `ascendant` is set if an inlabel ending in b zeros occurs
    between the root and the node.

    order, up, size : (N,) int32, a `Preorder`
    parent, level, inlabel, ascendant : (N,) int32, written
    head : (N+1,) int32, written
    """
    n = len(order)
    head[:] = 0
    for k in range(n):
        v = order[k]
        first = k + 1
        last = k + size[k]
        # `last` with all bits cleared below the highest bit in which it differs from first - 1.
        # The exponent of a float64 is the position of the highest bit.
        shift = (np.float64((first - 1) ^ last).view(np.int64) >> 52) - 1023
        label = (last >> shift) << shift
        inlabel[v] = label
        if k == 0:
            parent[v] = -1
            level[v] = 0
            ascendant[v] = label & -label
            head[label] = v
            continue
        p = order[up[k]]
        parent[v] = p
        level[v] = level[p] + 1
        ascendant[v] = ascendant[p] | (label & -label)
        if inlabel[p] != label:
            head[label] = v
