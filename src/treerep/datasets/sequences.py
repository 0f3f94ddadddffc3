"""Simulated DNA sequences that evolve along a random phylogeny."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.checks import positive_number
from .._core.typing import RNGLike
from ..tree.tree import Tree

# Standard deviation of the logarithm of the rate of a branch: there is no molecular clock.
_UNEVENNESS = 0.5
# Nucleotides are numbered in this order, so that x ^ 2 is the transition of x.
_NUCLEOTIDES = np.frombuffer(b"ACGT", np.uint8)


class Alignment(NamedTuple):
    """Aligned sequences and the tree that they evolved on.

    Attributes
    ----------
    sequences : tuple of str
        One sequence per taxon, all of the same length.
    tree : Tree
        The true tree. Lengths are expected substitutions per site. The labels of the points are
        the names of the sequences.

    See Also
    --------
    datasets.random_alignment : Simulate an alignment.
    """

    sequences: tuple[str, ...]
    tree: Tree


def random_alignment(
    n: int,
    *,
    sites: int = 500,
    depth: float = 0.5,
    extinction: float = 0.0,
    kappa: float = 1.0,
    rng: RNGLike = 0,
) -> Alignment:
    """Simulate DNA sequences of n taxa on a random phylogeny.

    Lineages split at random until n of them are alive. Each branch has a different rate of
    evolution (log-normal, with a standard deviation of 0.5). Sites evolve independently, without
    insertions and deletions.

    Parameters
    ----------
    n : int
        Number of taxa, at least 2.
    sites : int
        Length of the sequences.
    depth : float
        Expected substitutions per site from the root to a tip, before rates vary.
    extinction : float
        Extinction rate divided by the birth rate, from 0 (Yule's model) to below 1.
    kappa : float
        Transition rate divided by transversion rate. With 1, all substitutions are equally likely
        (Jukes and Cantor 1969). Otherwise this is the model of Kimura (1980).
    rng : int, numpy Generator or None
        Seed of the random choices.

    Returns
    -------
    Alignment
        The sequences and the true tree.

    See Also
    --------
    datasets.random_tree : Draw a random tree.
    Tree.difference : Compare a fitted tree with the true tree.

    Notes
    -----
    O(n sites) time and memory.

    Examples
    --------
    >>> alignment = random_alignment(5, sites=30)
    >>> len(alignment.sequences), len(alignment.sequences[0])
    (5, 30)
    >>> alignment.tree
    Tree(5 points, 4 Steiner nodes)
    """
    n = positive_number(n, "n")
    if n < 2:
        raise ValueError(f"n must be a number of taxa of at least 2, got {n}")
    sites = positive_number(sites, "sites")
    if not 0 < depth < np.inf:
        raise ValueError(f"depth must be a positive number of substitutions, got {depth}")
    if not 0 <= extinction < 1:
        raise ValueError(f"extinction must be at least 0 and below 1, got {extinction}")
    if not 0 < kappa < np.inf:
        raise ValueError(f"kappa must be a positive ratio of rates, got {kappa}")
    generator = np.random.default_rng(rng)
    history = _grown(n, extinction, generator)
    while history is None:  # all lineages died out
        history = _grown(n, extinction, generator)
    length = _substitutions(history, depth, generator)
    survives = _surviving(history)
    codes = _evolve(history, length, survives, sites, kappa, generator)
    sequences = tuple(_NUCLEOTIDES[codes[tip]].tobytes().decode() for tip in history.tips)
    return Alignment(sequences, _true_tree(history, length, survives))


class _History(NamedTuple):
    """Lineages in order of birth."""

    parent: NDArray[np.int64]
    length: NDArray[np.float64]
    tips: NDArray[np.int64]


def _grown(n: int, extinction: float, generator: np.random.Generator) -> _History | None:
    """Let lineages split and die until n are alive; return None if none is left."""
    parent = [-1]
    birth = [0.0]
    end = [0.0]
    alive = [0]
    now = 0.0
    while len(alive) < n:
        now += generator.exponential(1 / (len(alive) * (1 + extinction)))
        place = int(generator.integers(len(alive)))
        end[alive[place]] = now
        if generator.random() < extinction / (1 + extinction):
            alive[place] = alive[-1]
            alive.pop()
            if not alive:
                return None
            continue
        first = len(parent)
        parent += [alive[place]] * 2
        birth += [now, now]
        end += [0.0, 0.0]
        alive[place] = first
        alive.append(first + 1)
    now += generator.exponential(1 / (n * (1 + extinction)))
    lengths = np.array(end) - np.array(birth)
    lengths[alive] = now - np.array(birth)[alive]
    return _History(np.array(parent), lengths, np.array(alive))


def _substitutions(history: _History, depth: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Convert times to expected substitutions, with a different rate on every branch."""
    height = np.zeros(len(history.length))
    for lineage in range(1, len(height)):
        height[lineage] = height[history.parent[lineage]] + history.length[lineage]
    rate = np.exp(_UNEVENNESS * generator.normal(size=len(height)) - _UNEVENNESS**2 / 2)
    return history.length * rate * depth / height[history.tips].max()


def _surviving(history: _History) -> NDArray[np.bool_]:
    """Return which lineages have descendants among the tips."""
    survives = np.zeros(len(history.parent), bool)
    survives[history.tips] = True
    for lineage in range(len(survives) - 1, 0, -1):
        survives[history.parent[lineage]] |= survives[lineage]
    return survives


def _evolve(
    history: _History,
    length: NDArray[np.float64],
    survives: NDArray[np.bool_],
    sites: int,
    kappa: float,
    generator: np.random.Generator,
) -> dict[int, NDArray[np.int8]]:
    """Return the sequence at the end of every lineage that survives."""
    codes = {0: generator.integers(0, 4, sites).astype(np.int8)}
    for lineage in np.flatnonzero(survives)[1:].tolist():
        before = codes[int(history.parent[lineage])]
        codes[lineage] = _evolved(before, float(length[lineage]), kappa, generator)
    return codes


def _evolved(
    sequence: NDArray[np.int8], length: float, kappa: float, generator: np.random.Generator
) -> NDArray[np.int8]:
    """Return the sequence at the end of a branch."""
    # Rate times time of each of the two transversions, and of the transition.
    beta = length / (kappa + 2)
    alpha = kappa * beta
    # P(transition) = 1/4 + e^(-4 beta) / 4 - e^(-2 (alpha + beta)) / 2   (Kimura 1980)
    across = np.exp(-4 * beta)
    within = np.exp(-2 * (alpha + beta))
    transition = 0.25 + 0.25 * across - 0.5 * within
    # P(transversion) = 1/2 - e^(-4 beta) / 2
    transversion = 0.5 - 0.5 * across
    chance = generator.random(len(sequence))
    other = generator.integers(0, 2, len(sequence)).astype(np.int8)
    transverted = sequence ^ 1 ^ (2 * other)
    turned = np.where(chance < transition + transversion, transverted, sequence)
    return np.where(chance < transition, sequence ^ 2, turned).astype(np.int8)


def _true_tree(history: _History, length: NDArray[np.float64], survives: NDArray[np.bool_]) -> Tree:
    n = len(history.tips)
    number = np.full(len(length), -1)
    number[history.tips] = np.arange(n)
    inner = np.flatnonzero(survives & (number < 0))
    number[inner] = n + np.arange(len(inner))
    lower = np.flatnonzero(survives)[1:]
    edges = np.column_stack([number[lower], number[history.parent[lower]]])
    return Tree(n, edges, length[lower], labels=[f"taxon{i}" for i in range(n)])
