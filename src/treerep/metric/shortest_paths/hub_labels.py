"""Construction of hub labels: the loop around `hub_label_kernels.py`, which explains the labels."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..._core.progress import progress_bar
from ..base import read_only
from ..oracle.classes import HubOracle
from .hub_label_kernels import (
    COUNTERS,
    TREES,
    Candidates,
    Forest,
    State,
    drop_cut_nodes,
    grow_trees,
    label_hubs,
    link_nodes,
)
from .search_kernels import CHUNK, FAR, Labels, Scratch, flatten_labels

# Steps of work, a few hundredths of a second, after which a kernel returns so that interrupts
# are handled: without and with lengths.
_SLICE = 4_000_000, 1_000_000
_FEW_TREES = 8  # number of trees grown in the first slice of work
# sampling may cost this many steps per vertex, which is ample for trees, and after that as much
# as labeling
_HEAD_START = 2000

#: Called with the steps of work so far, every few hundredths of a second.
Watch = Callable[[int], None]

#: Approximate nanoseconds per step of work: without and with lengths.
STEP_NS = 5.0, 10.0


def _new_labels(n: int, dtype: DTypeLike) -> Labels:
    return Labels(
        is_hub=np.zeros(n, np.bool_),
        counts=np.zeros(n, np.int32),
        free=np.arange(n, dtype=np.int64) * CHUNK,
        following=np.zeros(n, np.int32),
        hubs=np.empty(n * CHUNK, np.int32),
        distances=np.empty(n * CHUNK, dtype),
    )


def _enlarge(labels: Labels, chunks: int) -> Labels:
    following, hubs, distances = (
        np.concatenate([array, np.zeros(chunks * width, array.dtype)])
        for array, width in (
            (labels.following, 1),
            (labels.hubs, CHUNK),
            (labels.distances, CHUNK),
        )
    )
    return labels._replace(following=following, hubs=hubs, distances=distances)


def _new_forest(n: int) -> Forest:
    nodes = TREES * n + n  # the last tree may overfill the sample
    return Forest(
        vertex=np.empty(nodes, np.int32),
        parent=np.empty(nodes, np.int32),
        size=np.empty(nodes, np.int32),
        tree=np.empty(nodes, np.uint8),
        same=np.empty(nodes, np.int32),
        child=np.empty(nodes, np.int32),
        sibling=np.empty(nodes, np.int32),
        stack=np.empty(nodes, np.int32),
        nodes=np.empty(n, np.int32),
        counters=np.empty((n, COUNTERS), np.int32),
        # A fixed seed: labels are exact in any order, and equal graphs get equal labels.
        roots=np.random.default_rng(0).permutation(n).astype(np.int32),
    )


def _new_state(n: int, dtype: DTypeLike, far: float) -> State:
    scratch = Scratch(np.full(n, -1, dtype), np.full(n, far, dtype), *np.empty((6, n), np.int32))
    heap, place = np.empty((2, n), np.int32)
    candidates = Candidates(heap, place, np.empty(n, np.int64))
    return State(_new_labels(n, dtype), scratch, _new_forest(n), candidates)


class _Construction:
    """The loop around the kernels, which can be interrupted between slices of work."""

    def __init__(
        self,
        starts: NDArray[np.integer],
        neighbors: NDArray[np.integer],
        lengths: NDArray[np.float64] | None,
        stretch: float,
        watch: Watch | None,
    ) -> None:
        self.n = len(starts) - 1
        self.work = 0
        self._watch = watch
        self._slice = _SLICE[lengths is not None]
        self.graph = (starts, neighbors, lengths, stretch)
        self.state = _new_state(self.n, *((np.int32, FAR) if lengths is None else (np.float64, np.inf)))
        self.done = 0
        self.chunks = self.n
        self.alive = 0
        self.used = self.turn = 0

    def _count(self, steps: int) -> int:
        """Add to the steps of work, and pass the sum to `watch`, which may raise an error to stop."""
        self.work += steps
        if self._watch is not None:
            self._watch(self.work)
        return steps

    def refill_forest(self) -> tuple[int, bool]:
        """Refill the sample; return the steps of work, and whether sampling still pays."""
        labels, scratch, forest, candidates = self.state
        kept = used = drop_cut_nodes(forest, self.used)
        trees = work = 0
        last_turn = self.turn + self.n
        turns = _FEW_TREES
        while used < TREES * self.n and self.turn < last_turn:
            until = min(self.turn + turns, last_turn)
            used, self.turn, grown, steps = grow_trees(
                *self.graph, labels, scratch, forest, used, self.turn, until
            )
            trees = trees + grown
            work = work + self._count(int(steps))
            turns = 2 * turns if 4 * steps < self._slice else max(1, turns // 2)
        link_nodes(forest, used, candidates, labels.is_hub, self.graph[0])
        self.used = self.alive = used
        return work, used - kept >= 2 * trees

    def label(self, enough: int, budget: int) -> int:
        """Create hubs until the sample has `enough` nodes or `budget` steps are spent."""
        counts = (self.done, self.chunks, self.alive)
        (self.done, self.chunks, self.alive), work, missing = label_hubs(
            *self.graph, self.state, counts, enough, budget
        )
        if missing > 0:
            larger = _enlarge(self.state.labels, max(missing, self.chunks // 2))
            self.state = self.state._replace(labels=larger)
        return self._count(int(work))

    def run(self) -> None:
        """Label every vertex."""
        head_start = _HEAD_START * self.n
        sampled = labeled = last = enough = 0
        sampling = True
        with progress_bar(self.n, "hub labels", "vertex") as bar:
            while self.done < self.n:
                if sampling and self.alive <= enough and sampled + last <= head_start + labeled:
                    last, sampling = self.refill_forest()
                    sampled += last
                    enough = self.alive // 2
                before = self.done
                if not sampling:
                    labeled += self.label(-1, self._slice)
                elif self.alive > enough:
                    labeled += self.label(enough, self._slice)
                else:  # use the rest of the sample until the next refill is paid for
                    labeled += self.label(-1, min(self._slice, sampled + last - head_start - labeled + 1))
                bar.update(self.done - before)

    def oracle(self) -> HubOracle:
        """Return the labels in their final form."""
        labels = self.state.labels
        starts = np.zeros(self.n + 1, np.int64)
        np.cumsum(labels.counts, out=starts[1:])
        hubs = np.empty(starts[-1], np.int32)
        distances = np.empty(starts[-1], labels.distances.dtype)
        flatten_labels(labels, starts, hubs, distances)
        if distances.dtype == np.int32 and distances.max() <= np.iinfo(np.uint8).max:
            distances = distances.astype(np.uint8)
        return HubOracle(read_only(starts), read_only(hubs), read_only(distances))


def build_hub_labels(
    starts: NDArray[np.integer],
    neighbors: NDArray[np.integer],
    lengths: NDArray[np.float64] | None,
    stretch: float,
    watch: Watch | None = None,
) -> tuple[HubOracle, int]:
    """Return exact hub labels of a connected undirected graph, and the steps of work.

    Parameters
    ----------
    starts, neighbors, lengths : arrays
        The graph in compressed rows, as in `search_kernels.py`: read-only int32, int32 and
        float64. Lengths are None for hop counts.
    stretch : float
        A factor just above 1 by which sums of lengths along equally short paths may differ; 1
        if sums are exact. A path counts as covered if the distance through a hub is within this
        factor. Rounding then does not break ties and lengthen the labels.
    watch : function, optional
        Called with the steps of work so far, every few hundredths of a second. If it raises an
        exception, the construction ends. The number of steps depends only on the graph.

    The time is about (total label size) x (mean label size + mean degree). The construction needs
    memory for the labels plus 400 bytes per vertex. The mean label size is at most log2(n) on
    trees, paths and cycles, 11 on WordNet, 45 on the Enron e-mails, and below sqrt(n) on grids. On
    random graphs without structure, the mean is a large fraction of n. Distances are stored as
    uint8 if they fit, otherwise as int32, and with lengths as float64.
    """
    construction = _Construction(starts, neighbors, lengths, stretch, watch)
    construction.run()
    return construction.oracle(), construction.work
