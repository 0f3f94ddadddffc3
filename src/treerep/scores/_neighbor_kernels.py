"""The share of the nearest points that two rows of distances have in common."""

from typing import Any

import numpy as np

from .._core.kernel import helper, kernel
from ._precision_kernels import tie_tolerance


@helper
def _kth_smallest(distances: Any, point: int, heap: Any) -> float:
    """Return the k-th smallest distance to another point, for a heap of k entries. O(n log k)."""
    k = len(heap)
    heap[:] = np.inf  # the largest of the k smallest distances so far is heap[0]
    for x in range(len(distances)):
        value = distances[x]
        if x == point or not value < heap[0]:
            continue
        place = 0
        while True:
            child = 2 * place + 1
            if child >= k:
                break
            if child + 1 < k and heap[child + 1] > heap[child]:
                child += 1
            if heap[child] <= value:
                break
            heap[place] = heap[child]
            place = child
        heap[place] = value
    return heap[0]


@helper
def _expected_hits(limit: int, sure: int, size: int, marked: int, drawn: int) -> float:
    """Return the expected value of min(limit, sure + H).

    H is the number of marked points among `drawn` points, which are drawn from `size` points
    without replacement.
    """
    low = max(0, drawn - (size - marked))
    high = min(marked, drawn)
    if sure + high <= limit:
        return sure + drawn * marked / size
    if sure + low >= limit:
        return limit
    # The probabilities relative to that of the mode, which neither overflow nor underflow.
    mode = min(max((drawn + 1) * (marked + 1) // (size + 2), low), high)
    total = 1.0
    hits = float(min(limit, sure + mode))
    weight = 1.0
    for h in range(mode, high):
        # P(h + 1) / P(h) = (marked - h) (drawn - h) / ((h + 1) (size - marked - drawn + h + 1))
        rest = size - marked - drawn + h + 1
        weight *= (marked - h) / (h + 1) * ((drawn - h) / rest)
        total += weight
        hits += weight * min(limit, sure + h + 1)
    weight = 1.0
    for h in range(mode, low, -1):
        rest = size - marked - drawn + h
        weight *= h / (marked - h + 1) * (rest / (drawn - h + 1))
        total += weight
        hits += weight * min(limit, sure + h - 1)
    return hits / total


@helper
def _share(approx: Any, truth: Any, point: int, heap: Any) -> float:
    tolerance = tie_tolerance(approx)
    true_tolerance = tie_tolerance(truth)
    if np.isnan(tolerance) or np.isnan(true_tolerance):
        return np.nan
    k = len(heap)
    last = _kth_smallest(approx, point, heap)
    true_last = _kth_smallest(truth, point, heap)
    nearer = 0  # points that are nearer than the k-th nearest point of approx ...
    tied = 0  # ... and points that tie with it
    true_nearer = 0
    nearer_in_both = 0
    nearer_and_tied = 0  # nearer in approx, tied in truth
    tied_and_nearer = 0
    tied_in_both = 0
    for x in range(len(approx)):
        if x == point:
            continue
        is_near = approx[x] < last - tolerance
        is_tied = not is_near and approx[x] <= last + tolerance
        truly_near = truth[x] < true_last - true_tolerance
        truly_tied = not truly_near and truth[x] <= true_last + true_tolerance
        nearer += is_near
        tied += is_tied
        true_nearer += truly_near
        nearer_in_both += is_near and truly_near
        nearer_and_tied += is_near and truly_tied
        tied_and_nearer += is_tied and truly_near
        tied_in_both += is_tied and truly_tied
    # The remaining places of approx are drawn from its ties. Every point that ties in truth is
    # a neighbor, until the k places of truth are filled.
    places = k - nearer
    hits = nearer_in_both + places * tied_and_nearer / tied
    hits += _expected_hits(k - true_nearer, nearer_and_tied, tied, tied_in_both, places)
    return hits / k


@kernel
def neighbor_shares(approx: Any, truth: Any, points: Any, k: int, out: Any) -> None:
    """Write the share of the k neighbors of points[a] that approx keeps to out[a], or NaN.

    Row a of approx and of truth has the distances from points[a] to all n > k points.
    """
    heap = np.empty(k)
    for a in range(len(points)):
        out[a] = _share(approx[a], truth[a], points[a], heap)
