"""The eigenvectors of h-MDS, computed from a weighted cosh of the distances."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...scores._streaming import row_slices

# A dense solver is faster for up to this many points, or for at least this fraction of all
# eigenvectors.
_FEW_POINTS = 300
_MANY_VECTORS = 0.1
_TOLERANCE = 1e-14  # for Lanczos, relative to the largest eigenvalue


class Spectrum(NamedTuple):
    """Positive eigenvalues of the weighted -cosh(scale D), in descending order, and their vectors."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]
    heights: NDArray[np.float64]  # log of 1 / weight: about the distance from the center


def hyperbolic_spectrum(distances: NDArray[np.float64], scale: float, count: int) -> Spectrum:
    """Return the `count` largest positive eigenvalues of -W cosh(scale D) W, or fewer.

    `distances` are overwritten. A weighted point x of the hyperboloid is a row of sqrt(values)
    * vectors * exp(heights). For points of H^count the result is exact for any weights W: -W
    cosh W = (W X)(W X)^T - (W x0)(W x0)^T, and two such forms of a matrix differ by an
    isometry.

    For other distances, the weights balance the entries. Without weights the farthest pair
    would dominate, because cosh grows exponentially. The heights are a least-squares fit of log
    cosh(scale d_ij) ~ heights_i + heights_j. All entries are then about 1, and at most 2 by the
    triangle inequality.
    """
    heights = _weigh(distances, scale)
    values, vectors = _largest(distances, min(count, len(distances)))
    # Eigenvalues that are 0 up to rounding are not dimensions.
    kept = values > 4 * len(distances) * np.finfo(np.float64).eps * _bound(distances)
    vectors = vectors[:, kept]
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return Spectrum(values[kept], vectors * np.sign(peaks), heights)


def _weigh(matrix: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Overwrite distances with the weighted cosh(scale D) and return the heights."""
    n = len(matrix)
    heights = np.empty(n)
    for rows in row_slices(n, n):
        block = scale * matrix[rows]
        # log cosh t = t + log((1 + e^-2t) / 2) does not overflow.
        matrix[rows] = block + np.log1p(np.exp(-2 * block)) - math.log(2)
        heights[rows] = matrix[rows].mean(axis=1)
    # argmin over h of sum (log cosh_ij - h_i - h_j)^2: the mean of row i minus half of the
    # overall mean.
    heights -= heights.mean() / 2
    for rows in row_slices(n, n):
        matrix[rows] -= heights[rows, None]
        matrix[rows] -= heights
    # If the triangle inequality is violated, an exponent may be large. Move a constant factor
    # to the heights.
    top = max(0.0, max(float(matrix[rows].max()) for rows in row_slices(n, n)))
    for rows in row_slices(n, n):
        matrix[rows] -= top
        np.exp(matrix[rows], out=matrix[rows])
    return heights + top / 2


def _bound(matrix: NDArray[np.float64]) -> float:
    # The eigenvalues of a matrix with positive entries are at most its largest row sum.
    return max(float(matrix[rows].sum(axis=1).max()) for rows in row_slices(len(matrix), len(matrix)))


def _largest(matrix: NDArray[np.float64], count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues of -matrix, in descending order, and their vectors."""
    n = len(matrix)
    found = None if n <= _FEW_POINTS or count > _MANY_VECTORS * n else _lanczos(matrix, count)
    if found is None:
        from scipy.linalg import eigh

        values, vectors = eigh(matrix, subset_by_index=[0, count - 1])
        return -values, vectors
    order = np.argsort(-found[0], kind="stable")
    return found[0][order], found[1][:, order]


def _lanczos(
    matrix: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the largest eigenpairs of -matrix, or None if Lanczos does not converge."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = len(matrix)
    shift = _bound(matrix)
    # All eigenvalues of shift - matrix are positive, and the required ones are about as large
    # as shift. Their error is therefore small relative to the matrix, and small eigenvalues do
    # not slow down the solver.
    shifted = LinearOperator(matrix.shape, matvec=lambda x: shift * x - matrix @ x, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        values, vectors = eigsh(
            shifted,
            count,
            which="LA",
            v0=start,
            tol=_TOLERANCE,
            ncv=min(n, max(2 * count + 1, 40)),
            maxiter=50,
        )
    except ArpackNoConvergence:
        return None
    return values - shift, vectors
