"""Simulated alignments with known trees: Yule or birth-death trees, uneven rates, JC69 or K2P.

Nucleotides are numbered A, C, G, T = 0 ... 3, so that x ^ 2 is the transition of x.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import treerep as tr

_LETTERS = np.frombuffer(b"ACGT", np.uint8)
_UNEVENNESS = (
    0.5  # standard deviation of the logarithm of the rate of a branch (no molecular clock)
)


class Simulation(NamedTuple):
    """Parameters of a simulation."""

    taxa: int
    sites: int
    depth: float  # expected substitutions per site from the root to a tip
    extinction: float = 0.0  # extinction rate divided by birth rate; 0 is the Yule model
    kappa: float | None = (
        None  # transition rate divided by transversion rate for K2P; None is JC69
    )


class Alignment(NamedTuple):
    """Sequences and the tree that they evolved on."""

    sequences: NDArray[np.int8]
    tree: tr.Tree


class _History(NamedTuple):
    """Lineages in order of birth."""

    parent: NDArray[np.int64]
    length: NDArray[np.float64]
    tips: NDArray[np.int64]


def simulate(what: Simulation, rng: int) -> Alignment:
    """Simulate an alignment."""
    generator = np.random.default_rng(rng)
    history = _grown(what.taxa, what.extinction, generator)
    while history is None:  # all lineages died out
        history = _grown(what.taxa, what.extinction, generator)
    length = _substitutions(history, what.depth, generator)
    survives = np.zeros(len(length), bool)
    survives[history.tips] = True
    for v in range(len(length) - 1, 0, -1):
        survives[history.parent[v]] |= survives[v]
    sequence = {0: generator.integers(0, 4, what.sites).astype(np.int8)}
    for v in np.flatnonzero(survives)[1:]:
        sequence[v] = _evolved(sequence[history.parent[v]], length[v], what.kappa, generator)
    number = np.full(len(length), -1)
    number[history.tips] = np.arange(what.taxa)
    inner = np.flatnonzero(survives & (number < 0))
    number[inner] = what.taxa + np.arange(len(inner))
    lower = np.flatnonzero(survives)[1:]
    edges = np.column_stack([number[lower], number[history.parent[lower]]])
    return Alignment(
        np.stack([sequence[v] for v in history.tips]), tr.Tree(what.taxa, edges, length[lower])
    )


def _grown(taxa: int, extinction: float, generator: np.random.Generator) -> _History | None:
    """Let lineages split and die until there are enough; return None if none is left."""
    parent, birth, end, alive, now = [-1], [0.0], [0.0], [0], 0.0
    while len(alive) < taxa:
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
    now += generator.exponential(1 / (taxa * (1 + extinction)))
    lengths = np.array(end) - np.array(birth)
    lengths[alive] = now - np.array(birth)[alive]
    return _History(np.array(parent), lengths, np.array(alive))


def _substitutions(
    history: _History, depth: float, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Convert times to expected substitutions, with a different rate on every branch."""
    height = np.zeros(len(history.length))
    for v in range(1, len(height)):
        height[v] = height[history.parent[v]] + history.length[v]
    rate = np.exp(_UNEVENNESS * generator.normal(size=len(height)) - _UNEVENNESS**2 / 2)
    return history.length * rate * depth / height[history.tips].max()


def _evolved(
    sequence: NDArray[np.int8],
    length: float,
    kappa: float | None,
    generator: np.random.Generator,
) -> NDArray[np.int8]:
    """Return the sequence at the end of a branch."""
    ratio = 1.0 if kappa is None else kappa
    beta = length / (ratio + 2)  # rate times time of each of the two transversions
    alpha = ratio * beta
    transition = 0.25 + 0.25 * np.exp(-4 * beta) - 0.5 * np.exp(-2 * (alpha + beta))
    transversion = 0.5 - 0.5 * np.exp(-4 * beta)
    chance, other = (
        generator.random(len(sequence)),
        generator.integers(0, 2, len(sequence)).astype(np.int8),
    )
    turned = np.where(chance < transition + transversion, sequence ^ 1 ^ (2 * other), sequence)
    return np.where(chance < transition, sequence ^ 2, turned).astype(np.int8)


def sequence_metric(sequences: NDArray[np.int8], kappa: float | None) -> tr.SequenceMetric:
    """Return JC69 or K2P distances. Saturated pairs are half a site below saturation."""
    model = "jc69" if kappa is None else "k2p"
    return tr.SequenceMetric(_LETTERS[sequences], model, alphabet="dna", saturated="cap")
