"""Simulated alignments with known trees: Yule or birth-death trees, uneven rates, JC69 or K2P."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import treerep as tr

_LETTERS = np.frombuffer(b"ACGT", np.uint8)


class Simulation(NamedTuple):
    """Parameters of a simulation. See `datasets.random_alignment`."""

    taxa: int
    sites: int
    depth: float  # expected substitutions per site from the root to a tip
    extinction: float = 0.0  # extinction rate divided by birth rate; 0 is the Yule model
    # transition rate divided by transversion rate for K2P; None is JC69
    kappa: float | None = None


class Alignment(NamedTuple):
    """Sequences, with A, C, G, T = 0 ... 3, and the tree that they evolved on, without labels."""

    sequences: NDArray[np.int8]
    tree: tr.Tree


def simulate(what: Simulation, rng: int) -> Alignment:
    """Simulate an alignment."""
    text, tree = tr.datasets.random_alignment(
        what.taxa,
        sites=what.sites,
        depth=what.depth,
        extinction=what.extinction,
        kappa=1.0 if what.kappa is None else what.kappa,
        rng=rng,
    )
    letters = np.frombuffer("".join(text).encode(), np.uint8).reshape(what.taxa, what.sites)
    sequences = np.searchsorted(_LETTERS, letters).astype(np.int8)
    return Alignment(sequences, tr.Tree(what.taxa, tree.edges, tree.weights))


def sequence_metric(sequences: NDArray[np.int8], kappa: float | None) -> tr.SequenceMetric:
    """Return JC69 or K2P distances. Saturated pairs are half a site below saturation."""
    model = "jc69" if kappa is None else "k2p"
    return tr.SequenceMetric(_LETTERS[sequences], model, alphabet="dna", saturated="cap")
