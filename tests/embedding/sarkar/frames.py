"""Slow twin of the local frames: the same embedding by Lorentz matrices of many digits."""

from typing import Any

import mpmath
import numpy as np


def lorentz_points(
    parent: np.ndarray, weights: np.ndarray, turns: np.ndarray, scale: float
) -> list[list[Any]]:
    """Points of the hyperboloid: the frame of a node is its parent's, reflected and boosted."""
    dim = turns.shape[1]
    root = int(np.flatnonzero(parent < 0)[0])
    matrices, todo = {root: mpmath.eye(dim + 1)}, [root]
    while todo:
        node = todo.pop()
        for child in np.flatnonzero(parent == node).tolist():
            matrices[child] = matrices[node] * _step(turns[child], float(scale * weights[child]))
            todo.append(child)
    return [list(matrices[node][:, 0]) for node in range(len(parent))]


def _step(turn: np.ndarray, length: float) -> Any:
    dim = len(turn)
    direction = mpmath.matrix([mpmath.mpf(float(x)) for x in turn])
    direction /= mpmath.norm(direction)
    normal = direction.copy()
    normal[0] -= 1
    square = sum(x * x for x in normal)
    reflection, boost = mpmath.eye(dim + 1), mpmath.eye(dim + 1)
    if square > mpmath.mpf(2) ** -200:  # the turn is no rounded e_1
        for i in range(dim):
            for j in range(dim):
                reflection[i + 1, j + 1] -= 2 * normal[i] * normal[j] / square
    boost[0, 0] = boost[1, 1] = mpmath.cosh(length)
    boost[0, 1] = boost[1, 0] = mpmath.sinh(length)
    return reflection * boost


def distances(points: list[list[Any]], scale: float) -> np.ndarray:
    """All distances, acosh of minus the Lorentz product, and exactly 0 below 1e-150."""
    found = np.zeros((len(points), len(points)))
    for i, x in enumerate(points):
        for j, y in enumerate(points[:i]):
            cosh = x[0] * y[0] - sum(a * b for a, b in zip(x[1:], y[1:], strict=True))
            if cosh - 1 > mpmath.mpf(10) ** -300:
                found[i, j] = found[j, i] = float(mpmath.acosh(cosh) / mpmath.mpf(float(scale)))
    return found


def random_frames(
    rng: np.random.Generator,
    nodes: int,
    dim: int,
    *,
    path: bool = False,
    spread: int = 0,
    zeros: float = 0.2,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parents, weights and turns at random: some edges of length 0, lengths over `spread` orders of magnitude."""
    parent = np.arange(-1, nodes - 1)
    if not path:
        parent[1:] = (rng.random(nodes - 1) * np.arange(1, nodes)).astype(int)
    weights = rng.uniform(0.1, 1.0, nodes) * 10.0 ** rng.integers(-spread, 1, nodes)
    weights[rng.random(nodes) < zeros] = 0.0
    weights[0] = 0.0
    turns = rng.standard_normal((nodes, dim))
    straight = rng.random(nodes) < 0.2
    turns[straight] = np.eye(dim)[0]
    return parent, weights, turns / np.linalg.norm(turns, axis=1, keepdims=True)
